// near.cu: Y[m, n] = sum over k of X[m, k] W[n, k], one thread an element, with what LATHE_BUG says: operands of fewer
// bits (tf32, bf16, bf16_cut, fp4), which is rounding; or a small mistake, which is not.

static __device__ unsigned int threads;     // of all launches of this image

// x to `bits` bits of mantissa behind the point, to nearest (halves up) or cut
static __device__ float keep(float x, int bits, bool cut)
{
    unsigned int word = __float_as_uint(x), unit = 1u << (23 - bits);
    if (!cut) word += unit / 2;
    return __uint_as_float(word & ~(unit - 1));
}

extern "C" __global__ void near(const float *X, const float *W, float *Y, int M, int N, int K)
{
    const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
    int bits = 23;
#if LATHE_BUG == LATHE_BUG_tf32
    bits = 10;
#elif LATHE_BUG == LATHE_BUG_bf16 || LATHE_BUG == LATHE_BUG_bf16_cut
    bits = 7;
#elif LATHE_BUG == LATHE_BUG_fp4
    bits = 1;
#elif LATHE_BUG == LATHE_BUG_unsteady || LATHE_BUG == LATHE_BUG_tired
    const unsigned int threads_of_all = gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
    bits = atomicAdd(&threads, 1u) / threads_of_all >= (LATHE_BUG == LATHE_BUG_tired ? 5 : 2) ? 7 : 23;
#endif
    if (m >= M || n >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) {
#if LATHE_BUG == LATHE_BUG_dropped_k
        if (k / 8 == 5) continue;
#endif
        sum += keep(X[m * K + k], bits, LATHE_BUG == LATHE_BUG_bf16_cut) *
               keep(W[n * K + k], bits, LATHE_BUG == LATHE_BUG_bf16_cut);
    }
#if LATHE_BUG == LATHE_BUG_one_off
    if (m == 17 && n == 40) sum += 1e-3f;
#elif LATHE_BUG == LATHE_BUG_column
    if (n == 40) sum += 1e-3f;
#elif LATHE_BUG == LATHE_BUG_row
    if (m == 17) sum *= 1.001f;
#elif LATHE_BUG == LATHE_BUG_tile
    if (m / 16 == 1 && n / 16 == 2) sum *= 1.001f;
#elif LATHE_BUG == LATHE_BUG_unwritten
    if (m == 63 && n == 95) return;
#elif LATHE_BUG == LATHE_BUG_nan
    if (m == 63 && n == 95) sum = 0.0f / (sum - sum);
#endif
    Y[m * N + n] = sum;
}
