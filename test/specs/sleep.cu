// sleep.cu: y[n] = 2 x[n] on the host device, sleeping 5 ms a launch: a device that is busy while the processor is not,
// so that several host workers on few cores stand for several GPUs.
extern "C" int usleep(unsigned);

extern "C" __global__ void nap(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) usleep(5000);
    if (i < n) y[i] = 2.0f * x[i];
}

extern "C" __global__ void nap_reference(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
