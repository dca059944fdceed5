// simt_multiply.cuh: from tiles in shared memory to sums in registers.
#pragma once
#include "simt_copy.cuh"

// Where a thread's sums lie in the block tile. Lane bit 0 runs along columns, the next bits along rows, the rest along
// columns again: then each pair of neighbouring lanes reads the same A and each pair two apart the same B, which lets
// the hardware serve half a warp's 16-byte reads in one pass.
struct Place {
    int row, col;               // of the first run
    __device__ __forceinline__ Place() {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int lane_r = lane / 2 % LANES_R;
        const int lane_c = LANES_C == 1 ? 0 : lane % 2 + lane / (2 * LANES_R) * 2;
        row = warp % WARPS_R * (LANES_R * TR) + lane_r * RUN_R;
        col = warp / WARPS_R * (LANES_C * TC) + lane_c * RUN_C;
    }
    __device__ __forceinline__ int row_of(int i) const { return row + i / RUN_R * (LANES_R * RUN_R) + i % RUN_R; }
    __device__ __forceinline__ int col_of(int j) const { return col + j / RUN_C * (LANES_C * RUN_C) + j % RUN_C; }
};
static_assert(LANES_R >= 1 && LANES_R <= 16, "lanes along rows: bit 0 of the lane runs along columns");

struct Fragments {
    float a[TR][STEP_K], b[TC][STEP_K];

    // a_first, b_first: the thread's first run at k 0 of the stage
    __device__ __forceinline__ void read(const float *a_first, const float *b_first, int step) {
        if constexpr (PADDED) {
#pragma unroll
            for (int i = 0; i < TR; i++)
                lathe_load<STEP_K>(a[i], a_first + i * LANES_R * (BK + PAD) + step * STEP_K);
#pragma unroll
            for (int j = 0; j < TC; j++)
                lathe_load<STEP_K>(b[j], b_first + j * LANES_C * (BK + PAD) + step * STEP_K);
        } else {
            read_run<TR, RUN_R>(a, a_first + step * (ROWS + PAD), LANES_R);
            read_run<TC, RUN_C>(b, b_first + step * (COLS + PAD), LANES_C);
        }
    }

    template <int COUNT, int RUN>
    static __device__ __forceinline__ void read_run(float (&to)[COUNT][STEP_K], const float *from, int lanes) {
#pragma unroll
        for (int i = 0; i < COUNT; i += RUN) {
            float run[RUN];
            lathe_load<RUN>(run, from + i * lanes);
#pragma unroll
            for (int e = 0; e < RUN; e++)
                to[i + e][0] = run[e];
        }
    }

    // To and fro along one side of the thread's tile, so that each FMA shares a register with the one before: of the
    // register file's two banks each gives one register a cycle, so an FMA with three new ones takes two.
    __device__ __forceinline__ void multiply(float (&sum)[TR][TC]) const {
        constexpr bool DOWN = (TR > TC) == WALK_LONG;
        constexpr int INNER = DOWN ? TR : TC, OUTER = DOWN ? TC : TR;
#pragma unroll
        for (int s = 0; s < STEP_K; s++)
#pragma unroll
            for (int x = 0; x < OUTER; x++)
#pragma unroll
                for (int y = 0; y < INNER; y++) {
                    const int z = x % 2 ? INNER - 1 - y : y, i = DOWN ? z : x, j = DOWN ? x : z;
                    sum[i][j] = lathe_fma(a[i][s], b[j][s], sum[i][j]);
                }
    }
};

// Sums of tiles [begin, end) of k. A and B: the operands of P, at rows first_r and first_c.
__device__ __forceinline__ void accumulate(float (&sum)[TR][TC], float *shared, const float *A, const float *B,
                                           int first_r, int first_c, int limit_r, int limit_c, int K, int begin,
                                           int end) {
    const Place at;
    Loader<ROWS> load_a(A, first_r, limit_r, K, begin * BK);
    Loader<COLS> load_b(B, first_c, limit_c, K, begin * BK);
    const bool narrow = load_a.narrow(K) && load_b.narrow(K);
    const int whole_end = narrow ? lathe_min(end, K / BK) : begin;      // tiles before it are fetched the quick way
    int fetched = begin, fill = 0, use = 0;     // the next tile to fetch, the stage it goes to, the stage in use

    auto stage = [&](int i) { return shared + i * STAGE_FLOATS; };
    auto fetch = [&]() {
        if (fetched < whole_end) {
            load_a.fetch(stage(fill));
            load_b.fetch(stage(fill) + ROWS_FLOATS);
        } else if (fetched < end) {
            load_a.fetch_edge(stage(fill), K - fetched * BK, K);
            load_b.fetch_edge(stage(fill) + ROWS_FLOATS, K - fetched * BK, K);
        }
        fetched++;
        if constexpr (ASYNC) {
            fill = fill + 1 == STAGES ? 0 : fill + 1;
            lathe_copy_commit();
        }
    };
    auto put = [&](int to) {
        load_a.put(stage(to));
        load_b.put(stage(to) + ROWS_FLOATS);
    };
    // Every thread has read the last of the stage in use; makes the next tile readable, and moves on to it.
    auto advance = [&]() {
        if constexpr (ASYNC) {
            lathe_copy_wait<STAGES - 2>();
            use = use + 1 == STAGES ? 0 : use + 1;
        } else if constexpr (STAGES == 1) {
            __syncthreads();
            put(0);
        } else {
            use = 1 - use;
        }
        __syncthreads();
    };

    if constexpr (ASYNC) {
#pragma unroll
        for (int s = 0; s < STAGES - 1; s++)
            fetch();
        lathe_copy_wait<STAGES - 2>();
    } else {
        fetch();
        put(0);
    }
    __syncthreads();

    constexpr int A_STEP = PADDED ? STEP_K : ROWS + PAD, B_STEP = PADDED ? STEP_K : COLS + PAD;
    const int a_offset = PADDED ? at.row * (BK + PAD) : at.row;
    const int b_offset = ROWS_FLOATS + (PADDED ? at.col * (BK + PAD) : at.col);
    const float *a = stage(0) + a_offset, *b = stage(0) + b_offset;
    Fragments f[DOUBLE_FRAGMENTS ? 2 : 1];
    if constexpr (DOUBLE_FRAGMENTS)
        f[0].read(a, b, 0);

#pragma unroll 1
    for (int t = begin; t < end; t++) {
        fetch();
#pragma unroll 1
        for (int s = 0; s < STEPS - UNROLL_STEPS; s += UNROLL_STEPS) {
#pragma unroll
            for (int u = 0; u < UNROLL_STEPS; u++) {
                if constexpr (DOUBLE_FRAGMENTS)
                    f[(u + 1) % 2].read(a, b, u + 1);
                else
                    f[0].read(a, b, u);
                f[DOUBLE_FRAGMENTS ? u % 2 : 0].multiply(sum);
            }
            a += UNROLL_STEPS * A_STEP;
            b += UNROLL_STEPS * B_STEP;
        }
#pragma unroll
        for (int u = 0; u < UNROLL_STEPS; u++) {
            const bool last = u == UNROLL_STEPS - 1;
            if constexpr (!ASYNC && STAGES == 2) {
                if (u == PUT_STEP)
                    put(1 - use);
            }
            if constexpr (!DOUBLE_FRAGMENTS)
                f[0].read(a, b, u);
            else if (!last)
                f[(u + 1) % 2].read(a, b, u + 1);
            if (last && t + 1 < end) {      // before the last multiplication, which then hides the wait
                advance();
                a = stage(use) + a_offset;
                b = stage(use) + b_offset;
                if constexpr (DOUBLE_FRAGMENTS)
                    f[0].read(a, b, 0);
            }
            f[DOUBLE_FRAGMENTS ? u % 2 : 0].multiply(sum);
        }
    }
    if constexpr (ASYNC)
        lathe_copy_wait<0>();
    // What writes the sums wants neighbours in neighbouring registers: that must not decide where they lie in the loop.
#pragma unroll
    for (int i = 0; i < TR; i++)
#pragma unroll
        for (int j = 0; j < TC; j++)
            sum[i][j] = lathe_new_register(sum[i][j]);
    __syncthreads();            // shared memory is free again
}
