/* replay_search.c: see replay_search.h. Each evaluation is a look-up in the recording; nothing is allocated for one but
 * the memo of those that were proposed. */
#include "campaign/replay/replay_search.h"

#include "base/clock.h"
#include "campaign/replay/memo.h"
#include <math.h>

struct run {
    const struct replay_search *r;
    struct replay_totals *t;
    struct memo memo;
    int64_t stale;
    double uncharged;           /* the strategy's own seconds that are not on the clock yet */
    struct err *e;
};

static void look_up(const struct run *run, const struct proposal *p, struct replay_evaluation *v)
{
    const struct recording *recording = replay_recording(run->r->replay);
    *v = (struct replay_evaluation){.choice = p->choice, .index = p->index, .value_ms = NAN};
    if (p->index < 0) {
        v->outcome = OUTCOME_constraint;
        v->reason = p->why;
        return;
    }
    int64_t at = replay_find(run->r->replay, p->choice);
    if (at < 0) {
        v->outcome = OUTCOME_missing;
        v->reason = "the recording has no such configuration";
        v->seconds = replay_missing_seconds(run->r->replay);
        return;
    }
    v->recorded = &recording->configs[at];
    v->outcome = v->recorded->outcome;
    v->reason = v->recorded->reason;
    v->value_ms = v->recorded->value_ms;
    v->seconds = run->r->cost ? run->r->cost(v->recorded) : recorded_trial_seconds(v->recorded);
}

static bool is_over(const struct run *run)
{
    const struct replay_search *r = run->r;
    struct replay_totals *t = run->t;
    t->end = REPLAY_BUDGET;
    if ((r->evaluations && t->evaluations >= r->evaluations) || (r->seconds > 0 && t->elapsed >= r->seconds))
        return true;
    t->end = REPLAY_STOPPED;
    if (r->stop && r->stop(r->ctx))
        return true;
    t->end = REPLAY_STALE;
    return run->stale >= STRATEGY_NOTHING_NEW;
}

static status evaluate(struct run *run, const struct proposal *p)
{
    struct replay_evaluation v;
    status s = LATHE_OK;
    look_up(run, p, &v);
    bool fresh = p->index < 0 || memo_find(&run->memo, 0, (uint64_t)p->index) < 0;
    if (fresh) {
        if (p->index >= 0)
            memo_put(&run->memo, 0, (uint64_t)p->index, 0);
        v.number = ++run->t->evaluations;
        v.elapsed = run->t->elapsed += run->uncharged + v.seconds;
        run->uncharged = 0;
        if (run->r->on_evaluation)
            s = run->r->on_evaluation(run->r->ctx, &v, run->e);
    }
    run->stale = fresh && p->index >= 0 ? 0 : run->stale + 1;
    strategy_tell(run->r->strategy, p->number, &(struct answer){v.outcome, v.value_ms, v.seconds, v.value_ms});
    return s;
}

static status ask(struct run *run, const struct proposal **batch, int *n)
{
    const struct replay_search *r = run->r;
    double start = r->own_time ? clock_thread_seconds() : 0;
    status s = strategy_ask(r->strategy, batch, n, run->e);
    double own = r->own_time ? clock_thread_seconds() - start : 0;
    run->t->own_seconds += own;
    run->uncharged += r->charged ? own : 0;
    return s;
}

status replay_search(const struct replay_search *r, struct replay_totals *out, struct err *e)
{
    struct run run = {.r = r, .t = out, .e = e};
    status s = LATHE_OK;
    *out = (struct replay_totals){0};
    while (!s && !is_over(&run)) {
        const struct proposal *batch;
        int n, i = 0;
        s = ask(&run, &batch, &n);
        if (s || !n) {
            out->end = REPLAY_STRATEGY_ENDED;
            break;
        }
        for (; i < n && !s && !is_over(&run); i++)
            s = evaluate(&run, &batch[i]);
        if (i < n)
            break;
    }
    memo_free(&run.memo);
    return s;
}
