// wgmma_copy.cuh: the three threads of the wgmma kernel that copy: streamed tiles, shared tiles, and sums to workspace.
// They and the warpgroups that multiply go through units and chunks in the same order and meet only at barriers.
#pragma once
#include "wgmma_tiles.cuh"

__device__ __forceinline__ void copy_streamed(const LatheTensorMap *map, const Memory &memory, const Shape &shape,
                                              int rank) {
    const unsigned long long policy = LATHE_EVICT_FIRST ? lathe_l2_evict_first() : lathe_l2_normal();
    const Units units = shape.units();
    const Range range(shape.chunks, SPLIT_K > 1 ? rank : 0);
    Ring at;
    for (int u = blockIdx.x / BLOCKS; u < units.count(); u += gridDim.x / BLOCKS) {
        int row, column;
        units.tile(u, rank, row, column);
        for (int c = 0; c < range.count; c++, at.next()) {
            lathe_barrier_wait(memory.streamed_free(at.stage), at.parity ^ 1);
            lathe_barrier_expect(memory.full(at.stage), STREAMED_BYTES);
            const int x = (range.begin + c) * CHUNK;
            if constexpr (SHARE_ROWS) {
                lathe_tma_load(memory.streamed(at.stage) + rank * MY_ROWS * CHUNK * 4, map, x,
                               row * ROWS + rank * MY_ROWS, memory.full(at.stage), policy,
                               static_cast<unsigned short>((1 << CLUSTER) - 1));
            } else {
                lathe_tma_load(memory.streamed(at.stage), map, x, row * ROWS, memory.full(at.stage), policy);
            }
        }
    }
}

__device__ __forceinline__ void copy_shared(const unsigned char *tiles, const Memory &memory, const Shape &shape,
                                            int rank) {
    const unsigned long long policy = LATHE_EVICT_LAST ? lathe_l2_evict_last() : lathe_l2_normal();
    const Units units = shape.units();
    const Range range(shape.chunks, SPLIT_K > 1 ? rank : 0);
    Ring at;
    lathe_grid_dependency_wait();
    for (int u = blockIdx.x / BLOCKS; u < units.count(); u += gridDim.x / BLOCKS) {
        int row, column;
        units.tile(u, rank, row, column);
        const unsigned char *from =
            tiles + (static_cast<long long>(column) * shape.chunks + range.begin) * SHARED_BYTES;
        for (int c = 0; c < range.count; c++, at.next(), from += SHARED_BYTES) {
            lathe_barrier_wait(memory.shared_free(at.stage), at.parity ^ 1);
            lathe_barrier_expect(memory.full(at.stage), SHARED_BYTES);
            if constexpr (SHARE_COLUMNS) {
                constexpr int BYTES = MY_COLUMNS * SHARED_ROW;
                lathe_bulk_load(memory.shared(at.stage) + rank * BYTES, from + rank * BYTES, BYTES,
                                memory.full(at.stage), policy, static_cast<unsigned short>((1 << CLUSTER) - 1));
            } else {
                lathe_bulk_load(memory.shared(at.stage), from, SHARED_BYTES, memory.full(at.stage), policy);
            }
        }
    }
}

// Sums that a stream has staged are written, the first time, or added to this block's own in workspace; then the
// staging buffer is the next stream's. Each stream has a barrier of its own for that: it could not tell the rounds of
// one that turns for all.
__device__ __forceinline__ void add_sums(float *sums, const Memory &memory, const Shape &shape, int rank) {
    const Units units = shape.units();
    const int chunks = Range(shape.chunks, SPLIT_K > 1 ? rank : 0).count;
    int all = 0;
#pragma unroll
    for (int stream = 0; stream < STREAMS; stream++)
        all += promotions(stream, chunks);
    unsigned parity = 0;
    for (int u = blockIdx.x / BLOCKS; u < units.count(); u += gridDim.x / BLOCKS) {
#pragma unroll 1
        for (int i = 0; i < all; i++) {
            const int after = i + 1 < all ? (i + 1) % STREAMS : 0;
            int stream = 0, next = 0;
#pragma unroll
            for (int s = 0; s < STREAMS; s++) {
                stream = place_of(s) == i % STREAMS ? s : stream;
                next = place_of(s) == after ? s : next;
            }
            float *to = sums + (static_cast<long long>(blockIdx.x) * STREAMS + stream) * TILE_FLOATS;
            lathe_barrier_wait(memory.staged(), parity);
            parity ^= 1;
            if (i < STREAMS)
                lathe_bulk_store(to, memory.staging, STAGING_BYTES);
            else
                lathe_bulk_add(to, memory.staging, STAGING_BYTES);
            lathe_bulk_wait();
            lathe_barrier_arrive(memory.staging_free(next));
        }
        lathe_fence_async();
        __threadfence();
        lathe_barrier_arrive(memory.promoted());
    }
}
