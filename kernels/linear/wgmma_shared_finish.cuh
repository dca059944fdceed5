// wgmma_shared_finish.cuh: from the sums of a warpgroup to Y.
#pragma once
#include "wgmma_shared_multiply.cuh"

// ---- a split k: of the slabs each block finishes its share and hands the others' sums over, through workspace

constexpr int MY_SLABS = SLABS / SPLIT_K;

struct Exchange {
    float *workspace;                                   // mine of a slot: four sums every 512 floats
    int rank;
    unsigned rounds;                                    // so far

    __device__ __forceinline__ Exchange(float *sums, const Multiplier &x, int r) : rank(r), rounds(0) {
        workspace = sums + (static_cast<long long>(blockIdx.x) * STREAMS + x.group * TILES) * TILE_FLOATS +
                    threadIdx.x % 128 * 4;
    }
    __device__ __forceinline__ float *slot(int tile, int slab) const {
        return workspace + tile * TILE_FLOATS + slab * (EACH / 4 * 512);
    }
    __device__ __forceinline__ bool mine(int slab) const { return slab / MY_SLABS == rank; }

    __device__ __forceinline__ void hand_over(const Multiplier &x) {
        if (rounds > 0)                                 // the others have read what was there before
            lathe_barrier_wait(x.memory.exchange_free(), (rounds - 1) & 1);
#pragma unroll
        for (int i = 0; i < TILES; i++)
#pragma unroll
            for (int s = 0; s < SLABS; s++)
                if (!mine(s))
#pragma unroll
                    for (int v = 0; v < EACH; v += 4) {
                        const float *from = &x.sum[i][s * EACH + v];
                        const float four[4] = {from[0], from[1], from[2], from[3]};
                        lathe_store<4>(slot(i, s) + v * 128, four);
                    }
        __threadfence();
        __syncwarp();
        if (x.lane < SPLIT_K && x.lane != rank)
            lathe_barrier_arrive_remote<true>(x.memory.exchanged(), x.lane);
        lathe_barrier_wait_cluster(x.memory.exchanged(), rounds & 1);
        rounds++;
    }

    __device__ __forceinline__ void add_others(int tile, int slab, float (&value)[EACH]) const {
#pragma unroll
        for (int other = 1; other < SPLIT_K; other++) {
            const int block = (rank + other) % SPLIT_K - rank;
#pragma unroll
            for (int v = 0; v < EACH; v += 4) {
                float more[4];
                lathe_load_coherent<4>(more, slot(tile, slab) + v * 128 +
                                                 static_cast<long long>(block) * STREAMS * TILE_FLOATS);
#pragma unroll
                for (int w = 0; w < 4; w++)
                    value[v + w] += more[w];
            }
        }
    }

    __device__ __forceinline__ void done(const Multiplier &x) const {
        __syncwarp();
        if (x.lane < SPLIT_K && x.lane != rank)
            lathe_barrier_arrive_remote<false>(x.memory.exchange_free(), x.lane);
    }
};

// ---- a slab to Y

// Element (across, along) of a slab is Y[m + across, n + along]; `whole` if all of the slab is in Y.
struct Slab {
    LatheType_Y *Y;
    int m, n, M, N;
    __device__ __forceinline__ bool whole() const { return m <= M - (SWAP ? SLAB : 16) && n <= N - (SWAP ? 16 : SLAB); }
    template <bool WHOLE> __device__ __forceinline__ bool has(int across, int along) const {
        return WHOLE || (m + across < M && n + along < N);
    }
    __device__ __forceinline__ LatheType_Y *at(int across, int along) const {
        return Y + static_cast<long long>(m + across) * N + n + along;
    }
};

// From where wgmma left the sums: a thread has pairs of neighbours along n, or along m where SWAP.
template <bool WHOLE>
__device__ __forceinline__ void store_registers(const float (&value)[EACH], const Slab &slab,
                                                const LatheEpilogue &epilogue) {
    const int lane = threadIdx.x % 32, g = lane / 4, c = lane % 4;
    float y[EACH];
#pragma unroll
    for (int v = 0; v < EACH; v++) {
        const int row = g + 8 * (v / 2 % 2), column = v / 4 * 8 + 2 * c + v % 2;
        const int across = SWAP ? column : row, along = SWAP ? row : column;
        y[v] = slab.has<WHOLE>(across, along) ? epilogue(value[v], slab.m + across, slab.n + along) : 0.0f;
    }
#pragma unroll
    for (int v = 0; v < EACH; v += VEC) {
        const int row = g + 8 * (v / 2 % 2), column = v / 4 * 8 + 2 * c + v % 2;
        const int across = SWAP ? column : row, along = SWAP ? row : column;
        float some[VEC];
#pragma unroll
        for (int w = 0; w < VEC; w++)
            some[w] = y[v + w];
        if (slab.has<WHOLE>(across, along))             // and with it all of the vector
            lathe_store<VEC>(slab.at(across, along), some);
    }
}

// By way of shared memory, which turns them over so that a thread has VEC neighbours along n.
__device__ __forceinline__ void stage_slab(const float (&value)[EACH], float *staging) {
    const int lane = threadIdx.x % 32, g = lane / 4, c = lane % 4;
    __syncwarp();                                       // the slab before has been read
#pragma unroll
    for (int v = 0; v < EACH; v += 2) {
        const int row = g + 8 * (v / 2 % 2), column = v / 4 * 8 + 2 * c;
        if constexpr (SWAP) {
            staging[column * PITCH + row] = value[v];
            staging[(column + 1) * PITCH + row] = value[v + 1];
        } else {
            const float two[2] = {value[v], value[v + 1]};
            lathe_store<2>(staging + row * PITCH + column, two);
        }
    }
    __syncwarp();
}

template <bool WHOLE>
__device__ __forceinline__ void store_staged(const float *staging, const Slab &slab, const LatheEpilogue &epilogue) {
    constexpr int LANES = (SWAP ? 16 : SLAB) / VEC, PASSES = EACH / VEC;   // lanes of a row of Y
    const int lane = threadIdx.x % 32, first = lane / LANES, along = lane % LANES * VEC;
    float y[PASSES][VEC];
#pragma unroll
    for (int p = 0; p < PASSES; p++)
        lathe_load<VEC>(y[p], staging + (first + p * (32 / LANES)) * PITCH + along);
#pragma unroll
    for (int p = 0; p < PASSES; p++) {
        const int across = first + p * (32 / LANES);
        if (slab.has<WHOLE>(across, along))             // and with it all of the vector
#pragma unroll
            for (int v = 0; v < VEC; v++)
                y[p][v] = epilogue(y[p][v], slab.m + across, slab.n + along + v);
    }
#pragma unroll
    for (int p = 0; p < PASSES; p++) {
        const int across = first + p * (32 / LANES);
        if (slab.has<WHOLE>(across, along))
            lathe_store<VEC>(slab.at(across, along), y[p]);
    }
}

__device__ __forceinline__ void store_slab(const float (&value)[EACH], const Slab &slab, float *staging,
                                           const LatheEpilogue &epilogue) {
    if (slab.m >= slab.M || slab.n >= slab.N)
        return;
    if constexpr (STAGED) {
        stage_slab(value, staging);
        if (slab.whole())
            store_staged<true>(staging, slab, epilogue);
        else
            store_staged<false>(staging, slab, epilogue);
    } else if (slab.whole()) {
        store_registers<true>(value, slab, epilogue);
    } else {
        store_registers<false>(value, slab, epilogue);
    }
}

// Y of the tile at (row, column) of tiles. The loop is no longer than its body once: the epilogue may be large.
__device__ __forceinline__ void finish(const Multiplier &x, Exchange &exchange, int row, int column, float unscale,
                                       LatheType_Y *Y, int M, int N, unsigned *guard, const LatheEpilogue &epilogue) {
    const int first_row = row * ROWS + (PINGPONG ? 0 : x.group * TILES * 64) + x.warp * 16;
    const int first_column = column * COLUMNS;
    float zero = 0.0f;                                  // until something is not finite
    if constexpr (SPLIT_K > 1)
        exchange.hand_over(x);
#pragma unroll 1
    for (int t = 0; t < TILES * SLABS; t++) {
        const int tile = t / SLABS, s = t % SLABS;
        float value[EACH];
        if (SPLIT_K > 1 && !exchange.mine(s))
            continue;
        x.pick(tile, s, value);
        if constexpr (SPLIT_K > 1)
            exchange.add_others(tile, s, value);
        if constexpr (CONVERT)
#pragma unroll
            for (int v = 0; v < EACH; v++) {
                zero = lathe_fma(value[v], 0.0f, zero);
                value[v] *= unscale;
            }
        const int r = first_row + tile * 64, c = first_column + s * SLAB;
        const Slab slab = {Y, SWAP ? c : r, SWAP ? r : c, M, N};
        store_slab(value, slab, x.memory.staging, epilogue);
    }
    if constexpr (SPLIT_K > 1)
        exchange.done(x);
    if (CONVERT && zero != 0.0f)                        // NaN is not 0 either
        lathe_guard_raise(guard);
}
