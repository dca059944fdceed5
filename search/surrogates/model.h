/* model.h: what a strategy believes about one kernel's space: Gaussian processes (gp.h) or trees (forest.h) that learn
 * log time, log cost and the chance to be right over its configurations, and propose what to try next.
 *
 * A configuration is its index in the space (space.h). It is free until it is assumed (proposed, not yet known) or
 * told; only free ones are ever proposed. Times are in milliseconds, costs in seconds; inside both are logarithms. A
 * failure whose time is not known counts as slow as the slowest known; one that was timed tells its time. Parameters of
 * processes are learned anew whenever about a seventh more is known.
 *
 * The chance is the mean of 1 for ok and 0 for failures: of a process, used once something failed, or of the leaves
 * of the trees. It multiplies the expected improvement; in the other acquisitions it draws the mean towards the
 * slowest.
 *
 * Candidates are all configurations of a small space; of a larger one a random sample, drawn anew whenever half as much
 * again is known, and the neighbours of the best. */
#ifndef LATHE_SEARCH_MODEL_H
#define LATHE_SEARCH_MODEL_H

#include "search/space/space.h"

struct model;

enum acquisition {
    ACQUIRE_EI,                 /* ln of the expected improvement on `best`, in ln ms (Jones, Schonlau, Welch, 1998) */
    ACQUIRE_LCB,                /* - (mean - kappa * deviation), in ln ms (Cox, John, 1992) */
    ACQUIRE_MEAN                /* - mean, in ln ms */
};

struct acquire {
    enum acquisition kind;
    double best;                /* ms: the time to beat; EI. 0: the slowest known */
    double kappa;               /* deviations; LCB */
    double cost;                /* subtracted: this times the predicted ln seconds of the trial */
};

struct prediction {
    double value;               /* ms: the median */
    double deviation;           /* of ln ms */
    double seconds;             /* of the trial: the median */
    double chance;              /* to be right, 1e-6 to 1 */
};

enum model_kind { MODEL_GP, MODEL_FOREST };

/* Both are borrowed. `candidates`: how many configurations are looked at at most, > 0. */
struct model *model_new(enum model_kind kind, const struct space *s, struct rng *r, int candidates);
void model_free(struct model *m);                   /* NULL is fine */

bool model_is_free(const struct model *m, uint64_t index);
uint64_t model_free_count(const struct model *m);   /* configurations that are */

/* A free configuration, far from those that are not: of `tries` random ones that with the largest distance (the sum
 * over parameters) to the nearest of them (Johnson, Moore, Ylvisaker, 1990). False: none is free. */
bool model_spread(struct model *m, int tries, uint64_t *index);
/* The free candidate of the largest score; ties go to the lowest. False: none is free. While no time is known it is
 * a random one, of score -infinity. */
bool model_propose(struct model *m, const struct acquire *a, uint64_t *index, double *score);

/* A free configuration is being tried: until it is told, the model takes its own prediction for the result. */
void model_assume(struct model *m, uint64_t index);
/* What came of a trial; value: NaN or 0 where no time was measured, which is never ok. A second result of one
 * configuration is ignored. */
void model_tell(struct model *m, uint64_t index, bool ok, double value, double seconds);

/* False: no time is known yet. */
bool model_predict(struct model *m, uint64_t index, struct prediction *out);

#endif
