/* test_progress.c: the lines of a campaign, on a terminal and elsewhere, with a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "cli/progress/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double now;              /* what the clock says */

static double test_clock(void)
{
    return now;
}

struct fixture {
    struct progress p;
    struct campaign_progress c;
    struct result r;
    struct kernel kernel;
    bool stored;                /* trials have ids, 30 more than their numbers */
    FILE *f;
    char *text;
    size_t size;
};

static void begin(struct fixture *x, bool live)
{
    now = 100;
    *x = (struct fixture){0};
    x->f = open_memstream(&x->text, &x->size);
    progress_init(&x->p, x->f, false);
    x->p.live = live;
    x->p.columns = 60;
    x->p.rows = 0;
    x->p.utf8 = x->p.colour = false;
    x->p.now = test_clock;
    x->p.drawn_at = now;
    x->c = (struct campaign_progress){.budget_trials = 10, .best_ms = NAN, .baseline_ms = NAN, .device = "host"};
    x->kernel.name = "simt";
    x->kernel.eligible = true;
    result_init(&x->r);
}

static void send(struct fixture *x, struct campaign_event ev)
{
    ev.progress = &x->c;
    ev.kernel = &x->kernel;
    ev.config = "BM=32";
    ev.result = &x->r;
    progress_event(&x->p, &ev);
    fflush(x->f);
}

static void trial(struct fixture *x, int number, enum outcome o, double ms, const char *reason)
{
    x->r.outcome = o;
    x->r.time_ms = ms;
    strcpy(x->r.reason, reason);
    x->c.trials++;
    x->c.outcomes[o]++;
    send(x, (struct campaign_event){.kind = CAMPAIGN_TRIAL, .number = number, .trial = x->stored ? number + 30 : 0});
}

static void end(struct fixture *x)
{
    progress_end(&x->p);
    fclose(x->f);
    free(x->text);
}

static void plain_lines(void **state)
{
    struct fixture x;
    begin(&x, false);
    x.c.space_size = 42;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_STARTED, .campaign = 3});
    x.r.outcome = OUTCOME_ok;
    x.r.time_ms = 5;
    x.r.verification.done = true;
    x.r.verification.frobenius = 3.3e-6;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_BASELINE});
    x.c.baseline_ms = 5;
    x.r.outcome = OUTCOME_inaccurate;
    x.r.time_ms = 1.5;
    x.r.verification.frobenius = 3e-4;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_BASELINE});
    trial(&x, 1, OUTCOME_ok, 4, "");
    trial(&x, 2, OUTCOME_ok, 4.5, "");                          /* no better: no line */
    trial(&x, 3, OUTCOME_wrong, NAN, "Y[3,17] got 0.5\nsecond line\x1b[31m");
    trial(&x, 4, OUTCOME_wrong, NAN, "again");                  /* seen already: no line */
    trial(&x, 5, OUTCOME_skipped, NAN, "the campaign ended");   /* not the configuration's fault */
    trial(&x, 5, OUTCOME_timeout, NAN, "");
    trial(&x, 6, OUTCOME_ok, 2.5, "");
    trial(&x, 6, OUTCOME_inaccurate, 1, "rounds");              /* the fastest, and not the best */
    trial(&x, 6, OUTCOME_inaccurate, 0.5, "rounds");
    x.kernel.eligible = false;
    trial(&x, 7, OUTCOME_ok, 1, "");                            /* may not win: no line */
    send(&x, (struct campaign_event){.kind = CAMPAIGN_FINAL, .rank = 1, .cold_ms = 2.4, .sustained_ms = 2.6});
    send(&x, (struct campaign_event){.kind = CAMPAIGN_NOTE, .text = "clocks fell\033[5m"});
    assert_string_equal(x.text, "campaign 3 on host: 42 configurations, up to 10 trials\n"
                                "baseline simt BM=32: 5 ms, error 3.3e-06\n"
                                "baseline simt BM=32: 1.5 ms, error 3.0e-04 (inaccurate)\n"
                                "trial 1: best so far 4 ms (1.25x): simt BM=32\n"
                                "trial 3: simt BM=32: wrong: Y[3,17] got 0.5\n"
                                "trial 5: simt BM=32: timeout\n"
                                "trial 6: best so far 2.5 ms (2.00x): simt BM=32\n"
                                "trial 6: simt BM=32: inaccurate: rounds\n"
                                "final, place 1: simt BM=32: 2.4 ms cold, 2.6 ms sustained\n"
                                "clocks fell [5m\n");
    end(&x);
}

/* What `show`, `best`, `explain` and `export --trial` call it, where that is not its number. */
static void a_stored_trial_goes_by_its_id(void **state)
{
    struct fixture x;
    begin(&x, false);
    x.stored = true;
    trial(&x, 1, OUTCOME_ok, 4, "");
    trial(&x, 2, OUTCOME_timeout, NAN, "");
    assert_string_equal(x.text, "trial 31: best so far 4 ms: simt BM=32\n"
                                "trial 32: simt BM=32: timeout\n");
    end(&x);
}

static void plain_counts(void **state)
{
    struct fixture x;
    begin(&x, false);
    x.c.trials = 4;
    x.c.outcomes[OUTCOME_ok] = 3;
    x.c.seconds = 12;
    for (int i = 0; i < 50; i++) {
        now += 0.25;            /* 12.5 s of ticks: one line */
        send(&x, (struct campaign_event){.kind = CAMPAIGN_TICK});
    }
    assert_string_equal(x.text, "4/10 trials  ok 3  12 s, about 18 s left\n");
    end(&x);
}

/* What the block says, as text: without the bar, whose columns are in test_spark.c. */
static void live_block(void **state)
{
    struct fixture x;
    begin(&x, true);
    x.c.seconds = 1;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_TICK});
    assert_int_equal(x.size, 0);                                /* not yet: at most five times a second */
    for (int i = 0; i < 100; i++) {
        now += 0.01;
        send(&x, (struct campaign_event){.kind = CAMPAIGN_TICK});
    }
    int drawn = 0;
    for (const char *s = x.text; (s = strstr(s, "0/10 trials")); s++)
        drawn++;
    assert_true(drawn >= 4 && drawn <= 5);
    size_t before = x.size;
    trial(&x, 1, OUTCOME_ok, 4, "");                            /* a line, above a block drawn anew */
    assert_string_equal(x.text + before, "\033[2A\r\033[Jtrial 1: best so far 4 ms: simt BM=32\n"
                                         "\r1/10 trials  ##..................  60 a minute  1.0 s, a...\033[K\n"
                                         "\rnothing right so far\033[K\n"
                                         "\rok 1\033[K");
    before = x.size;
    x.p.columns = 100;
    x.c.best_ms = 4;
    x.c.baseline_ms = 5;
    strcpy(x.c.best_kernel, "simt");
    strcpy(x.c.best_config, "BM=32");
    x.c.compiling = 12;
    x.c.running = 1;
    x.c.outcomes[OUTCOME_wrong] = 2;
    x.r.telemetry.sm_mhz = 1980;
    x.r.telemetry.power_w = 612.4;
    x.r.telemetry.throttle_known = true;
    x.r.telemetry.throttle_reasons = 4;
    trial(&x, 2, OUTCOME_ok, 4.5, "");                          /* its telemetry is shown from the next block on */
    now += 1;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_TICK});
    assert_string_equal(x.text + before,
                        "\033[2A\r2/10 trials  ####................  120 a minute  1.0 s, about 4.0 s left\033[K\n"
                        "\rbest 4 ms, 1.25x the baseline's speed (5 ms)  simt BM=32\033[K\n"
                        "\rok 2  wrong 2  |  12 compiling, 1 running\033[K\n"
                        "\r1980 MHz, 612 W, held down (power or heat)\033[K");
    before = x.size;
    progress_end(&x.p);
    assert_string_equal(x.text + before, "\033[3A\r\033[J");
    end(&x);
}

/* A line that is as wide as the terminal would be two of its rows, and the block be drawn in the wrong place. */
static void live_narrow(void **state)
{
    struct fixture x;
    begin(&x, true);
    x.p.columns = 8;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_STARTED});
    size_t before = x.size;
    now += 1;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_TICK});
    assert_string_equal(x.text + before, "\033[2A\r0/10...\033[K\n\rnoth...\033[K\n\rok 0\033[K");
    before = x.size;
    x.p.columns = 1;
    now += 1;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_TICK});
    assert_string_equal(x.text + before, "\033[2A\r.\033[K\n\r.\033[K\n\r.\033[K");
    end(&x);
}

/* The best after each part of the trials; colour; a terminal of few rows. */
static void live_history(void **state)
{
    struct fixture x;
    begin(&x, true);
    x.p.utf8 = x.p.colour = true;
    x.p.columns = 120;
    x.c.seconds = 60;
    x.c.budget_trials = 16;
    strcpy(x.c.best_kernel, "simt");
    for (int i = 1; i <= 16; i++) {
        double ms = i < 3 ? NAN : i < 9 ? 8 : 4;
        trial(&x, i, isnan(ms) ? OUTCOME_wrong : OUTCOME_ok, ms, "");
        x.c.best_ms = ms;
    }
    x.p.columns = 60;
    size_t before = x.size;
    now += 1;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_TICK});
    assert_non_null(
        strstr(x.text + before,
               "\033[32mbest 4 ms    \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88"
               "\xe2\x96\x81\xe2\x96\x81\xe2\x96\x81\xe2\x96\x81\xe2\x96\x81\xe2\x96\x81\xe2\x96\x81\xe2\x96\x81"
               "  simt \033[0m\033[K"));
    before = x.size;
    x.p.rows = 5;
    now += 1;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_TICK});
    assert_non_null(strstr(x.text + before, "\033[2A\r16/16 trials"));
    assert_null(strchr(x.text + before, '\n'));
    assert_non_null(strstr(x.text + before, "\033[K\033[J"));   /* the lines below are gone */
    end(&x);
}

static void quiet(void **state)
{
    struct fixture x;
    begin(&x, true);
    x.p.quiet = true;
    trial(&x, 1, OUTCOME_crash, NAN, "signal 11");
    now += 100;
    send(&x, (struct campaign_event){.kind = CAMPAIGN_TICK});
    progress_end(&x.p);
    assert_int_equal(x.size, 0);
    end(&x);
}

static void remaining(void **state)
{
    static const struct {
        int64_t trials, budget_trials;
        double seconds, budget_seconds;
        const char *text;
        uint64_t space_size;
    } cases[] = {
        {0, 0, 3, 0, "0 trials  ok 0  3.0 s", 0},
        {0, 10, 3, 0, "0/10 trials  ok 0  3.0 s", 0},
        {0, 0, 3, 60, "0 trials  ok 0  3.0 s, about 57 s left", 0},
        {5, 10, 10, 15, "5/10 trials  ok 0  10 s, about 5.0 s left", 0},
        {5, 10, 10, 100, "5/10 trials  ok 0  10 s, about 10 s left", 0},
        {10, 10, 125, 0, "10/10 trials  ok 0  2 min 5 s, about 0.0 s left", 0},
        {1, 2, 4000, 5000, "1/2 trials  ok 0  1 h 6 min, about 16 min 40 s left", 0},
        {3, 0, 70, 60, "3 trials  ok 0  1 min 10 s, about 0.0 s left", 0},
        {3, 100, 9, 0, "3/6 trials  ok 0  9.0 s, about 9.0 s left", 6},     /* no more than there are */
        {3, 6, 9, 0, "3/6 trials  ok 0  9.0 s, about 9.0 s left", 100},
        {7, 10, 14, 0, "7/10 trials  ok 0  14 s, about 6.0 s left", 6},     /* some were none */
        {3, 0, 9, 60, "3 trials  ok 0  9.0 s, about 51 s left", 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct campaign_progress c = {.trials = cases[i].trials, .budget_trials = cases[i].budget_trials,
                                      .seconds = cases[i].seconds, .budget_seconds = cases[i].budget_seconds,
                                      .space_size = cases[i].space_size, .best_ms = NAN, .baseline_ms = NAN};
        struct strbuf b = {0};
        progress_counts(&b, &c);
        assert_string_equal(sb_str(&b), cases[i].text);
        sb_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lines), cmocka_unit_test(a_stored_trial_goes_by_its_id),
        cmocka_unit_test(plain_counts), cmocka_unit_test(live_block),
        cmocka_unit_test(live_narrow), cmocka_unit_test(live_history), cmocka_unit_test(quiet),
        cmocka_unit_test(remaining),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
