/* host_gemm.c: see host_gemm.h; the loops are in host_gemm_real.h. */
#include "device/host_gemm.h"
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

#define REAL float
#define NAME(x) x##_f32
#define ROUND(g, x) ((g)->tf32 ? round_tf32(x) : (x))
#include "device/host_gemm_real.h"
#undef REAL
#undef NAME
#undef ROUND

#define REAL double
#define NAME(x) x##_f64
#define ROUND(g, x) (x)
#include "device/host_gemm_real.h"
