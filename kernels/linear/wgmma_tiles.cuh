// wgmma_tiles.cuh: what a configuration of the wgmma kernel means: its tiles, which block has which, and where things
// are in shared memory.
#pragma once
#define LATHE_WGMMA_N LATHE_COLUMNS
#include "lathe.cuh"
#include "hopper.cuh"
#include "wgmma.cuh"
#include "split.cuh"
#include "guard.cuh"
#include "hopper_tiles.cuh"

constexpr bool SHORT = LATHE_FORMAT == LATHE_FORMAT_fp16x3s;
constexpr bool FP16 = SHORT || LATHE_FORMAT == LATHE_FORMAT_fp16x3 || LATHE_FORMAT == LATHE_FORMAT_fp16x1;
constexpr int PARTS = LATHE_FORMAT == LATHE_FORMAT_fp16x1 || LATHE_FORMAT == LATHE_FORMAT_bf16x1 ? 1 : 2;
constexpr lathe_wgmma_type TYPE = FP16 ? LATHE_WGMMA_FP16 : LATHE_WGMMA_BF16;
constexpr bool STREAM_X = LATHE_STREAM == LATHE_STREAM_X;
constexpr int GROUPS = LATHE_WARPGROUPS, TILES = LATHE_TILES, COLUMNS = LATHE_COLUMNS, STAGES = LATHE_LET_stages;
constexpr int CLUSTER = LATHE_CLUSTER, SPLIT_K = LATHE_SPLIT_K;
constexpr bool SHARE_ROWS = CLUSTER > 1 && LATHE_MULTICAST == LATHE_MULTICAST_streamed;
constexpr bool SHARE_COLUMNS = CLUSTER > 1 && LATHE_MULTICAST == LATHE_MULTICAST_shared;
constexpr int BLOCKS = CLUSTER * SPLIT_K;               // of a cluster
constexpr bool PROMOTE = LATHE_PROMOTE_K > 0;
constexpr bool IN_REGISTERS = PROMOTE && LATHE_PROMOTE == LATHE_PROMOTE_registers;
constexpr bool IN_WORKSPACE = PROMOTE && !IN_REGISTERS;

constexpr int CHUNK = 32;                               // k of a stage: 128 bytes of float32
constexpr int ROWS = GROUPS * TILES * 64, J = COLUMNS / 8, SUMS = COLUMNS / 2;
constexpr int SHARED_ROW = CHUNK * 2 * PARTS;           // bytes: the high parts, then the low ones
constexpr int STREAMED_BYTES = ROWS * CHUNK * 4, SHARED_BYTES = COLUMNS * SHARED_ROW;
constexpr int STAGE_BYTES = STREAMED_BYTES + SHARED_BYTES;
constexpr int TILE_FLOATS = 64 * COLUMNS;               // sums of one m64 tile
constexpr int STAGING_BYTES = IN_WORKSPACE ? TILE_FLOATS * 4 : 0;
constexpr int STREAMS = GROUPS * TILES;                 // m64 tiles of a block
constexpr int EVERY = PROMOTE ? LATHE_PROMOTE_K / CHUNK : 1 << 30;
constexpr int BARRIERS = 3 * STAGES + 4 + STREAMS;
constexpr int SHARED_TOTAL = STAGES * STAGE_BYTES + STAGING_BYTES + 8 * BARRIERS + 16 + 1024;

static_assert(COLUMNS % 16 == 0 && COLUMNS <= 256, "the width of a wgmma");
static_assert(TILES == 1 || TILES == 2, "tiles of 64 rows a warpgroup");
static_assert(CLUSTER == 1 || SPLIT_K == 1, "a cluster shares operands or k, not both");
static_assert(EVERY >= STREAMS, "no two tiles of a block promote after the same chunk");
static_assert(!IN_WORKSPACE || LATHE_PROMOTE_K / CHUNK % STREAMS == 0, "tiles promote at different times");
static_assert(COLUMNS % (8 * SPLIT_K) == 0, "each block of a split finishes whole groups of 8 columns");
constexpr int MY_ROWS = ROWS / (SHARE_ROWS ? CLUSTER : 1), MY_COLUMNS = COLUMNS / (SHARE_COLUMNS ? CLUSTER : 1);
static_assert(MY_ROWS % 8 == 0 && MY_ROWS <= 256 && MY_COLUMNS % 8 == 0, "what a block copies");
static_assert(LATHE_LET_smem >= SHARED_TOTAL, "the specification asks for the shared memory");

// ---- where a block is

typedef LatheRing<STAGES> Ring;
typedef LatheRange<SPLIT_K> Range;                      // of a block's chunks
typedef LatheUnits<SHARE_COLUMNS ? CLUSTER : 1, SHARE_ROWS ? CLUSTER : 1, LATHE_GROUP> Units;

struct Shape {
    int streamed_rows, shared_rows, chunks;             // of the problem; chunks of all k
    __device__ __forceinline__ Units units() const {
        return Units(lathe_ceil_div(streamed_rows, ROWS), lathe_ceil_div(shared_rows, COLUMNS));
    }
};

// When m64 tile `stream` of a block promotes: after `first` chunks, then every EVERY. Different for all tiles of a
// block.
__device__ __forceinline__ int first_promotion(int stream) {
    return 1 + (static_cast<int>(blockIdx.x) + stream * (EVERY / STREAMS)) % EVERY;
}
// How many promotions there are before the last of `chunks` chunks, after which sums are finished from registers.
__device__ __forceinline__ int promotions(int stream, int chunks) {
    const int first = first_promotion(stream);
    return first > chunks - 1 ? 0 : (chunks - 1 - first) / EVERY + 1;
}

// Where `stream` is in the order in which a block's streams promote.
__device__ __forceinline__ int place_of(int stream) {
    int place = 0;
#pragma unroll
    for (int other = 0; other < STREAMS; other++)
        place += first_promotion(other) < first_promotion(stream);
    return place;
}

// ---- the block's shared memory, as addresses

struct Memory {
    unsigned base, staging, barriers;
    int *exponent;                                      // of the streamed matrix's scale
    __device__ __forceinline__ explicit Memory(unsigned char *bytes) {
        base = lathe_shared_address(bytes) + 1023 & ~1023u;
        staging = base + STAGES * STAGE_BYTES;
        barriers = staging + STAGING_BYTES;
        exponent = reinterpret_cast<int *>(bytes + (barriers + 8 * BARRIERS - lathe_shared_address(bytes)));
    }
    __device__ __forceinline__ unsigned streamed(int s) const { return base + s * STAGE_BYTES; }
    __device__ __forceinline__ unsigned shared(int s) const { return base + s * STAGE_BYTES + STREAMED_BYTES; }
    __device__ __forceinline__ unsigned full(int s) const { return barriers + 8 * s; }
    __device__ __forceinline__ unsigned streamed_free(int s) const { return barriers + 8 * (STAGES + s); }
    __device__ __forceinline__ unsigned shared_free(int s) const { return barriers + 8 * (2 * STAGES + s); }
    __device__ __forceinline__ unsigned staged() const { return barriers + 8 * 3 * STAGES; }
    __device__ __forceinline__ unsigned promoted() const { return staged() + 8; }
    __device__ __forceinline__ unsigned exchanged() const { return staged() + 16; }
    __device__ __forceinline__ unsigned exchange_free() const { return staged() + 24; }
    __device__ __forceinline__ unsigned staging_free(int stream) const { return staged() + 32 + 8 * stream; }
};
