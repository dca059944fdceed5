/* contest_judge.c: see contest.h: scores, intervals and tests of a contest. Strategies, then pairs, are shared out to
 * threads; each writes what is its own alone. What takes long and can be left out is a strategy's interval and a pair's
 * test. */
#include "contest/contest.h"

#include "base/mem.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

struct share {
    const struct contest *c;
    struct contest_result *out;
    struct score_cell *cells;   /* strategy s's: s * nspaces */
    uint32_t **ranks;           /* one block a strategy */
    int *order;                 /* in which pairs are tested */
    void (*task)(struct share *h, int i);
    int n, done;
    atomic_int next;
    pthread_mutex_t lock;       /* of done, and of being told */
    enum contest_judging what;
};

static void *work(void *arg)
{
    struct share *h = arg;
    for (int i; (i = atomic_fetch_add(&h->next, 1)) < h->n;) {
        h->task(h, i);
        pthread_mutex_lock(&h->lock);
        h->done++;
        if (h->c->on_judging)
            h->c->on_judging(h->c->ctx, h->what, h->done, h->n);
        pthread_mutex_unlock(&h->lock);
    }
    return NULL;
}

static bool must_stop(const struct contest *c) { return c->stop_judging && c->stop_judging(c->ctx); }

static void share_out(struct share *h, enum contest_judging what, void (*task)(struct share *h, int i), int n)
{
    h->task = task;
    h->what = what;
    h->n = n;
    h->done = 0;
    atomic_store(&h->next, 0);
    if (h->c->on_judging)
        h->c->on_judging(h->c->ctx, what, 0, n);
    int jobs = h->c->jobs < n ? h->c->jobs : n, started = 0;
    pthread_t *threads = mem_zalloc((size_t)(jobs > 0 ? jobs : 1), sizeof *threads);
    while (started < jobs - 1 && pthread_create(&threads[started], NULL, work, h) == 0)
        started++;
    work(h);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    mem_free(threads);
}

static double by_evaluations(const struct contest *c, int strategy, int space)
{
    const struct score_space *s = &c->spaces[space].score;
    size_t width = (size_t)(s->last - s->first + 1);
    uint32_t *ranks = mem_alloc((size_t)c->seeds * width * sizeof *ranks);
    int runs = 0;
    for (int k = 0; k < c->seeds; k++) {
        const struct contest_run *r = &c->runs[contest_index(c, k, space, strategy)];
        if (r->done)
            score_over_evaluations(s, r->steps, r->nsteps, ranks + (size_t)runs++ * width);
    }
    double score = runs ? score_of_evaluations(s, ranks, runs) : NAN;
    mem_free(ranks);
    return score;
}

/* Ranks of the runs that are done on one space; gives their number. */
static int collect(const struct contest *c, int strategy, int space, struct contest_standing *t, uint32_t *ranks)
{
    int runs = 0;
    for (int k = 0; k < c->seeds; k++) {
        const struct contest_run *r = &c->runs[contest_index(c, k, space, strategy)];
        if (!r->done)
            continue;
        score_over_time(&c->spaces[space].score, r->steps, r->nsteps, ranks + (size_t)runs++ * SCORE_POSITIONS);
        t->marks[space].evaluations += (double)r->evaluations;
        t->own_seconds += r->own_seconds;
        t->seconds += r->seconds;
    }
    t->evaluations += t->marks[space].evaluations;
    t->marks[space].evaluations /= runs ? runs : 1;
    return runs;
}

static void judge_strategy(struct share *h, int strategy)
{
    const struct contest *c = h->c;
    struct contest_standing *t = &h->out->standings[strategy];
    struct score_cell *cells = h->cells + (size_t)strategy * (size_t)c->nspaces;
    size_t block = (size_t)c->seeds * SCORE_POSITIONS;
    uint32_t *ranks = h->ranks[strategy] = mem_alloc((size_t)c->nspaces * block * sizeof *ranks);
    t->whole = true;
    for (int s = 0; s < c->nspaces; s++) {
        struct contest_mark *m = &t->marks[s];
        cells[s] = (struct score_cell){.space = &c->spaces[s].score, .ranks = ranks + (size_t)s * block};
        m->runs = cells[s].runs = collect(c, strategy, s, t, ranks + (size_t)s * block);
        m->score = m->runs ? score_curve(&cells[s], m->values, m->curve) : NAN;
        m->by_evaluations = by_evaluations(c, strategy, s);
        t->by_evaluations += m->by_evaluations / c->nspaces;
        t->whole = t->whole && m->runs;
    }
    t->summary = (struct score_summary){NAN, NAN, NAN, NAN};
    if (t->whole)
        score_summarise(cells, c->nspaces, CONTEST_CONFIDENCE, must_stop(c) ? 0 : CONTEST_RESAMPLES, t->curve,
                        &t->summary);
}

static void judge_pair(struct share *h, int i)
{
    struct contest_pair *p = &h->out->pairs[h->order[i]];
    size_t n = (size_t)h->c->nspaces;
    p->difference = h->out->standings[p->a].summary.mean - h->out->standings[p->b].summary.mean;
    p->p = must_stop(h->c) ? NAN
                           : score_permutation(h->cells + (size_t)p->a * n, h->cells + (size_t)p->b * n, (int)n,
                                               CONTEST_PERMUTATIONS);
}

/* Those of the best strategy first, which are looked at most: they are there soonest if the rest is left out. */
static void order_pairs(const struct contest_result *r, int *order)
{
    int best = 0, n = 0;
    for (int i = 1; i < r->nstandings; i++)
        if (!(r->standings[i].summary.mean <= r->standings[best].summary.mean) &&
            !isnan(r->standings[i].summary.mean))
            best = i;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < r->npairs; i++)
            if ((r->pairs[i].a == best || r->pairs[i].b == best) == (pass == 0))
                order[n++] = i;
}

static void adjust(struct contest_result *r)
{
    double *p = mem_alloc((size_t)r->npairs * sizeof *p);
    for (int i = 0; i < r->npairs; i++) {
        r->tested += !isnan(r->pairs[i].p);
        p[i] = isnan(r->pairs[i].p) ? 1 : r->pairs[i].p;
    }
    score_holm(p, r->npairs);
    for (int i = 0; i < r->npairs; i++)
        r->pairs[i].adjusted = isnan(r->pairs[i].p) ? NAN : p[i];
    mem_free(p);
}

void contest_judge(const struct contest *c, struct contest_result *out)
{
    size_t n = (size_t)c->nstrategies;
    *out = (struct contest_result){.nstandings = c->nstrategies, .standings = mem_zalloc(n, sizeof *out->standings)};
    out->pairs = mem_zalloc(n * (n - 1) / 2 + 1, sizeof *out->pairs);
    struct share h = {.c = c, .out = out, .cells = mem_zalloc(n * (size_t)c->nspaces, sizeof *h.cells),
                      .ranks = mem_zalloc(n, sizeof *h.ranks)};
    pthread_mutex_init(&h.lock, NULL);
    for (int i = 0; i < c->nstrategies; i++)
        out->standings[i].marks = mem_zalloc((size_t)c->nspaces, sizeof *out->standings[i].marks);
    share_out(&h, CONTEST_SCORING, judge_strategy, c->nstrategies);
    for (int a = 0; a < c->nstrategies; a++)
        for (int b = a + 1; b < c->nstrategies; b++)
            if (out->standings[a].whole && out->standings[b].whole)
                out->pairs[out->npairs++] = (struct contest_pair){.a = a, .b = b};
    h.order = mem_zalloc((size_t)out->npairs + 1, sizeof *h.order);
    order_pairs(out, h.order);
    share_out(&h, CONTEST_TESTING, judge_pair, out->npairs);
    adjust(out);
    for (size_t i = 0; i < n; i++)
        mem_free(h.ranks[i]);
    mem_free(h.ranks);
    mem_free(h.cells);
    mem_free(h.order);
    pthread_mutex_destroy(&h.lock);
}

double contest_scores(const struct contest *c, int strategy, double *scores)
{
    uint32_t *ranks = mem_alloc((size_t)c->seeds * SCORE_POSITIONS * sizeof *ranks);
    double curve[SCORE_POSITIONS], sum = 0;
    for (int s = 0; s < c->nspaces; s++) {
        struct score_cell cell = {.space = &c->spaces[s].score, .ranks = ranks};
        for (int k = 0; k < c->seeds; k++) {
            const struct contest_run *r = &c->runs[contest_index(c, k, s, strategy)];
            if (r->done)
                score_over_time(cell.space, r->steps, r->nsteps, ranks + (size_t)cell.runs++ * SCORE_POSITIONS);
        }
        scores[s] = cell.runs ? score_curve(&cell, NULL, curve) : NAN;
        sum += scores[s];
    }
    mem_free(ranks);
    return sum / c->nspaces;
}

void contest_result_free(struct contest_result *r)
{
    for (int i = 0; i < r->nstandings; i++)
        mem_free(r->standings[i].marks);
    mem_free(r->standings);
    mem_free(r->pairs);
    *r = (struct contest_result){0};
}
