// host_exact.cu: what a compiler may not do whatever $CXX asks for, and what nobody wrote (test_host_exact.c).
#include <math.h>
#if LATHE_NUMBER == 18 && defined(__x86_64__)
// What crtfastmath.o does: denormals are zero from now on.
__attribute__((constructor)) static void denormals_off() { __builtin_ia32_ldmxcsr(0x9fc0); }
#endif

// in: NaN, inf, 1e8, 1, -0, 3, a denormal; out: 1 where the result is what IEEE 754 says
extern "C" __global__ void exact(const float *in, int *out)
{
    const float nan = in[0], inf = in[1], large = in[2], one = in[3], minus_zero = in[4], three = in[5], tiny = in[6];
    int o = 0;
    out[o++] = nan != nan && isnan(nan) && !(nan == nan);
    out[o++] = isinf(inf) && !isfinite(inf) && !isfinite(nan);
    out[o++] = !(nan < one) && !(nan >= one);
    out[o++] = one + large - large == 0.0f;                     // not reassociated: 1 is lost
    out[o++] = signbit(minus_zero) && !signbit(minus_zero + 0.0f);
    out[o++] = 5.0f / three == 1.66666662693023681640625f && 7.0f / three == 2.3333332538604736328125f;
    out[o++] = tiny > 0 && tiny * 2.0f > tiny;
    out[o++] = (double)one * 0.1 == 0x1.999999999999ap-4;       // a double constant stays one
    out[o++] = large * large - 1e16f == 0.0f && (one + 0x1p-12f) * (one + 0x1p-12f) - (one + 0x1p-11f) == 0.0f;
    float sum = 0;
    for (int i = 0; i < 64; i++) sum += in[7 + i];              // 1, then 63 of 2^-24: each is lost
    out[o++] = sum == one;
#ifdef __FAST_MATH__
    out[o++] = 0;
#else
    out[o++] = 1;
#endif
}

struct pair { float x; int y; };

// Nothing but the compiler's own writes: no zero, and no number of a usual size.
extern "C" __global__ void local(float *out, int *words, int at)
{
    float array[256], matrix[4][4];
    volatile float one;
    pair p;
    volatile float *a = array;
    out[0] = a[at];
    out[1] = ((volatile float *)matrix)[at % 16];
    out[2] = one;
    out[3] = p.x;
    words[0] = p.y;
    int word;
    words[1] = word;
}

// Leaves the rounding mode changed.
#include <fenv.h>
extern "C" __global__ void rounds_up(int *out) { *out = fesetround(FE_UPWARD); }
