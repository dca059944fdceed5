/* model.c: trials and what is learned from them.
 *
 * 1. trials[] is everything assumed or told, in that order; the processes rest on some of them (trial.row >= 0).
 * 2. Rows, pool and parameters are made anew together (rebuild): when parameters are learned, or the rows are full.
 *    In between rows are appended. */
#include "search/model_impl.h"

#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANCE_MIN 1e-6                 /* nothing is known to be wrong for sure */
#define SECONDS_MIN 1e-4                /* costs are taken as from here .. */
#define SECONDS_MAX 1e9                 /* .. to here: the logarithm is used */
#define LEARN_AGAIN 1.15                /* parameters are learned when so many times as much is known */

enum {
    FIT_MAX = 100,              /* trials that parameters are learned from */
    LEARN_UNTIL = 300,          /* trials after which they stay */
    ROWS_KEPT = 100,            /* trials that a process with more than ROWS_WHOLE begins with */
    ROWS_WHOLE = 160
};

/* What is believed of the parameters before anything is known: medians of log-normal distributions. */
#define PRIOR_WEIGHT 0.5
#define PRIOR_DIVISOR 0.12              /* of how often 2 divides a value */
#define PRIOR_PRODUCT 2.0
#define PRIOR_NOISE 0.01
#define WEIGHT_DEVIATION 1.5            /* in ln */
#define NOISE_DEVIATION 2.0

struct model *model_new(const struct space *s, struct rng *r, int candidates)
{
    const double prior[] = {
        [ENCODED_VALUE] = PRIOR_WEIGHT, [ENCODED_DIVISOR] = PRIOR_DIVISOR, [ENCODED_PRODUCT] = PRIOR_PRODUCT};
    struct model *m = mem_zalloc(1, sizeof *m);
    m->space = s;
    m->rng = r;
    m->limit = candidates;
    m->encoding = encoding_new(s);
    int groups = encoding_groups(m->encoding);
    m->gp = gp_new(encoding_coords(m->encoding), encoding_group(m->encoding), groups, MODEL_ROWS);
    m->hyper.weight = mem_zalloc((size_t)groups, sizeof *m->hyper.weight);
    m->valid_hyper.weight = mem_zalloc((size_t)groups, sizeof *m->valid_hyper.weight);
    m->prior_weight = mem_zalloc((size_t)groups, sizeof *m->prior_weight);
    for (int d = 0; d < groups; d++)
        m->hyper.weight[d] = m->valid_hyper.weight[d] = m->prior_weight[d] = prior[encoding_of_group(m->encoding, d)];
    m->hyper.noise = m->valid_hyper.noise = PRIOR_NOISE;
    m->point = mem_zalloc((size_t)encoding_coords(m->encoding), sizeof *m->point);
    return m;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    gp_free(m->gp);
    gp_free(m->valid);
    encoding_free(m->encoding);
    mem_free(m->hyper.weight);
    mem_free(m->valid_hyper.weight);
    mem_free(m->prior_weight);
    mem_free(m->point);
    mem_free(m->trials);
    mem_free(m->pool);
    index_map_free(&m->trial_of);
    index_map_free(&m->slot_of);
    mem_free(m);
}

bool model_is_free(const struct model *m, uint64_t index)
{
    return index_map_get(&m->trial_of, index) < 0;
}

uint64_t model_free_count(const struct model *m)
{
    return space_size(m->space) - (uint64_t)m->ntrials;
}

/* Targets ---------------------------------------------------------------------------------------------------------*/

static double target_of(const struct model *m, const struct trial *t)
{
    return t->timed ? t->value : m->slowest;
}

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
        value += target_of(m, t);
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

double model_chance(const struct model *m, int slot)
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
    t->right = model_chance(m, slot);
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
            o[count++] = (struct ordered){target_of(m, &m->trials[i]), i};
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
            target[s.n] = target_of(m, &m->trials[i]);
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

/* Rows, pool and targets from nothing. */
static void rebuild(struct model *m)
{
    bool *chosen = mem_zalloc((size_t)m->ntrials, sizeof *chosen);
    m->judging = m->nok < m->ntold;
    if (m->judging && !m->valid)
        m->valid = gp_new(encoding_coords(m->encoding), encoding_group(m->encoding), encoding_groups(m->encoding),
                          MODEL_ROWS);
    gp_reset(m->gp, &m->hyper);
    if (m->judging)
        gp_reset(m->valid, &m->valid_hyper);
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
    for (int i = 0; i < m->ntrials && gp_rows(m->gp) < MODEL_ROWS; i++)
        if (!m->trials[i].told)
            add_assumed_row(m, &m->trials[i]);
    mem_free(chosen);
}

bool model_ready(struct model *m)
{
    if (m->ntimed == 0)
        return false;
    bool first = m->learned == 0 || (m->nok < m->ntold && !m->judging);
    if (first || (m->ntold <= LEARN_UNTIL && m->ntold >= LEARN_AGAIN * m->learned + 1)) {
        learn(m);
        rebuild(m);
    }
    update(m);
    return true;
}

/* Trials ----------------------------------------------------------------------------------------------------------*/

static struct trial *add_trial(struct model *m, uint64_t index)
{
    MEM_GROW(m->trials, m->ntrials, m->cap);
    m->trials[m->ntrials] = (struct trial){.index = index, .row = -1};
    index_map_put(&m->trial_of, index, m->ntrials);
    return &m->trials[m->ntrials++];
}

void model_assume(struct model *m, uint64_t index)
{
    if (!model_is_free(m, index))
        return;
    struct trial *t = add_trial(m, index);
    if (m->learned == 0)
        return;
    if (gp_rows(m->gp) == MODEL_ROWS) {
        rebuild(m); /* with a row for this trial, if there is room */
        return;
    }
    update(m);
    add_assumed_row(m, t);
}

void model_tell(struct model *m, uint64_t index, bool ok, double value, double seconds)
{
    bool timed = value > 0 && isfinite(value);
    int at = index_map_get(&m->trial_of, index);
    struct trial *t = at < 0 ? add_trial(m, index) : &m->trials[at];
    if (t->told)
        return;
    t->told = true;
    t->timed = timed;
    t->ok = ok && timed;
    t->right = t->ok;
    t->value = timed ? log(value) : 0;
    t->cost = log(seconds > SECONDS_MIN ? fmin(seconds, SECONDS_MAX) : SECONDS_MIN);
    m->ntold++;
    m->nok += t->ok;
    if (timed && (m->ntimed++ == 0 || t->value > m->slowest))
        m->slowest = t->value;
    if (m->learned == 0)
        return;
    if (t->row >= 0)
        set_sides(m, t);
    else if (gp_rows(m->gp) < MODEL_ROWS)
        add_row(m, t);
    else
        rebuild(m);
    if (t->ok)
        model_pool_around(m, index);
}

bool model_predict(struct model *m, uint64_t index, struct prediction *out)
{
    if (!model_ready(m))
        return false;
    double variance;
    int slot = model_slot(m, index);
    out->value = exp(m->value_mean + gp_predict(m->gp, slot, &m->value, &variance));
    out->chance = model_chance(m, slot);
    out->deviation = sqrt(m->value_variance * variance);
    out->seconds = exp(m->cost_mean + gp_predict(m->gp, slot, &m->cost, &variance));
    return true;
}
