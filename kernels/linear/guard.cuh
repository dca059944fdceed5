// guard.cuh: a kernel in a format with less range than float32 is right on every float32 input, or notices and lets a
// float32 kernel do the work again.
//
// `guard` is two words of workspace, zeroed once: guard[0] is raised (1) by whichever block finds that it cannot answer
// for its result; the pipeline's last step, linear_fallback, then computes all of Y in float32 and lowers it. Where it
// is not raised that step ends at once. Both happen within the pipeline, so the words are zero before every run.
//
// What is found: a finished sum that is not finite (an operand overflowed, or is infinite or NaN, and float32 may have
// another result there), and a row, or part of one, that is not zero but so small that the format loses its low bits.
#pragma once
#include "lathe.cuh"

__device__ __forceinline__ void lathe_guard_raise(unsigned *guard) { *static_cast<volatile unsigned *>(guard) = 1; }

__device__ __forceinline__ bool lathe_is_finite(float x) { return fabsf(x) <= 3.402823466e38f; }

// fp16 operands are scaled by a power of two that brings the largest of a sample of their matrix to [2^11, 2^12): 2^4
// of range is left above for larger elements. Below, an element of fp16's split is exact to 2^-25, so a row whose
// largest is at least 1 there has its sum to about 2^-25 sqrt(K) of itself, float32's own accuracy; a smaller one must
// raise the guard. bf16 has float32's exponents, but its split loses low bits where they are denormal.
//
// bits: those that are set in any high part of a row, in its lower half. An exponent of at least 2^n for some n is seen
// in them without knowing the largest: 2 or more for fp16, 2^-95 or more for bf16. Whether the row is neither zero nor
// so large:
template <bool FP16> __device__ __forceinline__ bool lathe_too_small(unsigned bits) {
    return (bits & 0x7fffu) != 0 && (bits & (FP16 ? 0x4000u : 0x7000u)) == 0;
}

// The i-th of 512 elements of a matrix's first `count`, at most 2^33, that are scattered by a multiplicative hash
// (Knuth, TAOCP 3, 6.4).
__device__ __forceinline__ float lathe_sampled(const float *matrix, long long count, int i) {
    const unsigned long long hash = (i + 1ull) * 0x9e3779b97f4a7c15ull;
    return fabsf(matrix[((hash >> 33) * static_cast<unsigned long long>(count)) >> 31]);
}

// As an exponent: the scale is 2^result, -60 to 60 so that two matrices' together are a float (beyond, rows are too
// large or too small for the guard). All 32 lanes of a warp call it and get the same; so does every warp for the same
// matrix.
__device__ __forceinline__ int lathe_sample_exponent(const float *matrix, long long count) {
    enum { EACH = 16 };
    float largest = 0.0f;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const float x = lathe_sampled(matrix, count, threadIdx.x % 32 + 32 * i);
        largest = lathe_is_finite(x) && x > largest ? x : largest;
    }
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, lane));
    if (largest == 0.0f)
        return 0;
    const int exponent = 11 - (static_cast<int>(__float_as_uint(largest) >> 23) - 127); // of denormals: 138
    return exponent < -60 ? -60 : exponent > 60 ? 60 : exponent;
}

__device__ __forceinline__ float lathe_power_of_two(int exponent) {     // -126 to 127
    return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23);
}

// Whether a matrix has many elements that fp16's two parts hold less well than float32 does: times 2^exponent less than
// 2^-3, where the low part is denormal. They do no harm beside larger ones in a row unless the other matrix is as much
// larger there, as where columns of X are scaled and those of W the other way; a few may be so by chance. More than one
// in 16 of the sample that is not zero. A warp calls it, as lathe_sample_exponent.
__device__ __forceinline__ bool lathe_sample_is_wide(const float *matrix, long long count, int exponent) {
    enum { EACH = 16, ONE_IN = 16 };
    const float scale = lathe_power_of_two(exponent);
    int balance = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const float x = lathe_sampled(matrix, count, threadIdx.x % 32 + 32 * i);
        balance += x == 0.0f ? 0 : x * scale < 0.125f ? ONE_IN - 1 : -1;
    }
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        balance += __shfl_xor_sync(0xffffffffu, balance, lane);
    return balance > 0;
}

// ---- the fallback

// Y = epilogue(X W^T) in float32, if the guard is raised, and lowers it. Any grid; 256 threads; tiles of 64 x 64, each
// thread 4 x 4, sums of 64 k at a time so that the error of long sums stays that of a blocked GEMM.
extern "C" __global__ void __launch_bounds__(256)
    linear_fallback(const float *X, const float *W, float *Y, unsigned *guard, int M, int N, int K,
                    LatheEpilogue epilogue) {
    enum { TILE = 64, STEP = 16, CHUNK = 64, PITCH = TILE + 4 };
    __shared__ float x_tile[STEP][PITCH], w_tile[STEP][PITCH];
    __shared__ unsigned last;
    lathe_grid_dependency_wait();
    if (*static_cast<volatile unsigned *>(guard) == 0)
        return;
    const int tiles_n = lathe_ceil_div(N, TILE);
    const long long tiles = static_cast<long long>(lathe_ceil_div(M, TILE)) * tiles_n;
    const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 4;
    for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int m0 = static_cast<int>(tile / tiles_n) * TILE, n0 = static_cast<int>(tile % tiles_n) * TILE;
        float sum[4][4] = {}, part[4][4] = {};
        for (int k0 = 0; k0 < K; k0 += STEP) {
            for (int i = threadIdx.x; i < TILE * STEP; i += 256) {
                const int r = i / STEP, k = i % STEP;
                const bool inside = k0 + k < K;
                x_tile[k][r] = inside && m0 + r < M ? X[static_cast<long long>(m0 + r) * K + k0 + k] : 0.0f;
                w_tile[k][r] = inside && n0 + r < N ? W[static_cast<long long>(n0 + r) * K + k0 + k] : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int k = 0; k < STEP; k++)
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        part[i][j] = lathe_fma(x_tile[k][row + i], w_tile[k][column + j], part[i][j]);
            __syncthreads();
            if ((k0 + STEP) % CHUNK == 0 || k0 + STEP >= K)
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int j = 0; j < 4; j++) {
                        sum[i][j] += part[i][j];
                        part[i][j] = 0.0f;
                    }
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                if (m0 + row + i < M && n0 + column + j < N)
                    Y[static_cast<long long>(m0 + row + i) * N + n0 + column + j] =
                        epilogue(sum[i][j], m0 + row + i, n0 + column + j);
    }
    if (lathe_is_last_block(&guard[1], gridDim.x, &last) && threadIdx.x == 0)
        guard[0] = 0;
}
