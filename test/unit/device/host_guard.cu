// host_guard.cu: for test_host_guard.c: kernels/linear/guard.cuh by itself, and linear_wgmma_split for fp16x3.
#include "../../../kernels/common/types.cuh"

struct LatheEpilogue {
    float scale;
    __device__ __forceinline__ float operator()(float z, int m, int n) const { return scale * z + (n == 0 ? m : 0); }
};

#define LATHE_FORMAT 1
#define LATHE_FORMAT_bf16x3 0
#define LATHE_FORMAT_fp16x3 1
#define LATHE_FORMAT_bf16x1 2
#define LATHE_FORMAT_fp16x1 3
#define LATHE_FORMAT_fp16x3s 4
#define LATHE_STREAM 0
#define LATHE_STREAM_X 1
#define LATHE_WARPGROUPS 2
#define LATHE_TILES 1
#define LATHE_COLUMNS 16
#define LATHE_LET_stages 2
#define LATHE_CLUSTER 1
#define LATHE_SPLIT_K 1
#define LATHE_PROMOTE_K 0
#define LATHE_PROMOTE 0
#define LATHE_PROMOTE_registers 0
#define LATHE_MULTICAST 0
#define LATHE_MULTICAST_shared 0
#define LATHE_MULTICAST_streamed 0
#define LATHE_GROUP 1
#define LATHE_LET_smem 65536

// Nothing of hopper.cuh runs here, and its PTX is no language of a CPU.
static inline size_t __cvta_generic_to_shared(const void *) { return 0; }
#define asm
#define volatile(...)
#include "../../../kernels/linear/wgmma_split.cuh"
#undef volatile
#undef asm

// out[0 .. 31]: what each lane gets; out[32]: what the next warp gets
extern "C" __global__ void sample(const float *matrix, int *out, long long count)
{
    const int e = lathe_sample_exponent(matrix, count);
    if (threadIdx.x <= 32) out[threadIdx.x] = e;
}

// out[2 i], out[2 i + 1]: whether 16 bits i are too small, as bf16 and as fp16
extern "C" __global__ void too_small(int *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * i] = lathe_too_small<false>(i);
    out[2 * i + 1] = lathe_too_small<true>(i);
}

extern "C" __global__ void powers(float *out)   // 2^-126 to 2^127
{
    if (threadIdx.x < 254) out[threadIdx.x] = lathe_power_of_two(static_cast<int>(threadIdx.x) - 126);
}
