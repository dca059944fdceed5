/* measure.c: how long does the pipeline take?
 *
 * TRIAL: samples with the L2 flushed before each, until the 95 % interval of the median is narrow, a ceiling is reached,
 * or two samples show that the candidate cannot win; verification has warmed everything up. COLD: a pause, then a short burst, the
 * first launches left out. SUSTAINED: back to back until the clock and power have settled; the last 40 % count.
 * Times come from the device's own marks around the whole pipeline. A zero, negative or non-finite time is a failure. */
#include "base/clock.h"
#include "base/mem.h"
#include "trial/evaluate.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool bad_time(double ms, struct result *out)
{
    if (ms > 0 && isfinite(ms)) return false;
    snprintf(out->reason, sizeof out->reason, "the device reported a time of %g ms", ms);
    out->outcome = OUTCOME_unstable;
    return true;
}

static double half_width(const struct samples *s) { return (s->high - s->low) / 2 / s->median; }

static status sample(struct bench *b, struct pipeline *p, bool flush, double *ms, struct err *e)
{
    status s = bench_poison_outputs(b, GARBAGE_NAN, e);
    if (!s && flush) s = bench_flush(b, e);
    b->ops->mark(b->dev, 0);
    if (!s) s = pipeline_run(p, e);
    b->ops->mark(b->dev, 1);
    if (!s) s = b->ops->sync(b->dev, e);
    *ms = s ? NAN : b->ops->elapsed_ms(b->dev, 0, 1);
    return s;
}

/* One disturbed sample hides nobody: the best of two must be too slow. */
static bool hopeless(const struct samples *s, const struct measure_options *o)
{
    if (!isfinite(o->incumbent_ms) || o->hopeless <= 0 || s->count < 2) return false;
    return fmin(s->ms[0], s->ms[1]) > o->hopeless * o->incumbent_ms;
}

static status measure_trial(struct bench *b, struct pipeline *p, const struct measure_options *o, struct result *out,
                            struct err *e)
{
    struct samples *s = &out->samples;
    double ms, start = clock_seconds();
    while (s->count < o->max_samples) {
        status st = sample(b, p, true, &ms, e);
        if (st) return st;
        if (bad_time(ms, out)) return LATHE_OK;
        if (o->check_each && (st = verify_timed_run(b, p, out, e))) return st;
        if (o->check_each && out->outcome == OUTCOME_wrong) return LATHE_OK;
        samples_add(s, ms, false);
        if (hopeless(s, o)) break;
        double spent = clock_seconds() - start;
        if (spent > 4 * o->max_seconds) break;              /* a slow pipeline is known well enough by few samples */
        if (s->count < o->min_samples) continue;
        samples_summarise(s);
        if (half_width(s) <= o->interval || spent > o->max_seconds) break;
    }
    samples_summarise(s);
    if (o->unstable_above > 0 && s->count >= o->min_samples && half_width(s) > o->unstable_above) {
        out->outcome = OUTCOME_unstable;
        snprintf(out->reason, sizeof out->reason, "median %.4g ms, but its 95 %% interval is %.4g .. %.4g after %d samples",
                 s->median, s->low, s->high, s->count);
    }
    return LATHE_OK;
}

/* Queues `launches` runs, each between two marks of its own, waits, and gives the time of each in ms[]. Outputs are
 * filled with NaN before each, outside the marks: no run finds its work done. */
static status burst(struct bench *b, struct pipeline *p, int launches, double *ms, struct err *e)
{
    for (int i = 0; i < launches; i++) {
        status s = bench_poison_outputs(b, GARBAGE_NAN, e);
        b->ops->mark(b->dev, 2 * i);
        if (!s) s = pipeline_run(p, e);
        if (s) return s;
        b->ops->mark(b->dev, 2 * i + 1);
    }
    status s = b->ops->sync(b->dev, e);
    for (int i = 0; i < launches && !s; i++) ms[i] = b->ops->elapsed_ms(b->dev, 2 * i, 2 * i + 1);
    return s;
}

static status measure_cold(struct bench *b, struct pipeline *p, const struct measure_options *o, struct result *out,
                           struct err *e)
{
    int launches = o->launches < DEV_MARKS / 2 ? o->launches : DEV_MARKS / 2;
    double *ms = mem_zalloc((size_t)launches + 1, sizeof *ms);
    status s = b->ops->sync(b->dev, e);
    clock_sleep(o->idle_seconds);
    if (!s) s = burst(b, p, launches, ms, e);
    for (int i = o->skip; i < launches && !s && !bad_time(ms[i], out); i++) samples_add(&out->samples, ms[i], false);
    mem_free(ms);
    samples_summarise(&out->samples);
    return s;
}

enum { CHUNK = DEV_MARKS / 2, KEPT = 4000 };

static status measure_sustained(struct bench *b, struct pipeline *p, const struct measure_options *o,
                                struct result *out, struct err *e)
{
    double ms[CHUNK], one;
    status s = sample(b, p, false, &one, e);
    if (s || bad_time(one, out)) return s;
    double start = clock_seconds(), total = 0;
    int chunk = (int)fmin(CHUNK, fmax(1, 100 / one));  /* about 0.1 s queued at a time */
    struct samples all = {.regime = REGIME_SUSTAINED};
    while (clock_seconds() - start < o->run_seconds || all.count < 3) {
        s = burst(b, p, chunk, ms, e);
        for (int i = 0; i < chunk && !s && !bad_time(ms[i], out); i++) {
            samples_add(&all, ms[i], false);
            total += ms[i];
        }
        if (s || out->outcome == OUTCOME_unstable) break;
    }
    /* the last 40 % of the time, thinned to a bounded number */
    double passed = 0;
    int first = 0;
    while (first < all.count - 1 && passed + all.ms[first] < 0.6 * total) passed += all.ms[first++];
    int step = (all.count - first + KEPT - 1) / KEPT;
    for (int i = first; i < all.count; i += step < 1 ? 1 : step) samples_add(&out->samples, all.ms[i], false);
    samples_free(&all);
    samples_summarise(&out->samples);
    return s;
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
    b->ops->telemetry(b->dev, &out->telemetry);
    if (!s && !(o->check_each && out->outcome == OUTCOME_wrong)) out->time_ms = out->samples.median;
    return s;
}
