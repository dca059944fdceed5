// wgmma_shared_multiply.cuh: what a warpgroup of wgmma_shared that multiplies holds, and how it goes through a tile.
#pragma once
#include "wgmma_shared_tiles.cuh"

struct Multiplier {
    const Memory &memory;
    const int group, warp, lane;                        // warp: of the warpgroup
    float sum[TILES][SUMS];
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

    // The sums of a tile. On return those of its last chunk are still on their way; finish_tile waits for them.
    __device__ __forceinline__ void begin_tile(int chunks) {
        const unsigned first = PINGPONG ? 0 : group * TILES * 64 * ROW_BYTES;
#pragma unroll 1
        for (int c = 0; c < chunks; c++) {
            lathe_barrier_wait(memory.full(at.stage), at.parity);
            const unsigned long long a = lathe_wgmma_matrix<ROW_BYTES>(memory.a(at.stage) + first);
            const unsigned long long b = lathe_wgmma_matrix<ROW_BYTES>(memory.b(at.stage));
            lathe_wgmma_fence();
#pragma unroll
            for (int step = 0; step < STEPS; step++)
#pragma unroll
                for (int i = 0; i < TILES; i++)
                    lathe_wgmma<TYPE>(sum[i], a + 2 * step + i * (64 * ROW_BYTES / 16), b + 2 * step,
                                      step > 0 || c > 0);
            lathe_wgmma_commit();
            lathe_wgmma_wait<1>();
            if (c > 0)
                release(at.before());
            at.next();
        }
    }
    __device__ __forceinline__ void finish_tile() {
        lathe_wgmma_wait<0>();
        release(at.before());
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
