/* internal.h: the exporter's parts. Everything is printed from the same expressions that the tuner evaluated, with
 * parameters, limits and what follows from them folded in; what is left are the dimensions and scalars. */
#ifndef LATHE_EXPORT_INTERNAL_H
#define LATHE_EXPORT_INTERNAL_H

#include "export/export.h"

struct exporter {
    const struct export_input *in;
    const struct problem *p;
    const struct kernel *k;
    struct value *slots;            /* of the configuration at the tuned size */
    struct value *known;            /* the same without what depends on dims and scalars (VALUE_NONE there) */
    struct strbuf *out;
    const char *function;           /* "lathe_linear" */
    bool nested;                    /* the reference's part: the helpers stand in the file already */
};

/* An expression of a kernel scope as C. */
status export_expr(struct exporter *x, const struct expr *e, struct err *err);
/* An expression of the problem scope. */
status export_problem_expr(struct exporter *x, const struct expr *e, struct err *err);
/* "int64_t M, int64_t N, int64_t K" */
void export_dim_params(struct exporter *x);
bool export_has_gemm(const struct kernel *k);

/* export_launch.c: the layout of the workspace, the workspace query and the launcher. */
status export_launcher(struct exporter *x, struct err *e);
/* The launcher's parameters, and the same names as arguments. */
void export_launcher_params(struct exporter *x);

/* export_selftest.c: main() under LATHE_SELFTEST. */
status export_selftest(struct exporter *x, struct err *e);

#endif
