// wgmma_shared_multiply.cuh: what a warpgroup of wgmma_shared that multiplies holds, and how it goes through a tile.
#pragma once
#include "wgmma_shared_tiles.cuh"

struct Multiplier {
    const Memory &memory;
    const int group, warp, lane;                        // warp: of the warpgroup
    float sum[TILES][SUMS];
    float kept[PROMOTE ? TILES : 1][PROMOTE ? SUMS : 1]; // sums of earlier chunks
    Ring at;

    __device__ __forceinline__ explicit Multiplier(const Memory &m)
        : memory(m), group(threadIdx.x / 128), warp(threadIdx.x / 32 % 4), lane(threadIdx.x % 32) {}

    __device__ __forceinline__ void release(int stage) const {
        if constexpr (CLUSTER > 1) {
            if (lane < CLUSTER)
                lathe_barrier_arrive_remote<false>(memory.free(stage), lane);
        } else if (lane == 0) {
            lathe_barrier_arrive(memory.free(stage));
        }
    }

    // The products of the chunk in the current stage; small ones first. add: to the sums that are there.
    __device__ __forceinline__ void multiply(bool add) {
        const unsigned first = PINGPONG ? 0 : group * TILES * 64 * ROW_BYTES;
        const unsigned long long a = lathe_wgmma_matrix<ROW_BYTES>(memory.a(at.stage) + first);
        const unsigned long long b = lathe_wgmma_matrix<ROW_BYTES>(memory.b(at.stage));
        constexpr int LOW = ROW_BYTES / 2 / 16;
#pragma unroll
        for (int step = 0; step < STEPS; step++)
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                const unsigned long long rows = a + 2 * step + i * (64 * ROW_BYTES / 16), columns = b + 2 * step;
                if constexpr (PARTS == 2) {
                    lathe_wgmma<TYPE>(sum[i], rows, columns + LOW, step > 0 || add);
                    lathe_wgmma<TYPE>(sum[i], rows + LOW, columns, 1);
                    lathe_wgmma<TYPE>(sum[i], rows, columns, 1);
                } else {
                    lathe_wgmma<TYPE>(sum[i], rows, columns, step > 0 || add);
                }
            }
    }

    __device__ __forceinline__ void add_kept() {
#pragma unroll
        for (int i = 0; i < TILES; i++)
#pragma unroll
            for (int v = 0; v < SUMS; v++)
                sum[i][v] += kept[i][v];
    }

    // The sums of a tile. On return those of its last chunk are still on their way; finish_tile waits for them. The
    // warpgroups promote at different times.
    __device__ __forceinline__ void begin_tile(int chunks) {
        int stop = PROMOTE ? lathe_min((group + 1) * EVERY / GROUPS, chunks) : chunks;
        for (int c = 0;;) {
            const int start = c;
#pragma unroll 1
            for (; c < stop; c++) {
                lathe_barrier_wait(memory.full(at.stage), at.parity);
                lathe_wgmma_fence();
                multiply(c > start);
                lathe_wgmma_commit();
                lathe_wgmma_wait<1>();
                if (c > 0)
                    release(at.before());
                at.next();
            }
            if (!PROMOTE || stop == chunks)
                break;
            if constexpr (PROMOTE) {
                lathe_wgmma_wait<0>();
                if (start > 0)
                    add_kept();
#pragma unroll
                for (int i = 0; i < TILES; i++)
#pragma unroll
                    for (int v = 0; v < SUMS; v++)
                        kept[i][v] = sum[i][v];
            }
            stop = lathe_min(stop + EVERY, chunks);
        }
    }
    __device__ __forceinline__ void finish_tile(int chunks) {
        lathe_wgmma_wait<0>();
        release(at.before());
        if constexpr (PROMOTE)
            if ((group + 1) * EVERY / GROUPS < chunks)
                add_kept();
    }

    // Slab `slab` of m64 tile `tile`: value[4q + 2h + e] is row 8h + lane / 4 of the warp's 16, column 8q + 2 (lane %
    // 4) + e of the slab. Registers have no index, so all slabs are looked at.
    __device__ __forceinline__ void pick(int tile, int slab, float (&value)[EACH]) const {
#pragma unroll
        for (int i = 0; i < TILES; i++)
#pragma unroll
            for (int s = 0; s < SLABS; s++)
                if (i == tile && s == slab)
#pragma unroll
                    for (int v = 0; v < EACH; v++)
                        value[v] = sum[i][s * EACH + v];
    }
};
