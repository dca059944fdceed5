/* gp.h: Gaussian-process regression over a fixed set of candidates.
 *
 * Points are vectors of coordinates; each coordinate belongs to a group, and the covariance is Matern 5/2 of
 * r^2 = sum_c weight[group(c)] (a_c - b_c)^2 (Rasmussen, Williams, "Gaussian Processes for Machine Learning", 2006,
 * ch. 2, 4, 5), with a constant mean and unit signal variance until the variance is read off the data. The process is
 * conditioned on rows, which are appended one by one; mean and variance of every candidate follow each row, so that a
 * new row costs O(rows * candidates) and nothing is solved again.
 *
 * Several right-hand sides share the rows (enum gp_side): predictions are linear in them, so that what all failures
 * count for, or the mean, may change without work.
 *
 * Arithmetic is single precision over the candidates and double in the factor, in an order that no compiler option or
 * machine changes: the same rows give the same predictions everywhere. */
#ifndef LATHE_SEARCH_GP_H
#define LATHE_SEARCH_GP_H

#include <stdbool.h>
#include <stdint.h>

struct gp;

enum gp_side {
    GP_VALUE,                   /* the target; 0 for a failure */
    GP_FAILED,                  /* 1 for a failure, 0 otherwise */
    GP_COST,                    /* the second target */
    GP_ONE,                     /* 1: how much of a row's weight is data and not the mean */
    GP_SIDES
};

struct gp_hyper {
    double *weight;             /* one a group: 1 / length scale^2 */
    double noise;               /* variance of a row's own, in parts of the signal's */
};

/* group[c] in 0 .. ngroups - 1. At most `rows` rows. */
struct gp *gp_new(int ncoords, const int *group, int ngroups, int rows);
void gp_free(struct gp *g);     /* NULL is fine */

/* Forgets the rows, and takes other parameters (copied). Candidates stay. */
void gp_reset(struct gp *g, const struct gp_hyper *h);
void gp_forget_candidates(struct gp *g);
/* Candidates are numbered from 0 in the order added; they may be added at any time. */
int gp_add_candidate(struct gp *g, const float *coords);
int gp_candidates(const struct gp *g);
/* Appends a row, up to the number given to gp_new; its sides may be set later, and again. Returns its number. */
int gp_add_row(struct gp *g, const float *coords);
int gp_rows(const struct gp *g);
void gp_set_side(struct gp *g, int row, enum gp_side side, double value);

/* What the rows say, brought up to date: call it after rows or sides were changed, before reading predictions. */
void gp_update(struct gp *g);

/* Linear combinations of the sides: coefficients of a target, e.g. { 1, f, 0, -m } for values whose failures count f
 * above a mean of m. */
struct gp_target {
    double side[GP_SIDES];
};
/* The signal variance from the rows, > 0: in closed form; two rows are spent on the mean and on the parameters, which a
 * handful of rows would otherwise make look certain. */
double gp_variance(const struct gp *g, const struct gp_target *t);
/* Of one candidate: the target's deviation from the mean, and the share of the signal variance that is left. */
double gp_predict(const struct gp *g, int candidate, const struct gp_target *t, double *variance);

/* A set of rows to learn the parameters from, and the log-normal priors of both: medians, and deviations in ln. */
struct gp_sample {
    int n, ncoords, ngroups;
    const int *group;
    const float *coords;        /* n x ncoords */
    const double *target;
};
struct gp_prior {
    const double *weight;       /* one a group */
    double noise;
    double weight_deviation, noise_deviation;
};
/* Moves *h (a start; valid) to a better posterior density: profile likelihood (mean and variance in closed form) times
 * the priors, by sweeps over the coordinates ln(weight), ln(noise). */
void gp_fit(const struct gp_sample *s, const struct gp_prior *prior, struct gp_hyper *h);

/* Matern 5/2 of r^2, in single precision. */
float gp_kernel(float r2);

#endif
