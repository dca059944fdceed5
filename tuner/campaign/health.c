/* health.c: a candidate that crashes is data; a device on which everything does is not. After some failures in a row
 * what was right before (a leader, else a baseline) is verified again; where that fails three times in a row too, the
 * device is taken out. */
#include "campaign/internal.h"
#include <string.h>

enum { SUSPICIOUS = 3, TRIES = 3 };

static bool is_failure(enum outcome o)
{
    return o == OUTCOME_crash || o == OUTCOME_timeout || o == OUTCOME_launch;
}

void health_note(struct campaign *c, int64_t number, enum outcome outcome)
{
    if (!is_failure(outcome)) {
        c->failures = 0;
        return;
    }
    memmove(c->failed, c->failed + 1, sizeof c->failed - sizeof *c->failed);
    c->failed[2] = number;
    c->failures++;
}

static struct leader *known_good(struct campaign *c)
{
    if (c->nleaders) return &c->leaders[0];
    for (int i = 0; i < c->nmeasured_baselines; i++)
        if (c->measured_baselines[i].right) return &c->measured_baselines[i];
    return NULL;
}

static bool stop(void *ctx) { return campaign_must_stop(ctx) && ((struct campaign *)ctx)->interrupted; }

static status try_once(struct campaign *c, const struct evaluation *v, bool *fails, struct strbuf *why, struct err *e)
{
    struct result r;
    status s = executor_evaluate_wait(c->executor, v, c->time_limit, stop, c, &r, e);
    *fails = !s && is_failure(r.outcome);
    if (s) return s == LATHE_INTERRUPTED ? LATHE_OK : s;
    why->len = 0;
    sb_addf(why, "%s: %.500s", outcome_name(r.outcome), r.reason);
    result_free(&r);
    return LATHE_OK;
}

static void take_out(struct campaign *c, const struct leader *l, const char *why)
{
    c->device_gone = true;
    err_set(&c->err, LATHE_DEVICE,
            "%s is taken out: it failed three times in a row on a configuration that was right before (trial %lld; "
            "now %s)\n"
            "trials %lld, %lld and %lld may have failed for the device's sake",
            c->target.device, (long long)l->id, why, (long long)c->failed[0], (long long)c->failed[1],
            (long long)c->failed[2]);
}

status health_check(struct campaign *c, struct err *e)
{
    struct leader *l = c->failures >= SUSPICIOUS ? known_good(c) : NULL;
    if (!l || c->device_gone || c->interrupted || executor_busy(c->executor)) return LATHE_OK;
    struct evaluation v;
    struct strbuf why = {0};
    bool fails = true;
    status s = leader_open(c, l, &v, e);
    v.verify = true;
    for (int i = 0; i < TRIES && !s && fails; i++) s = try_once(c, &v, &fails, &why, e);
    if (!s && fails)
        take_out(c, l, sb_str(&why));
    c->failures = 0;
    evaluation_free(&v);
    sb_free(&why);
    return s;
}
