/* problem_internal.h: what the files that make a problem share among themselves. Private to model/. */
#ifndef LATHE_MODEL_PROBLEM_INTERNAL_H
#define LATHE_MODEL_PROBLEM_INTERNAL_H

#include "model/problem.h"

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        status try_status_ = (call);                                                                                   \
        if (try_status_)                                                                                               \
            return try_status_;                                                                                        \
    } while (0)

/* The tensor or workspace buffer that a struct arg's or struct gemm's index means. k may be NULL: no workspace. */
const struct tensor *problem_buffer(const struct problem *p, const struct kernel *k, int index);

/* Compares the axes of a GEMM's matrices that the dimensions and scalars alone decide, at the present sizes; an axis
 * that depends on parameters is compared when a plan is built. k may be NULL: none of them is workspace. */
status problem_check_gemm(const struct problem *p, const struct kernel *k, const struct gemm *g, struct err *e);

/* The matrices' extents after transposition: what all of them must agree on. */
struct gemm_axes {
    int m_a, k_a, k_b, n_b;     /* which axis of A is m, of A is k, of B is k, of B is n; C is m, n */
};
struct gemm_axes gemm_axes(const struct gemm *g);

/* What a name already means to the kernel's formulas (k NULL: the problem's): "a tensor"; NULL: nothing. */
const char *problem_name_use(const struct problem *p, const struct kernel *k, const char *name);

void kernel_clear(struct kernel *k);

/* Appends the macro of a string parameter's value, without the LATHE_: "REDUCE_last_block" (model/source.h). */
void source_value_macro(struct strbuf *b, const struct param *p, int value);

/* Whether the epilogue's formula uses tensor i of the problem (an input). */
bool epilogue_uses_tensor(const struct problem *p, int i);

#endif
