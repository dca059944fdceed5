// host_split.cu: kernels for test_host_split.c: what kernels/common/split.cuh does on the host, a thread a number.
#include "../../../kernels/common/types.cuh"
#include "../../../kernels/common/split.cuh"

// out[i]: x[i] as bf16 in the low half, as fp16 in the high half
extern "C" __global__ void pack(const float *x, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (lathe_pack16<false>(x[i], 1.0f) & 0xffffu) | (lathe_pack16<true>(1.0f, x[i]) & 0xffff0000u);
}

// out[2 i], out[2 i + 1]: the 16 bits i as bf16 and as fp16
extern "C" __global__ void unpack(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float other;
    if (i >= n) return;
    lathe_unpack16<false>(i, out[2 * i], other);
    lathe_unpack16<true>(i << 16, other, out[2 * i + 1]);
}

template <bool FP16> static __device__ void parts(float x, float *hi, float *lo)
{
    unsigned high, low;
    lathe_split16<FP16>(3.0f, x, high, low);
    float other;
    lathe_unpack16<FP16>(high, other, *hi);
    lathe_unpack16<FP16>(low, other, *lo);
}

// out[4 i ...]: hi and lo of x[i] * scale with few bits: rounded, then cut off
extern "C" __global__ void split_short(const float *x, float *out, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float *to = out + 4 * i, other;
    unsigned high, low;
    lathe_split_short<true>(3.0f, x[i], scale, high, low);
    lathe_unpack16<true>(high, other, to[0]);
    lathe_unpack16<true>(low, other, to[1]);
    lathe_split_short<false>(x[i], 3.0f, scale, high, low);
    lathe_unpack16<true>(high, to[2], other);
    lathe_unpack16<true>(low, to[3], other);
}

// out[8 i ...]: hi and lo of x[i]: bf16, fp16, fp16 of x[i] * scale, tf32
extern "C" __global__ void split(const float *x, float *out, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float *to = out + 8 * i, other;
    unsigned high, low;
    parts<false>(x[i], to, to + 1);
    parts<true>(x[i], to + 2, to + 3);
    lathe_split16<true>(x[i], 3.0f, scale, high, low);
    lathe_unpack16<true>(high, to[4], other);
    lathe_unpack16<true>(low, to[5], other);
    lathe_split_tf32(x[i], to[6], to[7]);
}
