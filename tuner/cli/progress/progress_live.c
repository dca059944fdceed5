/* progress_live.c: the block at the bottom of a terminal while a campaign runs: how far it is, the best so far against
 * the baseline, trials by outcome, and the GPU's clock, power and temperature where they are known.
 *
 * Invariant: between two calls the cursor is behind the last of lines_open lines, which are the last on the screen. */
#include "console/output.h"
#include "cli/progress/progress.h"
#include "cli/progress/signals.h"
#include "console/spark.h"
#include "console/table.h"
#include <math.h>
#include <string.h>

enum { BAR_COLUMNS = 20, SPARK_COLUMNS = 16, LEAST_ROWS = 8 };

/* What a signal's handler writes stands below the block, which then stays where it is. */
static void leave_to_signals(struct progress *p)
{
    if (p->signals != signals_count())
        p->lines_open = 0;
    p->signals = signals_count();
}

void progress_erase(struct progress *p)
{
    leave_to_signals(p);
    if (p->lines_open > 1)
        fprintf(p->out, "\033[%dA", p->lines_open - 1);
    if (p->lines_open)
        fputs("\r\033[J", p->out);
    p->lines_open = 0;
}

/* The share of the budget that is used, of the one of two that ends the campaign sooner; NaN: it has none. */
static double budget_used(const struct campaign_progress *c)
{
    double trials = c->budget_trials > 0 ? (double)c->trials / (double)progress_most(c) : NAN;
    double seconds = c->budget_seconds > 0 ? c->seconds / c->budget_seconds : NAN;
    return seconds > trials || isnan(trials) ? seconds : trials;
}

/* Three digits, and never an exponent. */
static void add_rate(struct strbuf *b, double a_minute)
{
    sb_addf(b, a_minute < 100 ? "%.3g a minute  " : "%.0f a minute  ", a_minute);
}

static void pace_line(struct strbuf *b, const struct progress *p, const struct campaign_progress *c)
{
    double used = budget_used(c);
    sb_addf(b, "%lld", (long long)c->trials);
    if (c->budget_trials > 0)
        sb_addf(b, "/%lld", (long long)progress_most(c));
    sb_add(b, " trials  ");
    if (!isnan(used)) {
        spark_bar(b, used, BAR_COLUMNS, p->utf8 ? "\xe2\x96\x91" : ".", p->utf8);
        sb_add(b, "  ");
    }
    if (c->trials > 0 && c->seconds > 0)
        add_rate(b, 60 * (double)c->trials / c->seconds);
    progress_time(b, c);
}

/* The best after each sixteenth of the trials. */
static void add_history(struct strbuf *b, const struct progress *p, int64_t trials)
{
    double values[SPARK_COLUMNS];
    int step = 0;
    for (int i = 0; i < SPARK_COLUMNS; i++) {
        while (step < p->nsteps && p->steps[step].trials * SPARK_COLUMNS <= (i + 1) * trials) step++;
        values[i] = step ? p->steps[step - 1].value : NAN;
    }
    size_t before = b->len;
    sb_add(b, "  ");
    spark_line(b, values, SPARK_COLUMNS, p->utf8);
    if (b->len == before + 2)
        b->s[b->len = before] = 0;
}

static void best_line(struct strbuf *b, const struct progress *p, const struct campaign_progress *c)
{
    bool baseline = c->baseline_ms > 0;
    if (isnan(c->best_ms)) {
        sb_add(b, c->phase && !strcmp(c->phase, "baselines") ? "timing the baselines" : "nothing right so far");
        if (baseline)
            sb_addf(b, "; the baseline takes %.4g ms", c->baseline_ms);
        return;
    }
    sb_addf(b, "best %.4g ms", c->best_ms);
    if (baseline)
        sb_addf(b, ", %.2fx the baseline's speed (%.4g ms)", c->baseline_ms / c->best_ms, c->baseline_ms);
    add_history(b, p, c->trials);
    sb_addf(b, "  %s %s", c->best_kernel, c->best_config);
}

static void outcome_line(struct strbuf *b, const struct campaign_progress *c)
{
    const char *separator = "";
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (!c->outcomes[o] && o != OUTCOME_ok)
            continue;
        sb_addf(b, "%s%s %lld", separator, outcome_name((enum outcome)o), (long long)c->outcomes[o]);
        separator = "  ";
    }
    if (c->compiling || c->running)
        sb_addf(b, "  |  %d compiling, %d running", c->compiling, c->running);
}

static void device_line(struct strbuf *b, const struct telemetry *t)
{
    const char *separator = "";
    const struct {
        double value;
        const char *unit;
    } known[] = {{t->sm_mhz, "MHz"}, {t->power_w, "W"}, {t->temperature_c, "C"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (isnan(known[i].value))
            continue;
        sb_addf(b, "%s%.0f %s", separator, known[i].value, known[i].unit);
        separator = ", ";
    }
    if (b->len && t->throttle_known && t->throttle_reasons & THROTTLE_REASONS)
        sb_add(b, ", held down (power or heat)");
}

void progress_look(struct progress *p)
{
    if (is_terminal(p->out)) {
        p->columns = terminal_columns(p->out);
        p->rows = terminal_rows(p->out);
    }
}

void progress_block(struct progress *p, const struct strbuf *lines, const char *const *shades, int count)
{
    int drawn = 0;
    leave_to_signals(p);
    if (p->lines_open > 1)
        fprintf(p->out, "\033[%dA", p->lines_open - 1);
    for (int i = 0; i < count; i++) {
        if (!lines[i].len)
            continue;
        struct strbuf cut = {0};
        bool paint = p->colour && *shades[i];
        text_cut(&cut, sb_str(&lines[i]), p->columns > 1 ? p->columns - 1 : 1);
        fprintf(p->out, "%s\r%s%s%s\033[K", drawn ? "\n" : "", paint ? shades[i] : "", sb_str(&cut),
                paint ? "\033[0m" : "");
        sb_free(&cut);
        drawn++;
    }
    if (drawn < p->lines_open)
        fputs("\033[J", p->out);
    p->lines_open = drawn;
    fflush(p->out);
}

void progress_draw(struct progress *p, const struct campaign_progress *c)
{
    const char *const shades[] = {"", isnan(c->best_ms) ? "" : "\033[32m", "", "\033[2m"};
    struct strbuf lines[4] = {0};
    progress_look(p);
    pace_line(&lines[0], p, c);
    best_line(&lines[1], p, c);
    outcome_line(&lines[2], c);
    device_line(&lines[3], &p->telemetry);
    progress_block(p, lines, shades, p->rows > 0 && p->rows < LEAST_ROWS ? 1 : 4);
    for (int i = 0; i < 4; i++) sb_free(&lines[i]);
}
