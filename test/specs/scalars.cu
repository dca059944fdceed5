// scalars.cu: Y = clamp(gain X + offset, low, high) + steps, a row a block.

extern "C" __global__ void scalars_reference(const float *X, float *Y, int N, float gain, float offset, float low,
                                             float high, float steps)
{
    for (int n = threadIdx.x; n < N; n += blockDim.x) {
        const double y = (double)gain * X[blockIdx.x * N + n] + offset;
        Y[blockIdx.x * N + n] = (float)((y < low ? low : y > high ? high : y) + steps);
    }
}

#ifdef LATHE_LET_count
// twice: 2 gain
extern "C" __global__ void scalars(const float *X, float *Y, int N, float twice, float offset, float low, float high)
{
    const float gain = twice / 2;
    for (int n = threadIdx.x; n < N; n += blockDim.x) {
        const float y = gain * X[blockIdx.x * N + n] + offset;
        const float bounded = y < low ? low : y > high ? high : y;
        Y[blockIdx.x * N + n] = bounded + LATHE_LET_count;
    }
}
#endif
