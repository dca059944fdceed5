/* leaders.c: a configuration as something that can be evaluated, also long after its trial: what the final measures
 * again, what a device is checked with, and the baseline that is timed while the search goes on. */
#include "base/mem.h"
#include "campaign/internal.h"
#include "campaign/jobs.h"
#include <string.h>

status campaign_slots(struct campaign *c, const struct kernel *k, const config_choice *choice, struct value **slots,
                    struct err *e)
{
    *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof **slots);
    kernel_slots_fixed(c->problem, k, &c->target, *slots);
    status s = kernel_slots_config(k, choice, *slots, e);
    if (s) {
        mem_free(*slots);
        *slots = NULL;
    }
    return s;
}

struct measure_options campaign_trial_options(const struct campaign *c)
{
    /* A CPU that others use too is never quiet: its times are wide and still worth comparing. */
    bool gpu = campaign_on_gpu(c), energy = c->request->objective == OBJECTIVE_ENERGY;
    return (struct measure_options){.regime = REGIME_TRIAL,
                                    .min_samples = 5,
                                    .max_samples = gpu ? 40 : 15,
                                    .max_seconds = gpu ? 0.25 : 0.5,
                                    .interval = gpu ? 0.005 : 0.05,
                                    .unstable_above = gpu ? 0.25 : 0,
                                    .incumbent_ms = c->progress.best_ms,
                                    /* a slow one may take less power; a CPU's two samples say less */
                                    .hopeless = energy ? 4 : gpu ? 1.25 : 2,
                                    .batch_below_ms = gpu ? CAMPAIGN_BATCH_BELOW_MS : 0,
                                    .cool_seconds = 0.05,
                                    .retakes = 8,
                                    .energy_seconds = energy ? 0.6 : 0};
}

const struct entrant *campaign_entrant(const struct campaign *c, const struct kernel *k)
{
    for (int i = 0; i < c->nentrants; i++)
        if (c->entrants[i].kernel == k) return &c->entrants[i];
    for (int i = 0; i < c->nbaselines; i++)
        if (c->baselines[i].kernel == k) return &c->baselines[i];
    return NULL;
}

/* The leader's image; compiled again if it is not there: the campaign was resumed, or the cache was trimmed. */
static status open_image(struct campaign *c, struct leader *l, struct value *slots, struct err *e)
{
    const struct entrant *x = campaign_entrant(c, l->kernel);
    struct compile_job job;
    if (!x || !x->source || (l->image && file_exists(l->image))) return LATHE_OK;
    status s = job_make(c->problem, l->kernel, x->source, slots, &job, e);
    if (s) return s;
    mem_free(l->image);
    l->image = NULL;
    s = campaign_compile(c, &job, l->kernel, &l->image, e);
    job_free(&job);
    if (s != LATHE_SPEC && s != LATHE_COMPILER) return s;
    l->refused = true;
    campaign_note(c, "final: trial %lld is out: %s", (long long)l->id, e->text);
    return LATHE_OK;
}

status leader_open(struct campaign *c, struct leader *l, struct evaluation *out, struct err *e)
{
    *out = (struct evaluation){.checked = l->checked, .measure_inexact = l->baseline};
    struct value *slots;
    status s = campaign_slots(c, l->kernel, l->choice, &slots, e);
    if (s) return s;
    s = plan_build(c->problem, l->kernel, slots, &out->plan, e);
    if (!s) campaign_vary(c, l->kernel, slots, out);
    if (!s) s = open_image(c, l, slots, e);
    mem_free(slots);
    out->image = mem_strdup(l->image);
    return s;
}

status leader_reopen(struct campaign *c, struct leader *l, struct evaluation *v, struct err *e)
{
    if (!l->image || !v->image || strcmp(l->image, v->image) || file_exists(l->image)) return LATHE_OK;
    struct value *slots;
    status s = campaign_slots(c, l->kernel, l->choice, &slots, e);
    if (s) return s;
    s = open_image(c, l, slots, e);
    mem_free(slots);
    mem_free(v->image);
    v->image = mem_strdup(l->image);
    return s;
}

void leaders_free(struct leader *list, int n)
{
    for (int i = 0; i < n; i++) {
        mem_free(list[i].choice);
        mem_free(list[i].image);
    }
    mem_free(list);
}
