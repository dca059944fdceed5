/* model_propose.c: the candidates, and which of them is next. */
#include "search/surrogates/model_impl.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

enum {
    LEADERS = 5,                /* whose neighbours are candidates in a large space */
    STEPS = 20,                 /* neighbours of a neighbour that are too, a leader */
    SPREAD_FROM = 100           /* latest trials that a spread start keeps away from */
};

bool model_looks_at_all(const struct model *m)
{
    return space_size(m->space) <= (uint64_t)m->limit;
}

int model_slot(struct model *m, uint64_t index)
{
    int slot = index_map_get(&m->slot_of, index);
    if (slot >= 0)
        return slot;
    encoding_point(m->encoding, index, m->point);
    m->belief->candidate(m);
    MEM_GROW(m->pool, m->npool, m->pool_cap);
    m->pool[m->npool] = index;
    index_map_put(&m->slot_of, index, m->npool);
    return m->npool++;
}

static void add_if_free(struct model *m, uint64_t index)
{
    if (model_is_free(m, index))
        model_slot(m, index);
}

static void add_around(struct model *m, uint64_t index)
{
    int n = space_kernel(m->space)->nparams;
    config_choice *choice = mem_zalloc((size_t)n, sizeof *choice);
    uint64_t *near, *next;
    space_at(m->space, index, choice);
    int count = space_neighbours(m->space, choice, NEIGHBOURS_HAMMING, &near);
    for (int i = 0; i < count; i++)
        add_if_free(m, near[i]);
    for (int i = 0; i < STEPS && count; i++) {
        space_at(m->space, near[rng_below(m->rng, (uint64_t)count)], choice);
        int further = space_neighbours(m->space, choice, NEIGHBOURS_HAMMING, &next);
        if (further)
            add_if_free(m, next[rng_below(m->rng, (uint64_t)further)]);
        mem_free(next);
    }
    mem_free(near);
    mem_free(choice);
}

/* The trials that ran fastest, at most LEADERS; their number. */
static int find_leaders(const struct model *m, int *leaders)
{
    int n = 0;
    for (int i = 0; i < m->ntrials; i++) {
        const struct trial *t = &m->trials[i];
        int at = n;
        if (!t->told || !t->ok)
            continue;
        while (at > 0 && m->trials[leaders[at - 1]].value > t->value)
            at--;
        if (at == LEADERS)
            continue;
        n += n < LEADERS;
        memmove(leaders + at + 1, leaders + at, (size_t)(n - 1 - at) * sizeof *leaders);
        leaders[at] = i;
    }
    return n;
}

void model_pool_around(struct model *m, uint64_t index)
{
    int leaders[LEADERS], n = model_looks_at_all(m) ? 0 : find_leaders(m, leaders);
    for (int i = 0; i < n; i++)
        if (m->trials[leaders[i]].index == index)
            add_around(m, index);
}

void model_fill_pool(struct model *m)
{
    if (model_looks_at_all(m)) {
        for (uint64_t i = 0; i < space_size(m->space) && m->npool < (int)space_size(m->space); i++)
            model_slot(m, i);
        return;
    }
    if (m->npool && m->ntold < 1.5 * m->sampled)
        return;
    m->sampled = m->ntold;
    m->belief->forget(m);
    index_map_clear(&m->slot_of);
    m->npool = 0;
    int leaders[LEADERS], n = find_leaders(m, leaders);
    for (int i = 0; i < m->limit / 4; i++)
        add_if_free(m, space_random(m->space, m->rng));
    for (int i = 0; i < n; i++)
        add_around(m, m->trials[leaders[i]].index);
}

/* Starting --------------------------------------------------------------------------------------------------------*/

/* A random free configuration: uniform, but that of one drawn twice the next free one is taken after some tries. */
static bool random_free(struct model *m, uint64_t *index)
{
    if (model_free_count(m) == 0)
        return false;
    for (int i = 0; i < 100; i++) {
        *index = space_random(m->space, m->rng);
        if (model_is_free(m, *index))
            return true;
    }
    while (!model_is_free(m, *index))
        *index = (*index + 1) % space_size(m->space);
    return true;
}

bool model_spread(struct model *m, int tries, uint64_t *index)
{
    int n = encoding_coords(m->encoding);
    if (!random_free(m, index))
        return false;
    int count = m->ntrials < SPREAD_FROM ? m->ntrials : SPREAD_FROM;
    float *points = mem_zalloc((size_t)count * (size_t)n, sizeof *points), furthest = -1;
    uint64_t one = *index;
    for (int i = 0; i < count; i++)
        encoding_point(m->encoding, m->trials[m->ntrials - count + i].index, points + (size_t)i * (size_t)n);
    for (int i = 0; i < tries && count; i++) {
        float nearest = INFINITY;
        if (i)
            random_free(m, &one);
        encoding_point(m->encoding, one, m->point);
        for (int t = 0; t < count; t++) {
            float apart = 0;
            for (int c = 0; c < n; c++)
                apart += fabsf(points[(size_t)t * (size_t)n + (size_t)c] - m->point[c]);
            nearest = apart < nearest ? apart : nearest;
        }
        if (nearest > furthest) {
            furthest = nearest;
            *index = one;
        }
    }
    mem_free(points);
    return true;
}

/* Proposing -------------------------------------------------------------------------------------------------------*/

/* ln of the expected improvement over `best` of a normal variable; far below it by the asymptote of Mills' ratio. */
static double log_improvement(double mean, double deviation, double best)
{
    double z = (best - mean) / deviation;
    if (z < -6)
        return log(deviation) - 0.5 * z * z - log(z * z) - 0.91893853;
    return log(deviation * (z * 0.5 * erfc(-z * 0.70710678) + 0.39894228 * exp(-0.5 * z * z)));
}

static double score_of(const struct model *m, const struct acquire *a, int slot, double best)
{
    struct guess g;
    double score;
    m->belief->guess(m, slot, a->cost != 0, &g);
    double mean = a->kind == ACQUIRE_LCB ? g.mean - a->kappa * g.deviation : g.mean;
    if (a->kind == ACQUIRE_EI)
        score = log_improvement(mean, g.deviation, best) + log(g.chance);
    else
        score = mean < m->slowest ? g.chance * (m->slowest - mean) - m->slowest : -mean;
    return a->cost != 0 ? score - a->cost * g.cost : score;
}

bool model_propose(struct model *m, const struct acquire *a, uint64_t *index, double *score)
{
    bool found = false;
    *score = -INFINITY;
    if (!model_ready(m))
        return random_free(m, index);
    double best = a->best > 0 ? log(a->best) : m->slowest;
    for (int pass = 0; pass < 2 && !found; pass++) {
        for (int i = 0; i < m->npool; i++) {
            double now = model_is_free(m, m->pool[i]) ? score_of(m, a, i, best) : -INFINITY;
            if (now > *score || (now == *score && found && m->pool[i] < *index)) {
                *index = m->pool[i];
                *score = now;
                found = true;
            }
        }
        if (!found && random_free(m, index)) /* all candidates of a large space are known: one more, at least */
            model_slot(m, *index);
    }
    return found;
}
