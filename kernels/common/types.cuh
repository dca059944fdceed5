// types.cuh: 16-bit floating-point numbers without CUDA's headers, which NVRTC may not find and a CPU does not have.
//
// It stands before every source, so nothing needs to include it. A tensor of type f16 is a `lathe_f16 *` to a kernel,
// one of type bf16 a `lathe_bf16 *`; an exported launcher takes CUDA's __half and __nv_bfloat16, of the same bits.
//
// Invariants: to float is exact; from float rounds to nearest, ties to even, beyond the largest number to infinity,
// keeps subnormal numbers, and makes every NaN 0x7fff, as the instruction cvt.rn does. GPU and CPU give the same bits.
#ifndef LATHE_TYPES
#define LATHE_TYPES

struct lathe_f16 { unsigned short bits; };      // IEEE binary16: 11 significant bits, 6.1e-5 (subnormal 6e-8) to 65504
struct lathe_bf16 { unsigned short bits; };     // bfloat16: 8 significant bits, the range of float

__device__ __forceinline__ unsigned lathe_float_bits(float x) {
    union { float f; unsigned u; } v;
    v.f = x;
    return v.u;
}

__device__ __forceinline__ float lathe_bits_float(unsigned x) {
    union { unsigned u; float f; } v;
    v.u = x;
    return v.f;
}

// ---- to float

__device__ __forceinline__ float lathe_to_float(float x) { return x; }

__device__ __forceinline__ float lathe_to_float(lathe_bf16 x) { return lathe_bits_float((unsigned)x.bits << 16); }

__device__ __forceinline__ float lathe_to_float(lathe_f16 x) {
#ifdef __CUDA_ARCH__
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
    return result;
#else
    const unsigned sign = (x.bits & 0x8000u) << 16, magnitude = x.bits & 0x7fffu;
    if (magnitude > 0x7c00u)                    // NaN
        return lathe_bits_float(0x7fffffffu);
    if (magnitude == 0x7c00u)                   // infinity
        return lathe_bits_float(sign | 0x7f800000u);
    if (magnitude >= 0x0400u)                   // the exponent's bias is 127 there, 15 here
        return lathe_bits_float(sign | ((magnitude << 13) + 0x38000000u));
    return lathe_bits_float(sign | lathe_float_bits((float)magnitude * 0x1p-24f));
#endif
}

// ---- from float

template <class T> __device__ __forceinline__ T lathe_from_float(float x);

template <> __device__ __forceinline__ float lathe_from_float<float>(float x) { return x; }

template <> __device__ __forceinline__ lathe_f16 lathe_from_float<lathe_f16>(float x) {
    lathe_f16 result;
#ifdef __CUDA_ARCH__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
#else
    const unsigned bits = lathe_float_bits(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        result.bits = 0x7fff;
    else if (magnitude >= 0x47800000u)          // 65536 and more
        result.bits = (unsigned short)(sign | 0x7c00u);
    else if (magnitude >= 0x38800000u)          // 2^-14 and more; what rounds up to 65536 becomes infinity
        result.bits = (unsigned short)(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
    else                                        // subnormal: beside 0.5 the last bit of a float is 2^-24
        result.bits = (unsigned short)(sign | (lathe_float_bits(lathe_bits_float(magnitude) + 0.5f) - 0x3f000000u));
#endif
    return result;
}

template <> __device__ __forceinline__ lathe_bf16 lathe_from_float<lathe_bf16>(float x) {
    lathe_bf16 result;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
#else
    const unsigned bits = lathe_float_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        result.bits = 0x7fff;
    else
        result.bits = (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
    return result;
}

// Two at once, the first in the low half: what a 32-bit word of a tensor holds.
template <class T> __device__ __forceinline__ unsigned lathe_pair(float first, float second) {
    return lathe_from_float<T>(first).bits | (unsigned)lathe_from_float<T>(second).bits << 16;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
template <> __device__ __forceinline__ unsigned lathe_pair<lathe_f16>(float first, float second) {
    unsigned result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
    return result;
}

template <> __device__ __forceinline__ unsigned lathe_pair<lathe_bf16>(float first, float second) {
    unsigned result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
    return result;
}
#endif

#endif
