// wgmma_shared_convert.cuh: X and W of float32 rounded to 16 bits, before wgmma_shared multiplies them.
#pragma once
#include "wgmma_shared_tiles.cuh"

#if LATHE_DTYPE_X == LATHE_DTYPE_f32
constexpr int PART = 1024;                              // k that a warp converts of a row

// x16 [M, pitch], w16 [N, pitch]: X, W [., K] rounded, times 2^exponents[0] and 2^exponents[1] (fp16), zeros beyond K;
// pitch is K rounded up to 8.
extern "C" __global__ void __launch_bounds__(256)
    linear_wgmma_convert(const float *X, const float *W, lathe_f16 *x16, lathe_f16 *w16, int *exponents,
                         unsigned *guard, int M, int N, int K) {
    lathe_grid_dependency_launch();
    __shared__ int found[2];
    if (SCALED) {
        if (threadIdx.x < 64) {
            const float *matrix = threadIdx.x < 32 ? X : W;
            const long long elements = static_cast<long long>(threadIdx.x < 32 ? M : N) * K;
            const int e = lathe_sample_exponent(matrix, elements);
            if (blockIdx.x == 0 && lathe_sample_is_wide(matrix, elements, e))
                lathe_guard_raise(guard);
            if (threadIdx.x % 32 == 0)
                found[threadIdx.x / 32] = e;
        }
        __syncthreads();
        if (blockIdx.x == 0 && threadIdx.x < 2)
            exponents[threadIdx.x] = found[threadIdx.x];
    }
    const int pitch = lathe_ceil_div(K, 8) * 8, parts = lathe_ceil_div(pitch, PART), lane = threadIdx.x % 32;
    const long long work = (static_cast<long long>(M) + N) * parts;
    for (long long at = blockIdx.x * 8ll + threadIdx.x / 32; at < work; at += gridDim.x * 8ll) {
        const int row = static_cast<int>(at / parts), begin = static_cast<int>(at % parts) * PART + lane * 8;
        const bool of_x = row < M;
        const long long in_matrix = of_x ? row : row - M;
        const float *from = (of_x ? X : W) + in_matrix * K;
        lathe_f16 *to = (of_x ? x16 : w16) + in_matrix * pitch;
        const float scale = SCALED ? lathe_power_of_two(found[of_x ? 0 : 1]) : 1.0f;
        float v[PART / 256][8];
#pragma unroll
        for (int i = 0; i < PART / 256; i++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int k = begin + 256 * i + 4 * half;
                const float4 four = k < K ? *reinterpret_cast<const float4 *>(from + k)
                                          : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                v[i][4 * half] = four.x;
                v[i][4 * half + 1] = four.y;
                v[i][4 * half + 2] = four.z;
                v[i][4 * half + 3] = four.w;
            }
        unsigned bits = 0, all_bits = 0;
#pragma unroll
        for (int i = 0; i < PART / 256; i++) {
            unsigned pair[4];
#pragma unroll
            for (int p = 0; p < 4; p++) {
                pair[p] = lathe_pack16<SCALED>(v[i][2 * p] * scale, v[i][2 * p + 1] * scale);
                bits |= pair[p];
                all_bits |= __float_as_uint(v[i][2 * p]) | __float_as_uint(v[i][2 * p + 1]);
            }
            if (begin + 256 * i < pitch)
                *reinterpret_cast<uint4 *>(to + begin + 256 * i) = make_uint4(pair[0], pair[1], pair[2], pair[3]);
        }
#pragma unroll
        for (int other = 16; other > 0; other /= 2) {
            bits |= __shfl_xor_sync(0xffffffffu, bits, other);
            all_bits |= __shfl_xor_sync(0xffffffffu, all_bits, other);
        }
        const bool gone = (bits & 0x7fff7fffu) == 0 && (all_bits & 0x7fffffffu) != 0;
        if (lathe_too_small<SCALED>(bits | bits >> 16) || gone)
            lathe_guard_raise(guard);
    }
}
#endif
