/* importance_impl.h: what importance.c (growing trees) and importance_anova.c (taking them apart) share: the leaves of
 * a tree, each a box of levels and a value. The boxes of a tree cover the product of levels, and do not overlap. */
#ifndef LATHE_REPORT_IMPORTANCE_IMPL_H
#define LATHE_REPORT_IMPORTANCE_IMPL_H

#include "report/importance.h"

struct leaves;

struct leaves *leaves_new(const struct importance_data *d);     /* borrows d */
void leaves_free(struct leaves *v);
void leaves_clear(struct leaves *v);
/* box: of each parameter the levels in it, as bits; copied. */
void leaves_add(struct leaves *v, const uint64_t *box, double value);
/* The value at one level of each parameter. */
double leaves_at(const struct leaves *v, const uint8_t *level);

/* Adds the tree's shares to the sums in `out` (of squares, in alone_deviation). False if the tree is constant, which
 * has no shares. */
bool leaves_anova(const struct leaves *v, struct importance *out);
/* Sums over so many trees become means and deviations. */
void anova_finish(struct importance *out, int trees);

#endif
