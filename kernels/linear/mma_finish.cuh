// mma_finish.cuh: of mma.cu: what becomes of a block's finished sums.
#pragma once
#include "mma_operand.cuh"

// The epilogue's value of a finished sum into Y, or the bare sum into this split's part.
struct Finish {
    LatheEpilogue epilogue;
    LatheType_Y *Y;             // [M, N]
    float *part;                // [M, N] of this split, where sums are bare
    unsigned *guard;
    float scale;                // of sums: what takes back the scales of X and W
    bool bare;
};

// The first `count` of four neighbours; `whole`: all four, and they lie aligned.
template <class T> __device__ __forceinline__ void store_run(T *to, const float (&value)[4], int count, bool whole) {
    if (whole) {
        lathe_store<4>(to, value);
    } else {
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (e < count)
                to[e] = lathe_from_float<T>(value[e]);
    }
}

// Four neighbouring values along n; `whole`: N % 4 is 0, so they exist together and lie aligned. Whether all are
// finite.
__device__ __forceinline__ bool finish_run(const Finish &f, float (&sum)[4], int m, int n, int M, int N, bool whole) {
    bool finite = true;
    if (m >= M || n >= N)
        return true;
    const long long at = static_cast<long long>(m) * N + n;
#pragma unroll
    for (int e = 0; e < 4; e++) {
        if constexpr (SCALED)
            sum[e] *= f.scale;
        if (n + e < N && !f.bare) {
            finite = finite && lathe_is_finite(sum[e]);
            sum[e] = f.epilogue(sum[e], m, n + e);
        }
    }
    if (f.bare)
        store_run(f.part + at, sum, N - n, whole);
    else
        store_run(f.Y + at, sum, N - n, whole);
    return finite;
}

// Writes a block's sums. m0, n0: the tile's place in Y.
__device__ __forceinline__ void write_tile(const float (&acc)[MT][NT][4], const Finish &f, int m0, int n0, int M,
                                           int N) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const bool whole = N % 4 == 0;
    bool finite = true;
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT; j++)
            if (TRANSPOSED ? i % 2 == 0 : j % 2 == 0)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    // acc[i][j][2 h + e] is P at (row_of(i, h, g), col_of(j, 2 t + e))
                    const int next_i = TRANSPOSED ? i + 1 : i, next_j = TRANSPOSED ? j : j + 1;
                    const int r = Place::warp_row() + row_of(i, TRANSPOSED ? 0 : h, g);
                    const int c = Place::warp_col() + col_of(j, 2 * t + (TRANSPOSED ? h : 0));
                    float run[4];
#pragma unroll
                    for (int e = 0; e < 2; e++) {
                        run[e] = acc[i][j][TRANSPOSED ? 2 * e + h : 2 * h + e];
                        run[2 + e] = acc[next_i % MT][next_j % NT][TRANSPOSED ? 2 * e + h : 2 * h + e];
                    }
                    const int m = m0 + (TRANSPOSED ? c : r), n = n0 + (TRANSPOSED ? r : c);
                    finite &= finish_run(f, run, m, n, M, N, whole);
                }
    if constexpr (!NARROW)
        if (!finite)
            lathe_guard_raise(f.guard);
}

template <int I, int J> __device__ __forceinline__ void clear_sums(float (&acc)[I][J][4]) {
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
        for (int j = 0; j < J; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                acc[i][j][e] = 0.0f;
}

// Adds up the SPLIT_K parts of one tile, in the order of their numbers, in the last block to arrive with one: true
// there. This block's is number `mine`. partial: [SPLIT_K][MT * NT][THREADS][4]. shared: one word.
__device__ __forceinline__ bool add_parts(float (&acc)[MT][NT][4], float *partial, unsigned *ticket,
                                          volatile unsigned *shared, int mine) {
    float *to = partial + static_cast<long long>(mine) * (BM * BN) + threadIdx.x * 4;
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT; j++)
            lathe_store<4>(to + (i * NT + j) * (THREADS * 4), acc[i][j]);
    if (!lathe_is_last_block(ticket, SPLIT_K, shared))
        return false;
    clear_sums(acc);
#pragma unroll 1
    for (int part = 0; part < SPLIT_K; part++) {
        const float *from = partial + static_cast<long long>(part) * (BM * BN) + threadIdx.x * 4;
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int j = 0; j < NT; j++) {
                float run[4];
                lathe_load_coherent<4>(run, from + (i * NT + j) * (THREADS * 4));
#pragma unroll
                for (int e = 0; e < 4; e++)
                    acc[i][j][e] += run[e];
            }
    }
    return true;
}

// Y = epilogue(sum over splits of partial [SPLIT_K, M, N]); four elements a thread, 256 threads a block.
extern "C" __global__ void __launch_bounds__(256)
    linear_mma_reduce(const float *partial, LatheType_Y *Y, unsigned *guard, int M, int N, LatheEpilogue epilogue) {
    const long long count = static_cast<long long>(M) * N;
    const long long first = (static_cast<long long>(blockIdx.x) * 256 + threadIdx.x) * 4;
    bool finite = true;
    lathe_grid_dependency_wait();
    if (first >= count)
        return;
    float sum[4] = {};
    if (N % 4 == 0) {
#pragma unroll 4
        for (int z = 0; z < SPLIT_K; z++) {
            float part[4];
            lathe_load_const<4>(part, partial + z * count + first);
#pragma unroll
            for (int e = 0; e < 4; e++)
                sum[e] += part[e];
        }
        const int m = static_cast<int>(first / N), n = static_cast<int>(first % N);
#pragma unroll
        for (int e = 0; e < 4; e++) {
            finite = finite && lathe_is_finite(sum[e]);
            sum[e] = epilogue(sum[e], m, n + e);
        }
        lathe_store<4>(Y + first, sum);
    } else {
        for (int e = 0; e < 4 && first + e < count; e++) {
            const long long at = first + e;
            float total = 0.0f;
            for (int z = 0; z < SPLIT_K; z++)
                total += partial[z * count + at];
            finite = finite && lathe_is_finite(total);
            Y[at] = lathe_from_float<LatheType_Y>(epilogue(total, static_cast<int>(at / N), static_cast<int>(at % N)));
        }
    }
    if constexpr (!NARROW)
        if (!finite)
            lathe_guard_raise(guard);
}
