// split.cuh: float32 operands as sums of numbers that tensor cores multiply.
//
// x = hi + lo + rest, where hi is x rounded to the narrow format and lo is what that left, rounded too. A product is
// then hi hi + hi lo + lo hi, and the rest is about 2^-16 (bf16), 2^-22 (fp16, tf32) of x at most. With two bf16 the
// range is float32's own; fp16 overflows from 65520 on, and what is below 2^-24 is gone, so its users scale and check.
//
// Invariants: all conversions round to nearest, ties to even; lathe_tf32 alone rounds ties away from zero, as its
// instruction does. hi of an infinity is that infinity, and lo is then NaN; so is every part of a NaN. The same holds
// where rounding hi overflowed. Denormal numbers are numbers like others. The host's twins give the same bits.
// A pair is two 16-bit numbers in one register, the first in the low half.
#pragma once
#include "lathe.cuh"

// Two numbers, rounded: fp16 if FP16, else bf16.
template <bool FP16> __device__ __forceinline__ unsigned lathe_pack16(float first, float second) {
    if constexpr (FP16)
        return lathe_pair<lathe_f16>(first, second);
    else
        return lathe_pair<lathe_bf16>(first, second);
}

// The two numbers of a pair, exactly.
template <bool FP16> __device__ __forceinline__ void lathe_unpack16(unsigned pair, float &first, float &second) {
    if constexpr (!FP16) {
        first = __uint_as_float(pair << 16);
        second = __uint_as_float(pair & 0xffff0000u);
    } else {
#if LATHE_HOST
        first = lathe_to_float(lathe_f16{static_cast<unsigned short>(pair)});
        second = lathe_to_float(lathe_f16{static_cast<unsigned short>(pair >> 16)});
#else
        asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\ncvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}"
            : "=f"(first), "=f"(second)
            : "r"(pair));
#endif
    }
}

// The hi parts of two numbers and their lo parts.
template <bool FP16>
__device__ __forceinline__ void lathe_split16(float first, float second, unsigned &hi, unsigned &lo) {
    float first_hi, second_hi;
    hi = lathe_pack16<FP16>(first, second);
    lathe_unpack16<FP16>(hi, first_hi, second_hi);
    lo = lathe_pack16<FP16>(first - first_hi, second - second_hi);
}

// The same of first * scale and second * scale. With a scale that is a power of two nothing is lost by it.
template <bool FP16>
__device__ __forceinline__ void lathe_split16(float first, float second, float scale, unsigned &hi, unsigned &lo) {
    float first_hi, second_hi;
    hi = lathe_pack16<FP16>(first * scale, second * scale);
    lathe_unpack16<FP16>(hi, first_hi, second_hi);
    lo = lathe_pack16<FP16>(lathe_fma(first, scale, -first_hi), lathe_fma(second, scale, -second_hi));
}

// x to its first BITS bits, rounded to nearest: Veltkamp's splitting (Dekker 1971). NaN for infinities and NaN; |x|
// must be below 2^(103 + BITS).
template <int BITS> __device__ __forceinline__ float lathe_short(float x) {
    const float large = __fmul_rn(x, static_cast<float>((1 << (24 - BITS)) + 1));
    return __fadd_rn(large, -__fadd_rn(large, -x));
}

// x as hi + lo in fp16 again, with 9 bits in hi, and in a rounded lo too: multipliers take less power where operands
// have zeros. What the sum of two such products leaves out is larger, 2^-18 of a product at most. `rounded`: for an
// operand whose split costs nothing; else hi is cut off, in one instruction, and lo has all its bits.
template <bool ROUNDED>
__device__ __forceinline__ void lathe_split_short(float first, float second, float scale, unsigned &hi, unsigned &lo) {
    first *= scale, second *= scale;
    if constexpr (ROUNDED) {
        const float first_hi = lathe_short<9>(first), second_hi = lathe_short<9>(second);
        hi = lathe_pack16<true>(first_hi, second_hi);
        lo = lathe_pack16<true>(lathe_short<9>(first - first_hi), lathe_short<9>(second - second_hi));
    } else {
        const float first_hi = __uint_as_float(__float_as_uint(first) & 0xffff8000u);
        const float second_hi = __uint_as_float(__float_as_uint(second) & 0xffff8000u);
        hi = lathe_pack16<true>(first_hi, second_hi);
        lo = lathe_pack16<true>(first - first_hi, second - second_hi);
    }
}

// x rounded to 10 bits after the point, ties away from zero; the low 13 bits of the result are 0.
__device__ __forceinline__ float lathe_tf32(float x) {
#if LATHE_HOST
    const unsigned bits = __float_as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return __uint_as_float(0x7fffe000u);
    return __uint_as_float(((bits & 0x7fffffffu) == 0x7f800000u ? bits : bits + 0x1000u) & 0xffffe000u);
#else
    unsigned bits;              // the instruction leaves the low bits open, but a lo part depends on them
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits & 0xffffe000u);
#endif
}

__device__ __forceinline__ void lathe_split_tf32(float x, float &hi, float &lo) {
    hi = lathe_tf32(x);
    lo = lathe_tf32(x - hi);
}
