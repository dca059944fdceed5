/* measure.c: how long does the pipeline take, and how much energy?
 *
 * TRIAL: samples with the L2 flushed before each, until the 95 % interval of the median is narrow, a ceiling is
 * reached, or two samples show that the candidate cannot win; verification has warmed everything up. What is so short
 * that marks and launches would show is then timed in batches. COLD: a pause, then a short burst, the first launches
 * left out. SUSTAINED: back to back until the clock and power have settled; the last 40 % count.
 * Times come from the device's own marks around the whole pipeline. A zero, negative or non-finite time is a failure.
 * A sample that was taken while the clock was held down is kept, marked, and taken again after a pause. */
#include "trial/timing.h"
#include "base/clock.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static double half_width(const struct samples *s) { return (s->high - s->low) / 2 / s->median; }

/* One disturbed sample hides nobody: the best of two must be too slow. */
bool measure_is_hopeless(const struct samples *s, const struct measure_options *o)
{
    if (!isfinite(o->incumbent_ms) || o->hopeless <= 0 || s->count < 2) return false;
    /* a single run beside a batch's: its launch and a cold L2 are in it */
    double apart = s->batch < 2 && o->incumbent_ms < o->batch_below_ms ? o->batch_below_ms : 0;
    return fmin(s->ms[0], s->ms[1]) > o->hopeless * o->incumbent_ms + apart;
}

/* A pause after a throttled sample lets the chip cool, and the next is taken in its place. Where some in a row are no
 * better it is the pipeline itself that the chip cannot run faster, and no more is paid for it. */
struct retakes {
    int left, in_a_row;
    bool over;                  /* throttled samples count as the others do, where those are too few */
    double paused;              /* seconds, all together */
};
enum { IN_A_ROW = 3 };

static bool retake(struct retakes *r, bool throttled, const struct measure_options *o)
{
    r->in_a_row = throttled ? r->in_a_row + 1 : 0;
    r->over |= throttled && (r->left <= 0 || r->in_a_row >= IN_A_ROW);
    if (!throttled || r->over) return false;
    r->left--;
    clock_sleep(o->cool_seconds);
    r->paused += o->cool_seconds;
    return true;
}

/* How many samples count. */
static int counted(const struct samples *s, const struct retakes *r)
{
    int clean = s->count - samples_throttled(s);
    return clean >= SAMPLES_ENOUGH || !r->over ? clean : s->count;
}

/* Units until the statistics are satisfied. *ended: the outputs are wrong, or a time was bad. */
static status take_samples(struct bench *b, struct pipeline *p, const struct timed_unit *u,
                           const struct measure_options *o, struct result *out, bool *ended, struct err *e)
{
    struct samples *s = &out->samples;
    struct retakes retakes = {.left = o->retakes};
    double ms, start = clock_seconds();
    *ended = true;
    while (counted(s, &retakes) < o->max_samples) {
        bool throttled;
        status st = unit_take(b, p, u, out, &ms, &throttled, e);
        if (st) return st;
        if (bad_time(ms, out)) return LATHE_OK;
        if (o->check_each && (st = verify_later_run(b, p, AFTER_TIMED_RUN, out, e))) return st;
        if (o->check_each && out->outcome == OUTCOME_wrong) return LATHE_OK;
        samples_add(s, ms, throttled);
        if (measure_is_hopeless(s, o)) break;
        if (retake(&retakes, throttled, o)) continue;
        double spent = clock_seconds() - start - retakes.paused;
        if (spent > 4 * o->max_seconds) break;              /* a slow pipeline is known well enough by few samples */
        if (counted(s, &retakes) < o->min_samples) continue;
        samples_summarise(s);
        if (half_width(s) <= o->interval || spent > o->max_seconds) break;
    }
    samples_summarise(s);
    *ended = false;
    return LATHE_OK;
}

/* How many runs a batch has, so that it takes about BATCH_MS. */
static int batch_runs(double ms)
{
    enum { MOST = 256 };
    const double BATCH_MS = 0.5;
    return (int)fmin(MOST, fmax(2, ceil(BATCH_MS / ms)));
}

/* Batches in place of the single runs that were taken. The first median says how long one is. */
static status take_batches(struct bench *b, struct pipeline *p, const struct measure_options *o, struct result *out,
                           bool *ended, struct err *e)
{
    struct timed_unit u;
    status s = unit_open(b, p, batch_runs(out->samples.median), &u, e);
    if (s) return s;
    samples_free(&out->samples);
    out->samples.batch = u.runs;
    out->samples.graph = u.graph != NULL;
    s = take_samples(b, p, &u, o, out, ended, e);
    unit_close(b, &u);
    return s;
}

static status measure_energy(struct bench *b, struct pipeline *p, const struct measure_options *o, struct result *out,
                             struct err *e)
{
    struct timed_unit u;
    struct busy busy;
    int runs = out->samples.batch > 1 ? out->samples.batch : 1;
    status s = unit_open(b, p, runs, &u, e);
    if (s) return s;
    const double SETTLE = 0.3;
    s = unit_keep_busy(b, p, &u, out->samples.median * runs, o->energy_seconds, SETTLE * o->energy_seconds, out, &busy,
                       e);
    out->samples.energy_mj = busy.energy_mj;
    out->samples.energy_launches = busy.energy_launches;
    if (!s && out->outcome != OUTCOME_unstable && !busy.energy_launches) {
        out->outcome = OUTCOME_unstable;
        snprintf(out->reason, sizeof out->reason, "no energy: the counter did not move twice in %g s",
                 o->energy_seconds);
    }
    samples_free(&busy.all);
    unit_close(b, &u);
    return s;
}

static status measure_trial(struct bench *b, struct pipeline *p, const struct measure_options *o, struct result *out,
                            struct err *e)
{
    struct samples *s = &out->samples;
    const struct timed_unit one = {.runs = 1, .flush = true};
    bool ended;
    status st = take_samples(b, p, &one, o, out, &ended, e);
    if (st || ended) return st;
    bool in_batches =
        s->median < o->batch_below_ms || (o->incumbent_ms < o->batch_below_ms && !measure_is_hopeless(s, o));
    if (in_batches) st = take_batches(b, p, o, out, &ended, e);
    if (st || ended) return st;
    if (o->unstable_above > 0 && s->count >= o->min_samples && half_width(s) > o->unstable_above) {
        out->outcome = OUTCOME_unstable;
        snprintf(out->reason, sizeof out->reason,
                 "median %.4g ms, but its 95 %% interval is %.4g .. %.4g after %d samples", s->median, s->low, s->high,
                 s->count);
        return LATHE_OK;
    }
    return o->energy_seconds > 0 ? measure_energy(b, p, o, out, e) : LATHE_OK;
}

/* What the final times: a run, or, where all entries are timed in batches, a batch. *ms: about what a unit takes. */
static status open_final_unit(struct bench *b, struct pipeline *p, const struct measure_options *o, struct result *out,
                              struct timed_unit *u, double *ms, struct err *e)
{
    const struct timed_unit one = {.runs = 1};
    bool throttled;
    *u = one;
    status s = unit_take(b, p, &one, out, ms, &throttled, e);
    if (s || bad_time(*ms, out) || !o->batches) return s;
    s = unit_open(b, p, batch_runs(*ms), u, e);
    *ms *= u->runs;
    out->samples.batch = u->runs;
    out->samples.graph = u->graph != NULL;
    return s;
}

static status measure_cold(struct bench *b, struct pipeline *p, const struct measure_options *o, struct result *out,
                           struct err *e)
{
    int launches = o->launches < DEV_MARKS / 2 ? o->launches : DEV_MARKS / 2;
    double *ms = mem_zalloc((size_t)launches + 1, sizeof *ms), one;
    struct timed_unit u;
    struct retakes retakes = {.left = o->retakes};
    bool throttled = false;
    status s = open_final_unit(b, p, o, out, &u, &one, e);
    do {
        if (!s) s = b->ops->sync(b->dev, e);
        if (s || out->outcome == OUTCOME_unstable) break;
        clock_sleep(o->idle_seconds);
        s = unit_burst(b, p, &u, launches, out, ms, &throttled, e);
        for (int i = o->skip; i < launches && !s && !bad_time(ms[i], out); i++)
            samples_add(&out->samples, ms[i], throttled);
    } while (!s && out->outcome != OUTCOME_unstable && retake(&retakes, throttled, o));
    mem_free(ms);
    unit_close(b, &u);
    samples_summarise(&out->samples);
    return s;
}

static status measure_sustained(struct bench *b, struct pipeline *p, const struct measure_options *o,
                                struct result *out, struct err *e)
{
    enum { KEPT = 4000 };
    const double SETTLE = 0.6;
    double ms;
    struct timed_unit u;
    struct busy busy = {.energy_mj = NAN};
    status s = open_final_unit(b, p, o, out, &u, &ms, e);
    if (!s && out->outcome != OUTCOME_unstable)
        s = unit_keep_busy(b, p, &u, ms, o->run_seconds, SETTLE * o->run_seconds, out, &busy, e);
    unit_close(b, &u);
    /* the last 40 % of the time, thinned to a bounded number; throttled or not: this regime is what the chip can keep
     * up */
    const struct samples *all = &busy.all;
    double passed = 0;
    int first = 0;
    while (first < all->count - 1 && passed + all->ms[first] < SETTLE * busy.total_ms) passed += all->ms[first++];
    int step = (all->count - first + KEPT - 1) / KEPT;
    for (int i = first; i < all->count; i += step < 1 ? 1 : step) samples_add(&out->samples, all->ms[i], false);
    out->samples.energy_mj = busy.energy_mj;
    out->samples.energy_launches = busy.energy_launches;
    samples_free(&busy.all);
    samples_summarise(&out->samples);
    return s;
}

/* Clocks, power and temperature as they are now; of reasons and of the lowest clock what was seen before counts too. */
static void read_telemetry(struct bench *b, struct telemetry *t)
{
    struct telemetry now = {.sm_mhz = NAN, .mem_mhz = NAN, .power_w = NAN, .temperature_c = NAN, .sm_mhz_low = NAN};
    b->ops->telemetry(b->dev, &now);
    if (t->sm_mhz_low < now.sm_mhz_low || isnan(now.sm_mhz_low)) now.sm_mhz_low = t->sm_mhz_low;
    now.throttle_reasons |= t->throttle_reasons;
    now.throttle_known |= t->throttle_known;
    *t = now;
}

status measure_pipeline(struct bench *b, struct pipeline *p, const struct measure_options *o, struct result *out,
                        struct err *e)
{
    out->samples.regime = o->regime;
    status s;
    switch (o->regime) {
    case REGIME_COLD: s = measure_cold(b, p, o, out, e); break;
    case REGIME_SUSTAINED: s = measure_sustained(b, p, o, out, e); break;
    default: s = measure_trial(b, p, o, out, e); break;
    }
    read_telemetry(b, &out->telemetry);
    if (!s && !(o->check_each && out->outcome == OUTCOME_wrong)) out->time_ms = out->samples.median;
    return s;
}
