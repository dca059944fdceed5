// host_kernels.cu: kernels for test_host.c and test_host_faults.c. Each shows one thing that the host device imitates;
// what is right is computed anew in the test.
#define FULL 0xffffffffu

static __device__ __forceinline__ int linear_thread()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
static __device__ __forceinline__ int threads() { return blockDim.x * blockDim.y * blockDim.z; }

extern "C" __global__ void __launch_bounds__(256, 2)
vector_add(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __ldg(a + i) + b[i];
}

// out[block] = sum of the block's part of in[n], any block shape
extern "C" __global__ void block_sum(const float *in, float *out, int n)
{
    __shared__ __align__(16) float part[1024];
    int t = linear_thread(), i = blockIdx.x * threads() + t;
    part[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    int count = threads();
    while (count > 1) {
        int half = (count + 1) / 2;
        float v = t + half < count ? part[t + half] : 0.0f;
        __syncthreads();
        if (t < half) part[t] += v;
        __syncthreads();
        count = half;
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

// out[thread * 8 ...]: what each shuffle gives, for values 100 + thread
extern "C" __global__ void shuffles(int *out)
{
    int t = linear_thread(), v = 100 + t;
    int *to = out + t * 8;
    to[0] = __shfl_sync(FULL, v, 3);
    to[1] = __shfl_up_sync(FULL, v, 1);
    to[2] = __shfl_down_sync(FULL, v, 2);
    to[3] = __shfl_xor_sync(FULL, v, 1);
    to[4] = __shfl_sync(FULL, v, 9, 8);         // lane 1 of each eight
    to[5] = __shfl_up_sync(FULL, v, 3, 8);
    to[6] = __shfl_down_sync(FULL, v, 3, 8);
    to[7] = (int)__shfl_xor_sync(FULL, (double)v, 16);
}

// sum over each warp, full or partial, by halves; n threads in all
extern "C" __global__ void warp_sum(const float *in, float *out, int n)
{
    int t = linear_thread();
    float v = in[t];
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_down_sync(FULL, v, d);
        if (t % 32 + d < 32 && t + d < n) v += other;
    }
    if (t % 32 == 0) out[t / 32] = v;
}

// the two halves of a warp talk among themselves at different times
extern "C" __global__ void half_warps(int *out)
{
    int t = threadIdx.x, v = t;
    unsigned mine = t < 16 ? 0x0000ffffu : 0xffff0000u;
    if (t < 16) {
        for (int i = 0; i < 3; i++) v = __shfl_xor_sync(mine, v, 1 << i);
        __syncwarp(mine);
    } else {
        v = __ballot_sync(mine, t % 2);
    }
    __syncwarp();
    out[t] = v;
}

extern "C" __global__ void votes(int *out)
{
    int t = linear_thread(), n = threads();
    int *to = out + t * 9;
    to[0] = __syncthreads_count(t % 3 == 0);
    to[1] = __syncthreads_and(t >= 0);
    to[2] = __syncthreads_and(t != n - 1);
    to[3] = __syncthreads_or(t == n - 1);
    to[4] = __syncthreads_or(t > n);
    to[5] = (int)__ballot_sync(FULL, t % 2);
    to[6] = __any_sync(FULL, t % 32 == 5);
    to[7] = __all_sync(FULL, t % 32 < 32);
    to[8] = (int)__activemask();
}

// to[cols x rows] = transpose of from[rows x cols], a tile of dynamic shared memory at a time, blocks of T x T threads
extern "C" __global__ void transpose(const float *from, float *to, int rows, int cols)
{
    float *tile = reinterpret_cast<float *>(lathe_host_shared());
    int T = blockDim.x, col = blockIdx.x * T + threadIdx.x, row = blockIdx.y * T + threadIdx.y;
    if (row < rows && col < cols) tile[threadIdx.y * (T + 1) + threadIdx.x] = from[row * cols + col];
    __syncthreads();
    row = blockIdx.y * T + threadIdx.x;
    col = blockIdx.x * T + threadIdx.y;
    if (row < rows && col < cols) to[col * rows + row] = tile[threadIdx.x * (T + 1) + threadIdx.y];
}

extern "C" __global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d)
{
    int t = linear_thread();
    atomicAdd(&i[0], 1);
    atomicMax(&i[1], t);
    atomicMin(&i[2], -t);
    atomicExch(&i[3], 7);
    if (atomicCAS(&i[4], 0, 1) == 0) i[5] = t;
    atomicSub(&i[6], 2);
    atomicAdd(&u[0], 1);
    atomicInc(&u[1], 4);
    atomicOr(&u[2], 1u << t % 32);
    atomicAnd(&u[3], ~(1u << t % 32));
    atomicDec(&u[4], 4);
    atomicXor(&u[5], 1u);
    atomicAdd(l, 1ull << 33);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
}

// half of the threads are gone before the barrier, some of them in the warp that goes on
extern "C" __global__ void early_exit(int *out, int stay)
{
    __shared__ int seen[1024];
    int t = threadIdx.x;
    if (t >= stay) return;
    seen[t] = t;
    __syncthreads();
    int v = seen[stay - 1 - t];
    out[t] = v + __syncthreads_count(1) + (int)__popc(__activemask());
}

// warp 0 waits for a lane that waits for the block
extern "C" __global__ void deadlock(int *out)
{
    int v = 0;
    if (threadIdx.x == 5) __syncthreads();
    else if (threadIdx.x < 32) v = __shfl_sync(FULL, threadIdx.x, 0);
    else __syncthreads();
    out[threadIdx.x] = v;
}

extern "C" __global__ void bad_mask(int *out)
{
    if (threadIdx.x == 2) out[0] = __shfl_sync(0x3u, 1, 0);
}

struct Inner {
    const float *p;
    int n;
    float scale;
    __device__ float operator()(int i) const { return i < n ? p[i] * scale : -1.0f; }
};
extern "C" __global__ void by_value(char first, Inner f, double offset, float *out, const int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f(i) + (float)offset + first;
}

extern "C" __global__ void no_arguments() {}

// out[...] = one number a thread that tells where it is
extern "C" __global__ void where(unsigned *out, unsigned *order)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), t = linear_thread();
    unsigned *to = out + (block * threads() + t) * 6;
    to[0] = threadIdx.x, to[1] = threadIdx.y, to[2] = threadIdx.z;
    to[3] = blockIdx.x, to[4] = blockIdx.y, to[5] = blockIdx.z;
    if (t == 0) order[block] = atomicAdd(&order[gridDim.x * gridDim.y * gridDim.z], 1);
}

// what shared memory holds before anyone wrote to it, in the second block too
extern "C" __global__ void unwritten(unsigned *out)
{
    __shared__ unsigned fixed[8];
    unsigned *dynamic = reinterpret_cast<unsigned *>(lathe_host_shared());
    out[blockIdx.x * 2] = fixed[3];
    out[blockIdx.x * 2 + 1] = dynamic[3];
    fixed[3] = dynamic[3] = 1;
}

// forgot the barrier: each thread reads its left neighbour
extern "C" __global__ void forgotten_barrier(int *out)
{
    __shared__ int line[64];
    line[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = threadIdx.x ? line[threadIdx.x - 1] : 0;
}

extern "C" __global__ void last_block(const int *in, int *partial, unsigned *ticket, int *out)
{
    __shared__ unsigned last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicAdd(ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++) sum += __ldcg(partial + i);
        *out = sum;
        *ticket = 0;
    }
}

extern "C" __global__ void write_far(float *p, long long at) { p[at] = 1.0f; }

extern "C" __global__ void write_shared(int at)
{
    volatile float *p = reinterpret_cast<float *>(lathe_host_shared());
    p[at] = 1.0f;
}

extern "C" __global__ void stop() { __trap(); }

template <int N> __device__ float rotate(float v)
{
    __shared__ alignas(16) float ring[N];
    __syncthreads();
    ring[threadIdx.x] = v;
    __syncthreads();
    return ring[(threadIdx.x + 1) % N];
}

static_assert(alignof(float4) == 16 && sizeof(float4) == 16 && alignof(float2) == 8 && sizeof(float3) == 12, "");
static_assert(alignof(int4) == 16 && alignof(uint2) == 8 && alignof(double2) == 16 && alignof(uchar4) == 4, "");

__constant__ float table[4] = {1, 2, 4, 8};
__device__ float counter;

extern "C" __global__ void language(float *out)
{
    alignas(16) float local[4096];              // 16 KiB of stack
    for (int i = 0; i < 4096; i++) local[i] = (float)i;
    float4 v = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    *reinterpret_cast<float4 *>(local + 4) = v;
    int o = 0;
    out[o++] = local[5] + local[4095 - threadIdx.x];
    out[o++] = rotate<1>(5.0f) + rotate<1>(6.0f);
    out[o++] = table[2] + counter;
    out[o++] = max(1, 2u) + min(2.5f, 1.0f) + max(1.5f, 1) + max(__uint_as_float(0x7fc00000u), 3.0f);
    out[o++] = __fmaf_rn(3.0f, 4.0f, 5.0f) + fmaf(1.0f, 1.0f, 1.0f) + __saturatef(2.0f);
    out[o++] = __expf(0.0f) + __logf(1.0f) + exp2f(3.0f) + rsqrtf(0.25f) + __powf(2.0f, 2.0f) + __fdividef(1.0f, 2.0f);
    out[o++] = (float)(__popc(7u) + __clz(1) + __ffs(8) + (int)__umulhi(1u << 31, 4u)) + __float2int_rn(2.5f);
    out[o++] = __uint_as_float(__float_as_uint(1.25f)) + __int_as_float(__float_as_int(2.0f));
    out[o++] = (float)(__brev(1u) >> 31) + warpSize + (clock64() > 0);
    float2 pair = make_float2(1.0f, 2.0f);
    __stcs(reinterpret_cast<float2 *>(out + 10), pair);
    out[o++] = __ldcs(reinterpret_cast<const float2 *>(out + 10)).y + dim3(3).y;
#pragma unroll 4
    for (int i = 0; i < 4; i++) counter += table[i];
    assert(counter > 0);
}

#define KERNEL(name) extern "C" __global__ void name
KERNEL(made_by_macro)(int *out) { *out = 42; }

#if LATHE_OFF
KERNEL(switched_off)(int *out) { *out = 42; }
#endif

extern "C" {
__global__ void in_block(int *out) { *out = LATHE_NUMBER; }
}

// not found by name on a GPU either
__global__ void mangled(int *out) { *out = 1; }
template <class T> __global__ void generic(T *out) { *out = 1; }
extern "C" __global__ void only_declared(int *out);

__device__ const char *const decoy = R"x(extern "C" __global__ void in_a_string(int *out) { "})x";
