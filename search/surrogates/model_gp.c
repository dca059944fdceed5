/* model_gp.c: the Gaussian processes of a model, and what is learned from trials.
 *
 * 1. The processes rest on some of the trials (trial.row >= 0), and have the pool's candidates, in its order.
 * 2. Rows, pool and parameters are made anew together (rebuild): when parameters are learned, or the rows are full.
 *    In between rows are appended. */
#include "search/surrogates/model_impl.h"

#include "base/mem.h"
#include <math.h>
#include <stdlib.h>

#define CHANCE_MIN 1e-6                 /* nothing is known to be wrong for sure */
#define LEARN_AGAIN 1.15                /* parameters are learned when so many times as much is known */

enum {
    FIT_MAX = 100,              /* trials that parameters are learned from */
    LEARN_UNTIL = 300,          /* trials after which they stay */
    ROWS_KEPT = 100,            /* trials that a process with more than ROWS_WHOLE begins with */
    ROWS_WHOLE = 160,
    ROWS = 240                  /* trials that the processes rest on, at most */
};

/* What is believed of the parameters before anything is known: medians of log-normal distributions. */
#define PRIOR_WEIGHT 0.5
#define PRIOR_DIVISOR 0.12              /* of how often 2 divides a value */
#define PRIOR_PRODUCT 2.0
#define PRIOR_NOISE 0.01
#define WEIGHT_DEVIATION 1.5            /* in ln */
#define NOISE_DEVIATION 2.0

static void gp_start(struct model *m)
{
    const double prior[] = {
        [ENCODED_VALUE] = PRIOR_WEIGHT, [ENCODED_DIVISOR] = PRIOR_DIVISOR, [ENCODED_PRODUCT] = PRIOR_PRODUCT};
    int groups = encoding_groups(m->encoding);
    m->gp = gp_new(encoding_coords(m->encoding), encoding_group(m->encoding), groups, ROWS);
    m->hyper.weight = mem_zalloc((size_t)groups, sizeof *m->hyper.weight);
    m->valid_hyper.weight = mem_zalloc((size_t)groups, sizeof *m->valid_hyper.weight);
    m->prior_weight = mem_zalloc((size_t)groups, sizeof *m->prior_weight);
    for (int d = 0; d < groups; d++)
        m->hyper.weight[d] = m->valid_hyper.weight[d] = m->prior_weight[d] = prior[encoding_of_group(m->encoding, d)];
    m->hyper.noise = m->valid_hyper.noise = PRIOR_NOISE;
}

static void gp_end(struct model *m)
{
    gp_free(m->gp);
    gp_free(m->valid);
    mem_free(m->hyper.weight);
    mem_free(m->valid_hyper.weight);
    mem_free(m->prior_weight);
}

/* Targets ---------------------------------------------------------------------------------------------------------*/

static void set_sides(struct model *m, const struct trial *t)
{
    gp_set_side(m->gp, t->row, GP_VALUE, t->timed ? t->value : 0);
    gp_set_side(m->gp, t->row, GP_FAILED, t->timed ? 0 : 1);
    gp_set_side(m->gp, t->row, GP_COST, t->cost);
    gp_set_side(m->gp, t->row, GP_ONE, 1);
    if (!m->judging)
        return;
    gp_set_side(m->valid, t->row, GP_VALUE, t->right);
    gp_set_side(m->valid, t->row, GP_ONE, 1);
}

/* Brings the processes up to date, and the combinations of sides that predictions are made of. */
static void update(struct model *m)
{
    double value = 0, cost = 0, right = 0;
    int n = 0;
    for (int i = 0; i < m->ntrials; i++) {
        const struct trial *t = &m->trials[i];
        if (t->row < 0 || !t->told)
            continue;
        value += model_target(m, t);
        cost += t->cost;
        right += t->right;
        n++;
    }
    m->value_mean = value / n;
    m->cost_mean = cost / n;
    m->right_mean = right / n;
    m->value = (struct gp_target){{[GP_VALUE] = 1, [GP_FAILED] = m->slowest, [GP_ONE] = -m->value_mean}};
    m->cost = (struct gp_target){{[GP_COST] = 1, [GP_ONE] = -m->cost_mean}};
    m->right = (struct gp_target){{[GP_VALUE] = 1, [GP_ONE] = -m->right_mean}};
    gp_update(m->gp);
    if (m->judging)
        gp_update(m->valid);
    m->value_variance = gp_variance(m->gp, &m->value);
}

static double chance_of(const struct model *m, int slot)
{
    double variance, p = m->judging ? m->right_mean + gp_predict(m->valid, slot, &m->right, &variance) : 1;
    return p > 1 ? 1 : p > CHANCE_MIN ? p : CHANCE_MIN;
}

/* Rows ------------------------------------------------------------------------------------------------------------*/

static void add_row(struct model *m, struct trial *t)
{
    encoding_point(m->encoding, t->index, m->point);
    t->row = gp_add_row(m->gp, m->point);
    if (m->judging)
        gp_add_row(m->valid, m->point);
    set_sides(m, t);
}

/* A row for a trial that is not told yet: its prediction stands for the result. The processes are up to date. */
static void add_assumed_row(struct model *m, struct trial *t)
{
    double variance;
    int slot = model_slot(m, t->index);
    t->timed = true;
    t->value = m->value_mean + gp_predict(m->gp, slot, &m->value, &variance);
    t->cost = m->cost_mean + gp_predict(m->gp, slot, &m->cost, &variance);
    t->right = chance_of(m, slot);
    add_row(m, t);
    update(m);
}

struct ordered {
    double target;
    int trial;
};

static int by_target(const void *pa, const void *pb)
{
    const struct ordered *a = pa, *b = pb;
    return a->target < b->target ? -1 : a->target > b->target ? 1 : a->trial - b->trial;
}

/* Marks `n` of the told trials, all if there are fewer: the best `best` of them, the others at random. */
static void choose(struct model *m, int n, int best, bool *chosen)
{
    struct ordered *o = mem_zalloc((size_t)m->ntold, sizeof *o);
    int count = 0;
    for (int i = 0; i < m->ntrials; i++)
        if (m->trials[i].told)
            o[count++] = (struct ordered){model_target(m, &m->trials[i]), i};
    qsort(o, (size_t)count, sizeof *o, by_target);
    for (int i = 0; i < count && i < n; i++) {
        int with = i < best || count <= n ? i : i + (int)rng_below(m->rng, (uint64_t)(count - i));
        struct ordered one = o[with];
        o[with] = o[i];
        o[i] = one;
        chosen[one.trial] = true;
    }
    mem_free(o);
}

static void learn(struct model *m)
{
    bool *chosen = mem_zalloc((size_t)m->ntrials, sizeof *chosen);
    int ncoords = encoding_coords(m->encoding);
    float *coords = mem_zalloc((size_t)FIT_MAX * (size_t)ncoords, sizeof *coords);
    double *target = mem_zalloc(FIT_MAX, sizeof *target), *right = mem_zalloc(FIT_MAX, sizeof *right);
    const struct gp_prior prior = {m->prior_weight, PRIOR_NOISE, WEIGHT_DEVIATION, NOISE_DEVIATION};
    struct gp_sample s = {.ncoords = ncoords,
                          .ngroups = encoding_groups(m->encoding),
                          .group = encoding_group(m->encoding),
                          .coords = coords,
                          .target = target};
    choose(m, FIT_MAX, FIT_MAX / 2, chosen);
    for (int i = 0; i < m->ntrials; i++)
        if (chosen[i]) {
            encoding_point(m->encoding, m->trials[i].index, coords + (size_t)s.n * (size_t)ncoords);
            target[s.n] = model_target(m, &m->trials[i]);
            right[s.n++] = m->trials[i].right;
        }
    gp_fit(&s, &prior, &m->hyper);
    s.target = right;
    if (m->nok < m->ntold)
        gp_fit(&s, &prior, &m->valid_hyper);
    m->learned = m->ntold;
    mem_free(chosen);
    mem_free(coords);
    mem_free(target);
    mem_free(right);
}

/* Gives the process of being right the candidates that the other has. */
static void judge_pool(struct model *m)
{
    for (int i = m->judging ? gp_candidates(m->valid) : m->npool; i < m->npool; i++) {
        encoding_point(m->encoding, m->pool[i], m->point);
        gp_add_candidate(m->valid, m->point);
    }
}

/* Rows, pool and targets from nothing. */
static void rebuild(struct model *m)
{
    bool *chosen = mem_zalloc((size_t)m->ntrials, sizeof *chosen);
    m->judging = m->nok < m->ntold;
    if (m->judging && !m->valid)
        m->valid = gp_new(encoding_coords(m->encoding), encoding_group(m->encoding), encoding_groups(m->encoding),
                          ROWS);
    gp_reset(m->gp, &m->hyper);
    if (m->judging)
        gp_reset(m->valid, &m->valid_hyper);
    judge_pool(m);
    model_fill_pool(m);
    if (m->ntold <= ROWS_WHOLE)
        choose(m, ROWS_WHOLE, 0, chosen);
    else
        choose(m, ROWS_KEPT, ROWS_KEPT * 2 / 3, chosen);
    for (int i = 0; i < m->ntrials; i++) {
        m->trials[i].row = -1;
        if (chosen[i])
            add_row(m, &m->trials[i]);
    }
    update(m);
    for (int i = 0; i < m->ntrials && gp_rows(m->gp) < ROWS; i++)
        if (!m->trials[i].told)
            add_assumed_row(m, &m->trials[i]);
    mem_free(chosen);
}

static void gp_ready(struct model *m)
{
    bool first = m->learned == 0 || (m->nok < m->ntold && !m->judging);
    if (first || (m->ntold <= LEARN_UNTIL && m->ntold >= LEARN_AGAIN * m->learned + 1)) {
        learn(m);
        rebuild(m);
    }
    update(m);
}

static void gp_forget(struct model *m)
{
    gp_forget_candidates(m->gp);
    if (m->valid)
        gp_forget_candidates(m->valid);
}

static void gp_candidate(struct model *m)
{
    gp_add_candidate(m->gp, m->point);
    if (m->judging)
        gp_add_candidate(m->valid, m->point);
}

static void gp_assumed(struct model *m, struct trial *t)
{
    if (m->learned == 0)
        return;
    if (gp_rows(m->gp) == ROWS) {
        rebuild(m); /* with a row for this trial, if there is room */
        return;
    }
    update(m);
    add_assumed_row(m, t);
}

static void gp_told(struct model *m, struct trial *t)
{
    if (m->learned == 0)
        return;
    if (t->row >= 0)
        set_sides(m, t);
    else if (gp_rows(m->gp) < ROWS)
        add_row(m, t);
    else
        rebuild(m);
    if (t->ok)
        model_pool_around(m, t->index);
}

static void gp_guess(const struct model *m, int slot, bool cost, struct guess *out)
{
    double variance;
    out->mean = m->value_mean + gp_predict(m->gp, slot, &m->value, &variance);
    out->deviation = sqrt(m->value_variance * variance) + 1e-9;
    out->chance = chance_of(m, slot);
    out->cost = cost ? m->cost_mean + gp_predict(m->gp, slot, &m->cost, &variance) : 0;
}

const struct belief model_gp = {
    gp_start, gp_end, gp_ready, gp_forget, gp_candidate, gp_assumed, gp_told, gp_guess,
};
