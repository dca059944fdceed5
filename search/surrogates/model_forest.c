/* model_forest.c: the trees of a model. Every trial that is told, or that a prediction stands for, is a row of them. */
#include "search/surrogates/model_impl.h"

#include "search/surrogates/forest.h"
#include <math.h>

#define CHANCE_MIN 1e-6                 /* nothing is known to be wrong for sure */
#define DEVIATION_MIN 1e-6              /* ln ms */

static void start(struct model *m)
{
    m->forest = forest_new(encoding_coords(m->encoding));
}

static void end(struct model *m)
{
    forest_free(m->forest);
}

static void set_row(struct model *m, struct trial *t)
{
    if (t->row < 0 && forest_rows(m->forest) == FOREST_ROWS_MAX)
        return;
    if (t->row < 0) {
        encoding_point(m->encoding, t->index, m->point);
        t->row = forest_add_row(m->forest, m->point);
    }
    const double side[] = {
        [FOREST_VALUE] = model_target(m, t), [FOREST_RIGHT] = t->right, [FOREST_COST] = t->cost};
    forest_set_row(m->forest, t->row, side);
}

static void guess(const struct model *m, int slot, bool cost, struct guess *out)
{
    struct forest_guess g;
    (void)cost;
    forest_predict(m->forest, slot, &g);
    out->mean = g.side[FOREST_VALUE];
    out->deviation = sqrt(g.variance) + DEVIATION_MIN;
    out->chance = fmin(1, fmax(CHANCE_MIN, g.side[FOREST_RIGHT]));
    out->cost = g.side[FOREST_COST];
}

/* Rows of what is told, or has no time of its own while the slowest changed; then of what is only assumed. */
static void ready(struct model *m)
{
    model_fill_pool(m);
    for (int i = 0; i < m->ntrials; i++) {
        struct trial *t = &m->trials[i];
        if (t->told && (t->row < 0 || (!t->timed && m->slowest != m->counted)))
            set_row(m, t);
    }
    m->counted = m->slowest;
    forest_update(m->forest, m->rng);
    for (int i = 0; i < m->ntrials; i++) {
        struct trial *t = &m->trials[i];
        if (t->told || t->row >= 0)
            continue;
        struct guess g;
        int slot = model_slot(m, t->index);
        forest_update(m->forest, m->rng);
        guess(m, slot, true, &g);
        t->timed = true;
        t->value = g.mean;
        t->cost = g.cost;
        t->right = g.chance;
        set_row(m, t);
    }
    forest_update(m->forest, m->rng);
}

static void forget(struct model *m)
{
    forest_forget_candidates(m->forest);
}

static void candidate(struct model *m)
{
    forest_add_candidate(m->forest, m->point);
}

static void assumed(struct model *m, struct trial *t)
{
    (void)m;
    (void)t;
}

static void told(struct model *m, struct trial *t)
{
    if (t->row >= 0)
        set_row(m, t);
    if (t->ok && m->npool)
        model_pool_around(m, t->index);
}

const struct belief model_forest = {start, end, ready, forget, candidate, assumed, told, guess};
