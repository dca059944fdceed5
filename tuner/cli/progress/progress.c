/* progress.c: the events of a campaign as lines.
 *
 * Invariant: whenever a whole line is printed, the live block (progress_live.c) is not on the screen. Only these two
 * let control characters reach stderr, and only when `live`. */
#include "cli/progress/progress.h"
#include "base/clock.h"
#include "base/mem.h"
#include "console/output.h"
#include "console/spark.h"
#include "console/table.h"
#include "console/wrap.h"
#include <math.h>
#include <string.h>

#define LIVE_SECONDS 0.2
#define PLAIN_SECONDS 10.0
enum { REASON_COLUMNS = 160 };

void progress_init(struct progress *p, FILE *out, bool quiet)
{
    *p = (struct progress){
        .out = out,
        .quiet = quiet,
        .live = is_terminal(out),
        .colour = wants_colour(out),
        .utf8 = spark_utf8(),
        .columns = terminal_columns(out),
        .rows = terminal_rows(out),
        .now = clock_seconds,
        .best = NAN,
        .telemetry = {NAN, NAN, NAN, NAN, NAN, 0, false},
    };
    p->drawn_at = p->now();
}

void progress_end(struct progress *p)
{
    progress_erase(p);
    fflush(p->out);
    mem_free(p->steps);
    p->steps = NULL;
    p->nsteps = p->steps_cap = 0;
}

void progress_say(struct progress *p, enum progress_shade shade, const char *text)
{
    static const char *const start[] = {"", "\033[32m", "\033[33m", "\033[2m"};
    if (p->sink) {
        p->sink->line(p->sink->ctx, shade, text);
        return;
    }
    bool paint = p->colour && shade != PROGRESS_PLAIN;
    struct strbuf b = {0}, lines = {0};
    text_cut(&b, text, 0);
    progress_erase(p);
    progress_look(p);
    wrap_all(&lines, sb_str(&b), p->live ? p->columns : 0);
    fprintf(p->out, "%s%s%s\n", paint ? start[shade] : "", sb_str(&lines), paint ? "\033[0m" : "");
    fflush(p->out);
    sb_free(&b);
    sb_free(&lines);
}

void progress_duration(struct strbuf *b, double seconds)
{
    long long s = (long long)(seconds + 0.5);
    if (seconds < 9.95)
        sb_addf(b, "%.1f s", seconds);
    else if (s < 60)
        sb_addf(b, "%lld s", s);
    else if (s < 3600)
        sb_addf(b, "%lld min %lld s", s / 60, s % 60);
    else
        sb_addf(b, "%lld h %lld min", s / 3600, s % 3600 / 60);
}

int64_t progress_most(const struct campaign_progress *c)
{
    uint64_t there = c->space_size;
    bool fewer = there && there < (uint64_t)c->budget_trials && (uint64_t)c->trials <= there;
    return c->budget_trials > 0 && fewer ? (int64_t)there : c->budget_trials;
}

/* Seconds until the budget is gone, at the present rate; NaN if it cannot be told yet. */
static double seconds_left(const struct campaign_progress *c)
{
    double left = NAN;
    if (c->budget_trials > 0 && c->trials > 0)
        left = c->seconds / (double)c->trials * (double)(progress_most(c) - c->trials);
    if (c->budget_seconds > 0 && !(c->budget_seconds - c->seconds >= left))
        left = c->budget_seconds - c->seconds;
    return left < 0 ? 0 : left;
}

static void add_speedup(struct strbuf *b, double ms, double baseline_ms)
{
    if (ms > 0 && baseline_ms > 0)
        sb_addf(b, " (%.2fx)", baseline_ms / ms);
}

void progress_counts(struct strbuf *b, const struct campaign_progress *c)
{
    sb_addf(b, "%lld", (long long)c->trials);
    if (c->budget_trials > 0)
        sb_addf(b, "/%lld", (long long)progress_most(c));
    sb_addf(b, " trials  ok %lld", (long long)c->outcomes[OUTCOME_ok]);
    if (!isnan(c->best_ms)) {
        sb_addf(b, "  best %.4g ms", c->best_ms);
        add_speedup(b, c->best_ms, c->baseline_ms);
    }
    if (c->compiling || c->running)
        sb_addf(b, "  %d compiling, %d running", c->compiling, c->running);
    sb_add(b, "  ");
    progress_time(b, c);
}

void progress_time(struct strbuf *b, const struct campaign_progress *c)
{
    progress_duration(b, c->seconds);
    double left = seconds_left(c);
    if (c->phase && !strcmp(c->phase, "final")) {
        sb_add(b, ", final: the best are measured again");
    } else if (!isnan(left)) {
        sb_add(b, ", about ");
        progress_duration(b, left);
        sb_add(b, " left");
    }
}

/* The live block, or now and then a plain line. */
static void counts(struct progress *p, const struct campaign_progress *c, bool force)
{
    double now = p->now(), every = p->live ? LIVE_SECONDS : PLAIN_SECONDS;
    if (!force && now - p->drawn_at < every)
        return;
    p->drawn_at = now;
    if (p->live && !p->sink) {
        progress_draw(p, c);
        return;
    }
    struct strbuf b = {0};
    progress_counts(&b, c);
    if (p->sink)
        p->sink->counts(p->sink->ctx, sb_str(&b));
    else
        progress_say(p, PROGRESS_PLAIN, sb_str(&b));
    sb_free(&b);
}

static void add_what(struct strbuf *b, const struct campaign_event *ev)
{
    sb_add(b, ev->kernel ? ev->kernel->name : "");
    if (ev->config && *ev->config)
        sb_addf(b, " %s", ev->config);
}

/* "wrong: Y[3,17] got 0.5, wanted 0.25", first line of the reason only. */
static void add_failure(struct strbuf *b, const struct result *r)
{
    char reason[400];
    strncpy(reason, r->reason, sizeof reason - 1);
    reason[sizeof reason - 1] = 0;
    reason[strcspn(reason, "\n")] = 0;
    sb_add(b, outcome_name(r->outcome));
    if (*reason) {
        sb_add(b, ": ");
        text_cut(b, reason, REASON_COLUMNS);
    }
}

static void started(struct progress *p, const struct campaign_event *ev)
{
    const struct campaign_progress *c = ev->progress;
    struct strbuf b = {0};
    if (ev->campaign)
        sb_addf(&b, "campaign %lld", (long long)ev->campaign);
    else
        sb_add(&b, "replay"); /* nothing is stored */
    sb_addf(&b, " on %s: %llu configurations", c->device ? c->device : "?", (unsigned long long)c->space_size);
    if (c->budget_trials > 0)
        sb_addf(&b, ", up to %lld trials", (long long)c->budget_trials);
    if (c->budget_seconds > 0) {
        sb_add(&b, ", up to ");
        progress_duration(&b, c->budget_seconds);
    }
    progress_say(p, PROGRESS_PLAIN, sb_str(&b));
    sb_free(&b);
}

static void baseline(struct progress *p, const struct campaign_event *ev)
{
    struct strbuf b = {0};
    sb_add(&b, "baseline ");
    add_what(&b, ev);
    sb_add(&b, ": ");
    bool timed = ev->result->outcome == OUTCOME_ok || ev->result->outcome == OUTCOME_inaccurate;
    if (timed) {
        sb_addf(&b, "%.4g ms", ev->result->time_ms);
        if (ev->result->verification.done && !isnan(ev->result->verification.frobenius))
            sb_addf(&b, ", error %.1e", ev->result->verification.frobenius);
        if (ev->result->outcome != OUTCOME_ok)
            sb_addf(&b, " (%s)", outcome_name(ev->result->outcome));
    } else {
        add_failure(&b, ev->result);
    }
    progress_say(p, timed ? PROGRESS_PLAIN : PROGRESS_BAD, sb_str(&b));
    sb_free(&b);
}

/* Only a campaign for energy measures it in a trial. */
static bool has_energy(const struct result *r)
{
    return r->samples.energy_launches > 0;
}

static double value_of(const struct result *r)
{
    return has_energy(r) ? r->samples.energy_mj : r->time_ms;
}

static void trial(struct progress *p, const struct campaign_event *ev)
{
    const struct result *r = ev->result;
    struct strbuf b = {0};
    bool best = r->outcome == OUTCOME_ok && (!ev->kernel || ev->kernel->eligible) && !(value_of(r) >= p->best);
    if (best) {
        p->best = value_of(r);
        MEM_GROW(p->steps, p->nsteps, p->steps_cap);
        p->steps[p->nsteps++] = (struct progress_step){ev->progress->trials, p->best};
    }
    if (!isnan(r->telemetry.sm_mhz) || !isnan(r->telemetry.power_w) || !isnan(r->telemetry.temperature_c))
        p->telemetry = r->telemetry;
    if (ev->recorded) { /* it was told before */
        p->outcomes_seen |= 1u << r->outcome;
        return;
    }
    sb_addf(&b, "trial %lld: ", (long long)(ev->trial ? ev->trial : ev->number));
    if (r->outcome == OUTCOME_ok) {
        if (best) {
            sb_add(&b, "best so far ");
            if (has_energy(r))
                sb_addf(&b, "%.4g mJ, ", r->samples.energy_mj);
            sb_addf(&b, "%.4g ms", r->time_ms);
            add_speedup(&b, r->time_ms, ev->progress->baseline_ms);
            sb_add(&b, ": ");
            add_what(&b, ev);
            progress_say(p, PROGRESS_GOOD, sb_str(&b));
        }
    } else if (r->outcome != OUTCOME_skipped && !(p->outcomes_seen & 1u << r->outcome)) {
        p->outcomes_seen |= 1u << r->outcome;
        add_what(&b, ev);
        sb_add(&b, ": ");
        add_failure(&b, r);
        progress_say(p, PROGRESS_BAD, sb_str(&b));
    }
    sb_free(&b);
}

static void final(struct progress *p, const struct campaign_event *ev)
{
    struct strbuf b = {0};
    if (ev->rank > 0)
        sb_addf(&b, "final, place %d: ", ev->rank);
    else
        sb_add(&b, "final, baseline ");
    add_what(&b, ev);
    if (!isnan(ev->cold_ms))
        sb_addf(&b, ": %.4g ms cold", ev->cold_ms);
    if (!isnan(ev->sustained_ms))
        sb_addf(&b, ", %.4g ms sustained", ev->sustained_ms);
    progress_say(p, PROGRESS_PLAIN, sb_str(&b));
    sb_free(&b);
}

void progress_event(void *ctx, const struct campaign_event *ev)
{
    struct progress *p = ctx;
    if (p->quiet)
        return;
    switch (ev->kind) {
    case CAMPAIGN_NOTE:
        progress_say(p, PROGRESS_FAINT, ev->text);
        break;
    case CAMPAIGN_STARTED:
        started(p, ev);
        break;
    case CAMPAIGN_BASELINE:
        if (!ev->recorded)
            baseline(p, ev);
        break;
    case CAMPAIGN_TRIAL:
        trial(p, ev);
        break;
    case CAMPAIGN_FINAL:
        final(p, ev);
        break;
    case CAMPAIGN_PROPOSED:
    case CAMPAIGN_COMPILED:
    case CAMPAIGN_INCUMBENT:
        return; /* trials tell of it when they end */
    case CAMPAIGN_TICK:
        break;
    }
    counts(p, ev->progress, p->live && !p->sink && !p->lines_open && ev->kind != CAMPAIGN_TICK);
}
