// simt.cu: Y = epilogue(X W^T + b) in float32 on the ordinary FMA units, one fused kernel.
//
//   X [M, K], W [N, K], Y [M, N]: row-major float32, so both operands of the product run along k in memory.
//
// A block computes a BM x BN tile of Y, BK elements of k at a time; a thread keeps TM x TN sums in registers. Written for
// an abstract product P[r, c] = sum over k of A[r, k] B[c, k]: with TRANSPOSED false A is X and B is W, so P = Z; with
// TRANSPOSED true A is W and B is X, so P = Z^T, and the tile is turned in shared memory on the way out.
//
// What the parameters change:
//   BM BN BK TM TN  tile sizes; (BM/TM) (BN/TN) threads a block
//   LANES_M         how the 32 lanes of a warp lie: LANES_M along M, 32 / LANES_M along N
//   LAYOUT          a tile in shared memory is "transposed": [k][row], fragments are read along rows; or "padded":
//                   [row][k], rows BK + 4 apart, fragments are read along k, four steps at once
//   FILL            global -> shared by "async" copies (sm_80), or through a "register" and an ordinary store
//   STAGES          tiles in shared memory at once (async: the copies run STAGES - 1 tiles ahead)
//   VEC             floats a global access moves; K % VEC must be 0
//   FRAGMENTS       2: the next step's fragments are read from shared memory while this step's are multiplied
//   UNROLL          steps of k unrolled in the inner loop: 2 keeps the loop within the instruction cache nearest to the
//                   scheduler, and its registers where the source wants them
//   SPLIT_K REDUCE  blocks that share a tile's k range, and who adds up their parts, always in the same order
//   SCHEDULE        "tiles": a block a tile (or SPLIT_K). "stream": any number of blocks, as many as the device holds at
//                   once, which share all tiles' k evenly; a tile that lies in two or more shares is added up as with
//                   "last_block", by the last of its blocks to arrive, and no block ever waits for another
//   STORE           "direct" from registers, or through "shared" memory a row at a time (always so when TRANSPOSED)
//   GROUP           block rows of Y that are walked together, so that concurrent blocks share W in L2
//   PREFETCH        bytes of L2 that an async copy of 16 bytes asks for
//   MIN_BLOCKS      blocks an SM must be able to hold: the compiler's register limit
//
// Edges: rows past the end repeat the last row and are never stored; k past the end is zero; so no size is special. The
// k order of each sum is the plain ascending one within a split or share, and those are added in ascending order: two
// runs agree bit for bit.
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
// Of the last UNROLL_STEPS steps, the one before which fetched registers go to shared memory: late enough to have arrived.
constexpr int PUT_STEP = UNROLL_STEPS <= 2 ? 0 : UNROLL_STEPS - 1;
constexpr int RUN_R = PADDED ? 1 : lathe_min(TR, 4), RUN_C = PADDED ? 1 : lathe_min(TC, 4);

constexpr int PAD = 4;  // floats: keeps 16-byte alignment and spreads neighbouring rows over the banks
constexpr int ROWS_FLOATS = PADDED ? ROWS * (BK + PAD) : BK * (ROWS + PAD);
constexpr int STAGE_FLOATS = ROWS_FLOATS + (PADDED ? COLS * (BK + PAD) : BK * (COLS + PAD));

static_assert(BM % (LATHE_LANES_M * TM) == 0 && BN % ((32 / LATHE_LANES_M) * TN) == 0, "warps must tile the block tile");
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "a block is whole warps, 1024 threads at most");
static_assert(BK % VEC == 0 && (PADDED ? THREADS % (BK / VEC) == 0 : BK % 8 == 0 && THREADS % (4 * BK) == 0),
              "each thread must load the same k of every row it loads");
static_assert(!PADDED || (VEC * 4) % 4 == 0, "rows are filled in pieces of VEC floats");
static_assert(PADDED || !ASYNC || VEC == 1, "an async copy cannot turn a vector: a transposed tile is filled by single floats");
static_assert(ASYNC ? STAGES >= 2 : STAGES <= 2, "async copies need a second stage; through registers two are enough");
static_assert(!STREAM || SPLIT_K == 1, "a stream of tiles is split already");
static_assert(BK % LATHE_UNROLL == 0 && LATHE_UNROLL % STEP_K == 0, "UNROLL must divide BK into whole steps");
static_assert(!DOUBLE_FRAGMENTS || UNROLL_STEPS % 2 == 0, "double fragments alternate, so the unrolled steps must be even");

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

    // The same for any tile; left: how many of its k exist. It seldom runs, so no register is held for it between tiles.
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
__device__ __forceinline__ void accumulate(float (&sum)[TR][TC], float *shared, const float *A, const float *B, int first_r,
                                           int first_c, int limit_r, int limit_c, int K, int begin, int end) {
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

// What becomes of a finished sum: the epilogue's value into Y, or the bare sum into this split's part.
struct Finish {
    LatheEpilogue epilogue;
    float *to;                  // [M, N]
    bool bare;
    __device__ __forceinline__ float operator()(float sum, int m, int n) const { return bare ? sum : epilogue(sum, m, n); }
};

// V neighbouring values along n; `whole`: N % V is 0, so they exist together and lie aligned.
template <int V>
__device__ __forceinline__ void finish_run(const Finish &f, const float (&sum)[V], int m, int n, int M, int N, bool whole) {
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
__device__ __forceinline__ void write_tile(const float (&sum)[TR][TC], const Finish &f, float *shared, int m0, int n0, int M,
                                           int N) {
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

// Adds up the `count` parts of one tile, in the order of their numbers, in the last block to arrive with one: true there.
// This block's is number `mine`. partial: [slot][4 sums][thread]; slot_of(number): where a part lies.
template <class SlotOf>
__device__ __forceinline__ bool add_parts(float (&sum)[TR][TC], float *partial, unsigned *ticket, float *shared, int mine,
                                          int count, SlotOf slot_of) {
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

// What every block needs of the problem, and one tile's sums.
struct Work {
    const float *X, *W;         // [M, K], [N, K]
    int M, N, K;

    // The place of a tile in Y: GROUP rows of tiles are walked column by column.
    __device__ __forceinline__ void locate(int tile, int &m0, int &n0) const {
        const int tiles_m = lathe_ceil_div(M, BM), tiles_n = lathe_ceil_div(N, BN), in_group = LATHE_GROUP * tiles_n;
        const int group_m = tile / in_group * LATHE_GROUP, height = lathe_min(LATHE_GROUP, tiles_m - group_m);
        m0 = (group_m + tile % in_group % height) * BM;
        n0 = tile % in_group / height * BN;
    }

    // Over tiles [begin, end) of k.
    __device__ __forceinline__ void sums(float (&sum)[TR][TC], float *shared, int m0, int n0, int begin, int end) const {
#pragma unroll
        for (int i = 0; i < TR; i++)
#pragma unroll
            for (int j = 0; j < TC; j++)
                sum[i][j] = 0.0f;
        if (SPLIT_K == 1 || begin < end)    // there is always some k; and two ways to get here would cost registers
            accumulate(sum, shared, TRANSPOSED ? W : X, TRANSPOSED ? X : W, TRANSPOSED ? n0 : m0, TRANSPOSED ? m0 : n0,
                       TRANSPOSED ? N : M, TRANSPOSED ? M : N, K, begin, end);
    }
};

// One tile, or one split of one, a block.
__device__ __forceinline__ void compute_tile(const Work &work, Finish f, float *partial, unsigned *tickets, float *shared) {
    const int tile = blockIdx.x, split = blockIdx.z;
    const int tiles_k = lathe_ceil_div(work.K, BK), each = tiles_k / SPLIT_K, more = tiles_k % SPLIT_K;
    const int begin = split * each + lathe_min(split, more), end = begin + each + (split < more ? 1 : 0);
    int m0, n0;
    work.locate(tile, m0, n0);
    float sum[TR][TC];
    work.sums(sum, shared, m0, n0, begin, end);
    if constexpr (LAST_BLOCK) {
        if (!add_parts(sum, partial, tickets + tile, shared, split, SPLIT_K,
                       [&](int z) { return static_cast<long long>(tile) * SPLIT_K + z; }))
            return;
    } else if constexpr (SPLIT_K > 1) {
        f.to = partial + static_cast<long long>(split) * work.M * work.N;
        f.bare = true;
    }
    write_tile(sum, f, shared, m0, n0, work.M, work.N);
}

// The shares of a stream. A unit is one tile of k of one tile of Y; they are numbered tile by tile, and block b works on
// units [before(b), before(b + 1)). Blocks without any come last.
struct Shares {
    int tiles_k, blocks;        // blocks: those that have a unit at least
    long long total;
    __device__ __forceinline__ Shares(int M, int N, int K) {
        tiles_k = lathe_ceil_div(K, BK);
        total = static_cast<long long>(lathe_ceil_div(M, BM)) * lathe_ceil_div(N, BN) * tiles_k;
        blocks = total < gridDim.x ? static_cast<int>(total) : static_cast<int>(gridDim.x);
    }
    __device__ __forceinline__ long long before(int b) const { return total * lathe_min(b, blocks) / blocks; }
    __device__ __forceinline__ int owner(long long unit) const {
        return static_cast<int>(((unit + 1) * blocks - 1) / total);
    }
    // What block b has of a tile: tiles [begin, end) of its k; empty if it lies after its share.
    __device__ __forceinline__ void of_tile(int b, int tile, int &begin, int &end) const {
        const long long first = static_cast<long long>(tile) * tiles_k, from = before(b) - first, to = before(b + 1) - first;
        begin = from > 0 ? static_cast<int>(from) : 0;
        end = to < tiles_k ? static_cast<int>(to) : tiles_k;
    }
};

// One share. Its first tile may have begun in an earlier block and its last may go on in a later one, so a block has two
// parts of tiles at most: slot 2 b of `partial` is for one that began earlier, 2 b + 1 for one that begins in block b.
__device__ __forceinline__ void compute_share(const Work &work, const Finish &f, float *partial, unsigned *tickets,
                                              float *shared) {
    const Shares all(work.M, work.N, work.K);
#pragma unroll 1
    for (int tile = static_cast<int>(all.before(blockIdx.x) / all.tiles_k);; tile++) {
        int m0, n0, begin, end;
        float sum[TR][TC];
        {
            const Work now = {work.X, work.W, lathe_opaque(work.M), work.N, work.K};
            Shares(now.M, now.N, now.K).of_tile(blockIdx.x, tile, begin, end);
            if (begin >= end)
                return;
            now.locate(tile, m0, n0);
            now.sums(sum, shared, m0, n0, begin, end);
        }
        // All but `tile` is computed anew, so that no register is held for it while the sums are computed.
        const Work now = {work.X, work.W, lathe_opaque(work.M), work.N, work.K};
        const Shares shares(now.M, now.N, now.K);
        shares.of_tile(blockIdx.x, tile, begin, end);
        now.locate(tile, m0, n0);
        if (begin > 0 || end < shares.tiles_k) {
            const long long unit = static_cast<long long>(tile) * shares.tiles_k;
            const int first = shares.owner(unit), last = shares.owner(unit + shares.tiles_k - 1);
            if (!add_parts(sum, partial, tickets + tile, shared, static_cast<int>(blockIdx.x) - first, last - first + 1,
                           [&](int part) { return 2 * (first + part) + (part == 0 ? 1 : 0); }))
                continue;
        }
        write_tile(sum, f, shared, m0, n0, now.M, now.N);
    }
}

// grid: (tiles of Y, 1, SPLIT_K), or any number of blocks if SCHEDULE is "stream". partial: [SPLIT_K, M, N] when a second
// kernel reduces, [tile][split] as add_parts says when the last block does, [2 blocks] of the same in a stream. tickets:
// one a tile, 0 between launches. Those that are not needed are not used.
extern "C" __global__ void __launch_bounds__(THREADS, LATHE_MIN_BLOCKS)
    linear_simt(const float *X, const float *W, float *Y, float *partial, unsigned *tickets, int M, int N, int K,
                LatheEpilogue epilogue) {
    LATHE_DYNAMIC_SHARED(bytes);
    float *shared = reinterpret_cast<float *>(bytes);
    const Work work = {X, W, M, N, K};
    const Finish f = {epilogue, Y, false};
    if constexpr (STREAM)
        compute_share(work, f, partial, tickets, shared);
    else
        compute_tile(work, f, partial, tickets, shared);
}

// Y = epilogue(sum over splits of partial [SPLIT_K, M, N]); one VEC-wide piece a thread, 256 threads a block.
extern "C" __global__ void __launch_bounds__(256)
    linear_simt_reduce(const float *partial, float *Y, int M, int N, LatheEpilogue epilogue) {
    const long long count = static_cast<long long>(M) * N;
    const long long first = (static_cast<long long>(blockIdx.x) * 256 + threadIdx.x) * VEC;
    if (first >= count)
        return;
    const int m = static_cast<int>(first / N), n = static_cast<int>(first % N);
    const Finish f = {epilogue, Y, false};
    if (N % VEC == 0) {
        float sum[VEC] = {};
#pragma unroll 4
        for (int z = 0; z < SPLIT_K; z++) {
            float part[VEC];
            lathe_load_const<VEC>(part, partial + z * count + first);
#pragma unroll
            for (int e = 0; e < VEC; e++)
                sum[e] += part[e];
        }
        finish_run<VEC>(f, sum, m, n, M, N, true);
        return;
    }
    for (long long at = first; at < first + VEC && at < count; at++) {
        float sum[1] = {0.0f};
        for (int z = 0; z < SPLIT_K; z++)
            sum[0] += partial[z * count + at];
        finish_run<1>(f, sum, static_cast<int>(at / N), static_cast<int>(at % N), M, N, true);
    }
}
