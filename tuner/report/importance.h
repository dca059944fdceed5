/* importance.h: how much of the variation of a measured value each parameter explains, alone and in pairs.
 *
 * Functional analysis of variance on a random forest: F. Hutter, H. Hoos, K. Leyton-Brown, "An Efficient Approach for
 * Assessing Hyperparameter Importance", ICML 2014. A forest (L. Breiman, "Random Forests", 2001) is fitted to the value
 * over levels of parameters; the forest's function over the whole product of levels, each level equally likely, is
 * taken apart into a mean, a function of each parameter, a function of each pair, and the rest; the share of a part is
 * its variance over the function's. A tree is constant on boxes, so its marginals are exact sums over its leaves.
 *
 * Numbers alone: the caller says what the levels are. */
#ifndef LATHE_REPORT_IMPORTANCE_H
#define LATHE_REPORT_IMPORTANCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    IMPORTANCE_LEVELS_MAX = 64,         /* of a parameter */
    IMPORTANCE_TREES = 32,
};

struct importance_data {
    int rows, parameters;
    const int *levels;                  /* of each parameter: how many it has, 1 .. IMPORTANCE_LEVELS_MAX */
    const uint8_t *level;               /* rows x parameters, row by row */
    const double *value;                /* of each row; finite */
};

/* Shares are means over trees, 0 .. 1; the deviations are across trees. */
struct importance {
    double *alone, *alone_deviation;    /* one a parameter */
    double *pair;                       /* parameters x parameters, symmetric, 0 on the diagonal: beyond both alone */
    double fit;                         /* R squared on rows that a tree was not fitted to: at most 1; 0 or less: the
                                           forest knows nothing, and the shares mean nothing */
    int parameters;
};

/* Time grows with rows * parameters^2: about a second for 3000 rows of 20 parameters. The same data and seed give the
 * same result. False, with *out empty, if no row differs from another in its value. */
bool importance_of(const struct importance_data *d, uint64_t seed, struct importance *out);
void importance_free(struct importance *m);

#endif
