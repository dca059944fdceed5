// selftest.cu: y[n] = 2 x[n]; `scale` ends as LATHE_OUTCOME says, on every device. `launch` and `resources` are the
// launch's doing. `unstable`, on a GPU alone: every second launch takes twelve times as long as the other. What is ok
// takes longer there than what is timed in batches, for in a batch the two kinds of launches would be averaged; and
// longer than the quick ones, for otherwise two samples might show that it cannot win, and no more would be taken.
extern "C" __global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

#ifdef LATHE_OUTCOME
#if LATHE_OUTCOME == LATHE_OUTCOME_compile
#error "meant: this configuration does not compile"
#endif

#ifdef __CUDA_ARCH__
// One thread takes so many cycles: some 50 microseconds for 100000, from 30 to 80 as the clock is.
static __device__ void take(long long cycles)
{
    const long long end = clock64() + cycles;
    while (clock64() < end) { }
}

static __device__ unsigned launches;
#endif

extern "C" __global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? 2.0f * x[i] : 0.0f;
#if LATHE_OUTCOME == LATHE_OUTCOME_timeout
    while (*(volatile const float *)x != -1.0f) { }         // x is above 0
#elif LATHE_OUTCOME == LATHE_OUTCOME_crash
    if (i == 0) *(volatile float *)8 = v;                   // nobody's address
#elif LATHE_OUTCOME == LATHE_OUTCOME_wrong
    if (i == n - 1) v += 0.5f;
#elif LATHE_OUTCOME == LATHE_OUTCOME_inaccurate
    v = (v + 8192.0f) - 8192.0f;                            // 10 bits of it are left
#endif
    if (i < n) y[i] = v;
#if defined __CUDA_ARCH__ && LATHE_OUTCOME == LATHE_OUTCOME_ok
    if (i == 0) take(200000);
#elif defined __CUDA_ARCH__ && LATHE_OUTCOME == LATHE_OUTCOME_unstable
    if (i == 0) take(launches++ % 2 ? 1200000 : 100000);
#endif
}
#endif
