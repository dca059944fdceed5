/* model_impl.h: what model.c (trials, learning) and model_propose.c (candidates, acquisitions) share. */
#ifndef LATHE_SEARCH_MODEL_IMPL_H
#define LATHE_SEARCH_MODEL_IMPL_H

#include "search/encoding.h"
#include "search/gp.h"
#include "search/index_map.h"
#include "search/model.h"

struct trial {
    uint64_t index;
    bool told, ok;
    double value, cost;         /* ln ms (ok), ln s (told) */
    int row;                    /* of the process; -1: none */
};

struct model {
    const struct space *space;
    struct rng *rng;
    int limit;                  /* candidates looked at */
    struct encoding *encoding;
    struct gp *gp;
    struct gp_hyper hyper;
    float *point;               /* scratch: one */
    struct trial *trials;
    int ntrials, cap, ntold, nok;
    int learned;                /* told trials when the parameters were learned; 0: never */
    struct index_map trial_of;  /* index -> trial */
    uint64_t *pool;             /* candidates of the process, in its order */
    int npool, pool_cap;
    struct index_map slot_of;   /* index -> place in the pool */
    struct gp_target value, cost; /* what predictions are made of */
    double value_mean, cost_mean, value_variance;
};

enum { MODEL_ROWS = 240 };      /* trials that the process rests on, at most */

/* Learns the parameters if enough is new, and brings the process up to date. False: nothing that ran is known. */
bool model_ready(struct model *m);
/* Makes the pool: all of a small space, once; of a larger one a new sample. */
void model_fill_pool(struct model *m);
/* Adds the neighbours of a trial that runs well to the pool of a space that is not looked at as a whole. */
void model_pool_around(struct model *m, uint64_t index);
/* Place in the pool; adds it if need be. */
int model_slot(struct model *m, uint64_t index);
bool model_looks_at_all(const struct model *m);

#endif
