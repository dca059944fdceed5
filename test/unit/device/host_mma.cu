// host_mma.cu: kernels for test_host_mma.c: products by kernels/common/mma.cuh, a warp each, fragments as CUDA's manual
// has them.
#include "../../../kernels/common/types.cuh"
#include "../../../kernels/common/mma.cuh"

// C [16, 8] += A [16, 16] B [16, 8], all float, row-major
template <bool FP16> static __device__ void product16(const float *A, const float *B, float *C)
{
    const int lane = threadIdx.x, group = lane >> 2, in_group = lane % 4;
    unsigned a[4], b[2];
    float c[4];
    for (int i = 0; i < 4; i++) {       // two of the manual's a0 .. a7 a register
        int row = i == 0 || i == 2 ? group : group + 8, col = in_group * 2 + (i < 2 ? 0 : 8);
        a[i] = lathe_pack16<FP16>(A[row * 16 + col], A[row * 16 + col + 1]);
    }
    for (int i = 0; i < 2; i++) {
        int row = in_group * 2 + 8 * i;
        b[i] = lathe_pack16<FP16>(B[row * 8 + group], B[(row + 1) * 8 + group]);
    }
    for (int i = 0; i < 4; i++) c[i] = C[(i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1)];
    lathe_mma<FP16 ? LATHE_MMA_FP16 : LATHE_MMA_BF16>(c, a, b);
    for (int i = 0; i < 4; i++) C[(i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1)] = c[i];
}
extern "C" __global__ void product_bf16(const float *A, const float *B, float *C) { product16<false>(A, B, C); }
extern "C" __global__ void product_fp16(const float *A, const float *B, float *C) { product16<true>(A, B, C); }

// The same with A [16, 8], B [8, 8]
extern "C" __global__ void product_tf32(const float *A, const float *B, float *C)
{
    const int lane = threadIdx.x, group = lane >> 2, in_group = lane % 4;
    unsigned a[4], b[2];
    float c[4];
    for (int i = 0; i < 4; i++) {
        int row = i == 0 || i == 2 ? group : group + 8, col = i < 2 ? in_group : in_group + 4;
        a[i] = __float_as_uint(A[row * 8 + col]);
    }
    for (int i = 0; i < 2; i++) b[i] = __float_as_uint(B[(in_group + 4 * i) * 8 + group]);
    for (int i = 0; i < 4; i++) c[i] = C[(i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1)];
    lathe_mma<LATHE_MMA_TF32>(c, a, b);
    for (int i = 0; i < 4; i++) C[(i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1)] = c[i];
}

// Lanes from 16 on are not there: what they would have brought is NaN. out [16][4]
extern "C" __global__ void half_a_warp(float *out)
{
    unsigned a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
    float c[4] = {1, 1, 1, 1};
    if (threadIdx.x >= 16) return;
    lathe_mma<LATHE_MMA_BF16>(c, a, b);
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = c[i];
}

// Lane 5 stays away: a deadlock, which says so.
extern "C" __global__ void one_stays_away(float *out)
{
    unsigned a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
    float c[4] = {1, 1, 1, 1};
    if (threadIdx.x != 5) lathe_mma<LATHE_MMA_BF16>(c, a, b);
    __syncthreads();
    out[threadIdx.x] = c[0];
}
