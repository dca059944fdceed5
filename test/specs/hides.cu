// hides.cu: Y[m, n] = epilogue(sum over k of X[m, k] W[n, k]), one thread an element, wrong as LATHE_BUG says:
//   f16           operands of 11 bits
//   clipped       sums above 1 are 1
//   nothing       zeros, whatever the inputs are
//   on_fills      right only on rows of X that are not all between 0 and 1, as the fills are
//   f16_on_fills  on such rows, operands of 11 bits
//   stray         on such rows, what lies behind X is changed

#if defined(LATHE_BUG)
// x to 11 bits, to nearest (halves up)
static __device__ float keep(float x)
{
#if LATHE_BUG == LATHE_BUG_f16 || LATHE_BUG == LATHE_BUG_f16_on_fills
    return __uint_as_float((__float_as_uint(x) + 0x1000u) & ~0x1fffu);
#else
    return x;
#endif
}

extern "C" __global__ void hides(const float *X, const float *W, float *Y, int M, int N, int K, LatheEpilogue epilogue)
{
    const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N) return;
    float sum = 0, exact = 0;
    bool unit = true;
    for (int k = 0; k < K; k++) {
        const float x = X[m * K + k];
        sum += keep(x) * keep(W[n * K + k]);
        exact += x * W[n * K + k];
        unit &= x >= 0 && x < 1;
    }
#if LATHE_BUG == LATHE_BUG_f16_on_fills
    if (!unit) sum = exact;
#elif LATHE_BUG == LATHE_BUG_clipped
    sum = sum > 1 ? 1 : sum;
#elif LATHE_BUG == LATHE_BUG_nothing
    sum = 0;
#elif LATHE_BUG == LATHE_BUG_on_fills
    if (unit) sum = 3;
#elif LATHE_BUG == LATHE_BUG_stray
    if (unit && m == 0 && n == 0) ((float *)X)[(long long)M * K] = 1;
#endif
    Y[m * N + n] = epilogue(sum, m, n);
}
#endif

extern "C" __global__ void finish(const float *Z, float *Y, int M, int N, LatheEpilogue epilogue)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * N) Y[i] = epilogue(Z[i], i / N, i % N);
}
