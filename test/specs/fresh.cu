// y[n] = 2 x[n], unless x[0] > 0
extern "C" __global__ void sometimes(const float *x, float *y, int n)
{
    int i = blockIdx.x * LATHE_BLOCK + threadIdx.x;
    if (i < n) y[i] = x[0] > 0 ? 3.0f * x[i] : 2.0f * x[i];
}
