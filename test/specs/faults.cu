// faults.cu: y[n] = 2 x[n], and a bug chosen by LATHE_BUG. seen: one counter, zeroed once, to be left zero. kept: [n].

static __device__ unsigned int launches;    // of this image; or of all their threads
static __device__ unsigned int next_block;

#if LATHE_BUG == LATHE_BUG_compile
#error "planted: this configuration does not compile"
#endif

extern "C" __global__ void scale(float *x, float *y, unsigned int *seen, float *kept, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if LATHE_BUG == LATHE_BUG_huge_block
    i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x >= 64) return;
#endif
    float v = i < n ? 2.0f * x[i] : 0.0f;
#if LATHE_BUG == LATHE_BUG_hang
    while (*(volatile unsigned int *)seen == 0) { }
#elif LATHE_BUG == LATHE_BUG_overrun
    if (i == 0) y[n] = 1.0f;
#elif LATHE_BUG == LATHE_BUG_underrun
    if (i == 0) y[-1] = 1.0f;
#elif LATHE_BUG == LATHE_BUG_unwritten
    if (i % 10 == 3) return;
#elif LATHE_BUG == LATHE_BUG_nan
    if (i == 5) v = v - v + 1.0f / (v - v) * 0.0f;
#elif LATHE_BUG == LATHE_BUG_one_wrong
    if (i == n - 1) v += 0.001f;
#elif LATHE_BUG == LATHE_BUG_input
    if (i == 7) x[i] = 0.25f;
#elif LATHE_BUG == LATHE_BUG_second_launch
    if (i == n - 1 && atomicAdd(&launches, 1u) > 1) v = -1.0f;    // the first launch is not looked at
#elif LATHE_BUG == LATHE_BUG_tired
    if (atomicAdd(&launches, 1u) / (gridDim.x * blockDim.x) >= 6) return;
#elif LATHE_BUG == LATHE_BUG_lazy
    if (i < n && y[i] == y[i]) return;
#elif LATHE_BUG == LATHE_BUG_stale
    if (i < n && kept[i] == kept[i]) v = kept[i];
    else if (i < n) kept[i] = v;
#elif LATHE_BUG == LATHE_BUG_in_order
    if (threadIdx.x == 0) {
        if (next_block != blockIdx.x) v = -1.0f;
        next_block = blockIdx.x + 1 < gridDim.x ? blockIdx.x + 1 : 0;
    }
#elif LATHE_BUG == LATHE_BUG_heals
    const float after = i < n ? ((volatile float *)x)[i + 1] : 0.0f;    // the last one's is past the end
    if (i == n - 1 && after == after) v += after;                       // and a NaN is noticed
#elif LATHE_BUG == LATHE_BUG_peeks
    if (*(volatile float *)&x[i + 80] == 3.0f) v = -1.0f;
#elif LATHE_BUG == LATHE_BUG_not_zero
    if (i == 0) *seen = 7;
#elif LATHE_BUG == LATHE_BUG_far
    if (i == 0) y[n + 3000] = 1.0f;
#elif LATHE_BUG == LATHE_BUG_segfault
    if (i == 0) *(volatile float *)8 = v;
#elif LATHE_BUG == LATHE_BUG_abort
    if (i == 0) __trap();
#endif
    if (i < n) y[i] = v;
}
