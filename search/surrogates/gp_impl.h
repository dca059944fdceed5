/* gp_impl.h: arithmetic that gp.c and gp_fit.c share. */
#ifndef LATHE_SEARCH_GP_IMPL_H
#define LATHE_SEARCH_GP_IMPL_H

#include "search/surrogates/gp.h"

/* r2[i] = Matern 5/2 of r2[i]; n a multiple of 8. */
void gp_kernel_many(float *r2, int n);
/* Four sums side by side, added at the end: an order of its own, the same everywhere. */
double gp_dot(const double *a, const double *b, int n);

#endif
