/* drift.c: a baseline timed again and again during the search. What it takes then against what it took at first is how
 * far the device has drifted: by heat, by what else runs on it, by its power limit. It is recorded and told, never
 * corrected for: leaders and baselines meet in the final. */
#include "base/clock.h"
#include "campaign/internal.h"
#include <math.h>
#include <string.h>

/* The first baseline that is verified, else the first. */
static struct leader *measured_baseline(struct campaign *c)
{
    for (int i = 0; i < c->nmeasured_baselines; i++)
        if (c->measured_baselines[i].checked && c->measured_baselines[i].right) return &c->measured_baselines[i];
    return c->nmeasured_baselines ? &c->measured_baselines[0] : NULL;
}

static bool stop(void *ctx) { return campaign_must_stop(ctx) && ((struct campaign *)ctx)->interrupted; }

static status time_again(struct campaign *c, struct leader *l, struct result *r, struct err *e)
{
    struct evaluation v;
    status s = leader_open(c, l, &v, e);
    v.measure = true;
    v.options = campaign_trial_options(c);
    v.options.incumbent_ms = NAN;       /* it is nobody's rival */
    v.options.energy_seconds = 0;
    if (!s) s = executor_evaluate_wait(c->executor, &v, c->time_limit, stop, c, r, e);
    evaluation_free(&v);
    return s;
}

status drift_check(struct campaign *c, struct err *e)
{
    double now = clock_seconds();
    struct leader *l = measured_baseline(c);
    if (!c->timed_baseline) c->timed_baseline = now;
    if (!l || now - c->timed_baseline < c->request->drift_seconds) return LATHE_OK;
    if (c->device_gone || executor_busy(c->executor) || campaign_must_stop(c)) return LATHE_OK;
    struct result r;
    status s = time_again(c, l, &r, e);
    if (s) return s == LATHE_INTERRUPTED ? LATHE_OK : s;
    if (r.samples.count > 0) s = store_drift(c->store, c->id, l->id, 0, &r.samples, &r.telemetry, e);
    double drift = r.samples.median / l->time_ms - 1;
    if (fabs(drift) > fabs(c->drift)) c->drift = drift;
    result_free(&r);
    c->timed_baseline = clock_seconds();
    return s;
}

status drift_conclude(struct campaign *c, struct err *e)
{
    const double WORTH_A_NOTE = 0.03;
    const struct leader *l = measured_baseline(c);
    if (!l || !(fabs(c->drift) > WORTH_A_NOTE) || !strcmp(c->target.arch, "host")) return LATHE_OK;
    char note[200];
    snprintf(note, sizeof note, "%.60s drifted by up to %+.1f %% during the search, and so may the trials have: the final's "
             "ratios hold", l->kernel->name, 100 * c->drift);
    campaign_note(c, "warning: %s", note);
    return store_campaign_note(c->store, c->id, note, e);
}
