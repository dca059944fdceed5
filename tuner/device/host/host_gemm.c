/* host_gemm.c: see host_gemm.h; the loops are in host_gemm_real.h. */
#include "device/host/host_gemm.h"
#include "base/mem.h"
#include <string.h>

enum { TILE_M = 64, TILE_N = 256, TILE_K = 128 }; /* whole panels of every type */

static int at_most(int64_t n, int limit) { return n < limit ? (int)n : limit; }

/* To the nearest number with TF32's 10 bits of mantissa, ties to even; NaN and infinity stay. */
static float round_tf32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000u) == 0x7f800000u) return x;
    bits += 0xfffu + (bits >> 13 & 1u);
    bits &= ~0x1fffu;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float round_input(const struct host_gemm *g, float x)
{
    switch (g->compute) {
    case GEMM_TF32: return round_tf32(x);
    case GEMM_BF16: return bf16_to_float(bf16_from_float(x));
    case GEMM_F16: return f16_to_float(f16_from_float(x));
    default: return x;
    }
}

#define REAL float
#define NAME(x) x##_f32
#define ROUND(g, x) round_input(g, x)
#include "device/host/host_gemm_real.h"
#undef REAL
#undef NAME
#undef ROUND

#define REAL double
#define NAME(x) x##_f64
#define ROUND(g, x) (x)
#include "device/host/host_gemm_real.h"

static float *widened(enum dtype from, const void *x, int64_t count)
{
    float *wide = mem_alloc((size_t)count * sizeof *wide);
    for (int64_t i = 0; i < count; i++) wide[i] = (float)dtype_read(from, x, i);
    return wide;
}

void host_gemm_narrow(const struct host_gemm *g, enum dtype from, enum dtype to, const void *a, const void *b, void *c)
{
    float *wide_a = widened(from, a, g->m * g->k), *wide_b = widened(from, b, g->k * g->n);
    float *sum = to == DTYPE_f32 ? c : mem_alloc((size_t)(g->m * g->n) * sizeof *sum);
    uint16_t *narrow = c;
    host_gemm_f32(g, wide_a, wide_b, sum);
    for (int64_t i = 0; sum != c && i < g->m * g->n; i++)
        narrow[i] = to == DTYPE_f16 ? f16_from_float(sum[i]) : bf16_from_float(sum[i]);
    if (sum != c) mem_free(sum);
    mem_free(wide_a);
    mem_free(wide_b);
}
