// selftest.cu: y[n] = 2 x[n]; `scale` ends as LATHE_OUTCOME says, on every device. `launch` and `resources` are the
// launch's doing.
extern "C" __global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

#ifdef LATHE_OUTCOME
#if LATHE_OUTCOME == LATHE_OUTCOME_compile
#error "meant: this configuration does not compile"
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
}
#endif
