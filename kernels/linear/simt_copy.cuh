// simt_copy.cuh: from global memory to a tile in shared memory.
#pragma once
#include "simt_tiles.cuh"

// The elements of k that one operand's tile needs, from global to shared memory. EXTENT rows of the tile.
template <int EXTENT> struct Loader {
    static constexpr int PIECES = EXTENT * BK / VEC;                // pieces of VEC floats in a tile
    static constexpr int COUNT = lathe_ceil_div(PIECES, THREADS);   // pieces a thread moves
    static constexpr bool EXACT = PIECES % THREADS == 0;
    static constexpr int ROW_STEP = THREADS * VEC / BK;             // rows between a thread's pieces
    static constexpr int PITCH = PADDED ? BK + PAD : EXTENT + PAD;  // floats between shared rows

    const float *tile;          // [limit - first, K] from the tile's first row, at the k of the next fetch
    unsigned offset[COUNT];     // bytes from `tile` to each piece; meaningful if narrow(K)
    int row, k;                 // this thread's first row within the tile and its k within the stage
    int last;                   // the last row that exists, within the tile
    float held[ASYNC ? 1 : COUNT][VEC];

    __device__ __forceinline__ Loader(const float *from, int first, int limit, int K, int k_begin) {
        const int t = threadIdx.x;
        if (PADDED) {
            k = t % (BK / VEC) * VEC;
            row = t / (BK / VEC);
        } else {                // 32 bytes of k by 4 * VEC rows a warp: whole sectors, and stores to 32 different banks
            constexpr int ALONG_K = 8 / VEC;
            const int warp = t / 32, lane = t % 32;
            k = (warp % (BK / 8) * ALONG_K + lane % ALONG_K) * VEC;
            row = warp / (BK / 8) * (32 / ALONG_K) + lane / ALONG_K;
        }
        tile = from + static_cast<long long>(first) * K + k_begin;
        last = limit - 1 - first;
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            offset[c] = static_cast<unsigned>(clamped(c)) * (4u * static_cast<unsigned>(K)) + 4u * k;
    }

    // Whether 32 bits hold every offset.
    static __device__ __forceinline__ bool narrow(int K) {
        return static_cast<unsigned>(K) < 0xffffffffu / (4 * EXTENT);
    }

    __device__ __forceinline__ int clamped(int c) const { return lathe_min(row + c * ROW_STEP, last); }
    __device__ __forceinline__ bool mine(int c) const { return EXACT || row + c * ROW_STEP < EXTENT; }
    __device__ __forceinline__ float *place(float *stage, int c) const {
        return PADDED ? stage + (row + c * ROW_STEP) * PITCH + k : stage + k * PITCH + row + c * ROW_STEP;
    }

    // Starts moving the next tile, if all of its k exist and narrow(K).
    __device__ __forceinline__ void fetch(float *stage) {
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            if (mine(c)) {
                const float *from = reinterpret_cast<const float *>(reinterpret_cast<const char *>(tile) + offset[c]);
                if constexpr (ASYNC)
                    lathe_copy_async<VEC, LATHE_PREFETCH>(place(stage, c), from);
                else
                    lathe_load_const<VEC>(held[c], from);
            }
        tile += BK;
    }

    // The same for any tile; left: how many of its k exist. It seldom runs, so no register is held for it between
    // tiles.
    __device__ __forceinline__ void fetch_edge(float *stage, int left, int K) {
        const int pitch = lathe_opaque(K);
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            if (mine(c)) {
                const bool exists = k < left;       // K % VEC is 0, so a piece exists whole or not at all
                const float *from = tile + static_cast<long long>(clamped(c)) * pitch + (exists ? k : 0);
                if constexpr (ASYNC) {
                    lathe_copy_async<VEC, 0>(place(stage, c), from, exists);
                } else {
#pragma unroll
                    for (int e = 0; e < VEC; e++)
                        held[c][e] = 0.0f;
                    if (exists)
                        lathe_load_const<VEC>(held[c], from);
                }
            }
        tile += BK;
    }

    // Puts what fetch() holds in registers into its stage.
    __device__ __forceinline__ void put(float *stage) const {
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            if (mine(c)) {
                if constexpr (PADDED) {
                    lathe_store<VEC>(place(stage, c), held[c]);
                } else {
#pragma unroll
                    for (int e = 0; e < VEC; e++)
                        place(stage, c)[e * PITCH] = held[c][e];
                }
            }
    }
};
