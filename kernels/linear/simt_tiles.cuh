// simt_tiles.cuh: what a configuration of the simt kernel means: its tiles, lanes, steps and shared memory.
#pragma once
#include "lathe.cuh"

constexpr int BM = LATHE_BM, BN = LATHE_BN, BK = LATHE_BK, TM = LATHE_TM, TN = LATHE_TN, VEC = LATHE_VEC;
constexpr int STAGES = LATHE_STAGES, SPLIT_K = LATHE_SPLIT_K;
constexpr bool TRANSPOSED = LATHE_TRANSPOSED;
constexpr bool PADDED = LATHE_LAYOUT == LATHE_LAYOUT_padded;
constexpr bool ASYNC = LATHE_FILL == LATHE_FILL_async;
constexpr bool DOUBLE_FRAGMENTS = LATHE_FRAGMENTS == 2;
constexpr bool LAST_BLOCK = SPLIT_K > 1 && LATHE_REDUCE == LATHE_REDUCE_last_block;
constexpr bool STREAM = LATHE_SCHEDULE == LATHE_SCHEDULE_stream;
constexpr bool SHARED_STORE = TRANSPOSED || LATHE_STORE == LATHE_STORE_shared;

constexpr int THREADS = (BM / TM) * (BN / TN);

// The product P: rows and columns of the block tile, of a thread's tile, and of the lanes of a warp.
constexpr int ROWS = TRANSPOSED ? BN : BM, COLS = TRANSPOSED ? BM : BN;
constexpr int TR = TRANSPOSED ? TN : TM, TC = TRANSPOSED ? TM : TN;
constexpr int LANES_R = TRANSPOSED ? 32 / LATHE_LANES_M : LATHE_LANES_M, LANES_C = 32 / LANES_R;
constexpr int WARPS_R = ROWS / (LANES_R * TR);

// One step of the inner loop multiplies STEP_K elements of k; fragments are read RUN rows at a time.
constexpr int STEP_K = PADDED ? 4 : 1, STEPS = BK / STEP_K;
constexpr int UNROLL_STEPS = LATHE_UNROLL / STEP_K;
// The compiler keeps the source's order of FMAs in a short loop, where the longer walk shares more; in longer ones it
// reorders them, and the shorter walk loses less.
constexpr bool WALK_LONG = DOUBLE_FRAGMENTS && UNROLL_STEPS <= 2;
// Of the last UNROLL_STEPS steps, the one before which fetched registers go to shared memory: late enough to have
// arrived.
constexpr int PUT_STEP = UNROLL_STEPS <= 2 ? 0 : UNROLL_STEPS - 1;
constexpr int RUN_R = PADDED ? 1 : lathe_min(TR, 4), RUN_C = PADDED ? 1 : lathe_min(TC, 4);

constexpr int PAD = 4;  // floats: keeps 16-byte alignment and spreads neighbouring rows over the banks
constexpr int ROWS_FLOATS = PADDED ? ROWS * (BK + PAD) : BK * (ROWS + PAD);
constexpr int STAGE_FLOATS = ROWS_FLOATS + (PADDED ? COLS * (BK + PAD) : BK * (COLS + PAD));

static_assert(BM % (LATHE_LANES_M * TM) == 0 && BN % ((32 / LATHE_LANES_M) * TN) == 0,
              "warps must tile the block tile");
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "a block is whole warps, 1024 threads at most");
static_assert(BK % VEC == 0 && (PADDED ? THREADS % (BK / VEC) == 0 : BK % 8 == 0 && THREADS % (4 * BK) == 0),
              "each thread must load the same k of every row it loads");
static_assert(!PADDED || (VEC * 4) % 4 == 0, "rows are filled in pieces of VEC floats");
static_assert(PADDED || !ASYNC || VEC == 1,
              "an async copy cannot turn a vector: a transposed tile is filled by single floats");
static_assert(ASYNC ? STAGES >= 2 : STAGES <= 2, "async copies need a second stage; through registers two are enough");
static_assert(!STREAM || SPLIT_K == 1, "a stream of tiles is split already");
static_assert(BK % LATHE_UNROLL == 0 && LATHE_UNROLL % STEP_K == 0, "UNROLL must divide BK into whole steps");
static_assert(!DOUBLE_FRAGMENTS || UNROLL_STEPS % 2 == 0,
              "double fragments alternate, so the unrolled steps must be even");
