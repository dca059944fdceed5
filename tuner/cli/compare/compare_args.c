/* compare_args.c: see compare_args.h. */
#include "cli/compare/compare_args.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cli/output/recorded.h"
#include "console/output.h"
#include "console/table.h"
#include "expr/value.h"
#include "cli/progress/progress.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIVE_SECONDS 0.2
#define PLAIN_SECONDS 10.0

status parse_cutoff(const char *text, double *out, struct err *e)
{
    if (!value_as_double(value_read(text), out) || !(*out > SCORE_START && *out < 1))
        return err_set(e, LATHE_USAGE, "--cutoff: '%.100s' is no number above %g and below 1", text, SCORE_START);
    return LATHE_OK;
}

/* Names that are not told apart become what was given. */
static void name_apart(struct contest_space *spaces, const struct text_list *places)
{
    bool *same = mem_zalloc((size_t)places->count, sizeof *same);
    for (int i = 0; i < places->count; i++)
        for (int k = 0; k < places->count; k++)
            same[i] = same[i] || (k != i && !strcmp(spaces[i].name, spaces[k].name));
    for (int i = 0; i < places->count; i++)
        if (same[i]) {
            mem_free(spaces[i].name);
            spaces[i].name = utf8_copy(places->items[i]);
        }
    mem_free(same);
}

status contest_spaces_open(const struct text_list *places, const char *kernel, double cutoff,
                           struct contest_space **out, struct err *e)
{
    *out = NULL;
    if (!places->count)
        return err_set(e, LATHE_USAGE, "--spaces is missing: the recordings to search in\nexpected --spaces FILE...");
    for (int i = 0; i < places->count; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(places->items[i], places->items[k]))
                return err_set(e, LATHE_USAGE, "--spaces: %.300s is there twice", places->items[i]);
    struct contest_space *spaces = mem_zalloc((size_t)places->count, sizeof *spaces);
    for (int i = 0; i < places->count; i++) {
        status s = contest_space_open(&spaces[i], places->items[i], kernel, cutoff, e);
        if (s) {
            contest_spaces_free(spaces, i);
            return s;
        }
        recorded_tell_notes(spaces[i].recording);
    }
    name_apart(spaces, places);
    *out = spaces;
    return LATHE_OK;
}

void contest_spaces_free(struct contest_space *spaces, int n)
{
    for (int i = 0; spaces && i < n; i++)
        contest_space_close(&spaces[i]);
    mem_free(spaces);
}

int count_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 256 ? 256 : (int)cores;
}

void run_progress_init(struct run_progress *p, FILE *out, bool quiet)
{
    double now = clock_seconds();
    *p = (struct run_progress){.out = out, .quiet = quiet, .live = is_terminal(out), .started = now, .drawn = now};
}

void run_progress_show(struct run_progress *p, const char *what, int done, int n)
{
    double now = clock_seconds();
    if (!p->what || strcmp(p->what, what) != 0) {
        p->started = p->what ? now : p->started;
        p->what = what;
    }
    double passed = now - p->started;
    if (p->quiet || now - p->drawn < (p->live ? LIVE_SECONDS : PLAIN_SECONDS))
        return;
    struct strbuf b = {0};
    sb_addf(&b, "%d/%d %s  ", done, n, what);
    progress_duration(&b, passed);
    if (done) {
        sb_add(&b, ", about ");
        progress_duration(&b, passed / done * (n - done));
        sb_add(&b, " left");
    }
    int columns = p->live ? terminal_columns(p->out) : 0; /* of a line that is wider only a part would be redrawn */
    struct strbuf cut = {0};
    text_cut(&cut, sb_str(&b), columns > 1 ? columns - 1 : columns);
    fprintf(p->out, "%s%s%s", p->live ? "\r\033[K" : "", sb_str(&cut), p->live ? "" : "\n");
    sb_free(&cut);
    fflush(p->out);
    p->line_open = p->live;
    p->drawn = now;
    sb_free(&b);
}

void run_progress_end(struct run_progress *p)
{
    if (p->line_open)
        fputs("\r\033[K", p->out);
    p->line_open = false;
    fflush(p->out);
}

status check_last_seed(int64_t seed, int64_t seeds, struct err *e)
{
    return seed <= INT64_MAX - (seeds - 1)
               ? LATHE_OK
               : err_set(e, LATHE_USAGE, "--seed and --seeds: the last seed would be above %lld", (long long)INT64_MAX);
}
