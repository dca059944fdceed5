// tiny.cu: Y = epilogue(X W^T), one thread an element. X [M, K], W [N, K], Y [M, N], row-major.
#if defined LATHE_FLAW_compile && LATHE_FLAW == LATHE_FLAW_compile
#error "this flaw does not compile"
#endif
#if defined LATHE_FLAW_wrong && LATHE_FLAW == LATHE_FLAW_wrong
#define OFF 1.0f
#else
#define OFF 0.0f
#endif

extern "C" __global__ void tiny(const float *X, const float *W, float *Y, int M, int N, int K, LatheEpilogue epilogue) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * N)
        return;
    const int m = i / N, n = i % N;
    float sum = 0;
#pragma unroll LATHE_UNROLL
    for (int step = 0; step < K; step++) {
        const int k = LATHE_ORDER == LATHE_ORDER_up ? step : K - 1 - step;
        sum += X[m * K + k] * W[n * K + k];
    }
    Y[i] = epilogue(sum, m, n) + (i == 3 ? OFF : 0.0f);
}
