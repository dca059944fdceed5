/* trial_end.c: how a trial ends, now or, where the campaign was resumed, as it was recorded: the same follows. */
#include "base/clock.h"
#include "base/mem.h"
#include "campaign/resume_impl.h"
#include "campaign/trial_impl.h"
#include <math.h>
#include <string.h>

void trial_end_as(struct trial *t, enum outcome outcome, const char *reason)
{
    t->result.outcome = outcome;
    snprintf(t->result.reason, sizeof t->result.reason, "%.1590s", reason ? reason : "");
    t->state = TRIAL_ENDED;
}

void trial_free(struct trial *t)
{
    evaluation_free(&t->evaluation);
    result_free(&t->result);
    mem_free(t->slots);
    mem_free(t->choice);
    mem_free(t->text);
    mem_free(t);
}

/* --- leaders --- */

/* What the campaign looks for the least of. */
static double value_of(const struct trial *t)
{
    return t->c->request->objective == OBJECTIVE_ENERGY ? t->result.samples.energy_mj : t->result.time_ms;
}

static struct leader leader_of(struct trial *t)
{
    const struct kernel *k = t->entrant->kernel;
    return (struct leader){.id = t->id, .kernel = k, .choice = config_copy(k, t->choice),
                           .image = mem_strdup(t->evaluation.image), .time_ms = t->result.time_ms, .value = value_of(t),
                           .cold_ms = NAN, .sustained_ms = NAN, .energy_mj = NAN, .baseline = k->baseline,
                           .checked = k->checked,
                           .position = t->device ? t->device->position : t->only ? t->only->position : 0,
                           .right = t->result.outcome == OUTCOME_ok};
}

static void leader_free(struct leader *l)
{
    mem_free(l->choice);
    mem_free(l->image);
}

static void keep_leader(struct campaign *c, struct trial *t)
{
    double ms = t->result.time_ms;
    const struct kernel *k = t->entrant->kernel;
    if (k->baseline) {
        c->measured_baselines = mem_resize(c->measured_baselines, (size_t)c->nmeasured_baselines + 1,
                                           sizeof *c->measured_baselines);
        c->measured_baselines[c->nmeasured_baselines++] = leader_of(t);
        bool first = !isfinite(c->progress.baseline_ms) || t->number > c->baseline_number;
        if (k->checked && t->result.outcome == OUTCOME_ok && first) {
            c->progress.baseline_ms = ms;
            c->baseline_number = t->number;
        }
        return;
    }
    if (!k->eligible) return;
    double value = value_of(t);
    if (!c->nleaders || value < c->leaders[0].value) {
        c->progress.best_ms = ms;
        c->best_seconds = t->result.stage.load + t->result.stage.verify + t->result.stage.measure;
        snprintf(c->progress.best_config, sizeof c->progress.best_config, "%s", t->text);
        snprintf(c->progress.best_kernel, sizeof c->progress.best_kernel, "%s", k->name);
    }
    int at = c->nleaders;
    while (at > 0 && c->leaders[at - 1].value > value) at--;
    int most = campaign_most_leaders(c->request);
    if (at >= most) return;
    if (c->nleaders == most) leader_free(&c->leaders[--c->nleaders]);
    memmove(&c->leaders[at + 1], &c->leaders[at], (size_t)(c->nleaders - at) * sizeof *c->leaders);
    c->leaders[at] = leader_of(t);
    c->nleaders++;
}

/* --- ends --- */

/* A kernel that never compiles would use the whole budget up: said once, early. */
static void warn_if_hopeless(struct campaign *c, const struct trial *t)
{
    enum { ENOUGH = 12 };
    if (c->progress.trials == ENOUGH && c->progress.outcomes[OUTCOME_compile] == ENOUGH)
        campaign_note(c, "the first %d configurations did not compile; the last one: %.600s", ENOUGH, t->result.reason);
}

/* What follows from its result. NOTE: from what the store keeps of it alone, so that a resumed campaign tells its
 * strategy the same. */
static void account(struct trial *t, bool refused, bool recorded)
{
    struct campaign *c = t->c;
    const struct result *r = &t->result;
    double best_ms = c->progress.best_ms;
    bool baseline = t->entrant->kernel->baseline, ok = r->outcome == OUTCOME_ok;
    if (!baseline) {
        c->progress.trials++;
        c->progress.outcomes[r->outcome]++;
        if (!recorded) warn_if_hopeless(c, t);
    }
    if (ok && refused && !baseline) c->refused_before++;
    if ((ok && !refused) || (baseline && isfinite(r->time_ms))) keep_leader(c, t);
    if (t->slot >= 0) {
        bool timed = ok || r->outcome == OUTCOME_inaccurate;
        c->known[t->slot] = (struct known){
            .answer = {r->outcome, ok ? value_of(t) : NAN, r->stage.total, timed ? value_of(t) : NAN},
            .ended = true,
        };
    }
    struct campaign_event ev = {.kind = baseline ? CAMPAIGN_BASELINE : CAMPAIGN_TRIAL, .trial = t->id,
                                .number = t->number, .kernel = t->entrant->kernel, .config = t->text, .result = r,
                                .recorded = recorded,
                                .text = t->device ? t->device->name : NULL};
    campaign_emit(c, &ev);
    if (!(c->progress.best_ms < best_ms) && !(isnan(best_ms) && isfinite(c->progress.best_ms))) return;
    ev.kind = CAMPAIGN_INCUMBENT;
    campaign_emit(c, &ev);
}

status trial_close(struct trial *t, struct err *e)
{
    struct campaign *c = t->c;
    struct stage_seconds *stage = &t->result.stage;
    stage->compile = t->compile_seconds;
    stage->compile_cached = t->compile_cached;
    stage->total = clock_seconds() - t->begun;
    stage->strategy = t->strategy_seconds;
    stage->device = t->device_seconds;
    stage->store = c->store_seconds;
    campaign_forget_error(c, &t->result.verification);
    double start = clock_seconds();
    status s = store_trial_end(c->store, t->id, &t->result, e);
    c->store_seconds = clock_seconds() - start;         /* its own end is told by the next */
    if (!s) account(t, false, false);
    return s;
}

/* --- what was recorded --- */

static status begin_again(struct trial *t, int outcome, int attempts, struct err *e)
{
    struct campaign *c = t->c;
    if (outcome >= 0) attempts = 0;     /* skipped: the campaign was ended by its user, whatever ran */
    t->suspect = attempts == 1;
    if (attempts > 1) {
        campaign_note(c, "trial %lld is left: it was on the device both times that the campaign was cut off: %s",
                      (long long)t->id, t->text);
        trial_end_as(t, OUTCOME_crash,
                     "it was on the device when the campaign was cut off, and again when it was tried once more");
        return LATHE_OK;
    }
    if (t->suspect)
        campaign_note(
            c,
            "trial %lld was on the device when the campaign was cut off: it is tried once more, alone, after the "
            "others: %s",
            (long long)t->id, t->text);
    return store_trial_again(c->store, t->id, attempts, e);
}

status trial_recall(struct trial *t, bool *over, struct err *e)
{
    struct campaign *c = t->c;
    struct stored_trial was;
    bool found;
    *over = false;
    const char *kernel = t->entrant->kernel->name;
    status s = resumption_find(c->request->resumed, c->store, t->number, kernel, t->text, &was, &found, e);
    if (s || !found) return s;
    t->id = was.id;
    bool late = campaign_out_of_time(c);    /* what has no result gets none */
    *over = was.outcome >= 0 && (late || was.outcome != OUTCOME_skipped);
    if (*over) {
        t->result.outcome = (enum outcome)was.outcome;
        t->result.time_ms = was.time_ms;
        t->result.samples.energy_mj = was.energy_mj;
        t->result.samples.energy_launches = isfinite(was.energy_mj);
        t->result.stage.total = was.seconds;
        t->result.stage.measure = was.device_seconds;       /* with the two before it */
        account(t, was.refused, true);
    } else if (late) {
        trial_end_as(t, OUTCOME_skipped, "the campaign ended first");
    } else {
        s = begin_again(t, was.outcome, was.attempts, e);
    }
    sb_free(&was.configuration);
    return s;
}
