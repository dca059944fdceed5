/* test_progress_several.c: what several campaigns at once show, on a terminal and elsewhere, with a clock of the test's
 * own; and that a campaign with a sink shows nothing by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/progress/progress_several.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double now;

static double test_clock(void)
{
    return now;
}

struct fixture {
    struct progress_several s;
    FILE *f;
    char *text;
    size_t size;
};

static void begin(struct fixture *x, const char *const *names, int count, bool live)
{
    now = 100;
    *x = (struct fixture){0};
    x->f = open_memstream(&x->text, &x->size);
    several_init(&x->s, x->f, false, names, count);
    x->s.screen.live = live;
    x->s.screen.columns = 60;
    x->s.screen.rows = 0;
    x->s.screen.colour = false;
    x->s.screen.now = test_clock;
}

static const char *shown(struct fixture *x, size_t from)
{
    fflush(x->f);
    return x->text + from;
}

static void end(struct fixture *x)
{
    several_end(&x->s);
    fclose(x->f);
    free(x->text);
}

static void plain(void **state)
{
    static const char *const names[] = {"host", "cuda:0,cuda:1,cuda:2,cuda:3,cuda:4,cuda:5", "host"};
    struct fixture x;
    begin(&x, names, 3, false);
    several_line(&x.s, 0, PROGRESS_PLAIN, "campaign 3 begins");
    several_counts(&x.s, 2, "4/10 trials");
    several_line(&x.s, 1, PROGRESS_BAD, "no\033[5m driver");
    assert_string_equal(shown(&x, 0), "host: campaign 3 begins\n"
                                      "host (2): 4/10 trials\n"
                                      "cuda:0,cuda:1,cuda:2,...: no [5m driver\n");
    end(&x);
}

static void live(void **state)
{
    static const char *const names[] = {"cuda:0", "cuda:1,cuda:2"};
    struct fixture x;
    begin(&x, names, 2, true);
    several_counts(&x.s, 1, "4/10 trials");
    assert_string_equal(shown(&x, 0), "\rcuda:0         setting up\033[K\n\rcuda:1,cuda:2  4/10 trials\033[K");
    size_t before = x.size;
    several_counts(&x.s, 0, "1/10 trials");     /* not so soon */
    assert_string_equal(shown(&x, before), "");
    now += 0.2;
    several_counts(&x.s, 1, "5/10 trials");
    assert_string_equal(shown(&x, before),
                        "\033[1A\rcuda:0         1/10 trials\033[K\n\rcuda:1,cuda:2  5/10 trials\033[K");
    before = x.size;
    several_line(&x.s, 0, PROGRESS_GOOD, "best so far");        /* a line, above a block drawn anew */
    assert_string_equal(shown(&x, before), "\033[1A\r\033[Jcuda:0: best so far\n"
                                           "\rcuda:0         1/10 trials\033[K\n\rcuda:1,cuda:2  5/10 trials\033[K");
    before = x.size;
    x.s.screen.rows = 5;
    now += 1;
    several_counts(&x.s, 0, "2/10 trials");     /* of a low terminal: one line */
    assert_string_equal(shown(&x, before), "\033[1A\rcuda:0         2/10 trials\033[K\033[J");
    before = x.size;
    progress_erase(&x.s.screen);
    assert_string_equal(shown(&x, before), "\r\033[J");
    end(&x);
}

static void quiet(void **state)
{
    static const char *const names[] = {"host", "host"};
    struct fixture x;
    begin(&x, names, 2, true);
    x.s.screen.quiet = true;
    several_line(&x.s, 0, PROGRESS_PLAIN, "campaign 3 begins");
    several_counts(&x.s, 0, "4/10 trials");
    assert_string_equal(shown(&x, 0), "");
    end(&x);
}

/* --- a campaign that another process shows --- */

static char told[1000];

static void take_line(void *ctx, enum progress_shade shade, const char *text)
{
    snprintf(told + strlen(told), sizeof told - strlen(told), "[%d] %s\n", (int)shade, text);
}

static void take_counts(void *ctx, const char *text)
{
    snprintf(told + strlen(told), sizeof told - strlen(told), "counts %s\n", text);
}

static void sink(void **state)
{
    static const struct progress_sink to = {take_line, take_counts, NULL};
    struct campaign_progress c = {.budget_trials = 10, .best_ms = NAN, .baseline_ms = NAN, .device = "host"};
    struct progress p;
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    now = 100;
    told[0] = 0;
    progress_init(&p, f, false);
    p.live = true;
    p.now = test_clock;
    p.drawn_at = now;
    p.sink = &to;
    progress_event(&p, &(struct campaign_event){.kind = CAMPAIGN_NOTE, .text = "a note", .progress = &c});
    progress_event(&p, &(struct campaign_event){.kind = CAMPAIGN_TICK, .progress = &c});
    now += 0.3;         /* as often as a block would be drawn */
    progress_event(&p, &(struct campaign_event){.kind = CAMPAIGN_TICK, .progress = &c});
    progress_event(&p, &(struct campaign_event){.kind = CAMPAIGN_TICK, .progress = &c});
    progress_end(&p);
    fclose(f);
    assert_string_equal(told, "[3] a note\ncounts 0/10 trials  ok 0  0.0 s\n");
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(live),
        cmocka_unit_test(quiet),
        cmocka_unit_test(sink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
