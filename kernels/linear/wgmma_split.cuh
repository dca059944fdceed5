// wgmma_split.cuh: the shared operand of the wgmma kernel, split before it.
#pragma once
#include "wgmma_tiles.cuh"

constexpr int SPLIT_PART = 256;                         // k that a warp splits of each of its 8 rows

// 16 of k from column k on; zeros beyond the matrix.
__device__ __forceinline__ void load_16(float4 (&v)[4], const float *row, int k, int end) {
#pragma unroll
    for (int i = 0; i < 4; i++)
        v[i] = k + 4 * i < end ? *reinterpret_cast<const float4 *>(row + k + 4 * i)
                               : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// The two 16-byte units of 16 k, which lanes 2i and 2i + 1 have for neighbouring k, to `unit` of the even lane's and
// unit + 2 of the odd lane's: each store of both lanes fills a sector of 32 bytes. All lanes call it.
__device__ __forceinline__ void store_units(unsigned char *row, int unit, int swizzle, const unsigned (&part)[8],
                                            bool inside) {
    const bool odd = threadIdx.x & 1;
    unsigned mine[4], theirs[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        theirs[i] = __shfl_xor_sync(0xffffffffu, odd ? part[i] : part[4 + i], 1);
        mine[i] = odd ? part[4 + i] : part[i];
    }
    const int half = odd ? 1 : 0;                       // an odd lane writes second units, of both lanes' k
    const uint4 first = odd ? make_uint4(theirs[0], theirs[1], theirs[2], theirs[3])
                            : make_uint4(mine[0], mine[1], mine[2], mine[3]);
    const uint4 second = odd ? make_uint4(mine[0], mine[1], mine[2], mine[3])
                             : make_uint4(theirs[0], theirs[1], theirs[2], theirs[3]);
    if (inside) {
        *reinterpret_cast<uint4 *>(row + (((unit + half) ^ swizzle) << 4)) = first;
        *reinterpret_cast<uint4 *>(row + (((unit + 2 + half) ^ swizzle) << 4)) = second;
    }
}

// From `matrix` [rows, K] to shared tiles: [row / COLUMNS][k / CHUNK][row % COLUMNS][SHARED_ROW bytes], zeros beyond
// the matrix, swizzled as wgmma reads them. A warp takes 8 rows and SPLIT_PART of k; lanes 4r .. 4r+3 row r, 16 of k
// each. exponent[0]: the scale of the result, 2^exponent[0] (fp16).
extern "C" __global__ void __launch_bounds__(256)
    linear_wgmma_split(const float *__restrict__ matrix, unsigned char *__restrict__ tiles, int *exponent,
                       unsigned *guard, int rows, int padded_rows, int K) {
    lathe_grid_dependency_launch();
    __shared__ int found;
    const int parts = lathe_ceil_div(K, SPLIT_PART), chunks = lathe_ceil_div(K, CHUNK);
    const long long warp = static_cast<long long>(blockIdx.x) * 8 + threadIdx.x / 32;
    const int row = static_cast<int>(warp / parts) * 8 + threadIdx.x % 32 / 4, quarter = threadIdx.x % 4;
    const int begin = static_cast<int>(warp % parts) * SPLIT_PART, end = lathe_min(begin + SPLIT_PART, chunks * CHUNK);
    const float *from = matrix + static_cast<long long>(row) * K;
    float4 next[4];
    load_16(next, from, begin + quarter * 16, row < rows ? K : 0);
    float scale = 1.0f;
    if (FP16) {
        if (threadIdx.x < 32) {
            const int e = lathe_sample_exponent(matrix, static_cast<long long>(rows) * K);
            if (blockIdx.x == 0 && lathe_sample_is_wide(matrix, static_cast<long long>(rows) * K, e))
                lathe_guard_raise(guard);
            if (threadIdx.x == 0)
                found = e;
        }
        __syncthreads();
        scale = lathe_power_of_two(found);
        if (blockIdx.x == 0 && threadIdx.x == 0)
            exponent[0] = found;
    }
    if (row >= padded_rows)                             // all of a warp
        return;
    unsigned char *to = tiles + (static_cast<long long>(row / COLUMNS) * chunks * COLUMNS + row % COLUMNS) * SHARED_ROW;
    const int swizzle = SHARED_ROW == 128 ? row % COLUMNS & 7 : row % COLUMNS >> 1 & 3;
    unsigned bits = 0, all_bits = 0;
    for (int k0 = begin; k0 < end; k0 += 64) {
        const float4 v[4] = {next[0], next[1], next[2], next[3]};
        if (k0 + 64 < end)
            load_16(next, from, k0 + 64 + quarter * 16, row < rows ? K : 0);
        unsigned hi[8], lo[8];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if constexpr (SHORT) {
                lathe_split_short<true>(v[i].x, v[i].y, scale, hi[i], lo[i]);
                lathe_split_short<true>(v[i].z, v[i].w, scale, hi[4 + i], lo[4 + i]);
            } else {
                lathe_split16<FP16>(v[i].x, v[i].y, scale, hi[i], lo[i]);
                lathe_split16<FP16>(v[i].z, v[i].w, scale, hi[4 + i], lo[4 + i]);
            }
            bits |= hi[i] | hi[4 + i];
            all_bits |= __float_as_uint(v[i].x) | __float_as_uint(v[i].y);
            all_bits |= __float_as_uint(v[i].z) | __float_as_uint(v[i].w);
        }
        const int chunk = k0 / CHUNK + quarter / 2;     // of two lanes
        unsigned char *at = to + static_cast<long long>(chunk) * SHARED_BYTES;
        store_units(at, 0, swizzle, hi, chunk < chunks);
        if (PARTS == 2)
            store_units(at, 4, swizzle, lo, chunk < chunks);
    }
    // 16 of k a lane may be all zero beside others that are not: the four lanes of a row answer together.
    bits |= __shfl_xor_sync(0xffffffffu, bits, 1);
    bits |= __shfl_xor_sync(0xffffffffu, bits, 2);
    const bool gone = (bits & 0x7fff7fffu) == 0 && (all_bits & 0x7fffffffu) != 0;
    if (lathe_too_small<FP16>(bits | bits >> 16) || gone)
        lathe_guard_raise(guard);
}
