// wgmma_shared.cu: Y = epilogue(X W^T) on Hopper's tensor cores, which read both operands from shared memory.
//
// The ordinary form of a GEMM on this hardware: of TF32, from float32 tensors as they are (the tensor cores ignore the
// low 13 bits of an operand); of f16 or bf16 tensors; or of float32 tensors that linear_wgmma_convert has rounded to 16
// bits before, or split into two numbers of 16 bits, of which three products are summed. Sums are float32, which the
// hardware rounds toward zero at every step; so where there are three products PROMOTE_K of k at most are summed there,
// and then added to other registers, rounded to nearest.
//
// A is the matrix whose rows are rows of a tile (X, or W where SWAP says so), B the other one; a tile of Y, or of Y
// transposed, is ROWS rows of A by COLUMNS rows of B. A block is
//
//   warpgroup GROUPS (the last): one thread copies chunks of 128 bytes of k of both to the ring of stages
//   warpgroups 0 .. GROUPS-1   : multiply and finish, by one of two schedules:
//     cooperative: each has TILES x 64 rows of every tile of the block
//     pingpong   : each has every second tile, and one finishes while the other multiplies, in turn
//
// Barriers: full(s) is completed by the copies to stage s; free(s) by the warps that have read it, in all blocks of a
// cluster that share a matrix, for one block's copies write to all; turn(g) by the other warpgroup when it has begun
// the last product of its tile. Since a warpgroup looks at no stage before its turn, nobody waits for a phase that is
// more than one ahead, which parity could not tell.
//
// What the parameters change: see wgmma_shared.lua and docs/kernels.md.
//
// wgmma_shared_tiles.cuh    constants, units of work, shared memory     wgmma_shared_multiply.cuh  sums of a tile
// wgmma_shared_convert.cuh  float32 to 16 bits, before                  wgmma_shared_finish.cuh    from sums to Y
#include "wgmma_shared_convert.cuh"
#include "wgmma_shared_finish.cuh"

// ---- the thread that copies

// The rows from `row` on to `to`: all of a tile, or `mine` of them to all blocks of the cluster, which do the same.
template <bool SHARE>
__device__ __forceinline__ void copy_rows(const LatheTensorMap *map, unsigned to, int x, int row, int mine, int rank,
                                          unsigned full, unsigned long long policy) {
    if constexpr (SHARE)
        lathe_tma_load(to + rank * mine * ROW_BYTES, map, x, row + rank * mine, full, policy,
                       static_cast<unsigned short>((1 << CLUSTER) - 1));
    else
        lathe_tma_load(to, map, x, row, full, policy);
}

__device__ __forceinline__ void copy_all(const LatheTensorMap *a, const LatheTensorMap *b, const Memory &memory,
                                         const Shape &shape, int rank) {
    const unsigned long long of_x = LATHE_EVICT_LAST ? lathe_l2_evict_last() : lathe_l2_normal();
    const unsigned long long of_w = LATHE_EVICT_FIRST ? lathe_l2_evict_first() : lathe_l2_normal();
    const Units units = shape.units();
    const Range range(shape.chunks, SPLIT_K > 1 ? rank : 0);
    Ring at;
    if (CONVERT)
        lathe_grid_dependency_wait();
    for (int u = blockIdx.x / BLOCKS; u < units.count(); u += gridDim.x / BLOCKS) {
        int row, column;
        units.tile(u, rank, row, column);
        for (int c = 0; c < range.count; c++, at.next()) {
            const int x = (range.begin + c) * BOX;
            const unsigned full = memory.full(at.stage);
            lathe_barrier_wait(memory.free(at.stage), at.parity ^ 1);
            lathe_barrier_expect(full, STAGE_BYTES);
            copy_rows<SHARE_A>(a, memory.a(at.stage), x, row * ROWS, MY_ROWS, rank, full, SWAP ? of_w : of_x);
            copy_rows<SHARE_B>(b, memory.b(at.stage), x, column * COLUMNS, MY_COLUMNS, rank, full, SWAP ? of_x : of_w);
        }
    }
}

// ---- the warpgroups that multiply

// A warpgroup's way through all its tiles.
__device__ __forceinline__ void multiply_all(const Memory &memory, const Shape &shape, int rank, float *sums,
                                             const int *exponents, unsigned *guard, LatheType_Y *Y, int M, int N,
                                             const LatheEpilogue &epilogue) {
    const Units units = shape.units();
    const int chunks = Range(shape.chunks, SPLIT_K > 1 ? rank : 0).count;
    const int step = gridDim.x / BLOCKS;
    Multiplier x(memory);
    Exchange exchange(sums, x, rank);
    float unscale = 1.0f;
    if constexpr (SCALED) {
        lathe_grid_dependency_wait();
        const volatile int *const e = exponents;
        unscale = lathe_power_of_two(-(e[0] + e[1]));
    }
    int u = blockIdx.x / BLOCKS;
    unsigned turn = 0;                                  // of this warpgroup, so far
    if constexpr (PINGPONG) {
        u += x.group * step;
        x.at.skip(x.group * chunks);
    }
    for (; u < units.count(); u += TURNS * step, turn++) {
        if constexpr (PINGPONG)                         // the first of group 0 waits for nobody
            lathe_barrier_wait(memory.turn(x.group), (turn + (x.group == 0)) & 1);
        x.begin_tile(chunks);
        if constexpr (PINGPONG)
            if (x.lane == 0)
                lathe_barrier_arrive(memory.turn(1 - x.group));
        x.finish_tile(chunks);
        if constexpr (PINGPONG)
            x.at.skip(chunks);
        int row, column;
        units.tile(u, rank, row, column);
        finish(x, exchange, row, column, unscale, Y, M, N, guard, epilogue);
    }
}

// a, b: maps of A and B, boxes of BOX by MY_ROWS and MY_COLUMNS; exponents, guard: where CONVERT; sums: workspace of
// this kernel alone where SPLIT_K > 1, gridDim.x x STREAMS x TILE_FLOATS; Y [M, N].
extern "C" __global__ void __launch_bounds__((GROUPS + 1) * 128, PER_SM)
    linear_wgmma_shared(const __grid_constant__ LatheTensorMap a, const __grid_constant__ LatheTensorMap b,
                        const int *exponents, float *sums, unsigned *guard, LatheType_Y *Y, int M, int N, int K,
                        LatheEpilogue epilogue) {
    LATHE_DYNAMIC_SHARED(bytes);
    const Memory memory(bytes);
    const Shape shape = {SWAP ? N : M, SWAP ? M : N, lathe_ceil_div(K, CHUNK)};
    const int rank = BLOCKS > 1 ? static_cast<int>(lathe_cluster_rank()) : 0;
    lathe_grid_dependency_launch();
    if (threadIdx.x == GROUPS * 128) {
        lathe_tma_prefetch(&a);
        lathe_tma_prefetch(&b);
    }
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            lathe_barrier_init(memory.full(s), 1);
            lathe_barrier_init(memory.free(s), 4 * READERS * CLUSTER);
        }
        for (int group = 0; group < 2; group++)
            lathe_barrier_init(memory.turn(group), 4);
        if (SPLIT_K > 1) {
            lathe_barrier_init(memory.exchanged(), (SPLIT_K - 1) * 4 * GROUPS);
            lathe_barrier_init(memory.exchange_free(), (SPLIT_K - 1) * 4 * GROUPS);
        }
        lathe_barrier_init_done();
    }
    __syncthreads();
    if (BLOCKS > 1)
        lathe_cluster_sync();
    // Of 65536 registers: 2 blocks of 128 x (24 + 232), 128 x (40 + 2 x 232), or 128 x (32 + 3 x 160). In one block
    // with one warpgroup that multiplies, each thread has 255.
    constexpr bool HAND_OVER = GROUPS > 1 || PER_SM > 1;
    if (threadIdx.x / 128 == GROUPS) {
        if constexpr (HAND_OVER)
            lathe_registers_lower<GROUPS == 1 ? 24 : GROUPS == 2 ? 40 : 32>();
        if (threadIdx.x == GROUPS * 128)
            copy_all(&a, &b, memory, shape, rank);
    } else {
        if constexpr (HAND_OVER)
            lathe_registers_raise<GROUPS == 3 ? 160 : 232>();
        multiply_all(memory, shape, rank, sums, exponents, guard, Y, M, N, epilogue);
    }
    if (BLOCKS > 1) {                                   // no block ends while another may still write to it
        __syncwarp();
        lathe_cluster_sync();
    }
}
