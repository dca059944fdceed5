/* contest.c: see contest.h: the runs, and the threads that they share.
 *
 * Threads take runs from a queue in their order. Spaces, recordings and replays are read by all of them and written by
 * none; each run has a Lua state of its own. Everything else that is shared is under one lock. */
#include "contest/contest.h"

#include "base/clock.h"
#include "base/mem.h"
#include "campaign/campaign.h"
#include <pthread.h>
#include <stdatomic.h>

struct crowd {
    struct contest *c;
    pthread_mutex_t lock;
    int next, done;             /* the run to be taken next; how many are done */
    int told;                   /* runs before this one were given to on_run */
    atomic_bool ended;          /* no further run begins, and those that run end; also read without the lock */
    bool refused;               /* on_run failed: it is not called again */
    status status;
    struct err e;
};

struct one {
    struct crowd *crowd;
    const struct contest_space *space;
    struct contest_run *run;
    int cap_steps;
    int64_t cap_trace;
};

static double cost_without_search(const struct recorded *c)
{
    return recorded_cost(c) - c->search;
}

static bool must_stop(struct crowd *w)
{
    return w->ended || campaign_interrupted();
}

static bool is_over(void *ctx)
{
    struct one *o = ctx;
    const struct score_space *s = &o->space->score;
    const struct contest_run *r = o->run;
    if (r->elapsed >= s->to * CONTEST_MARGIN && (double)r->evaluations >= (double)s->last * CONTEST_MARGIN)
        return true;
    return must_stop(o->crowd);
}

static status on_evaluation(void *ctx, const struct replay_evaluation *v, struct err *e)
{
    struct one *o = ctx;
    struct contest_run *r = o->run;
    r->evaluations = v->number;
    r->elapsed = v->elapsed;
    if (o->crowd->c->traces) {
        MEM_GROW(r->trace, v->number, o->cap_trace);
        r->trace[v->number - 1] = (struct contest_evaluation){
            v->recorded ? v->recorded - o->space->recording->configs : -1, v->elapsed};
    }
    if (v->outcome != OUTCOME_ok)
        return LATHE_OK;
    uint32_t rank = score_rank(&o->space->score, v->value_ms);
    if (r->nsteps && rank >= r->steps[r->nsteps - 1].rank)
        return LATHE_OK;
    MEM_GROW(r->steps, r->nsteps, o->cap_steps);
    r->steps[r->nsteps++] = (struct score_step){v->elapsed, v->number, rank};
    return LATHE_OK;
}

static status run_one(struct crowd *w, int index, struct contest_run *run, struct err *e)
{
    const struct contest *c = w->c;
    const struct contestant *strategy = &c->strategies[index % c->nstrategies];
    struct contest_space *space = &c->spaces[index / c->nstrategies % c->nspaces];
    uint64_t seed = c->first_seed + (uint64_t)(index / c->nstrategies / c->nspaces);
    struct one o = {.crowd = w, .space = space, .run = run};
    struct replay_search search = {.replay = space->replay,
                                   .cost = c->own_time ? cost_without_search : recorded_cost,
                                   .own_time = true,
                                   .charged = c->own_time,
                                   .stop = is_over,
                                   .on_evaluation = on_evaluation,
                                   .ctx = &o};
    struct replay_totals totals = {0};
    double start = clock_thread_seconds();
    status s = strategy_open(strategy->name, strategy->options, strategy->noptions, &space->space, 1, seed,
                             &search.strategy, e);
    if (!s)
        s = replay_search(&search, &totals, e);
    strategy_close(search.strategy);
    run->own_seconds = totals.own_seconds;
    run->seconds = clock_thread_seconds() - start;
    run->end = totals.end;
    if (s && s != LATHE_INTERRUPTED && s != LATHE_USAGE) /* a wrong name or option is wrong on any space */
        err_prefix(e, "%s on %s, seed %llu", strategy->label, space->name, (unsigned long long)seed);
    return s;
}

/* Whether a run that ended did so by itself, and not because the whole was ended. */
static bool is_whole(const struct contest_space *space, const struct contest_run *r)
{
    return r->end != REPLAY_STOPPED || (r->elapsed >= space->score.to * CONTEST_MARGIN &&
                                        (double)r->evaluations >= (double)space->score.last * CONTEST_MARGIN);
}

static void fail(struct crowd *w, status s, const struct err *e)
{
    w->ended = true;
    if (s == LATHE_INTERRUPTED || w->status)
        return;
    w->status = s;
    w->e = *e;
}

static void give(struct crowd *w, int index)
{
    struct contest *c = w->c;
    struct contest_run *r = &c->runs[index];
    struct err e = {0};
    status s = c->on_run && r->done && !w->refused ? c->on_run(c->ctx, index, r, &e) : LATHE_OK;
    if (s) {
        w->refused = true;
        fail(w, s, &e);
    }
    mem_free(r->trace);
    r->trace = NULL;
}

static void finish(struct crowd *w, int index, const struct contest_run *run, status s, const struct err *e)
{
    struct contest *c = w->c;
    pthread_mutex_lock(&w->lock);
    c->runs[index] = *run;
    if (s) {
        fail(w, s, e);
    } else if (is_whole(&c->spaces[index / c->nstrategies % c->nspaces], run)) {
        c->runs[index].done = true;
        w->done++;
        if (c->on_progress)
            c->on_progress(c->ctx, w->done, contest_count(c));
    }
    while (w->told < contest_count(c) && c->runs[w->told].done)
        give(w, w->told++);
    pthread_mutex_unlock(&w->lock);
}

static void *work(void *arg)
{
    struct crowd *w = arg;
    for (;;) {
        if (must_stop(w))
            return NULL;
        pthread_mutex_lock(&w->lock);
        int index = w->next < contest_count(w->c) ? w->next++ : -1;
        pthread_mutex_unlock(&w->lock);
        if (index < 0)
            return NULL;
        struct contest_run run = {0};
        struct err e = {0};
        status s = run_one(w, index, &run, &e);
        finish(w, index, &run, s, &e);
    }
}

status contest_run(struct contest *c, struct err *e)
{
    struct crowd w = {.c = c, .lock = PTHREAD_MUTEX_INITIALIZER};
    int n = contest_count(c), jobs = c->jobs < n ? c->jobs : n, started = 0;
    c->runs = mem_zalloc((size_t)n, sizeof *c->runs);
    pthread_t *threads = mem_zalloc((size_t)jobs, sizeof *threads);
    while (started < jobs - 1 && pthread_create(&threads[started], NULL, work, &w) == 0)
        started++;
    work(&w);                   /* this thread is one of them: where no other can be had, the only one */
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    mem_free(threads);
    while (w.told < n)          /* those after a run that was not done */
        give(&w, w.told++);
    pthread_mutex_destroy(&w.lock);
    if (w.status)
        *e = w.e;
    return w.status;
}

void contest_free(struct contest *c)
{
    for (int i = 0; c->runs && i < contest_count(c); i++) {
        mem_free(c->runs[i].steps);
        mem_free(c->runs[i].trace);
    }
    mem_free(c->runs);
    c->runs = NULL;
}
