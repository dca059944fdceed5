/* drift.c: a baseline timed again and again during the search. What it takes then against what it took at first is how
 * far the device has drifted: by heat, by what else runs on it, by its power limit. It is recorded and told, never
 * corrected for: leaders and baselines meet in the final. */
#include "base/clock.h"
#include "base/mem.h"
#include "campaign/internal.h"
#include <math.h>
#include <string.h>

/* The first baseline that is verified, else the first, of those that this device timed. */
static struct leader *measured_baseline(const struct pool_device *d)
{
    struct campaign *c = d->campaign;
    struct leader *first = NULL;
    for (int i = 0; i < c->nmeasured_baselines; i++) {
        struct leader *l = &c->measured_baselines[i];
        if (l->position != d->position) continue;
        if (l->checked && l->right) return l;
        if (!first) first = l;
    }
    return first;
}

static void on_timed(void *ctx, const struct result *r, const char *text)
{
    struct pool_device *d = ctx;
    struct err unread;
    if (!r) {
        if (!d->lost) d->lost = mem_strdup(text);
        return;
    }
    json_t *j = result_to_json(r);      /* r is borrowed */
    if (result_from_json(j, &d->again, &unread)) result_init(&d->again);
    json_decref(j);
}

static status begin(struct pool_device *d, struct leader *l, struct err *e)
{
    struct evaluation v;
    result_init(&d->again);
    status s = leader_open(d->campaign, l, &v, e);
    v.measure = true;
    v.options = campaign_trial_options(d->campaign);
    v.options.incumbent_ms = NAN;       /* it is nobody's rival */
    v.options.energy_seconds = 0;
    if (!s) d->retimed = l;
    if (!s) executor_evaluate(d->executor, &v, d->campaign->time_limit, on_timed, d);
    evaluation_free(&v);
    return s;
}

static status end(struct pool_device *d, struct err *e)
{
    struct campaign *c = d->campaign;
    struct leader *l = d->retimed;
    struct result *r = &d->again;
    status s = LATHE_OK;
    d->retimed = NULL;
    d->timed_baseline = clock_seconds();
    if (r->samples.count > 0) {
        s = store_drift(c->store, c->id, l->id, d->position, &r->samples, &r->telemetry, 0, e);
        double drift = r->samples.median / l->time_ms - 1;
        if (fabs(drift) > fabs(d->drift)) d->drift = drift;
    }
    result_free(r);
    return s;
}

status drift_check(struct pool_device *d, struct err *e)
{
    struct campaign *c = d->campaign;
    double now = clock_seconds();
    struct leader *l = measured_baseline(d);
    if (d->gone || executor_busy(d->executor)) return LATHE_OK;
    if (d->retimed) return end(d, e);
    if (!d->timed_baseline) d->timed_baseline = now;
    if (!l || d->checking || now - d->timed_baseline < c->request->drift_seconds || campaign_must_stop(c))
        return LATHE_OK;
    return begin(d, l, e);
}

status drift_conclude(struct campaign *c, struct err *e)
{
    const double WORTH_A_NOTE = 0.03;
    status s = LATHE_OK;
    for (int i = 0; i < c->ndevices && !s; i++) {
        const struct pool_device *d = &c->devices[i];
        const struct leader *l = measured_baseline(d);
        if (!l || !(fabs(d->drift) > WORTH_A_NOTE) || !strcmp(c->target.arch, "host")) continue;
        char note[300];
        snprintf(note, sizeof note,
                 "%.60s drifted by up to %+.1f %%%s%s during the search, and so may the trials have: the "
                 "final's ratios hold",
                 l->kernel->name, 100 * d->drift, c->ndevices > 1 ? " on " : "", c->ndevices > 1 ? d->name : "");
        campaign_note(c, "warning: %s", note);
        s = store_campaign_note(c->store, c->id, note, e);
    }
    return s;
}
