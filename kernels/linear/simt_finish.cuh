// simt_finish.cuh: from sums in registers to Y, or to parts that are added up.
#pragma once
#include "simt_tiles.cuh"

// What becomes of a finished sum: the epilogue's value into Y, or the bare sum into this split's part.
struct Finish {
    LatheEpilogue epilogue;
    float *to;                  // [M, N]
    bool bare;
    __device__ __forceinline__ float operator()(float sum, int m, int n) const {
        return bare ? sum : epilogue(sum, m, n);
    }
};

// V neighbouring values along n; `whole`: N % V is 0, so they exist together and lie aligned.
template <int V>
__device__ __forceinline__ void finish_run(const Finish &f, const float (&sum)[V], int m, int n, int M, int N,
                                           bool whole) {
    if (m >= M || n >= N)
        return;
    float *to = f.to + static_cast<long long>(m) * N + n;
    float value[V];
#pragma unroll
    for (int e = 0; e < V; e++)
        value[e] = n + e < N ? f(sum[e], m, n + e) : 0.0f;
    if (whole) {
        lathe_store<V>(to, value);
    } else {
#pragma unroll
        for (int e = 0; e < V; e++)
            if (n + e < N)
                to[e] = value[e];
    }
}

// Writes a block's sums. m0, n0: the tile's place in Y.
__device__ __forceinline__ void write_tile(const float (&sum)[TR][TC], const Finish &f, float *shared, int m0, int n0,
                                           int M, int N) {
    const Place at;
    if constexpr (!SHARED_STORE) {
        constexpr int V = lathe_min(VEC, RUN_C);
        const bool whole = N % V == 0;
#pragma unroll
        for (int i = 0; i < TR; i++)
#pragma unroll
            for (int j = 0; j < TC; j += V) {
                float run[V];
#pragma unroll
                for (int e = 0; e < V; e++)
                    run[e] = sum[i][j + e];
                finish_run<V>(f, run, m0 + at.row_of(i), n0 + at.col_of(j), M, N, whole);
            }
    } else {
        // One row of every thread's tile at a time: BM / TM rows of Y, each contiguous along n.
        constexpr int SLOTS = BM / TM, PITCH = BN + PAD, RUNS = BN / VEC;
        constexpr int RUN_M = TRANSPOSED ? RUN_C : RUN_R, LANES = LATHE_LANES_M;
        const bool whole = N % VEC == 0;
        const int m_first = TRANSPOSED ? at.col : at.row;
        const int slot = m_first / (LANES * TM) * LANES + m_first % (LANES * TM) / RUN_M;
#pragma unroll
        for (int i = 0; i < TM; i++) {
#pragma unroll
            for (int j = 0; j < TN; j++)
                shared[slot * PITCH + (TRANSPOSED ? at.row_of(j) : at.col_of(j))] = TRANSPOSED ? sum[j][i] : sum[i][j];
            __syncthreads();
#pragma unroll 1
            for (int p = threadIdx.x; p < SLOTS * RUNS; p += THREADS) {
                const int s = p / RUNS, n = p % RUNS * VEC;
                const int m = s / LANES * (LANES * TM) + s % LANES * RUN_M + i / RUN_M * (LANES * RUN_M) + i % RUN_M;
                float run[VEC];
                lathe_load<VEC>(run, shared + s * PITCH + n);
                finish_run<VEC>(f, run, m0 + m, n0 + n, M, N, whole);
            }
            __syncthreads();
        }
    }
}

// Adds up the `count` parts of one tile, in the order of their numbers, in the last block to arrive with one: true
// there. This block's is number `mine`. partial: [slot][4 sums][thread]; slot_of(number): where a part lies.
template <class SlotOf>
__device__ __forceinline__ bool add_parts(float (&sum)[TR][TC], float *partial, unsigned *ticket, float *shared,
                                          int mine, int count, SlotOf slot_of) {
    constexpr int QUADS = TR * TC / 4;
    auto place = [&](int part) {
        return partial + static_cast<long long>(slot_of(part)) * (BM * BN) + threadIdx.x * 4;
    };
    float *to = place(mine);
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        float run[4];
#pragma unroll
        for (int e = 0; e < 4; e++)
            run[e] = sum[(q * 4 + e) / TC][(q * 4 + e) % TC];
        lathe_store<4>(to + q * (THREADS * 4), run);
    }
    const bool last = lathe_is_last_block(ticket, count, reinterpret_cast<volatile unsigned *>(shared));
    __syncthreads();            // shared memory is free again
    if (!last)
        return false;
#pragma unroll
    for (int i = 0; i < TR; i++)
#pragma unroll
        for (int j = 0; j < TC; j++)
            sum[i][j] = 0.0f;
#pragma unroll 1
    for (int part = 0; part < count; part++) {
        const float *from = place(part);
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            float run[4];
            lathe_load_coherent<4>(run, from + q * (THREADS * 4));
#pragma unroll
            for (int e = 0; e < 4; e++)
                sum[(q * 4 + e) / TC][(q * 4 + e) % TC] += run[e];
        }
    }
    return true;
}
