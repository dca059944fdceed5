// wgmma_finish.cuh: from finished sums to Y: the blocks of a split k add theirs, the epilogue, the guard.
#pragma once
#include "wgmma_multiply.cuh"

// The exchange of a split k: of J groups of 8 columns each block finishes J / SPLIT_K and hands the others' sums over.
constexpr int MINE = J / SPLIT_K;

__device__ __forceinline__ void hand_over(const Multiplier &x, const Kept &kept, int rank, unsigned exchange) {
#pragma unroll
    for (int j = 0; j < J; j++)
        if (j / MINE != rank)
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                float four[4] = {x.sum[i][4 * j], x.sum[i][4 * j + 1], x.sum[i][4 * j + 2], x.sum[i][4 * j + 3]};
                kept.add(i, j, four);
                lathe_store<4>(kept.slot(i, j), four);
            }
    __threadfence();
    __syncwarp();
    if (x.lane < SPLIT_K && x.lane != rank)
        lathe_barrier_arrive_remote<true>(x.memory.exchanged(), x.lane);
    lathe_barrier_wait_cluster(x.memory.exchanged(), exchange);
}

// The others have read what this block handed over, and it has read theirs.
__device__ __forceinline__ void hand_over_done(const Multiplier &x, int rank, unsigned exchange) {
    lathe_fence_async();
    __syncwarp();
    if (x.lane < SPLIT_K && x.lane != rank)
        lathe_barrier_arrive_remote<false>(x.memory.exchange_free(), x.lane);
    lathe_barrier_wait_cluster(x.memory.exchange_free(), exchange);
}

// Finished sums of tile i, group of columns j: rows first_row + 2i + h, columns 8j + 2c + e, at [2h + e].
__device__ __forceinline__ void finished(const Multiplier &x, const Kept &kept, int i, int j, int rank, float unscale,
                                         float (&four)[4]) {
#pragma unroll
    for (int v = 0; v < 4; v++)
        four[v] = x.sum[i][4 * j + v];
    kept.add(i, j, four);
    if constexpr (SPLIT_K > 1)
#pragma unroll
        for (int other = 1; other < SPLIT_K; other++) {
            const int block = (rank + other) % SPLIT_K - rank;
            float more[4];
            lathe_load_coherent<4>(more, kept.slot(i, j) + static_cast<long long>(block) * STREAMS * TILE_FLOATS);
#pragma unroll
            for (int v = 0; v < 4; v++)
                four[v] += more[v];
        }
    if constexpr (FP16)
#pragma unroll
        for (int v = 0; v < 4; v++)
            four[v] *= unscale;
}

// Y of the tile at (row, column) of tiles. False if some sum is not finite.
__device__ __forceinline__ bool write_tile(const Multiplier &x, const Kept &kept, int row, int column, int rank,
                                           float unscale, float *Y, int M, int N, const LatheEpilogue &epilogue) {
    // Of 8 columns a thread has TILES * 2 rows by 2 columns: HIGH rows of Y by WIDE of its columns.
    constexpr int HIGH = STREAM_X ? TILES * 2 : 2, WIDE = STREAM_X ? 2 : TILES * 2, VEC = lathe_min(LATHE_VEC, WIDE);
    const int streamed = row * ROWS + x.first_row, shared = column * COLUMNS + 2 * x.c;
    const int m0 = STREAM_X ? streamed : shared, n0 = STREAM_X ? shared : streamed;
    float *to = Y + static_cast<long long>(m0) * N + n0;
    float zero = 0.0f;                                  // until something is not finite
#pragma unroll
    for (int j = 0; j < J; j++) {
        if (SPLIT_K > 1 && j / MINE != rank)
            continue;
        float value[HIGH][WIDE];
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            float four[4];
            finished(x, kept, i, j, rank, unscale, four);
#pragma unroll
            for (int v = 0; v < 4; v++) {
                value[STREAM_X ? 2 * i + v / 2 : v % 2][STREAM_X ? v % 2 : 2 * i + v / 2] = four[v];
                zero = lathe_fma(four[v], 0.0f, zero);
            }
        }
        const int m = m0 + (STREAM_X ? 0 : 8 * j), n = n0 + (STREAM_X ? 8 * j : 0);
        float *const at = to + (STREAM_X ? 8ll * j : 8ll * j * N);
#pragma unroll
        for (int r = 0; r < HIGH; r++)
#pragma unroll
            for (int e = 0; e < WIDE; e += VEC)
                if (m + r < M && n + e < N) {           // and with it all of the vector
                    float y[VEC];
#pragma unroll
                    for (int v = 0; v < VEC; v++)
                        y[v] = epilogue(value[r][e + v], m + r, n + e + v);
                    lathe_store<VEC>(at + static_cast<long long>(r) * N + e, y);
                }
    }
    return zero == 0.0f;
}

__device__ __forceinline__ void finish(const Multiplier &x, const Kept &kept, int row, int column, int rank,
                                       unsigned &exchange, float unscale, float *Y, int M, int N, unsigned *guard,
                                       const LatheEpilogue &epilogue) {
    kept.end(x.memory);
    if constexpr (SPLIT_K > 1)
        hand_over(x, kept, rank, exchange);
    if (!write_tile(x, kept, row, column, rank, unscale, Y, M, N, epilogue))
        lathe_guard_raise(guard);
    if constexpr (SPLIT_K > 1) {
        hand_over_done(x, rank, exchange);
        exchange ^= 1;
    }
}

// A row of the streamed matrix that is not zero but too small for the format raises the guard: first_row + q of the
// tile's rows from `row` on, k from begin on. One without any high part may be zero, or so small that nothing was left:
// it is read again to know.
__device__ __forceinline__ void check_rows(const Multiplier &x, const float *streamed, int row, int rows, int begin,
                                           int end, int K, unsigned *guard) {
#pragma unroll
    for (int q = 0; q < TILES * 2; q++) {
        unsigned bits = x.bits[q] | __shfl_xor_sync(0xffffffffu, x.bits[q], 1);
        bits |= __shfl_xor_sync(0xffffffffu, bits, 2);
        bool bad = lathe_too_small<FP16>(bits | bits >> 16);
        const int mine = row + x.first_row + q;
        if ((bits & 0x7fff7fffu) == 0 && mine < rows) {
            const float *from = streamed + static_cast<long long>(mine) * K;
#pragma unroll 1
            for (int k = begin + 4 * x.c; k < end; k += 16) {
                const float4 v = *reinterpret_cast<const float4 *>(from + k);
                bad = bad || v.x != 0.0f || v.y != 0.0f || v.z != 0.0f || v.w != 0.0f;
            }
        }
        if (bad)
            lathe_guard_raise(guard);
    }
}
