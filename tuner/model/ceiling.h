/* ceiling.h: how fast a device's units compute, and so how fast a configuration can be at most. */
#ifndef LATHE_MODEL_CEILING_H
#define LATHE_MODEL_CEILING_H

#include "model/problem.h"

/* FLOPs a clock of one multiprocessor, dense, sums in float32; 0: it has no such unit, or that is not known. sm: 10 *
 * major + minor. name: the device's, for products of one capability differ. */
int unit_flops_per_clock(int sm, const char *name, enum unit u);
/* At the highest clock; 0: not known. */
double unit_peak_tflops(const struct target *t, enum unit u);
const char *unit_text(enum unit u);             /* "the tensor cores in bf16" */

/* Who says with which units a configuration computes. */
enum ceiling_from {
    CEILING_SPECIFICATION,                      /* `computes` */
    CEILING_GEMM,                               /* its gemm steps, all of one unit */
    CEILING_ASSUMED,                            /* nobody: the float32 units, once */
    CEILING_UNKNOWN,                            /* nobody, and it is not the float32 units; unit and products mean
                                                   nothing */
};
const char *ceiling_from_name(enum ceiling_from f);

struct ceiling {
    enum ceiling_from from;
    enum unit unit;
    double products;                            /* of the unit, for one of the problem; > 0 */
    double unit_tflops;                         /* the unit's peak; 0: not known */
    double tflops;                              /* of the problem's FLOPs: the same over products; 0: not known */
};

/* The entry of k's `computes` that counts, NULL: none does, and how many products it is. slots are complete for a
 * configuration. LATHE_SPEC: a formula of `computes` cannot be evaluated, or gives no
 * number above 0. */
status kernel_computes(const struct kernel *k, const struct value *slots, const struct computes **entry,
                       double *products, struct err *e);
/* The same errors. */
status ceiling_of(const struct problem *p, const struct kernel *k, const struct target *t, const struct value *slots,
                  struct ceiling *out, struct err *e);
/* A rate that was measured: what was only assumed and is below it is no ceiling. NaN: none was. */
void ceiling_measured(struct ceiling *c, double tflops);

#endif
