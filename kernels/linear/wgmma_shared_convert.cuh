// wgmma_shared_convert.cuh: X and W of float32 as numbers of 16 bits, one or two an element, before wgmma_shared
// multiplies them.
#pragma once
#include "wgmma_shared_tiles.cuh"

#if LATHE_DTYPE_X == LATHE_DTYPE_f32
constexpr int PART = 1024 / PARTS, LOADS = PART / 256;  // k that a warp converts of a row, 8 a lane at a time

// x16 [M, pitch], w16 [N, pitch]: X, W [., K] times 2^exponents[0] and 2^exponents[1] (fp16), zeros beyond K. One part:
// rounded; pitch is K rounded up to 8. Two: CHUNK high parts, then CHUNK low ones, and so on; pitch is K rounded up to
// CHUNK, twice.
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
    constexpr int UNIT = PARTS == 2 ? CHUNK : 8;
    const int padded = lathe_ceil_div(K, UNIT) * UNIT, parts = lathe_ceil_div(padded, PART), lane = threadIdx.x % 32;
    const long long work = (static_cast<long long>(M) + N) * parts;
    for (long long at = blockIdx.x * 8ll + threadIdx.x / 32; at < work; at += gridDim.x * 8ll) {
        const int row = static_cast<int>(at / parts), begin = static_cast<int>(at % parts) * PART + lane * 8;
        const bool of_x = row < M;
        const long long in_matrix = of_x ? row : row - M;
        const float *from = (of_x ? X : W) + in_matrix * K;
        lathe_f16 *to = (of_x ? x16 : w16) + in_matrix * padded * PARTS;
        const float scale = SCALED ? lathe_power_of_two(found[of_x ? 0 : 1]) : 1.0f;
        float v[LOADS][8];
#pragma unroll
        for (int i = 0; i < LOADS; i++)
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
        for (int i = 0; i < LOADS; i++) {
            const int k = begin + 256 * i;
            unsigned hi[4], lo[4];
#pragma unroll
            for (int p = 0; p < 4; p++) {
                lathe_split16<SCALED>(v[i][2 * p], v[i][2 * p + 1], scale, hi[p], lo[p]);
                bits |= hi[p];
                all_bits |= __float_as_uint(v[i][2 * p]) | __float_as_uint(v[i][2 * p + 1]);
            }
            if (k < padded) {
                lathe_f16 *const unit = to + k / UNIT * UNIT * PARTS + k % UNIT;
                *reinterpret_cast<uint4 *>(unit) = make_uint4(hi[0], hi[1], hi[2], hi[3]);
                if (PARTS == 2)
                    *reinterpret_cast<uint4 *>(unit + CHUNK) = make_uint4(lo[0], lo[1], lo[2], lo[3]);
            }
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
