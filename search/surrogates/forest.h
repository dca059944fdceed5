/* forest.h: regression by an ensemble of trees over a set of candidates.
 *
 * Each tree is a trend, linear in the coordinates and their squares, and an extremely randomized tree (Geurts, Ernst,
 * Wehenkel, "Extremely randomized trees", 2006) for what the trend leaves: so it goes through all rows, and beyond them
 * goes on as they lie. The trends are draws from the posterior of a Bayesian linear regression (randomize, then
 * optimize: Bardsley et al., 2014), so that trees disagree where no row is near. Mean and variance are those across
 * trees, as in Hutter, Hoos, Leyton-Brown, "Sequential model-based optimization for general algorithm configuration",
 * 2011.
 *
 * Rows are added at any time. A new one is put into the leaf where it lies in every tree, which is split there; a few
 * trees are grown anew each time, the oldest first. Candidates' sums follow; no tree is asked twice.
 *
 * Coordinates lie in 0 .. 1 and are told apart in steps of 1/255. The same calls and seed give the same predictions. */
#ifndef LATHE_SEARCH_FOREST_H
#define LATHE_SEARCH_FOREST_H

#include "base/rng.h"

#include <stdbool.h>

struct forest;

enum forest_side {
    FOREST_VALUE,               /* what trends and trees are made for, and the variance is of */
    FOREST_RIGHT,               /* 0 .. 1; trees separate by it too; predicted as the mean of a leaf */
    FOREST_COST,                /* predicted as the mean of a leaf */
    FOREST_SIDES
};

struct forest_guess {
    double side[FOREST_SIDES];
    double variance;            /* of the value across trees, >= 0 */
};

enum { FOREST_ROWS_MAX = 30000 };

struct forest *forest_new(int ncoords);             /* may be 0 */
void forest_free(struct forest *f);                 /* NULL is fine */

/* Candidates are numbered from 0 in the order added; they may be added at any time. */
int forest_add_candidate(struct forest *f, const float *coords);
void forest_forget_candidates(struct forest *f);
/* A row's sides are to be set after, and may be set again. At most FOREST_ROWS_MAX; returns its number. */
int forest_add_row(struct forest *f, const float *coords);
int forest_rows(const struct forest *f);
void forest_set_row(struct forest *f, int row, const double side[FOREST_SIDES]);

/* Brings the trees up to date: before predictions, when there is a row. Trees are drawn from r. */
void forest_update(struct forest *f, struct rng *r);
void forest_predict(const struct forest *f, int candidate, struct forest_guess *out);

#endif
