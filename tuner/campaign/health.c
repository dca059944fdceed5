/* health.c: a candidate that crashes is data; a device on which everything does is not. After some failures in a row
 * what was right before (a leader, else a baseline) is verified again; where that fails three times in a row too, the
 * device is taken out. */
#include "base/mem.h"
#include "campaign/internal.h"
#include <string.h>

enum { SUSPICIOUS = 3, TRIES = 3 };

static bool is_failure(enum outcome o)
{
    return o == OUTCOME_crash || o == OUTCOME_timeout || o == OUTCOME_launch;
}

void health_note(struct pool_device *d, int64_t trial, enum outcome outcome)
{
    if (!is_failure(outcome)) {
        d->failures = 0;
        return;
    }
    memmove(d->failed, d->failed + 1, sizeof d->failed - sizeof *d->failed);
    d->failed[2] = trial;
    d->failures++;
}

static struct leader *known_good(const struct pool_device *d)
{
    struct campaign *c = d->campaign;
    if (c->nleaders) return &c->leaders[0];
    for (int i = 0; i < c->nmeasured_baselines; i++)
        if (c->measured_baselines[i].right) return &c->measured_baselines[i];
    return NULL;
}

static void on_checked(void *ctx, const struct result *r, const char *text)
{
    struct pool_device *d = ctx;
    d->check_fails = !r || is_failure(r->outcome);
    d->check_why.len = 0;
    if (r)
        sb_addf(&d->check_why, "%s: %.500s", outcome_name(r->outcome), r->reason);
    else
        sb_addf(&d->check_why, "%.500s", text);
}

/* What it was right in as a trial: its limit is held against what verifying took, and it was ended only after what
 * measuring may take too. As long as the check answers by then, the device is not what fails. */
static double seconds_allowed(const struct campaign *c)
{
    const struct evaluation trial = {.measure = true, .options = campaign_trial_options(c)};
    return c->time_limit + evaluation_own_seconds(&trial);
}

static void try_once(struct pool_device *d)
{
    d->tries++;
    executor_evaluate(d->executor, &d->check, seconds_allowed(d->campaign), on_checked, d);
}

static status take_out(struct pool_device *d, struct err *e)
{
    char *why = mem_printf("it failed three times in a row on a configuration that was right before (trial %lld; "
                           "now %s)\ntrials %lld, %lld and %lld may have failed for the device's sake",
                           (long long)d->checked, sb_str(&d->check_why), (long long)d->failed[0],
                           (long long)d->failed[1], (long long)d->failed[2]);
    status s = device_take_out(d->campaign, d, why, e);
    mem_free(why);
    return s;
}

static void end_check(struct pool_device *d)
{
    d->checking = false;
    d->failures = d->tries = 0;
    evaluation_free(&d->check);
    d->check = (struct evaluation){0};
    sb_free(&d->check_why);
}

static status begin_check(struct pool_device *d, struct err *e)
{
    struct leader *l = d->failures >= SUSPICIOUS ? known_good(d) : NULL;
    if (!l) return LATHE_OK;
    d->checked = l->id;
    status s = leader_open(d->campaign, l, &d->check, e);
    if (s) return s;
    d->check.verify = true;
    d->checking = true;
    try_once(d);
    return LATHE_OK;
}

status health_check(struct pool_device *d, struct err *e)
{
    if (d->gone || d->campaign->interrupted || executor_busy(d->executor)) return LATHE_OK;
    if (!d->checking) return begin_check(d, e);
    if (d->check_fails && d->tries < TRIES) {
        try_once(d);
        return LATHE_OK;
    }
    status s = d->check_fails ? take_out(d, e) : LATHE_OK;
    end_check(d);
    return s;
}
