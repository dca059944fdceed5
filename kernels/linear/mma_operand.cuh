// mma_operand.cuh: of mma.cu: how its operands come from global to shared memory, to registers, to the narrow format.
#pragma once
#include "lathe.cuh"
#include "mma.cuh"
#include "split.cuh"
#include "guard.cuh"

// Of the specification's lets, not of FORMAT itself, so that a specification may have fewer formats. NARROW: the
// tensors have the operands' 16 bits already. SCALED: float32 is scaled on its way to fp16.
constexpr bool TF32 = LATHE_LET_tf32, FP16 = LATHE_LET_fp16, THREE = LATHE_LET_three;
constexpr bool NARROW = LATHE_LET_narrow, SCALED = LATHE_LET_scaled;
constexpr lathe_mma_type TYPE = TF32 ? LATHE_MMA_TF32 : FP16 ? LATHE_MMA_FP16 : LATHE_MMA_BF16;
// With lo parts, a row whose largest element is smaller (scaled, fp16) has lost some of them: 2, or 2^-95.
constexpr bool CHECKED = THREE;
constexpr float SMALLEST = SCALED ? 2.0f : 2.524354897e-29f;

constexpr int BM = LATHE_BM, BN = LATHE_BN, BK = LATHE_BK, VEC = LATHE_LET_vec_words, STAGES = LATHE_STAGES;
constexpr int FRAGMENTS = LATHE_FRAGMENTS, SPLIT_K = LATHE_SPLIT_K, PROMOTE_K = LATHE_PROMOTE_K;
constexpr bool TRANSPOSED = LATHE_TRANSPOSED;
constexpr bool PRE_X = LATHE_LET_pre_x, PRE_W = LATHE_LET_pre_w;
constexpr bool PRE_A = TRANSPOSED ? PRE_W : PRE_X, PRE_B = TRANSPOSED ? PRE_X : PRE_W;
constexpr bool LAST_BLOCK = LATHE_LET_last_block;
constexpr bool PROMOTE_REGISTERS = LATHE_LET_promote_registers, PROMOTE_WORKSPACE = LATHE_LET_promote_workspace;

constexpr int THREADS = (BM / LATHE_WM) * (BN / LATHE_WN) * 32;
constexpr int ROWS = TRANSPOSED ? BN : BM, COLS = TRANSPOSED ? BM : BN;         // of the block's tile of P
constexpr int WARP_ROWS = TRANSPOSED ? LATHE_WN : LATHE_WM, WARP_COLS = TRANSPOSED ? LATHE_WM : LATHE_WN;
constexpr int MT = WARP_ROWS / 16, NT = WARP_COLS / 8;                          // products along a warp's tile

constexpr int WORD_K = LATHE_LET_word_k;                                        // elements of k in 4 bytes of a tile
constexpr int ROW_WORDS = BK / WORD_K, UNITS = ROW_WORDS / 16;                  // a unit is 64 bytes of a row
constexpr int STEPS = TF32 || WORD_K == 2 ? 2 : 1;                              // products along k in a unit
constexpr int A_BYTES = ROWS * ROW_WORDS * 4, STAGE_BYTES = A_BYTES + COLS * ROW_WORDS * 4;
constexpr int PROMOTE_TILES = PROMOTE_K == 0 ? 1 : PROMOTE_K / BK;

// Which rows and columns of P a thread has: plain, or fours of neighbours over two products, along n. h: rows g or
// g + 8 of product i.
__device__ __forceinline__ constexpr int row_of(int i, int h, int g) {
    return TRANSPOSED ? i / 2 * 32 + 4 * g + i % 2 * 2 + h : i * 16 + h * 8 + g;
}
__device__ __forceinline__ constexpr int col_of(int j, int c) {         // c: the product's column, 0 to 7
    return TRANSPOSED ? j * 8 + c : j / 2 * 16 + c / 2 * 4 + j % 2 * 2 + c % 2;
}
// The bit of a row's number that changes from one lane group to the next: where it is 1, a row's units are swapped.
constexpr int SWAP_A = TRANSPOSED ? 2 : 0, SWAP_B = 0;

// One operand's tiles, from global to shared memory. EXTENT rows of the tile.
template <int EXTENT, bool PREPARED, int SWAP> struct Loader {
    static constexpr int V = PREPARED ? 4 : VEC;                    // words a copy moves
    static constexpr int PER_ROW = ROW_WORDS / V;
    static constexpr int ROW_STEP = THREADS / PER_ROW;              // rows between a thread's pieces
    static constexpr int COUNT = lathe_ceil_div(EXTENT, ROW_STEP);
    static constexpr bool EXACT = EXTENT % ROW_STEP == 0;
    static constexpr bool SAME_SWAP = ROW_STEP % (2 << SWAP) == 0;  // a thread's rows are all swapped, or none

    const float *from;          // this thread's first piece, in the tile that fetch() comes to next
    const float *origin;        // an address that may be read
    int words;                  // of a row
    int rows;                   // of the tile that exist

    __device__ __forceinline__ Loader(const void *matrix, int first, int limit, int row_words, int tile)
        : origin(static_cast<const float *>(matrix)), words(row_words), rows(limit - first) {
        from = origin + static_cast<long long>(first + row()) * words + tile * ROW_WORDS + word();
    }

    static __device__ __forceinline__ int row() { return threadIdx.x / PER_ROW; }
    static __device__ __forceinline__ int word() { return threadIdx.x % PER_ROW * V; }
    static __device__ __forceinline__ bool mine(int c) { return EXACT || row() + c * ROW_STEP < EXTENT; }
    static __device__ __forceinline__ float *place(unsigned char *tile, int c) {
        const int r = row() + c * ROW_STEP, swapped = SAME_SWAP ? row() : r;
        const int at = (word() & ~3) ^ (swapped >> SWAP & 1) << 4;
        return reinterpret_cast<float *>(tile) + r * ROW_WORDS + at + (word() & 3);
    }

    // Starts moving tile number `tile` of k, the next one.
    __device__ __forceinline__ void fetch(unsigned char *to, int tile) {
        const long long step = static_cast<long long>(ROW_STEP) * words;
        if (rows >= EXTENT && (PREPARED || (tile + 1) * ROW_WORDS <= words)) {
#pragma unroll
            for (int c = 0; c < COUNT; c++)
                if (mine(c))
                    lathe_copy_async<V, 128>(place(to, c), from + c * step);
        } else {
            const bool exists = PREPARED || tile * ROW_WORDS + word() < words;
#pragma unroll
            for (int c = 0; c < COUNT; c++)
                if (mine(c)) {      // K % VEC is 0, so a piece exists whole or not at all
                    const bool here = exists && row() + c * ROW_STEP < rows;
                    lathe_copy_async<V, 0>(place(to, c), here ? from + c * step : origin, here);
                }
        }
        from += ROW_WORDS;
    }
};

// Where in the tiles the fragments of a warp lie.
struct Place {
    int a, b;                   // bytes: of the thread's first row, at its 16 bytes of unit 0
    int flip;                   // 64 where the thread's rows are swapped; A's and B's together
    __device__ __forceinline__ Place() {
        const int lane = threadIdx.x % 32, g = lane / 4;
        a = (warp_row() + row_of(0, 0, g)) * ROW_WORDS * 4 + lane % 4 * 16;
        b = (warp_col() + col_of(0, g)) * ROW_WORDS * 4 + lane % 4 * 16;
        flip = g % 2 * 64;
    }
    static __device__ __forceinline__ int warp_row() { return threadIdx.x / 32 % (ROWS / WARP_ROWS) * WARP_ROWS; }
    static __device__ __forceinline__ int warp_col() { return threadIdx.x / 32 / (ROWS / WARP_ROWS) * WARP_COLS; }
};

// What a thread has read of one operand's rows: 16 bytes of each.
template <bool IS_A> struct Raw {
    static constexpr int COUNT = IS_A ? 2 * MT : NT;
    static constexpr bool READY = NARROW || (IS_A ? PRE_A : PRE_B);     // has been converted
    float word[COUNT][4];

    // Of row r, how many rows of the tile after row 0, for every lane.
    static __device__ __forceinline__ constexpr int offset(int r) {
        return IS_A ? row_of(r / 2, r % 2, 0) : col_of(r, 0);
    }

    // first: Place's a or b in a tile.
    __device__ __forceinline__ void read(const unsigned char *first, int flip, int unit) {
        const unsigned char *at = first + unit / 2 * 128 + (unit % 2 * 64 ^ flip);
#pragma unroll
        for (int r = 0; r < COUNT; r++)
            lathe_load<4>(word[r], reinterpret_cast<const float *>(at + offset(r) * (ROW_WORDS * 4)));
    }

    // The two registers that row r gives to step s of the unit, and with THREE their lo parts.
    __device__ __forceinline__ void narrow(int r, int s, float scale, unsigned &first_hi, unsigned &second_hi,
                                           unsigned &first_lo, unsigned &second_lo) const {
        const float x = word[r][2 * s], y = word[r][2 * s + 1];
        if constexpr (READY && THREE) {
            first_hi = __float_as_uint(word[r][0]);
            second_hi = __float_as_uint(word[r][1]);
            first_lo = __float_as_uint(word[r][2]);
            second_lo = __float_as_uint(word[r][3]);
        } else if constexpr (READY) {
            first_hi = __float_as_uint(x);
            second_hi = __float_as_uint(y);
        } else if constexpr (TF32 && THREE) {
            float x_hi, x_lo, y_hi, y_lo;
            lathe_split_tf32(x, x_hi, x_lo);
            lathe_split_tf32(y, y_hi, y_lo);
            first_hi = __float_as_uint(x_hi);
            second_hi = __float_as_uint(y_hi);
            first_lo = __float_as_uint(x_lo);
            second_lo = __float_as_uint(y_lo);
        } else if constexpr (TF32) {
            first_hi = __float_as_uint(lathe_tf32(x));
            second_hi = __float_as_uint(lathe_tf32(y));
        } else if constexpr (FP16) {
            lathe_split16<true>(x, y, scale, first_hi, first_lo);
            lathe_split16<true>(word[r][2], word[r][3], scale, second_hi, second_lo);
        } else if constexpr (THREE) {
            lathe_split16<false>(x, y, first_hi, first_lo);
            lathe_split16<false>(word[r][2], word[r][3], second_hi, second_lo);
        } else {
            first_hi = lathe_pack16<false>(x, y);
            second_hi = lathe_pack16<false>(word[r][2], word[r][3]);
        }
    }
};

// Whether the hi parts of a thread's rows reached SMALLEST. Their bits are or-ed: the exponent's highest bits tell,
// without a comparison; all bits tell whether there was any.
struct Seen {
    unsigned a[MT][2], b[NT];

    __device__ __forceinline__ Seen() {
#pragma unroll
        for (int i = 0; i < MT; i++)
            a[i][0] = a[i][1] = 0;
#pragma unroll
        for (int j = 0; j < NT; j++)
            b[j] = 0;
    }

    // What the four lanes that share a row have seen: 0: only zeros; 1: too small; 2: large enough.
    static __device__ __forceinline__ int verdict(unsigned bits) {
        bits |= __shfl_xor_sync(0xffffffffu, bits, 1);
        bits |= __shfl_xor_sync(0xffffffffu, bits, 2);
        const unsigned any = TF32 ? bits & 0x7fffffffu : (bits | bits >> 16) & 0x7fffu;
        return any == 0 ? 0 : (any & (TF32 ? 0x70000000u : FP16 ? 0x4000u : 0x7000u)) ? 2 : 1;
    }

    // Whether a row of A, or of B, was too small. matrix [limit, K], first: the warp's first row; [begin, end) of k.
    template <bool IS_A>
    __device__ __forceinline__ bool lost(const float *matrix, int first, int limit, int K, int begin, int end) const {
        unsigned zero = 0;          // a bit a row
        bool small = false;
#pragma unroll
        for (int r = 0; r < Raw<IS_A>::COUNT; r++) {
            const int v = verdict(IS_A ? a[r / 2 % MT][r % 2] : b[r % NT]);
            zero |= (v == 0 ? 1u : 0u) << r;
            small = small || v == 1;
        }
        // Zeros, or so small that nothing of them was left? Such rows are few, if any: look again.
#pragma unroll 1
        for (int r = 0; zero >> r; r++) {
            const int row = first + Raw<IS_A>::offset(r);
            if (!(zero >> r & 1) || row >= limit)
                continue;
#pragma unroll 1
            for (int k = begin + threadIdx.x % 4; k < end; k += 4)
                small = small || matrix[static_cast<long long>(row) * K + k] != 0.0f;
        }
        return small;
    }
};
static_assert(2 * MT <= 31 && NT <= 31, "a bit a row");
