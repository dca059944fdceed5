// simt.cu: Y = epilogue(X W^T + b) in float32 on the ordinary FMA units, one fused kernel.
//
//   X [M, K], W [N, K], Y [M, N]: row-major float32, so both operands of the product run along k in memory.
//
// A block computes a BM x BN tile of Y, BK elements of k at a time; a thread keeps TM x TN sums in registers. Written
// for an abstract product P[r, c] = sum over k of A[r, k] B[c, k]: with TRANSPOSED false A is X and B is W, so P = Z;
// with TRANSPOSED true A is W and B is X, so P = Z^T, and the tile is turned in shared memory on the way out.
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
//   SCHEDULE        "tiles": a block a tile (or SPLIT_K). "stream": any number of blocks, as many as the device holds
//                   at once, which share all tiles' k evenly; a tile that lies in two or more shares is added up as
//                   with "last_block", by the last of its blocks to arrive, and no block ever waits for another
//   STORE           "direct" from registers, or through "shared" memory a row at a time (always so when TRANSPOSED)
//   GROUP           block rows of Y that are walked together, so that concurrent blocks share W in L2
//   PREFETCH        bytes of L2 that an async copy of 16 bytes asks for
//   MIN_BLOCKS      blocks an SM must be able to hold: the compiler's register limit
//
// Edges: rows past the end repeat the last row and are never stored; k past the end is zero; so no size is special. The
// k order of each sum is the plain ascending one within a split or share, and those are added in ascending order: two
// runs agree bit for bit.
//
// simt_tiles.cuh     constants                       simt_copy.cuh      global to shared memory
// simt_multiply.cuh  shared memory to sums           simt_finish.cuh    sums to Y
#include "simt_multiply.cuh"
#include "simt_finish.cuh"

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
    __device__ __forceinline__ void sums(float (&sum)[TR][TC], float *shared, int m0, int n0, int begin,
                                         int end) const {
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
__device__ __forceinline__ void compute_tile(const Work &work, Finish f, float *partial, unsigned *tickets,
                                             float *shared) {
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

// The shares of a stream. A unit is one tile of k of one tile of Y; they are numbered tile by tile, and block b works
// on units [before(b), before(b + 1)). Blocks without any come last.
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
        const long long first = static_cast<long long>(tile) * tiles_k;
        const long long from = before(b) - first, to = before(b + 1) - first;
        begin = from > 0 ? static_cast<int>(from) : 0;
        end = to < tiles_k ? static_cast<int>(to) : tiles_k;
    }
};

// One share. Its first tile may have begun in an earlier block and its last may go on in a later one, so a block has
// two parts of tiles at most: slot 2 b of `partial` is for one that began earlier, 2 b + 1 for one that begins in block
// b.
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

// grid: (tiles of Y, 1, SPLIT_K), or any number of blocks if SCHEDULE is "stream". partial: [SPLIT_K, M, N] when a
// second kernel reduces, [tile][split] as add_parts says when the last block does, [2 blocks] of the same in a stream.
// tickets: one a tile, 0 between launches. Those that are not needed are not used.
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
