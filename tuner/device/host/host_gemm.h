/* host_gemm.h: row-major C[m,n] = op(A) op(B) in plain C; op(A) is m x k. The reference and the baselines of the host
 * device. The order of additions depends on the sizes only: the same bits on every machine. */
#ifndef LATHE_DEVICE_HOST_GEMM_H
#define LATHE_DEVICE_HOST_GEMM_H

#include "model/problem.h"

struct host_gemm {
    int64_t m, n, k;            /* >= 1 */
    bool trans_a, trans_b;      /* A is stored k x m; B is stored n x k */
    enum gemm_compute compute;  /* f32 only, not GEMM_F64: to what the inputs are rounded, to nearest, ties to even */
};

void host_gemm_f32(const struct host_gemm *g, const float *a, const float *b, float *c);
/* The same on f16 or bf16 matrices, with sums in float: `from` is the type of A and B, `to` of C, which may be f32. */
void host_gemm_narrow(const struct host_gemm *g, enum dtype from, enum dtype to, const void *a, const void *b, void *c);
void host_gemm_f64(const struct host_gemm *g, const double *a, const double *b, double *c);

#endif
