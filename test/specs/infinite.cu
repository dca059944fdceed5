// infinite.cu: y[m][n] = log x[m][n] for n >= m, else -inf: NaN where x is below 0. LATHE_BUG 0 is
// right, and so is 7, whose NaN has all bits set.
__device__ float entry(float x, int m, int n) { return n < m ? -INFINITY : logf(x); }

extern "C" __global__ void infinite_reference(const float *x, float *y, int n)
{
    const int m = blockIdx.x, i = threadIdx.x;
    if (i < n) y[m * n + i] = entry(x[m * n + i], m, i);
}

#ifdef LATHE_BUG
extern "C" __global__ void infinite(const float *x, float *y, int n)
{
    const int m = blockIdx.x, i = threadIdx.x;
    if (i >= n) return;
    float v = entry(x[m * n + i], m, i);
    if (LATHE_BUG == 1 && i < m) v = 0.0f;
    if (LATHE_BUG == 2 && i < m) v = INFINITY;
    if (LATHE_BUG == 3 && v != v) v = 1.0f;
    if (LATHE_BUG == 4 && v != v) return;
    if (LATHE_BUG == 5 && v != v) v = -INFINITY;
    if (LATHE_BUG == 6 && m == 2 && i == 7) v = NAN;
    y[m * n + i] = v;
    if (LATHE_BUG == 7 && v != v) ((unsigned *)y)[m * n + i] = 0xffffffffu;
}
#endif
