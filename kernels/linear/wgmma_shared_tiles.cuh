// wgmma_shared_tiles.cuh: what a configuration of the wgmma_shared kernel means: its tiles, which block has which, and
// where things are in shared memory.
#pragma once
#define LATHE_WGMMA_N LATHE_COLUMNS
#include "lathe.cuh"
#include "hopper.cuh"
#include "wgmma.cuh"
#include "split.cuh"
#include "guard.cuh"
#include "hopper_tiles.cuh"

#if LATHE_DTYPE_X == LATHE_DTYPE_f32
constexpr int PARTS = LATHE_FORMAT == LATHE_FORMAT_bf16x3 || LATHE_FORMAT == LATHE_FORMAT_fp16x3 ? 2 : 1;
constexpr lathe_wgmma_type TYPE =
    LATHE_FORMAT == LATHE_FORMAT_tf32x1                                           ? LATHE_WGMMA_TF32
    : LATHE_FORMAT == LATHE_FORMAT_bf16x1 || LATHE_FORMAT == LATHE_FORMAT_bf16x3 ? LATHE_WGMMA_BF16
                                                                                 : LATHE_WGMMA_FP16;
constexpr bool CONVERT = TYPE != LATHE_WGMMA_TF32;      // before, with a guard
constexpr int PROMOTE_K = PARTS == 2 ? LATHE_PROMOTE_K : 0;
#else
constexpr int PARTS = 1, PROMOTE_K = 0;
constexpr lathe_wgmma_type TYPE = LATHE_DTYPE_X == LATHE_DTYPE_f16 ? LATHE_WGMMA_FP16 : LATHE_WGMMA_BF16;
constexpr bool CONVERT = false;
#endif
constexpr bool SCALED = CONVERT && TYPE == LATHE_WGMMA_FP16;
constexpr bool SWAP = LATHE_SWAP, PINGPONG = LATHE_SCHEDULE == LATHE_SCHEDULE_pingpong;
constexpr bool STAGED = LATHE_STORE == LATHE_STORE_shared;
constexpr int GROUPS = LATHE_WARPGROUPS, TILES = LATHE_TILES, COLUMNS = LATHE_COLUMNS, STAGES = LATHE_STAGES;
constexpr int CLUSTER = LATHE_CLUSTER, SPLIT_K = LATHE_SPLIT_K, PER_SM = LATHE_PER_SM, VEC = LATHE_VEC;
constexpr bool SHARE_A = CLUSTER > 1 && LATHE_MULTICAST == (SWAP ? LATHE_MULTICAST_W : LATHE_MULTICAST_X);
constexpr bool SHARE_B = CLUSTER > 1 && !SHARE_A;
constexpr int BLOCKS = CLUSTER * SPLIT_K;               // of a cluster

constexpr int ROW_BYTES = 128;                          // of k in a stage: what a swizzle spans
constexpr int BOX = ROW_BYTES / (TYPE == LATHE_WGMMA_TF32 ? 4 : 2);    // elements of a row in a stage
constexpr int CHUNK = BOX / PARTS;                      // k of a stage: the high parts, then the low ones
constexpr int STEPS = ROW_BYTES / 32 / PARTS;           // a wgmma takes 32 bytes of k
constexpr bool PROMOTE = PROMOTE_K > 0;
constexpr int EVERY = PROMOTE ? PROMOTE_K / CHUNK : 1 << 30;    // chunks that the tensor cores sum at most
constexpr int ROWS = (PINGPONG ? 1 : GROUPS) * TILES * 64, SUMS = COLUMNS / 2;
constexpr int A_BYTES = ROWS * ROW_BYTES, STAGE_BYTES = A_BYTES + COLUMNS * ROW_BYTES;
constexpr int MY_ROWS = ROWS / (SHARE_A ? CLUSTER : 1), MY_COLUMNS = COLUMNS / (SHARE_B ? CLUSTER : 1);
constexpr int READERS = PINGPONG ? 1 : GROUPS;          // warpgroups that read a stage
constexpr int TURNS = PINGPONG ? GROUPS : 1;            // of warpgroups

// Sums are finished a slab at a time: SLAB columns of the 16 rows of a warp.
constexpr int SLAB = COLUMNS % 32 == 0 ? 32 : 16, SLABS = COLUMNS / SLAB, EACH = SLAB / 2;
// In shared memory, if STAGED, by rows of Y: SLAB + 8 floats apart, or 16 + 4 where SWAP, so that its writes touch
// every bank once.
constexpr int PITCH = SWAP ? 20 : SLAB + 8, WARP_FLOATS = (SWAP ? SLAB : 16) * PITCH;
constexpr int STAGING_BYTES = STAGED ? GROUPS * 4 * WARP_FLOATS * 4 : 0;
constexpr int TILE_FLOATS = 64 * COLUMNS, STREAMS = GROUPS * TILES; // sums of an m64 tile, such tiles of a block
constexpr int BARRIERS = 2 * STAGES + 4;
constexpr int SHARED_TOTAL = STAGES * STAGE_BYTES + STAGING_BYTES + 8 * BARRIERS + 1024;

static_assert(COLUMNS % 16 == 0 && COLUMNS <= 256, "the width of a wgmma");
static_assert(!PINGPONG || GROUPS == 2, "two warpgroups take turns");
static_assert(BLOCKS == CLUSTER || BLOCKS == SPLIT_K, "a cluster shares operands or k, not both");
static_assert(SPLIT_K == 1 || !PINGPONG, "blocks that share k meet after each tile");
static_assert(SLABS % SPLIT_K == 0, "each block of a split k finishes whole slabs");
static_assert(MY_ROWS % 8 == 0 && MY_ROWS <= 256 && MY_COLUMNS % 8 == 0, "what a block copies at once");
static_assert(VEC <= (STAGED ? 16 / static_cast<int>(sizeof(LatheType_Y)) : SWAP ? 1 : 2), "what a store can move");
static_assert(PROMOTE_K % CHUNK == 0, "whole chunks are promoted");
static_assert(PER_SM == 1 || GROUPS == 1, "blocks of one multiplying warpgroup share an SM");
static_assert(LATHE_LET_smem >= SHARED_TOTAL, "the specification asks for the shared memory");

typedef LatheRing<STAGES> Ring;
typedef LatheUnits<SHARE_B ? CLUSTER : 1, SHARE_A ? CLUSTER : 1, LATHE_GROUP> Units;
typedef LatheRange<SPLIT_K> Range;

// ---- the block's shared memory, as addresses

struct Memory {
    unsigned base, barriers;
    float *staging;                                     // of this warp
    __device__ __forceinline__ explicit Memory(unsigned char *bytes) {
        const unsigned start = lathe_shared_address(bytes);
        base = start + 1023 & ~1023u;
        const unsigned after = base + STAGES * STAGE_BYTES;
        barriers = after + STAGING_BYTES;
        staging = reinterpret_cast<float *>(bytes + (after - start)) + threadIdx.x / 32 * WARP_FLOATS;
    }
    __device__ __forceinline__ unsigned a(int s) const { return base + s * STAGE_BYTES; }
    __device__ __forceinline__ unsigned b(int s) const { return base + s * STAGE_BYTES + A_BYTES; }
    __device__ __forceinline__ unsigned full(int s) const { return barriers + 8 * s; }
    __device__ __forceinline__ unsigned free(int s) const { return barriers + 8 * (STAGES + s); }
    __device__ __forceinline__ unsigned turn(int group) const { return barriers + 8 * (2 * STAGES + group); }
    __device__ __forceinline__ unsigned exchanged() const { return barriers + 8 * (2 * STAGES + 2); }
    __device__ __forceinline__ unsigned exchange_free() const { return barriers + 8 * (2 * STAGES + 3); }
};

struct Shape {
    int a_rows, b_rows, chunks;                         // of the problem
    __device__ __forceinline__ Units units() const {
        return Units(lathe_ceil_div(a_rows, ROWS), lathe_ceil_div(b_rows, COLUMNS));
    }
};
