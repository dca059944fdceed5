// wgmma_multiply.cuh: what a warpgroup that multiplies holds: sums, operands on their way, and sums kept elsewhere.
#pragma once
#include "wgmma_tiles.cuh"

struct Multiplier {
    const Memory &memory;
    const int group, lane, warp, c;                     // c: lane's place in its four
    float sum[TILES][SUMS];
    unsigned hi[2][TILES][4], lo[2][TILES][4];
    float raw[TILES * 2][4];
    unsigned row_at[TILES * 2];                         // shared addresses of my rows' 16 bytes in stage 0, k16 step 0
    unsigned bits[TILES * 2];                           // that are set in any hi of each of my rows
    float scale;
    Ring at;
    int first_row;                                      // of my TILES * 2 consecutive rows, in the tile

    __device__ __forceinline__ explicit Multiplier(const Memory &m)
        : memory(m), group(threadIdx.x / 128), lane(threadIdx.x % 32), warp(threadIdx.x / 32 % 4), c(threadIdx.x % 4),
          scale(1.0f) {
        // Rows are dealt so that a thread has consecutive ones (whole vectors of Y), and the 8 lanes of a quarter of a
        // 16-byte access touch all banks once under the 128-byte swizzle.
        const int g = lane / 4;
        first_row = group * TILES * 64 + (TILES == 2 ? warp * 32 + 4 * g
                                                     : warp * 16 + (g & 1) * 4 + (g & 2) + (g & 4) * 2);
#pragma unroll
        for (int q = 0; q < TILES * 2; q++) {
            const int row = first_row + q;
            row_at[q] = m.base + row * CHUNK * 4 + ((c ^ (row & 7)) << 4);
        }
    }

    // 16 of k of my rows, as float32
    __device__ __forceinline__ void read(int step) {
#pragma unroll
        for (int q = 0; q < TILES * 2; q++)
            lathe_load_shared(raw[q], (row_at[q] ^ (step << 6)) + at.stage * STAGE_BYTES);
    }

    __device__ __forceinline__ void split(int buffer) {
#pragma unroll
        for (int q = 0; q < TILES * 2; q++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                unsigned &h = hi[buffer][q / 2][q % 2 + 2 * half], &l = lo[buffer][q / 2][q % 2 + 2 * half];
                if constexpr (SHORT)
                    lathe_split_short<false>(raw[q][2 * half], raw[q][2 * half + 1], scale, h, l);
                else if constexpr (PARTS == 2 && FP16)
                    lathe_split16<FP16>(raw[q][2 * half], raw[q][2 * half + 1], scale, h, l);
                else if constexpr (PARTS == 2)
                    lathe_split16<FP16>(raw[q][2 * half], raw[q][2 * half + 1], h, l);
                else
                    h = lathe_pack16<FP16>(FP16 ? raw[q][2 * half] * scale : raw[q][2 * half],
                                           FP16 ? raw[q][2 * half + 1] * scale : raw[q][2 * half + 1]);
                bits[q] |= h;
            }
    }

    // The products of one k16 step of tile i, small ones first.
    __device__ __forceinline__ void multiply(int i, int step, int add) {
        const unsigned long long high = lathe_wgmma_matrix<SHARED_ROW>(memory.shared(at.stage)) + 2 * step;
        if constexpr (PARTS == 2) {
            lathe_wgmma<TYPE>(sum[i], hi[step][i], high + CHUNK * 2 / 16, add);
            lathe_wgmma<TYPE>(sum[i], lo[step][i], high, 1);
            lathe_wgmma<TYPE>(sum[i], hi[step][i], high, 1);
        } else {
            lathe_wgmma<TYPE>(sum[i], hi[step][i], high, add);
        }
    }

    __device__ __forceinline__ void release_streamed(int stage) const {
        __syncwarp();
        if constexpr (SHARE_ROWS) {
            if (lane < CLUSTER)
                lathe_barrier_arrive_remote<false>(memory.streamed_free(stage), lane);
        } else if (lane == 0) {
            lathe_barrier_arrive(memory.streamed_free(stage));
        }
    }
    __device__ __forceinline__ void release_shared(int stage) const {
        if constexpr (SHARE_COLUMNS) {
            if (lane < CLUSTER)
                lathe_barrier_arrive_remote<false>(memory.shared_free(stage), lane);
        } else if (lane == 0) {
            lathe_barrier_arrive(memory.shared_free(stage));
        }
    }

    // Step 0 of the current chunk is multiplied (its operands are split already), step 1 is split.
    __device__ __forceinline__ void first_half(bool release, const int (&add)[TILES]) {
        lathe_wgmma_fence();
#pragma unroll
        for (int i = 0; i < TILES; i++)
            multiply(i, 0, add[i]);
        lathe_wgmma_commit();
        read(1);
        lathe_wgmma_wait<1>();
        if (release)
            release_shared(at.before());
        split(1);
        release_streamed(at.stage);
    }

    __device__ __forceinline__ void enter() { lathe_barrier_wait(memory.full(at.stage), at.parity); }

    // Step 1 of the current chunk is multiplied; the next chunk is entered and its step 0 split.
    __device__ __forceinline__ void second_half() {
        lathe_wgmma_fence();
#pragma unroll
        for (int i = 0; i < TILES; i++)
            multiply(i, 1, 1);
        lathe_wgmma_commit();
        at.next();
        enter();
        read(0);
        lathe_wgmma_wait<1>();
        split(0);
    }
    // The same, with tile FIRST as a group of its own before the other: after lathe_wgmma_wait<TILES - 1> it is done.
    template <int FIRST> __device__ __forceinline__ void second_half_first() {
        lathe_wgmma_fence();
        multiply(FIRST, 1, 1);
        lathe_wgmma_commit();
        if constexpr (TILES == 2) {
            multiply(1 - FIRST, 1, 1);
            lathe_wgmma_commit();
        }
        at.next();
        enter();
        read(0);
        lathe_wgmma_wait<TILES>();
        split(0);
    }
};

// Sums kept outside the tensor cores.
struct Kept {
    float value[IN_REGISTERS ? TILES : 1][IN_REGISTERS ? SUMS : 1];
    float *workspace;                                   // mine of a slot: four sums every 512 floats
    int stagings[TILES], units;                         // so far; the first stream's first needs no wait

    __device__ __forceinline__ Kept(float *sums, const Multiplier &x) : units(0) {
        workspace = sums + (static_cast<long long>(blockIdx.x) * STREAMS + x.group) * TILE_FLOATS;
        workspace += threadIdx.x % 128 * 4;
#pragma unroll
        for (int i = 0; i < TILES; i++)
            stagings[i] = IN_WORKSPACE && place_of(i * GROUPS + x.group) == 0 ? -1 : 0;
    }
    __device__ __forceinline__ float *slot(int i, int j) const {
        return workspace + i * GROUPS * TILE_FLOATS + j * 512;
    }

    __device__ __forceinline__ void begin() {
        units++;
        if constexpr (IN_REGISTERS)
#pragma unroll
            for (int i = 0; i < TILES; i++)
#pragma unroll
                for (int v = 0; v < SUMS; v++)
                    value[i][v] = 0.0f;
    }

    // sum goes over to what is kept; the caller starts it again from zero.
    __device__ __forceinline__ void take(int i, const Multiplier &x) {
        const float(&sum)[SUMS] = x.sum[i];
        if constexpr (IN_REGISTERS) {
#pragma unroll
            for (int v = 0; v < SUMS; v++)
                value[i][v] += sum[v];
        } else if constexpr (IN_WORKSPACE) {
            if (stagings[i] >= 0)
                lathe_barrier_wait(x.memory.staging_free(i * GROUPS + x.group), stagings[i] & 1);
            stagings[i]++;
            const unsigned to = x.memory.staging + threadIdx.x % 128 * 16;
#pragma unroll
            for (int j = 0; j < J; j++) {
                const float four[4] = {sum[4 * j], sum[4 * j + 1], sum[4 * j + 2], sum[4 * j + 3]};
                lathe_store_shared(to + j * 2048, four);
            }
            lathe_fence_async_shared();
            lathe_barrier_arrive(x.memory.staged());
        }
    }

    // All that was taken is to be had.
    __device__ __forceinline__ void end(const Memory &memory) const {
        if constexpr (IN_WORKSPACE) {
            lathe_barrier_wait(memory.promoted(), (units - 1) & 1);
            lathe_fence_async();
        }
    }
    // Adds what is kept of four sums.
    __device__ __forceinline__ void add(int i, int j, float (&four)[4]) const {
        if constexpr (IN_REGISTERS) {
#pragma unroll
            for (int v = 0; v < 4; v++)
                four[v] += value[i][4 * j + v];
        } else if constexpr (IN_WORKSPACE) {
            float more[4];
            lathe_load_coherent<4>(more, slot(i, j));
#pragma unroll
            for (int v = 0; v < 4; v++)
                four[v] += more[v];
        }
    }
};
