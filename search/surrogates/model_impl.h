/* model_impl.h: what model.c (trials), model_propose.c (candidates, acquisitions) and the beliefs, model_gp.c,
 * share. */
#ifndef LATHE_SEARCH_MODEL_IMPL_H
#define LATHE_SEARCH_MODEL_IMPL_H

#include "search/surrogates/encoding.h"
#include "search/surrogates/gp.h"
#include "search/space/index_map.h"
#include "search/surrogates/model.h"

struct trial {
    uint64_t index;
    bool told, ok, timed;       /* timed: it has a value, ok or not */
    double value, cost;         /* ln ms, ln s */
    double right;               /* 1: ok, 0: not; of one not told yet, the chance */
    int row;                    /* of the processes; -1: none */
};

struct guess {                  /* of a candidate */
    double mean, deviation;     /* ln ms; the deviation is > 0 */
    double chance;              /* to be right, 1e-6 to 1 */
    double cost;                /* ln s */
};

/* What a kind of model is made of. A candidate is known by its place in the pool, from 0 in the order added. */
struct belief {
    void (*start)(struct model *m);
    void (*end)(struct model *m);
    void (*ready)(struct model *m);                 /* brings it up to date: before guesses; some time is known */
    void (*forget)(struct model *m);                /* all candidates */
    void (*candidate)(struct model *m);             /* one more, at m->point */
    void (*assumed)(struct model *m, struct trial *t);  /* t is new */
    void (*told)(struct model *m, struct trial *t); /* t has just become known */
    void (*guess)(const struct model *m, int slot, bool cost, struct guess *out);   /* cost: whether it is wanted */
};
extern const struct belief model_gp, model_forest;

struct model {
    const struct belief *belief;
    const struct space *space;
    struct rng *rng;
    int limit;                  /* candidates looked at */
    struct encoding *encoding;
    float *point;               /* scratch: one */
    struct trial *trials;
    int ntrials, cap, ntold, nok, ntimed;
    struct index_map trial_of;  /* index -> trial */
    uint64_t *pool;             /* candidates */
    int npool, pool_cap;
    struct index_map slot_of;   /* index -> place in the pool */
    int sampled;                /* told trials when the pool of a large space was drawn */
    double slowest;             /* ln ms, of those timed; what a failure without a time counts as */

    /* model_gp.c. The processes have the same rows and candidates. `valid` is used while `judging`: once something
     * failed. */
    struct gp *gp, *valid;      /* of time and cost; of being right, 0 to 1 (NULL at first) */
    struct gp_hyper hyper, valid_hyper;
    double *prior_weight;       /* one a group */
    bool judging;
    int learned;                /* told trials when the parameters were learned; 0: never */
    struct gp_target value, cost, right; /* what predictions are made of */
    double value_mean, cost_mean, right_mean, value_variance;

    /* model_forest.c */
    struct forest *forest;
    double counted;             /* `slowest` when the rows of failures were made */
};

/* Brings the belief up to date. False: no time is known. */
bool model_ready(struct model *m);
/* ln ms that a told trial counts as. */
double model_target(const struct model *m, const struct trial *t);
/* Makes the pool: all of a small space, once; of a larger one a sample, anew when half as much again is known. */
void model_fill_pool(struct model *m);
/* Adds the neighbours of a trial that runs well to the pool of a space that is not looked at as a whole. */
void model_pool_around(struct model *m, uint64_t index);
/* Place in the pool; adds it if need be. */
int model_slot(struct model *m, uint64_t index);
bool model_looks_at_all(const struct model *m);

#endif
