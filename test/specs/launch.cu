// launch.cu: y = 2 x in boxes that the tensor memory accelerator copies (sm_90 and later), to try what a launch can
// say.
//
//   ROWS, COLS  the box, in elements; a row of it is a multiple of 16 bytes, and with SWIZZLE exactly that long
//   SWIZZLE     bytes within which the copy permutes chunks of 16: 0, 32, 64 or 128
//   CLUSTER     blocks along x whose first one reads the factor for all
//   PREPARE     the factor comes from the launch before; OVERLAP: this one begins while that one still runs
//   STORE       tma: the box goes back through y's map; threads: each element by itself, read where the swizzle put it
//   VIEW        x and y are seen as twice the rows of half the columns: only the maps and the sizes passed differ
#include "lathe.cuh"

constexpr int ROWS = LATHE_ROWS, COLS = LATHE_COLS, SWIZZLE = LATHE_SWIZZLE, CLUSTER = LATHE_CLUSTER;
constexpr bool PREPARE = LATHE_PREPARE, STORE_TMA = LATHE_STORE == LATHE_STORE_tma;
constexpr int BOX_BYTES = ROWS * COLS * 4;
static_assert(COLS * 4 % 16 == 0 && ROWS <= 256 && COLS <= 256, "what a box may be");
static_assert(SWIZZLE == 0 || COLS * 4 == SWIZZLE, "a row of the box is as long as the swizzle");

__device__ __forceinline__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// factor [1]
extern "C" __global__ void launch_factor(float *factor) {
    lathe_grid_dependency_launch();
    if (threadIdx.x == 0)
        *factor = 2.0f;
}

// x_map, y_map: of x, y [rows, cols], boxes of ROWS x COLS. factor [1]
extern "C" __global__ void launch_scale(const __grid_constant__ LatheTensorMap x_map,
                                        const __grid_constant__ LatheTensorMap y_map, float *y,
                                        const volatile float *factor, int rows, int cols) {
    LATHE_DYNAMIC_SHARED(raw);
    __shared__ unsigned long long arrived;
    __shared__ float first_factor;
    unsigned char *box = raw + (1024 - shared_address(raw) % 1024) % 1024; // the swizzle counts from there
    const unsigned barrier = shared_address(&arrived);
    const int column = blockIdx.x * COLS, row = blockIdx.y * ROWS;

    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(BOX_BYTES)
                     : "memory");
        // x comes from no other launch, so it need not wait
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(box)),
                     "l"(&x_map), "r"(column), "r"(row), "r"(barrier)
                     : "memory");
    }
    lathe_grid_dependency_wait();

    unsigned rank, blocks, first;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    if (blocks != CLUSTER)
        asm volatile("trap;");
    if (rank == 0 && threadIdx.x == 0)
        first_factor = PREPARE ? *factor : 2.0f;
    cluster_arrive();
    cluster_wait(); // the factor is there, and this block's mbarrier too
    float scale;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(first) : "r"(shared_address(&first_factor)));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(scale) : "r"(first) : "memory");
    cluster_arrive(); // the first block's shared memory is needed until all have come so far

    for (unsigned done = 0; !done;)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(barrier)
                     : "memory");

    for (int i = threadIdx.x; i < ROWS * COLS; i += blockDim.x) {
        const int at = i * 4;
        if (STORE_TMA) { // where an element lies does not matter: it goes back as it came
            *reinterpret_cast<float *>(box + at) *= scale;
            continue;
        }
        const int chunk = SWIZZLE ? (at >> 7) & (SWIZZLE / 16 - 1) : 0; // bits 4.. are xored with bits 7..
        const float value = *reinterpret_cast<const float *>(box + (at ^ chunk << 4));
        const int m = row + i / COLS, n = column + i % COLS;
        if (m < rows && n < cols)
            y[static_cast<long long>(m) * cols + n] = value * scale;
    }
    if (STORE_TMA) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&y_map),
                         "r"(column), "r"(row), "r"(shared_address(box))
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
        }
        __syncwarp();
    }
    cluster_wait();
}
