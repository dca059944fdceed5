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
//
// wgmma_tiles.cuh    constants, units of work, shared memory     wgmma_copy.cuh      the threads that copy
// wgmma_split.cuh    the shared operand, before                  wgmma_multiply.cuh  what a warpgroup holds and does
// wgmma_finish.cuh   from sums to Y
#include "wgmma_split.cuh"
#include "wgmma_copy.cuh"
#include "wgmma_finish.cuh"

// A warpgroup's way through all its units.
__device__ __forceinline__ void multiply_all(const Memory &memory, const Shape &shape, int rank, const float *streamed,
                                             float *sums, const int *shared_exponent, unsigned *guard, float *Y, int M,
                                             int N, int K, const LatheEpilogue &epilogue) {
    const Units units = shape.units();
    const Range range(shape.chunks, SPLIT_K > 1 ? rank : 0);
    const int chunks = range.count;
    Multiplier x(memory);
    Kept kept(sums, x);
    unsigned exchange = 0;
    int exponent = 0;
    float unscale = 1.0f;
    if constexpr (FP16) {
        if (threadIdx.x < 32) {
            const long long elements = static_cast<long long>(shape.streamed_rows) * K;
            const int e = lathe_sample_exponent(streamed, elements);
            if (lathe_sample_is_wide(streamed, elements, e))
                lathe_guard_raise(guard);
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
