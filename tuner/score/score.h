/* score.h: how good a strategy is on recorded spaces, as numbers from numbers.
 *
 * The score of Willemsen et al., "A methodology for comparing optimization algorithms for auto-tuning", FGCS 159 (2024)
 * 489-504, with budgets in time as in their later papers: 0 is random search, 1 the optimum found at once. Values are
 * minimised, in milliseconds; costs are in seconds. A value's rank is its place among the valid values of its space in
 * ascending order, equal ones all at the first: 0 is the optimum. Where the published tool fits a regression to
 * bootstrapped runs, which has no reproducible result, a run is here a step function, held after its end, and the curve
 * is the mean rank over the runs. docs/compare.md says the same at length. */
#ifndef LATHE_SCORE_SCORE_H
#define LATHE_SCORE_SCORE_H

#include "replay/recording.h"

enum { SCORE_POSITIONS = 1000 };    /* at which a curve over time is sampled */
#define SCORE_START 0.01            /* the range begins where random search comes this far; see below */

/* What strategies are measured against on one space. */
struct score_space {
    const double *values;           /* of the valid configurations, ascending; borrowed from the summary */
    uint64_t valid;
    double best;
    double mean_cost;               /* seconds; what the clock of random search goes by */
    /* The range of the score, from where random search has come SCORE_START of the way from the median to the best,
     * to where it has come `cutoff`: in evaluations, at least two apart, and in seconds. */
    uint64_t first, last;
    double from, to;
    double baseline[SCORE_POSITIONS];   /* random search at each position, ms */
};

/* s must outlive *out. cutoff in (SCORE_START, 1). LATHE_USAGE: no score can be made of it: less than two valid values,
 * half of them the best one, no costs, or random search is expected to find the best inside the range. name: for the
 * message. */
status score_space_init(struct score_space *out, const struct recording_summary *s, double cutoff, const char *name,
                        struct err *e);
/* The expected best of so many evaluations of random search without replacement, ms; m > 0. */
double score_baseline(const double *values, uint64_t valid, uint64_t m);
double score_position_seconds(const struct score_space *s, int position);
/* The rank of a value that is one of the space's. */
uint32_t score_rank(const struct score_space *s, double value);

/* A run, as its improvements: from `seconds` and after `evaluation` on the best so far has this rank. */
struct score_step {
    double seconds;                 /* ascending */
    int64_t evaluation;             /* ascending, from 1 */
    uint32_t rank;                  /* descending */
};
/* The rank of the best so far at each position; before the first step it is the worst. */
void score_over_time(const struct score_space *s, const struct score_step *steps, int n,
                     uint32_t ranks[SCORE_POSITIONS]);
/* The same after each evaluation of the range: last - first + 1 ranks. */
void score_over_evaluations(const struct score_space *s, const struct score_step *steps, int n, uint32_t *ranks);

/* The runs of one strategy on one space: over time, SCORE_POSITIONS ranks a run. */
struct score_cell {
    const struct score_space *space;
    const uint32_t *ranks;          /* borrowed; run r's begin at r * SCORE_POSITIONS */
    int runs;                       /* at least 1 */
};
/* The curve of the mean rank, rounded (half to even): as values in ms (values may be NULL), and as scores. Returns the
 * mean score. */
double score_curve(const struct score_cell *c, double *values, double scores[SCORE_POSITIONS]);
/* The mean score of the median rank, rounded, over the evaluations of the range; ranks: last - first + 1 a run. */
double score_of_evaluations(const struct score_space *s, const uint32_t *ranks, int runs);

/* A strategy on several spaces. The aggregate curve is the mean over the spaces at each position. */
struct score_summary {
    double mean;                    /* of the aggregate curve: the score */
    double deviation;               /* of that curve over the positions: the paper's error */
    double low, high;               /* a bootstrap's confidence interval of the score */
};
/* curve: the aggregate one. confidence in (0, 1); the interval is the percentiles of `resamples` scores of as many runs
 * drawn with replacement in each space (Efron, 1979), always the same for the same runs; NaN if that is 0. */
void score_summarise(const struct score_cell *cells, int nspaces, double confidence, int resamples,
                     double curve[SCORE_POSITIONS], struct score_summary *out);

/* The two-sided p-value of the hypothesis that two strategies, on the same spaces, draw from the same runs: a
 * permutation test whose statistic is the difference of their scores at every tenth position. In each space the runs of
 * both are dealt anew (Good, "Permutation, Parametric, and Bootstrap Tests of Hypotheses", 2005, ch. 3; the estimate
 * counts the runs as they are, Phipson and Smyth, 2010). Always the same for the same runs. */
double score_permutation(const struct score_cell *a, const struct score_cell *b, int nspaces, int permutations);
/* Holm's adjustment (1979) of n p-values that are looked at together, in place. */
void score_holm(double *p, int n);

#endif
