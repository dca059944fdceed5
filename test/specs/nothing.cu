// nothing.cu: y[n] = 0 whatever x is, and kernels that give LATHE_GIVES in y[7].
extern "C" __global__ void nothing_reference(float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.0f;
}

#ifdef LATHE_GIVES
extern "C" __global__ void nothing(float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = i == 7 ? LATHE_GIVES : 0.0f;
}
#endif
