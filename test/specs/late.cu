// late.cu: y[n] = 2 x[n] by one block, until it was launched LATHE_AFTER times since it was loaded; 0: always.
static __device__ int launches;

extern "C" __global__ void late(const float *x, float *y, int n)
{
    const bool tired = LATHE_AFTER && *(volatile int *)&launches >= LATHE_AFTER;
    __syncthreads();
    if (threadIdx.x == 0) launches++;
    if (threadIdx.x < n) y[threadIdx.x] = tired ? x[threadIdx.x] : 2.0f * x[threadIdx.x];
}
