/* host_gemm.h: row-major C[m,n] = op(A) op(B) in plain C; op(A) is m x k. The reference and the baselines of the host
 * device. The order of additions depends on the sizes only: the same bits on every machine. */
#ifndef LATHE_DEVICE_HOST_GEMM_H
#define LATHE_DEVICE_HOST_GEMM_H

#include <stdbool.h>
#include <stdint.h>

struct host_gemm {
    int64_t m, n, k;            /* >= 1 */
    bool trans_a, trans_b;      /* A is stored k x m; B is stored n x k */
    bool tf32;                  /* f32 only: inputs rounded to TF32's 10-bit mantissa, to nearest, ties to even */
};

void host_gemm_f32(const struct host_gemm *g, const float *a, const float *b, float *c);
void host_gemm_f64(const struct host_gemm *g, const double *a, const double *b, double *c);

#endif
