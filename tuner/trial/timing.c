/* timing.c: see timing.h.
 *
 * Energy: NVML's counter moves in steps, tens of milliseconds apart, so it is looked at while the device works, and the
 * moments at which it moved count: the mean power between the first and the last of them, over the rate at which runs
 * ended. */
#include "trial/timing.h"
#include "base/clock.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>

bool bad_time(double ms, struct result *out)
{
    if (ms > 0 && isfinite(ms)) return false;
    snprintf(out->reason, sizeof out->reason, "the device reported a time of %g ms", ms);
    out->outcome = OUTCOME_unstable;
    return true;
}

/* --- units --- */

static status run_all(struct pipeline *p, int runs, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < runs && !s; i++) s = pipeline_run(p, e);
    return s;
}

status unit_open(struct bench *b, struct pipeline *p, int runs, struct timed_unit *out, struct err *e)
{
    *out = (struct timed_unit){.runs = runs};
    if (runs < 2 || !b->ops->graph_begin) return LATHE_OK;
    struct err unused = {0};
    status s = b->ops->sync(b->dev, e);
    if (s) return s;
    if (b->ops->graph_begin(b->dev, &unused)) return LATHE_OK;
    status recorded = run_all(p, runs, &unused);
    if (b->ops->graph_end(b->dev, &out->graph, &unused) || recorded) unit_close(b, out);
    /* once, untimed: the first launch of a graph also brings it to the device */
    s = out->graph ? b->ops->graph_launch(b->dev, out->graph, e) : LATHE_OK;
    return s ? s : b->ops->sync(b->dev, e);
}

void unit_close(struct bench *b, struct timed_unit *u)
{
    if (u->graph) b->ops->graph_free(b->dev, u->graph);
    u->graph = NULL;
}

static status queue(struct bench *b, struct pipeline *p, const struct timed_unit *u, struct err *e)
{
    return u->graph ? b->ops->graph_launch(b->dev, u->graph, e) : run_all(p, u->runs, e);
}

/* The clock now, and why it is not higher. */
static bool look(struct bench *b, struct result *out)
{
    struct telemetry *t = &out->telemetry;
    double mhz = NAN;
    uint64_t reasons = 0;
    if (!b->ops->pulse || !b->ops->pulse(b->dev, &mhz, &reasons)) return false;
    if (!(t->sm_mhz_low <= mhz)) t->sm_mhz_low = mhz;
    t->throttle_reasons |= reasons;
    t->throttle_known = true;
    return (reasons & THROTTLE_REASONS) != 0;
}

status unit_take(struct bench *b, struct pipeline *p, const struct timed_unit *u, struct result *out, double *ms,
                 bool *throttled, struct err *e)
{
    status s = bench_poison_outputs(b, GARBAGE_NAN, e);
    if (!s && u->flush) s = bench_flush(b, e);
    b->ops->mark(b->dev, 0);
    if (!s) s = queue(b, p, u, e);
    b->ops->mark(b->dev, 1);
    *throttled = !s && look(b, out);
    if (!s) s = b->ops->sync(b->dev, e);
    *ms = s ? NAN : b->ops->elapsed_ms(b->dev, 0, 1) / u->runs;
    return s;
}

/* --- back to back --- */

static status queue_burst(struct bench *b, struct pipeline *p, const struct timed_unit *u, int count, struct err *e)
{
    for (int i = 0; i < count; i++) {
        status s = bench_poison_outputs(b, GARBAGE_NAN, e);
        b->ops->mark(b->dev, 2 * i);
        if (!s) s = queue(b, p, u, e);
        if (s) return s;
        b->ops->mark(b->dev, 2 * i + 1);
    }
    return LATHE_OK;
}

static status wait_burst(struct bench *b, const struct timed_unit *u, int count, double *ms, struct err *e)
{
    status s = b->ops->sync(b->dev, e);
    for (int i = 0; i < count && !s; i++) ms[i] = b->ops->elapsed_ms(b->dev, 2 * i, 2 * i + 1) / u->runs;
    return s;
}

status unit_burst(struct bench *b, struct pipeline *p, const struct timed_unit *u, int count, struct result *out,
                  double *ms, bool *throttled, struct err *e)
{
    status s = queue_burst(b, p, u, count, e);
    *throttled = !s && look(b, out);
    return s ? s : wait_burst(b, u, count, ms, e);
}

struct meter {
    double seen;                    /* the counter, NaN before it was read */
    double first_mj, first_at, last_mj, last_at;    /* where it moved; NaN: never */
};

static void read_meter(struct bench *b, struct meter *m)
{
    double mj = b->ops->energy_mj ? b->ops->energy_mj(b->dev) : NAN, now = clock_seconds();
    if (isnan(mj) || mj == m->seen) return;
    bool moved = !isnan(m->seen);
    m->seen = mj;
    if (!moved) return;
    if (isnan(m->first_mj)) {
        m->first_mj = mj;
        m->first_at = now;
    }
    m->last_mj = mj;
    m->last_at = now;
}

/* Watches the counter while the device works; `end` is before it is done. A device that does not queue is done
 * already. */
static void watch_meter(struct bench *b, struct meter *m, double end)
{
    const double PAUSE = 0.001;
    for (read_meter(b, m); clock_seconds() < end; read_meter(b, m)) clock_sleep(PAUSE);
}

/* Fewer steps than these say little of a mean. */
enum { LEAST_RUNS = 3 };

static void read_energy(const struct meter *m, double runs, double seconds, struct busy *out)
{
    double span = m->last_at - m->first_at, per_run = runs > 0 ? seconds / runs : NAN;
    double mj = (m->last_mj - m->first_mj) / span * per_run;
    out->energy_mj = span > 0 && runs >= LEAST_RUNS && mj > 0 && isfinite(mj) ? mj : NAN;
    out->energy_launches = isnan(out->energy_mj) ? 0 : (int)(span / per_run);
}

status unit_keep_busy(struct bench *b, struct pipeline *p, const struct timed_unit *u, double unit_ms, double seconds,
                      double settle, struct result *out, struct busy *busy, struct err *e)
{
    enum { LEAST_UNITS = 3, CHUNK = DEV_MARKS / 2 };
    const double WATCHED = 0.7, CHUNKS = 50;       /* a fiftieth of the time is queued at once */
    int chunk = (int)fmin(CHUNK, fmax(1, 1000 * seconds / CHUNKS / unit_ms));
    double *ms = mem_zalloc(CHUNK, sizeof *ms), start = clock_seconds(), metered_at = NAN, metered = 0;
    struct meter meter = {NAN, NAN, NAN, NAN, NAN};
    *busy = (struct busy){.energy_mj = NAN};
    status s = LATHE_OK;
    while (!s && out->outcome != OUTCOME_unstable &&
           (clock_seconds() - start < seconds || busy->all.count < LEAST_UNITS)) {
        bool counts = clock_seconds() - start >= settle;
        double begun = clock_seconds();
        if (counts && isnan(metered_at)) metered_at = begun;
        s = queue_burst(b, p, u, chunk, e);
        bool throttled = !s && look(b, out);
        if (!s && counts && b->ops->energy_mj) watch_meter(b, &meter, begun + WATCHED * chunk * unit_ms / 1000);
        if (!s) s = wait_burst(b, u, chunk, ms, e);
        for (int i = 0; i < chunk && !s && !bad_time(ms[i], out); i++) {
            samples_add(&busy->all, ms[i], throttled);
            busy->total_ms += ms[i];
        }
        if (counts) metered += (double)chunk * u->runs;
    }
    if (!s && !isnan(metered_at)) read_energy(&meter, metered, clock_seconds() - metered_at, busy);
    mem_free(ms);
    return s;
}
