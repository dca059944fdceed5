// mma.cu: Y = epilogue(X W^T) on the tensor cores by mma.sync, sm_80 and later.
//
//   X [M, K], W [N, K], Y [M, N]: row-major, so both operands of the product run along k in memory. X and W are
//   float32, or both f16 or both bf16; Y is of any float type.
//
// Each float32 is taken as one number of a narrow format, or as the sum hi + lo of two; a product of such sums is
// lo hi + hi lo + hi hi, smallest first. A block computes a BM x BN tile of Y, BK elements of k at a time, and a warp
// of it WM x WN. Written for an abstract product P[r, c] = sum over k of A[r, k] B[c, k]: with TRANSPOSED false A is X
// and B is W, so P = Z; with TRANSPOSED true A is W and B is X, so P = Z^T. Either way a thread ends up with fours of
// neighbours along n, so that it stores 16 bytes at once, and no tile is turned over in shared memory.
//
// What the parameters change:
//   FORMAT          the narrow format and the products: bf16x3, fp16x3, tf32x3, bf16x1, tf32x1
//   TRANSPOSED      which matrix is A
//   BM BN WM WN BK  tile sizes; (BM / WM) (BN / WN) warps a block
//   STAGES          tiles in shared memory at once; the copies run STAGES - 1 tiles ahead
//   FRAGMENTS       2: what a warp multiplies next is read from shared memory while it multiplies
//   SPLIT_AT        where numbers become narrow: "registers": a tile in shared memory is float32, and each warp
//                   converts what it reads; "pre_pass": linear_mma_split converts X and W beforehand; "pre_pass_x":
//                   only X
//   PROMOTE_K       the tensor cores round their sums toward zero at every step, so a long sum is biased: every
//                   PROMOTE_K elements of k it is added, rounded to nearest, to another, and started anew; 0: never
//   PROMOTE_TO      where those others are: in "registers", in "shared" memory, or in "workspace", which stays in L2
//   SPLIT_K REDUCE  blocks that share a tile's k range, and who adds up their parts, always in the same order
//   VEC             elements that a copy to shared memory moves (16 bytes always from a pre-pass)
//   GROUP           block rows of Y that are walked together, so that concurrent blocks share W in L2
//   MIN_BLOCKS      blocks an SM must be able to hold: the compiler's register limit
//
// Shared memory: a tile's row is BK elements, 128 bytes or a multiple. Of 64 bytes (a *unit*) lane t of the four that
// share a row's fragment reads the 16 bytes at 16 t at once. Those are, in the order of k: 4 floats; or of a pre-pass
// {hi of 2, hi of 2, lo of 2, lo of 2}, the same 4 numbers; or 8 numbers of 16 bits, also of such tensors. So the order
// of k within a unit is not the hardware's; it is the same for A and B, so each sum has the same terms. Rows are
// swizzled: in each second of the rows that are read together the two units of 128 bytes change places, so no bank is
// met twice.
//
// Edges: rows and k past the end are zero and never stored, so no size is special. Two runs agree bit for bit.
// Ranges of float32 tensors: the guard (guard.cuh) is raised where a finished sum is not finite, and, with x3, where a
// row, or the part of it that a block works on, is so small that its lo parts were lost; the pipeline's last step then
// does all in float32.
#include "lathe.cuh"
#include "mma.cuh"
#include "split.cuh"
#include "guard.cuh"
#include "mma_operand.cuh"
#include "mma_finish.cuh"
#if !LATHE_LET_narrow
#include "mma_split.cuh"
#endif

static_assert(BM % LATHE_WM == 0 && BN % LATHE_WN == 0, "warps must tile the block's tile");
static_assert(THREADS <= 1024, "a block has 1024 threads at most");
static_assert(!TRANSPOSED || LATHE_WN % 32 == 0, "the transposed product comes in fours of rows");
static_assert(ROW_WORDS % 32 == 0, "a row of a tile is 128 bytes, or a multiple");
static_assert(THREADS % (ROW_WORDS / VEC) == 0, "each thread must copy the same k of every row");
static_assert(PROMOTE_K % BK == 0, "sums are promoted between tiles");
static_assert(!PRE_X || !TF32 || !THREE, "two float32 for each are more to read than one");
static_assert(PRE_X == PRE_W || THREE, "both tiles hold a number in as many bytes");

// The sums of tiles [begin, end) of k.
struct Sums {
    float acc[MT][NT][4];

    __device__ __forceinline__ void clear() { clear_sums(acc); }

    // One unit of k. The products of one kind follow one another, for each waits for the one before on the same sum.
    __device__ __forceinline__ void multiply(const Raw<true> &a, const Raw<false> &b, Seen &seen, float scale_a,
                                             float scale_b) {
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            unsigned a_hi[MT][4], a_lo[MT][4], b_hi[NT][2], b_lo[NT][2];
#pragma unroll
            for (int i = 0; i < MT; i++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    a.narrow(2 * i + h, s, scale_a, a_hi[i][h], a_hi[i][2 + h], a_lo[i][h], a_lo[i][2 + h]);
                    if constexpr (CHECKED && !PRE_A)
                        seen.a[i][h] |= a_hi[i][h] | a_hi[i][2 + h];
                }
#pragma unroll
            for (int j = 0; j < NT; j++) {
                b.narrow(j, s, scale_b, b_hi[j][0], b_hi[j][1], b_lo[j][0], b_lo[j][1]);
                if constexpr (CHECKED && !PRE_B)
                    seen.b[j] |= b_hi[j][0] | b_hi[j][1];
            }
            if constexpr (THREE) {
                products(a_lo, b_hi);
                products(a_hi, b_lo);
            }
            products(a_hi, b_hi);
        }
    }

    __device__ __forceinline__ void products(const unsigned (&a)[MT][4], const unsigned (&b)[NT][2]) {
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int i = 0; i < MT; i++)
                lathe_mma<TYPE>(acc[i][j], a[i], b[j]);
    }
};

// Sums added up in float32, rounded to nearest, in registers or in the thread's own words of shared or global memory.
struct Promoted {
    float kept[PROMOTE_REGISTERS ? MT : 1][PROMOTE_REGISTERS ? NT : 1][4];
    float *memory;              // [MT * NT][THREADS][4], from this thread's first
    bool first;

    __device__ __forceinline__ explicit Promoted(float *tile) : memory(tile + threadIdx.x * 4), first(true) {
        if constexpr (PROMOTE_REGISTERS)
            clear_sums(kept);
    }

    // Adds the sums to those kept. last: leaves the total in them, else zeros.
    __device__ __forceinline__ void add(Sums &sums, bool last) {
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int j = 0; j < NT; j++) {
                float total[4];
                float *place = memory + (i * NT + j) * (THREADS * 4);
                if constexpr (!PROMOTE_REGISTERS) {
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        total[e] = 0.0f;
                    if (!first)
                        lathe_load<4>(total, place);
                }
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    if constexpr (PROMOTE_REGISTERS)
                        total[e] = kept[i][j][e];
                    total[e] += sums.acc[i][j][e];
                    sums.acc[i][j][e] = last ? total[e] : 0.0f;
                    if constexpr (PROMOTE_REGISTERS)
                        kept[i][j][e] = total[e];
                }
                if constexpr (!PROMOTE_REGISTERS)
                    if (!last)
                        lathe_store<4>(place, total);
            }
        first = false;
    }
};

// What every block needs of the problem.
struct Work {
    const float *A, *B;         // X and W, or W and X: [rows][words], float32 or what the pre-pass made of it
    int M, N, K, words_a, words_b;      // a row's words of 4 bytes
    float scale_a, scale_b;     // for what the pre-pass has not scaled

    // The place of a tile in Y: GROUP rows of tiles are walked column by column.
    __device__ __forceinline__ void locate(int tile, int &m0, int &n0) const {
        const int tiles_m = lathe_ceil_div(M, BM), tiles_n = lathe_ceil_div(N, BN), in_group = LATHE_GROUP * tiles_n;
        const int group_m = tile / in_group * LATHE_GROUP, height = lathe_min(LATHE_GROUP, tiles_m - group_m);
        m0 = (group_m + tile % in_group % height) * BM;
        n0 = tile % in_group / height * BN;
    }
};

// Sums of tiles [begin, end) of k, of which there is one at least.
__device__ __forceinline__ void accumulate(Sums &sums, const Work &w, unsigned *guard, float *kept,
                                           unsigned char *shared, int m0, int n0, int begin, int end) {
    const Place at;
    const int first_a = TRANSPOSED ? n0 : m0, first_b = TRANSPOSED ? m0 : n0;
    const int limit_a = TRANSPOSED ? w.N : w.M, limit_b = TRANSPOSED ? w.M : w.N;
    Loader<ROWS, PRE_A, SWAP_A> load_a(w.A, first_a, limit_a, w.words_a, begin);
    Loader<COLS, PRE_B, SWAP_B> load_b(w.B, first_b, limit_b, w.words_b, begin);
    int fetched = begin, fill = 0, use = 0;     // the next tile to fetch, the stage it goes to, the stage in use

    auto stage = [&](int i) { return shared + i * STAGE_BYTES; };
    auto fetch = [&]() {
        if (fetched < end) {
            load_a.fetch(stage(fill), fetched);
            load_b.fetch(stage(fill) + A_BYTES, fetched);
        }
        fetched++;
        fill = fill + 1 == STAGES ? 0 : fill + 1;
        lathe_copy_commit();
    };
    // Every thread has read the last of the stage in use; makes the next tile readable, and moves on to it.
    auto advance = [&]() {
        lathe_copy_wait<STAGES - 2>();
        use = use + 1 == STAGES ? 0 : use + 1;
        __syncthreads();
    };

#pragma unroll
    for (int s = 0; s < STAGES - 1; s++)
        fetch();
    lathe_copy_wait<STAGES - 2>();
    __syncthreads();

    Seen seen;
    Promoted promoted(PROMOTE_WORKSPACE ? kept : reinterpret_cast<float *>(shared + STAGES * STAGE_BYTES));
    Raw<true> a[FRAGMENTS];
    Raw<false> b[FRAGMENTS];
    auto read = [&](int set, int unit) {
        a[set].read(stage(use) + at.a, at.flip, unit);
        b[set].read(stage(use) + A_BYTES + at.b, at.flip, unit);
    };
    sums.clear();
    if constexpr (FRAGMENTS == 2)
        read(0, 0);
#pragma unroll 1
    for (int t = begin; t < end;) {
        const int stop = PROMOTE_K == 0 ? end : lathe_min(end, t + PROMOTE_TILES);
#pragma unroll 1
        for (; t < stop; t++) {
            fetch();
#pragma unroll
            for (int u = 0; u < UNITS; u++) {
                if constexpr (FRAGMENTS == 1) {
                    read(0, u);
                    sums.multiply(a[0], b[0], seen, w.scale_a, w.scale_b);
                    if (u == UNITS - 1 && t + 1 < end)
                        advance();
                } else {
                    if (u < UNITS - 1) {
                        read((u + 1) % 2, u + 1);
                    } else if (t + 1 < end) {   // before the last multiplication, which then hides the wait
                        advance();
                        read((u + 1) % 2, 0);
                    }
                    sums.multiply(a[u % 2], b[u % 2], seen, w.scale_a, w.scale_b);
                }
            }
        }
        if constexpr (PROMOTE_K > 0)
            promoted.add(sums, t == end);
    }
    lathe_copy_wait<0>();
    if constexpr (CHECKED) {
        const int g = threadIdx.x % 32 / 4, end_k = lathe_min(end * BK, w.K);
        bool lost = false;
        if constexpr (!PRE_A)
            lost = seen.lost<true>(w.A, first_a + Place::warp_row() + row_of(0, 0, g), limit_a, w.K, begin * BK, end_k);
        if constexpr (!PRE_B)
            lost |= seen.lost<false>(w.B, first_b + Place::warp_col() + col_of(0, g), limit_b, w.K, begin * BK, end_k);
        if (lost)
            lathe_guard_raise(guard);
    }
    __syncthreads();            // shared memory is free again
}

// grid: (tiles of Y, 1, SPLIT_K). X and W: float32, or what linear_mma_split made of them. exponents: of the scales of
// X and W, fp16 only. kept: [tile][split][BM BN], where sums are promoted to workspace. partial: [SPLIT_K, M, N] when a
// second kernel reduces, [tile][split] as add_parts says when the last block does. tickets: one a tile, 0 between
// launches. Those that are not needed are not used.
extern "C" __global__ void __launch_bounds__(THREADS, LATHE_MIN_BLOCKS)
    linear_mma(const LatheType_X *X, const LatheType_W *W, LatheType_Y *Y, const int *exponents, unsigned *guard,
               float *kept, float *partial, unsigned *tickets, int M, int N, int K, LatheEpilogue epilogue) {
    LATHE_DYNAMIC_SHARED(shared);
    lathe_grid_dependency_wait();
    const int tile = blockIdx.x, split = blockIdx.z;
    const int tiles_k = lathe_ceil_div(K, BK), each = tiles_k / SPLIT_K, more = tiles_k % SPLIT_K;
    const int begin = split * each + lathe_min(split, more), end = begin + each + (split < more ? 1 : 0);
    const int exponent_x = SCALED ? exponents[0] : 0, exponent_w = SCALED ? exponents[1] : 0;
    const int words = NARROW ? K / 2 : K, prepared = tiles_k * ROW_WORDS;
    const float *words_x = reinterpret_cast<const float *>(X), *words_w = reinterpret_cast<const float *>(W);
    const float scale_x = lathe_power_of_two(exponent_x), scale_w = lathe_power_of_two(exponent_w);
    const Work w = {TRANSPOSED ? words_w : words_x, TRANSPOSED ? words_x : words_w, M, N, K, PRE_A ? prepared : words,
                    PRE_B ? prepared : words, TRANSPOSED ? scale_w : scale_x, TRANSPOSED ? scale_x : scale_w};
    int m0, n0;
    w.locate(tile, m0, n0);
    Sums sums;
    if constexpr (PROMOTE_WORKSPACE)
        kept += (static_cast<long long>(tile) * SPLIT_K + split) * (BM * BN);
    accumulate(sums, w, guard, kept, shared, m0, n0, begin, end);
    Finish f = {epilogue, Y, nullptr, guard, lathe_power_of_two(-exponent_x - exponent_w), false};
    if constexpr (LAST_BLOCK) {
        if (!add_parts(sums.acc, partial + static_cast<long long>(tile) * SPLIT_K * (BM * BN), tickets + tile,
                       reinterpret_cast<volatile unsigned *>(shared), split))
            return;
    } else if constexpr (SPLIT_K > 1) {
        f.part = partial + static_cast<long long>(split) * M * N;
        f.bare = true;
    }
    write_tile(sums.acc, f, m0, n0, M, N);
}
