// wgmma.cu: Y = epilogue(X W^T) on Hopper's tensor cores, float32 tensors, each operand a sum of one or two 16-bit
// numbers.
//
// One matrix, the *streamed* one (STREAM: W or X), comes by the copy engine as float32 and is split
// in registers on its way to the tensor cores, which take that operand from registers. The other, the *shared* one, is
// split beforehand by linear_wgmma_split into workspace that has the very bytes that a stage of shared memory has. A
// block computes tiles of ROWS rows of the streamed matrix by COLUMNS rows of the shared one:
//
//   warpgroup GROUPS (the last): one thread copies streamed tiles, one copies shared tiles, one adds sums to workspace
//   warpgroups 0 .. GROUPS-1   : TILES x 64 rows each, all columns: read float32, split, multiply, finish
//
// Tensor cores round their sums toward zero at every step, so long sums are biased: PROMOTE_K steps at most are summed
// there; then the sums are added, in float32 and rounded to nearest, to those kept elsewhere: in more registers, or in
// workspace, through a staging buffer and the copy engine's adding store. Warpgroups and tiles do that at different
// times.
//
// What the parameters change: see wgmma.lua and docs/kernels.md. The order of k within 16 is the hardware's for neither
// operand: lane c of four takes k = 4c .. 4c+3 of the streamed row as one 16-byte read, and linear_wgmma_split puts the
// shared rows' elements where those four belong.
#define LATHE_WGMMA_N LATHE_COLUMNS
#include "lathe.cuh"
#include "hopper.cuh"
#include "wgmma.cuh"
#include "split.cuh"
#include "guard.cuh"

constexpr bool FP16 = LATHE_FORMAT == LATHE_FORMAT_fp16x3 || LATHE_FORMAT == LATHE_FORMAT_fp16x1;
constexpr int PARTS = LATHE_FORMAT == LATHE_FORMAT_fp16x1 || LATHE_FORMAT == LATHE_FORMAT_bf16x1 ? 1 : 2;
constexpr lathe_wgmma_type TYPE = FP16 ? LATHE_WGMMA_FP16 : LATHE_WGMMA_BF16;
constexpr bool STREAM_X = LATHE_STREAM == LATHE_STREAM_X;
constexpr int GROUPS = LATHE_WARPGROUPS, TILES = LATHE_TILES, COLUMNS = LATHE_COLUMNS, STAGES = LATHE_STAGES;
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
static_assert(!IN_WORKSPACE || LATHE_PROMOTE_K / CHUNK % STREAMS == 0, "tiles promote at different times");
static_assert(COLUMNS % (8 * SPLIT_K) == 0, "each block of a split finishes whole groups of 8 columns");
constexpr int MY_ROWS = ROWS / (SHARE_ROWS ? CLUSTER : 1), MY_COLUMNS = COLUMNS / (SHARE_COLUMNS ? CLUSTER : 1);
static_assert(MY_ROWS % 8 == 0 && MY_ROWS <= 256 && MY_COLUMNS % 8 == 0, "what a block copies");
static_assert(LATHE_LET_smem >= SHARED_TOTAL, "the specification asks for the shared memory");

// ---- the shared operand

constexpr int SPLIT_PART = 256;                         // k that a warp splits of each of its 8 rows

// 16 of k from column k on; zeros beyond the matrix.
__device__ __forceinline__ void load_16(float4 (&v)[4], const float *row, int k, int end) {
#pragma unroll
    for (int i = 0; i < 4; i++)
        v[i] = k + 4 * i < end ? *reinterpret_cast<const float4 *>(row + k + 4 * i)
                               : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// The two 16-byte units of 16 k, which lanes 2i and 2i + 1 have for neighbouring k, to `unit` of the even lane's and
// unit + 2 of the odd lane's: each store of both lanes fills a sector of 32 bytes. All lanes call it.
__device__ __forceinline__ void store_units(unsigned char *row, int unit, int swizzle, const unsigned (&part)[8],
                                            bool inside) {
    const bool odd = threadIdx.x & 1;
    unsigned mine[4], theirs[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        theirs[i] = __shfl_xor_sync(0xffffffffu, odd ? part[i] : part[4 + i], 1);
        mine[i] = odd ? part[4 + i] : part[i];
    }
    const int half = odd ? 1 : 0;                       // an odd lane writes second units, of both lanes' k
    const uint4 first = odd ? make_uint4(theirs[0], theirs[1], theirs[2], theirs[3])
                            : make_uint4(mine[0], mine[1], mine[2], mine[3]);
    const uint4 second = odd ? make_uint4(mine[0], mine[1], mine[2], mine[3])
                             : make_uint4(theirs[0], theirs[1], theirs[2], theirs[3]);
    if (inside) {
        *reinterpret_cast<uint4 *>(row + (((unit + half) ^ swizzle) << 4)) = first;
        *reinterpret_cast<uint4 *>(row + (((unit + 2 + half) ^ swizzle) << 4)) = second;
    }
}

// From `matrix` [rows, K] to shared tiles: [row / COLUMNS][k / CHUNK][row % COLUMNS][SHARED_ROW bytes], zeros beyond
// the matrix, swizzled as wgmma reads them. A warp takes 8 rows and SPLIT_PART of k; lanes 4r .. 4r+3 row r, 16 of k
// each. exponent[0]: the scale of the result, 2^exponent[0] (fp16).
extern "C" __global__ void __launch_bounds__(256)
    linear_wgmma_split(const float *__restrict__ matrix, unsigned char *__restrict__ tiles, int *exponent,
                       unsigned *guard, int rows, int padded_rows, int K) {
    lathe_grid_dependency_launch();
    __shared__ int found;
    const int parts = lathe_ceil_div(K, SPLIT_PART), chunks = lathe_ceil_div(K, CHUNK);
    const long long warp = static_cast<long long>(blockIdx.x) * 8 + threadIdx.x / 32;
    const int row = static_cast<int>(warp / parts) * 8 + threadIdx.x % 32 / 4, quarter = threadIdx.x % 4;
    const int begin = static_cast<int>(warp % parts) * SPLIT_PART, end = lathe_min(begin + SPLIT_PART, chunks * CHUNK);
    const float *from = matrix + static_cast<long long>(row) * K;
    float4 next[4];
    load_16(next, from, begin + quarter * 16, row < rows ? K : 0);
    float scale = 1.0f;
    if (FP16) {
        if (threadIdx.x < 32) {
            const int e = lathe_sample_exponent(matrix, static_cast<long long>(rows) * K);
            if (threadIdx.x == 0)
                found = e;
        }
        __syncthreads();
        scale = lathe_power_of_two(found);
        if (blockIdx.x == 0 && threadIdx.x == 0)
            exponent[0] = found;
    }
    if (row >= padded_rows)                             // all of a warp
        return;
    unsigned char *to = tiles + (static_cast<long long>(row / COLUMNS) * chunks * COLUMNS + row % COLUMNS) * SHARED_ROW;
    const int swizzle = SHARED_ROW == 128 ? row % COLUMNS & 7 : row % COLUMNS >> 1 & 3;
    unsigned bits = 0, all_bits = 0;
    for (int k0 = begin; k0 < end; k0 += 64) {
        const float4 v[4] = {next[0], next[1], next[2], next[3]};
        if (k0 + 64 < end)
            load_16(next, from, k0 + 64 + quarter * 16, row < rows ? K : 0);
        unsigned hi[8], lo[8];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            lathe_split16<FP16>(v[i].x, v[i].y, scale, hi[i], lo[i]);
            lathe_split16<FP16>(v[i].z, v[i].w, scale, hi[4 + i], lo[4 + i]);
            bits |= hi[i] | hi[4 + i];
            all_bits |= __float_as_uint(v[i].x) | __float_as_uint(v[i].y);
            all_bits |= __float_as_uint(v[i].z) | __float_as_uint(v[i].w);
        }
        const int chunk = k0 / CHUNK + quarter / 2;     // of two lanes
        unsigned char *at = to + static_cast<long long>(chunk) * SHARED_BYTES;
        store_units(at, 0, swizzle, hi, chunk < chunks);
        if (PARTS == 2)
            store_units(at, 4, swizzle, lo, chunk < chunks);
    }
    // 16 of k a lane may be all zero beside others that are not: the four lanes of a row answer together.
    bits |= __shfl_xor_sync(0xffffffffu, bits, 1);
    bits |= __shfl_xor_sync(0xffffffffu, bits, 2);
    const bool gone = (bits & 0x7fff7fffu) == 0 && (all_bits & 0x7fffffffu) != 0;
    if (lathe_too_small<FP16>(bits | bits >> 16) || gone)
        lathe_guard_raise(guard);
}

// ---- where a block is

struct Shape {
    int streamed_rows, shared_rows, chunks;             // of the problem; chunks of all k
};

// Work is numbered in units: a cluster's tiles. Units run along rows within a band of GROUP unit columns.
struct Units {
    int rows, columns;
    __device__ __forceinline__ explicit Units(const Shape &s)
        : rows(lathe_ceil_div(lathe_ceil_div(s.streamed_rows, ROWS), SHARE_COLUMNS ? CLUSTER : 1)),
          columns(lathe_ceil_div(lathe_ceil_div(s.shared_rows, COLUMNS), SHARE_ROWS ? CLUSTER : 1)) {}
    __device__ __forceinline__ int count() const { return rows * columns; }
    // The tile of this block in unit u.
    __device__ __forceinline__ void tile(int u, int rank, int &row, int &column) const {
        const int band = u / (LATHE_GROUP * rows), width = lathe_min(LATHE_GROUP, columns - band * LATHE_GROUP);
        const int within = u - band * LATHE_GROUP * rows;
        row = within / width;
        column = band * LATHE_GROUP + within % width;
        if (SHARE_ROWS)
            column = column * CLUSTER + rank;
        if (SHARE_COLUMNS)
            row = row * CLUSTER + rank;
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

// The stages in turn: an index and the parity of its current round.
struct Ring {
    int stage = 0;
    unsigned parity = 0;
    __device__ __forceinline__ void next() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    __device__ __forceinline__ int before() const { return stage == 0 ? STAGES - 1 : stage - 1; }
};

// ---- the three threads that copy

struct Range {
    int begin, count;                                   // chunks of this block
    __device__ __forceinline__ Range(int chunks, int part) {
        begin = static_cast<int>(static_cast<long long>(chunks) * part / SPLIT_K);
        count = static_cast<int>(static_cast<long long>(chunks) * (part + 1) / SPLIT_K) - begin;
    }
};

__device__ __forceinline__ void copy_streamed(const LatheTensorMap *map, const Memory &memory, const Shape &shape,
                                              int rank) {
    const unsigned long long policy = LATHE_EVICT_FIRST ? lathe_l2_evict_first() : lathe_l2_normal();
    const Units units(shape);
    const Range range(shape.chunks, SPLIT_K > 1 ? rank : 0);
    Ring at;
    for (int u = blockIdx.x / BLOCKS; u < units.count(); u += gridDim.x / BLOCKS) {
        int row, column;
        units.tile(u, rank, row, column);
        for (int c = 0; c < range.count; c++, at.next()) {
            lathe_barrier_wait(memory.streamed_free(at.stage), at.parity ^ 1);
            lathe_barrier_expect(memory.full(at.stage), STREAMED_BYTES);
            const int x = (range.begin + c) * CHUNK;
            if constexpr (SHARE_ROWS) {
                lathe_tma_load(memory.streamed(at.stage) + rank * MY_ROWS * CHUNK * 4, map, x,
                               row * ROWS + rank * MY_ROWS, memory.full(at.stage), policy,
                               static_cast<unsigned short>((1 << CLUSTER) - 1));
            } else {
                lathe_tma_load(memory.streamed(at.stage), map, x, row * ROWS, memory.full(at.stage), policy);
            }
        }
    }
}

__device__ __forceinline__ void copy_shared(const unsigned char *tiles, const Memory &memory, const Shape &shape,
                                            int rank) {
    const unsigned long long policy = LATHE_EVICT_LAST ? lathe_l2_evict_last() : lathe_l2_normal();
    const Units units(shape);
    const Range range(shape.chunks, SPLIT_K > 1 ? rank : 0);
    Ring at;
    lathe_grid_dependency_wait();
    for (int u = blockIdx.x / BLOCKS; u < units.count(); u += gridDim.x / BLOCKS) {
        int row, column;
        units.tile(u, rank, row, column);
        const unsigned char *from =
            tiles + (static_cast<long long>(column) * shape.chunks + range.begin) * SHARED_BYTES;
        for (int c = 0; c < range.count; c++, at.next(), from += SHARED_BYTES) {
            lathe_barrier_wait(memory.shared_free(at.stage), at.parity ^ 1);
            lathe_barrier_expect(memory.full(at.stage), SHARED_BYTES);
            if constexpr (SHARE_COLUMNS) {
                constexpr int BYTES = MY_COLUMNS * SHARED_ROW;
                lathe_bulk_load(memory.shared(at.stage) + rank * BYTES, from + rank * BYTES, BYTES,
                                memory.full(at.stage), policy, static_cast<unsigned short>((1 << CLUSTER) - 1));
            } else {
                lathe_bulk_load(memory.shared(at.stage), from, SHARED_BYTES, memory.full(at.stage), policy);
            }
        }
    }
}

// Where `stream` is in the order in which a block's streams promote.
__device__ __forceinline__ int place_of(int stream) {
    int place = 0;
#pragma unroll
    for (int other = 0; other < STREAMS; other++)
        place += first_promotion(other) < first_promotion(stream);
    return place;
}

// Sums that a stream has staged are written, the first time, or added to this block's own in workspace; then the
// staging buffer is the next stream's. Each stream has a barrier of its own for that: it could not tell the rounds of
// one that turns for all.
__device__ __forceinline__ void add_sums(float *sums, const Memory &memory, const Shape &shape, int rank) {
    const Units units(shape);
    const int chunks = Range(shape.chunks, SPLIT_K > 1 ? rank : 0).count;
    int all = 0;
#pragma unroll
    for (int stream = 0; stream < STREAMS; stream++)
        all += promotions(stream, chunks);
    unsigned parity = 0;
    for (int u = blockIdx.x / BLOCKS; u < units.count(); u += gridDim.x / BLOCKS) {
#pragma unroll 1
        for (int i = 0; i < all; i++) {
            const int after = i + 1 < all ? (i + 1) % STREAMS : 0;
            int stream = 0, next = 0;
#pragma unroll
            for (int s = 0; s < STREAMS; s++) {
                stream = place_of(s) == i % STREAMS ? s : stream;
                next = place_of(s) == after ? s : next;
            }
            float *to = sums + (static_cast<long long>(blockIdx.x) * STREAMS + stream) * TILE_FLOATS;
            lathe_barrier_wait(memory.staged(), parity);
            parity ^= 1;
            if (i < STREAMS)
                lathe_bulk_store(to, memory.staging, STAGING_BYTES);
            else
                lathe_bulk_add(to, memory.staging, STAGING_BYTES);
            lathe_bulk_wait();
            lathe_barrier_arrive(memory.staging_free(next));
        }
        lathe_fence_async();
        __threadfence();
        lathe_barrier_arrive(memory.promoted());
    }
}

// ---- the warpgroups that multiply

struct Multiplier {
    const Memory &memory;
    const int group, lane, warp, c;                     // c: lane's place in its four
    float sum[TILES][SUMS];
    unsigned hi[2][TILES][4], lo[2][TILES][4];
    float raw[TILES * 2][4];
    unsigned row_at[TILES * 2];                         // shared addresses of my rows' 16 bytes in stage 0, k16 step 0
    unsigned bits[TILES * 2];                           // that are set in any hi of each of my rows
    float scale;
    Ring at;
    int first_row;                                      // of my TILES * 2 consecutive rows, in the tile

    __device__ __forceinline__ explicit Multiplier(const Memory &m)
        : memory(m), group(threadIdx.x / 128), lane(threadIdx.x % 32), warp(threadIdx.x / 32 % 4), c(threadIdx.x % 4),
          scale(1.0f) {
        // Rows are dealt so that a thread has consecutive ones (whole vectors of Y), and the 8 lanes of a quarter of a
        // 16-byte access touch all banks once under the 128-byte swizzle.
        const int g = lane / 4;
        first_row = group * TILES * 64 + (TILES == 2 ? warp * 32 + 4 * g
                                                     : warp * 16 + (g & 1) * 4 + (g & 2) + (g & 4) * 2);
#pragma unroll
        for (int q = 0; q < TILES * 2; q++) {
            const int row = first_row + q;
            row_at[q] = m.base + row * CHUNK * 4 + ((c ^ (row & 7)) << 4);
        }
    }

    // 16 of k of my rows, as float32
    __device__ __forceinline__ void read(int step) {
#pragma unroll
        for (int q = 0; q < TILES * 2; q++)
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(raw[q][0]), "=f"(raw[q][1]), "=f"(raw[q][2]), "=f"(raw[q][3])
                         : "r"((row_at[q] ^ (step << 6)) + at.stage * STAGE_BYTES)
                         : "memory");
    }

    __device__ __forceinline__ void split(int buffer) {
#pragma unroll
        for (int q = 0; q < TILES * 2; q++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                unsigned &h = hi[buffer][q / 2][q % 2 + 2 * half], &l = lo[buffer][q / 2][q % 2 + 2 * half];
                if constexpr (PARTS == 2 && FP16)
                    lathe_split16<FP16>(raw[q][2 * half], raw[q][2 * half + 1], scale, h, l);
                else if constexpr (PARTS == 2)
                    lathe_split16<FP16>(raw[q][2 * half], raw[q][2 * half + 1], h, l);
                else
                    h = lathe_pack16<FP16>(FP16 ? raw[q][2 * half] * scale : raw[q][2 * half],
                                           FP16 ? raw[q][2 * half + 1] * scale : raw[q][2 * half + 1]);
                bits[q] |= h;
            }
    }

    // The products of one k16 step of tile i, small ones first.
    __device__ __forceinline__ void multiply(int i, int step, int add) {
        const unsigned long long high = lathe_wgmma_matrix<SHARED_ROW>(memory.shared(at.stage)) + 2 * step;
        if constexpr (PARTS == 2) {
            lathe_wgmma<TYPE>(sum[i], hi[step][i], high + CHUNK * 2 / 16, add);
            lathe_wgmma<TYPE>(sum[i], lo[step][i], high, 1);
            lathe_wgmma<TYPE>(sum[i], hi[step][i], high, 1);
        } else {
            lathe_wgmma<TYPE>(sum[i], hi[step][i], high, add);
        }
    }

    __device__ __forceinline__ void release_streamed(int stage) const {
        __syncwarp();
        if constexpr (SHARE_ROWS) {
            if (lane < CLUSTER)
                lathe_barrier_arrive_remote<false>(memory.streamed_free(stage), lane);
        } else if (lane == 0) {
            lathe_barrier_arrive(memory.streamed_free(stage));
        }
    }
    __device__ __forceinline__ void release_shared(int stage) const {
        if constexpr (SHARE_COLUMNS) {
            if (lane < CLUSTER)
                lathe_barrier_arrive_remote<false>(memory.shared_free(stage), lane);
        } else if (lane == 0) {
            lathe_barrier_arrive(memory.shared_free(stage));
        }
    }

    // Step 0 of the current chunk is multiplied (its operands are split already), step 1 is split.
    __device__ __forceinline__ void first_half(bool release, const int (&add)[TILES]) {
        lathe_wgmma_fence();
#pragma unroll
        for (int i = 0; i < TILES; i++)
            multiply(i, 0, add[i]);
        lathe_wgmma_commit();
        read(1);
        lathe_wgmma_wait<1>();
        if (release)
            release_shared(at.before());
        split(1);
        release_streamed(at.stage);
    }

    __device__ __forceinline__ void enter() { lathe_barrier_wait(memory.full(at.stage), at.parity); }

    // Step 1 of the current chunk is multiplied; the next chunk is entered and its step 0 split.
    __device__ __forceinline__ void second_half() {
        lathe_wgmma_fence();
#pragma unroll
        for (int i = 0; i < TILES; i++)
            multiply(i, 1, 1);
        lathe_wgmma_commit();
        at.next();
        enter();
        read(0);
        lathe_wgmma_wait<1>();
        split(0);
    }
    // The same, with tile FIRST as a group of its own before the other: after lathe_wgmma_wait<TILES - 1> it is done.
    template <int FIRST> __device__ __forceinline__ void second_half_first() {
        lathe_wgmma_fence();
        multiply(FIRST, 1, 1);
        lathe_wgmma_commit();
        if constexpr (TILES == 2) {
            multiply(1 - FIRST, 1, 1);
            lathe_wgmma_commit();
        }
        at.next();
        enter();
        read(0);
        lathe_wgmma_wait<TILES>();
        split(0);
    }
};

// Sums kept outside the tensor cores.
struct Kept {
    float value[IN_REGISTERS ? TILES : 1][IN_REGISTERS ? SUMS : 1];
    float *workspace;                                   // mine of a slot: four sums every 512 floats
    int stagings[TILES], units;                         // so far; the first stream's first needs no wait

    __device__ __forceinline__ Kept(float *sums, const Multiplier &x) : units(0) {
        workspace = sums + (static_cast<long long>(blockIdx.x) * STREAMS + x.group) * TILE_FLOATS;
        workspace += threadIdx.x % 128 * 4;
#pragma unroll
        for (int i = 0; i < TILES; i++)
            stagings[i] = IN_WORKSPACE && place_of(i * GROUPS + x.group) == 0 ? -1 : 0;
    }
    __device__ __forceinline__ float *slot(int i, int j) const {
        return workspace + i * GROUPS * TILE_FLOATS + j * 512;
    }

    __device__ __forceinline__ void begin() {
        units++;
        if constexpr (IN_REGISTERS)
#pragma unroll
            for (int i = 0; i < TILES; i++)
#pragma unroll
                for (int v = 0; v < SUMS; v++)
                    value[i][v] = 0.0f;
    }

    // sum goes over to what is kept; the caller starts it again from zero.
    __device__ __forceinline__ void take(int i, const Multiplier &x) {
        const float(&sum)[SUMS] = x.sum[i];
        if constexpr (IN_REGISTERS) {
#pragma unroll
            for (int v = 0; v < SUMS; v++)
                value[i][v] += sum[v];
        } else if constexpr (IN_WORKSPACE) {
            if (stagings[i] >= 0)
                lathe_barrier_wait(x.memory.staging_free(i * GROUPS + x.group), stagings[i] & 1);
            stagings[i]++;
            const unsigned to = x.memory.staging + threadIdx.x % 128 * 16;
#pragma unroll
            for (int j = 0; j < J; j++)
                asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to + j * 2048), "f"(sum[4 * j]),
                             "f"(sum[4 * j + 1]), "f"(sum[4 * j + 2]), "f"(sum[4 * j + 3])
                             : "memory");
            lathe_fence_async_shared();
            lathe_barrier_arrive(x.memory.staged());
        }
    }

    // All that was taken is to be had.
    __device__ __forceinline__ void end(const Memory &memory) const {
        if constexpr (IN_WORKSPACE) {
            lathe_barrier_wait(memory.promoted(), (units - 1) & 1);
            lathe_fence_async();
        }
    }
    // Adds what is kept of four sums.
    __device__ __forceinline__ void add(int i, int j, float (&four)[4]) const {
        if constexpr (IN_REGISTERS) {
#pragma unroll
            for (int v = 0; v < 4; v++)
                four[v] += value[i][4 * j + v];
        } else if constexpr (IN_WORKSPACE) {
            float more[4];
            lathe_load_coherent<4>(more, slot(i, j));
#pragma unroll
            for (int v = 0; v < 4; v++)
                four[v] += more[v];
        }
    }
};

// The exchange of a split k: of J groups of 8 columns each block finishes J / SPLIT_K and hands the others' sums over.
constexpr int MINE = J / SPLIT_K;

__device__ __forceinline__ void hand_over(const Multiplier &x, const Kept &kept, int rank, unsigned exchange) {
#pragma unroll
    for (int j = 0; j < J; j++)
        if (j / MINE != rank)
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                float four[4] = {x.sum[i][4 * j], x.sum[i][4 * j + 1], x.sum[i][4 * j + 2], x.sum[i][4 * j + 3]};
                kept.add(i, j, four);
                lathe_store<4>(kept.slot(i, j), four);
            }
    __threadfence();
    __syncwarp();
    if (x.lane < SPLIT_K && x.lane != rank)
        lathe_barrier_arrive_remote<true>(x.memory.exchanged(), x.lane);
    lathe_barrier_wait_cluster(x.memory.exchanged(), exchange);
}

// The others have read what this block handed over, and it has read theirs.
__device__ __forceinline__ void hand_over_done(const Multiplier &x, int rank, unsigned exchange) {
    lathe_fence_async();
    __syncwarp();
    if (x.lane < SPLIT_K && x.lane != rank)
        lathe_barrier_arrive_remote<false>(x.memory.exchange_free(), x.lane);
    lathe_barrier_wait_cluster(x.memory.exchange_free(), exchange);
}

// Finished sums of tile i, group of columns j: rows first_row + 2i + h, columns 8j + 2c + e, at [2h + e].
__device__ __forceinline__ void finished(const Multiplier &x, const Kept &kept, int i, int j, int rank, float unscale,
                                         float (&four)[4]) {
#pragma unroll
    for (int v = 0; v < 4; v++)
        four[v] = x.sum[i][4 * j + v];
    kept.add(i, j, four);
    if constexpr (SPLIT_K > 1)
#pragma unroll
        for (int other = 1; other < SPLIT_K; other++) {
            const int block = (rank + other) % SPLIT_K - rank;
            float more[4];
            lathe_load_coherent<4>(more, kept.slot(i, j) + static_cast<long long>(block) * STREAMS * TILE_FLOATS);
#pragma unroll
            for (int v = 0; v < 4; v++)
                four[v] += more[v];
        }
    if constexpr (FP16)
#pragma unroll
        for (int v = 0; v < 4; v++)
            four[v] *= unscale;
}

// Y of the tile at (row, column) of tiles. False if some sum is not finite.
__device__ __forceinline__ bool write_tile(const Multiplier &x, const Kept &kept, int row, int column, int rank,
                                           float unscale, float *Y, int M, int N, const LatheEpilogue &epilogue) {
    // Of 8 columns a thread has TILES * 2 rows by 2 columns: HIGH rows of Y by WIDE of its columns.
    constexpr int HIGH = STREAM_X ? TILES * 2 : 2, WIDE = STREAM_X ? 2 : TILES * 2, VEC = lathe_min(LATHE_VEC, WIDE);
    const int streamed = row * ROWS + x.first_row, shared = column * COLUMNS + 2 * x.c;
    const int m0 = STREAM_X ? streamed : shared, n0 = STREAM_X ? shared : streamed;
    float *to = Y + static_cast<long long>(m0) * N + n0;
    float zero = 0.0f;                                  // until something is not finite
#pragma unroll
    for (int j = 0; j < J; j++) {
        if (SPLIT_K > 1 && j / MINE != rank)
            continue;
        float value[HIGH][WIDE];
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            float four[4];
            finished(x, kept, i, j, rank, unscale, four);
#pragma unroll
            for (int v = 0; v < 4; v++) {
                value[STREAM_X ? 2 * i + v / 2 : v % 2][STREAM_X ? v % 2 : 2 * i + v / 2] = four[v];
                zero = lathe_fma(four[v], 0.0f, zero);
            }
        }
        const int m = m0 + (STREAM_X ? 0 : 8 * j), n = n0 + (STREAM_X ? 8 * j : 0);
        float *const at = to + (STREAM_X ? 8ll * j : 8ll * j * N);
#pragma unroll
        for (int r = 0; r < HIGH; r++)
#pragma unroll
            for (int e = 0; e < WIDE; e += VEC)
                if (m + r < M && n + e < N) {           // and with it all of the vector
                    float y[VEC];
#pragma unroll
                    for (int v = 0; v < VEC; v++)
                        y[v] = epilogue(value[r][e + v], m + r, n + e + v);
                    lathe_store<VEC>(at + static_cast<long long>(r) * N + e, y);
                }
    }
    return zero == 0.0f;
}

__device__ __forceinline__ void finish(const Multiplier &x, const Kept &kept, int row, int column, int rank,
                                       unsigned &exchange, float unscale, float *Y, int M, int N, unsigned *guard,
                                       const LatheEpilogue &epilogue) {
    kept.end(x.memory);
    if constexpr (SPLIT_K > 1)
        hand_over(x, kept, rank, exchange);
    if (!write_tile(x, kept, row, column, rank, unscale, Y, M, N, epilogue))
        lathe_guard_raise(guard);
    if constexpr (SPLIT_K > 1) {
        hand_over_done(x, rank, exchange);
        exchange ^= 1;
    }
}

// A row of the streamed matrix that is not zero but too small for the format raises the guard: first_row + q of the
// tile's rows from `row` on, k from begin on. One without any high part may be zero, or so small that nothing was left:
// it is read again to know.
__device__ __forceinline__ void check_rows(const Multiplier &x, const float *streamed, int row, int rows, int begin,
                                           int end, int K, unsigned *guard) {
#pragma unroll
    for (int q = 0; q < TILES * 2; q++) {
        unsigned bits = x.bits[q] | __shfl_xor_sync(0xffffffffu, x.bits[q], 1);
        bits |= __shfl_xor_sync(0xffffffffu, bits, 2);
        bool bad = lathe_too_small<FP16>(bits | bits >> 16);
        const int mine = row + x.first_row + q;
        if ((bits & 0x7fff7fffu) == 0 && mine < rows) {
            const float *from = streamed + static_cast<long long>(mine) * K;
#pragma unroll 1
            for (int k = begin + 4 * x.c; k < end; k += 16) {
                const float4 v = *reinterpret_cast<const float4 *>(from + k);
                bad = bad || v.x != 0.0f || v.y != 0.0f || v.z != 0.0f || v.w != 0.0f;
            }
        }
        if (bad)
            lathe_guard_raise(guard);
    }
}

__device__ __forceinline__ void multiply_all(const Memory &memory, const Shape &shape, int rank, const float *streamed,
                                             float *sums, const int *shared_exponent, unsigned *guard, float *Y, int M,
                                             int N, int K, const LatheEpilogue &epilogue) {
    const Units units(shape);
    const Range range(shape.chunks, SPLIT_K > 1 ? rank : 0);
    const int chunks = range.count;
    Multiplier x(memory);
    Kept kept(sums, x);
    unsigned exchange = 0;
    int exponent = 0;
    float unscale = 1.0f;
    if constexpr (FP16) {
        if (threadIdx.x < 32) {
            const int e = lathe_sample_exponent(streamed, static_cast<long long>(shape.streamed_rows) * K);
            if (threadIdx.x == 0)
                *memory.exponent = e;
        }
        lathe_named_barrier<1, GROUPS * 128>();
        exponent = *memory.exponent;
        x.scale = lathe_power_of_two(exponent);
    }
    for (int u = blockIdx.x / BLOCKS; u < units.count(); u += gridDim.x / BLOCKS) {
        int add[TILES], promote_after[TILES];
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            add[i] = 0;
            promote_after[i] = PROMOTE ? first_promotion(i * GROUPS + x.group) - 1 : chunks;
        }
#pragma unroll
        for (int q = 0; q < TILES * 2; q++)
            x.bits[q] = 0;
        kept.begin();
        x.enter();
        x.read(0);
        x.split(0);
        int chunk = 0;
        for (;;) {
            const int event = TILES == 2 ? lathe_min(promote_after[0], promote_after[TILES - 1]) : promote_after[0];
            const int stop = lathe_min(event, chunks - 1);
#pragma unroll 1
            for (; chunk < stop; chunk++) {
                x.first_half(chunk > 0, add);
#pragma unroll
                for (int i = 0; i < TILES; i++)
                    add[i] = 1;
                x.second_half();
            }
            x.first_half(chunk > 0, add);
#pragma unroll
            for (int i = 0; i < TILES; i++)
                add[i] = 1;
            if (stop == chunks - 1)
                break;
            if (TILES == 1 || promote_after[0] < promote_after[TILES - 1]) {
                x.second_half_first<0>();
                lathe_wgmma_wait<TILES - 1>();
                kept.take(0, x);
                add[0] = 0;
                promote_after[0] += EVERY;
            } else {
                x.second_half_first<TILES - 1>();
                lathe_wgmma_wait<TILES - 1>();
                kept.take(TILES - 1, x);
                add[TILES - 1] = 0;
                promote_after[TILES - 1] += EVERY;
            }
            chunk++;
        }
        lathe_wgmma_fence();
#pragma unroll
        for (int i = 0; i < TILES; i++)
            x.multiply(i, 1, 1);
        lathe_wgmma_commit();
        lathe_wgmma_wait<0>();
        x.release_shared(x.at.stage);
        x.at.next();
        if (FP16 && u == blockIdx.x / BLOCKS) {
            lathe_grid_dependency_wait();
            unscale = lathe_power_of_two(-(exponent + *static_cast<const volatile int *>(shared_exponent)));
        }
        int row, column;
        units.tile(u, rank, row, column);
        finish(x, kept, row, column, rank, exchange, unscale, Y, M, N, guard, epilogue);
        check_rows(x, streamed, row * ROWS, shape.streamed_rows, range.begin * CHUNK,
                   lathe_min(K, (range.begin + range.count) * CHUNK), K, guard);
    }
}

// map: the streamed matrix, boxes of CHUNK by ROWS (/ CLUSTER where they share it); tiles, exponent: by
// linear_wgmma_split; sums: workspace of this kernel alone, gridDim.x x STREAMS x TILE_FLOATS where it is needed.
extern "C" __global__ void __launch_bounds__((GROUPS + 1) * 128, 1)
    linear_wgmma(const __grid_constant__ LatheTensorMap map, const float *streamed, const unsigned char *tiles,
                 const int *exponent, float *sums, unsigned *guard, float *Y, int M, int N, int K,
                 LatheEpilogue epilogue) {
    LATHE_DYNAMIC_SHARED(bytes);
    const Memory memory(bytes);
    const Shape shape = {STREAM_X ? M : N, STREAM_X ? N : M, lathe_ceil_div(K, CHUNK)};
    const int rank = BLOCKS > 1 ? static_cast<int>(lathe_cluster_rank()) : 0;
    lathe_grid_dependency_launch();
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            lathe_barrier_init(memory.full(s), 2);
            lathe_barrier_init(memory.streamed_free(s), 4 * GROUPS * (SHARE_ROWS ? CLUSTER : 1));
            lathe_barrier_init(memory.shared_free(s), 4 * GROUPS * (SHARE_COLUMNS ? CLUSTER : 1));
        }
        lathe_barrier_init(memory.staged(), 128);
        for (int stream = 0; stream < STREAMS; stream++)
            lathe_barrier_init(memory.staging_free(stream), 1);
        lathe_barrier_init(memory.promoted(), 1);
        if (SPLIT_K > 1) {
            lathe_barrier_init(memory.exchanged(), (SPLIT_K - 1) * 4 * GROUPS);
            lathe_barrier_init(memory.exchange_free(), (SPLIT_K - 1) * 4 * GROUPS);
        }
        lathe_barrier_init_done();
    }
    __syncthreads();
    if (BLOCKS > 1)
        lathe_cluster_sync();
    if (threadIdx.x / 128 == GROUPS) {
        lathe_registers_lower<GROUPS == 3 ? 32 : 40>();
        if (threadIdx.x == GROUPS * 128)
            copy_streamed(&map, memory, shape, rank);
        else if (threadIdx.x == GROUPS * 128 + 32)
            copy_shared(tiles, memory, shape, rank);
        else if (IN_WORKSPACE && threadIdx.x == GROUPS * 128 + 64)
            add_sums(sums, memory, shape, rank);
    } else {
        lathe_registers_raise<GROUPS == 3 ? 160 : 232>();
        multiply_all(memory, shape, rank, streamed, sums, exponent, guard, Y, M, N, K, epilogue);
    }
    if (BLOCKS > 1) {                                   // no block ends while another may still write to it
        __syncwarp();
        lathe_cluster_sync();
    }
}
