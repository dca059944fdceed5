// mma_split.cuh: of mma.cu: the small kernels that run before it.
#pragma once
#include "mma_operand.cuh"

// exponents[0], [1]: the scales of X and W are 2 to these. One block of 64 threads, a warp a matrix.
extern "C" __global__ void __launch_bounds__(64)
    linear_mma_scale(const float *X, const float *W, int *exponents, unsigned *guard, int M, int N, int K) {
    lathe_grid_dependency_launch();
    const bool first = threadIdx.x < 32;
    const long long elements = static_cast<long long>(first ? M : N) * K;
    const int exponent = lathe_sample_exponent(first ? X : W, elements);
    if (lathe_sample_is_wide(first ? X : W, elements, exponent))
        lathe_guard_raise(guard);
    if (threadIdx.x % 32 == 0)
        exponents[first ? 0 : 1] = exponent;
}

constexpr int PART = 4 * 128 * WORD_K;          // elements of a row that a warp converts, in four goes

// from [rows, K] -> to [rows][words of a row], as mma.cu reads a row's units, zeros beyond K. which: 0 for X, 1 for W.
// grid: a warp a part of a row; 256 threads a block.
extern "C" __global__ void __launch_bounds__(256)
    linear_mma_split(const float *from, float *to, const int *exponents, unsigned *guard, int rows, int K, int which) {
    lathe_grid_dependency_launch();
    lathe_grid_dependency_wait();
    const int parts = lathe_ceil_div(K, PART), words = lathe_ceil_div(K, BK) * ROW_WORDS;
    const long long part = static_cast<long long>(blockIdx.x) * 8 + threadIdx.x / 32;
    const int row = static_cast<int>(part / parts), begin = static_cast<int>(part % parts) * PART;
    if (row >= rows)            // a warp as a whole
        return;
    const float scale = FP16 ? lathe_power_of_two(exponents[which]) : 1.0f;
    float largest = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int k = begin + (i * 32 + threadIdx.x % 32) * 4 * WORD_K, word = k / WORD_K;
        constexpr int COUNT = 4 * WORD_K;
        float x[COUNT], out[4];
#pragma unroll
        for (int e = 0; e < COUNT; e += VEC) {     // K % VEC is 0
            float v[VEC] = {};
            if (k + e < K)
                lathe_load_const<VEC>(v, from + static_cast<long long>(row) * K + k + e);
#pragma unroll
            for (int u = 0; u < VEC; u++) {
                x[e + u] = v[u];
                largest = fmaxf(largest, fabsf(v[u]));
            }
        }
#pragma unroll
        for (int e = 0; e < 2; e++) {
            unsigned hi, lo;
            if constexpr (TF32) {
                out[2 * e] = lathe_tf32(x[2 * e]);
                out[2 * e + 1] = lathe_tf32(x[2 * e + 1]);
            } else if constexpr (WORD_K == 2) {
#pragma unroll
                for (int i = 2 * e; i < 2 * e + 2; i++)
                    out[i] = __uint_as_float(lathe_pack16<false>(x[2 * i % COUNT], x[(2 * i + 1) % COUNT]));
            } else {
                lathe_split16<FP16>(x[2 * e], x[2 * e + 1], scale, hi, lo);
                out[e] = __uint_as_float(hi);
                out[2 + e] = __uint_as_float(lo);
            }
        }
        if (word < words)
            lathe_store<4>(to + static_cast<long long>(row) * words + word, out);
    }
    if constexpr (CHECKED) {
#pragma unroll
        for (int lane = 16; lane > 0; lane /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, lane));
        if (largest != 0.0f && largest * scale < SMALLEST)
            lathe_guard_raise(guard);
    }
}
