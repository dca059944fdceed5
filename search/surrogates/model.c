/* model.c: trials, and what is asked of a model's belief (model_gp.c).
 *
 * trials[] is everything assumed or told, in that order. */
#include "search/surrogates/model_impl.h"

#include "base/mem.h"
#include <math.h>

#define SECONDS_MIN 1e-4                /* costs are taken as from here .. */
#define SECONDS_MAX 1e9                 /* .. to here: the logarithm is used */

struct model *model_new(enum model_kind kind, const struct space *s, struct rng *r, int candidates)
{
    static const struct belief *const beliefs[] = {[MODEL_GP] = &model_gp, [MODEL_FOREST] = &model_forest};
    struct model *m = mem_zalloc(1, sizeof *m);
    m->belief = beliefs[kind];
    m->space = s;
    m->rng = r;
    m->limit = candidates;
    m->encoding = encoding_new(s);
    m->point = mem_zalloc((size_t)encoding_coords(m->encoding), sizeof *m->point);
    m->belief->start(m);
    return m;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    m->belief->end(m);
    encoding_free(m->encoding);
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

double model_target(const struct model *m, const struct trial *t)
{
    return t->timed ? t->value : m->slowest;
}

bool model_ready(struct model *m)
{
    if (m->ntimed == 0)
        return false;
    m->belief->ready(m);
    return true;
}

static struct trial *add_trial(struct model *m, uint64_t index)
{
    MEM_GROW(m->trials, m->ntrials, m->cap);
    m->trials[m->ntrials] = (struct trial){.index = index, .row = -1};
    index_map_put(&m->trial_of, index, m->ntrials);
    return &m->trials[m->ntrials++];
}

void model_assume(struct model *m, uint64_t index)
{
    if (model_is_free(m, index))
        m->belief->assumed(m, add_trial(m, index));
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
    m->belief->told(m, t);
}

bool model_predict(struct model *m, uint64_t index, struct prediction *out)
{
    struct guess g;
    if (!model_ready(m))
        return false;
    m->belief->guess(m, model_slot(m, index), true, &g);
    *out = (struct prediction){exp(g.mean), g.deviation, exp(g.cost), g.chance};
    return true;
}
