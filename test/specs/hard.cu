// hard.cu: Y[m, n] = sum over k of X[m, k] W[n, k], one thread an element. LATHE_FAULT is what becomes of an operand
// first: nothing; denormal numbers to zero (flush); as the sum of two bf16 or of two f16, which hold less at the ends
// of the range and no infinity (inf - inf); NaN to zero (drop_nan). skip_zero: a zero of X is not multiplied.

static __device__ float as_kernel_sees(float x)
{
#if LATHE_FAULT == LATHE_FAULT_flush
    return x < 1.17549435e-38f && x > -1.17549435e-38f ? 0.0f : x;
#elif LATHE_FAULT == LATHE_FAULT_bf16_pair
    const float high = lathe_to_float(lathe_from_float<lathe_bf16>(x));
    return high + lathe_to_float(lathe_from_float<lathe_bf16>(x - high));
#elif LATHE_FAULT == LATHE_FAULT_f16_pair
    const float high = lathe_to_float(lathe_from_float<lathe_f16>(x));
    return high + lathe_to_float(lathe_from_float<lathe_f16>(x - high));
#elif LATHE_FAULT == LATHE_FAULT_drop_nan
    return x != x ? 0.0f : x;
#else
    return x;
#endif
}

extern "C" __global__ void hard(const float *X, const float *W, float *Y, int M, int N, int K)
{
    const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++)
        if (LATHE_FAULT != LATHE_FAULT_skip_zero || X[m * K + k] != 0.0f)
            sum += as_kernel_sees(X[m * K + k]) * as_kernel_sees(W[n * K + k]);
    if (LATHE_FAULT == LATHE_FAULT_one_wrong && m == 9 && n == 7) sum *= 1.01f;
    Y[m * N + n] = sum;
}
