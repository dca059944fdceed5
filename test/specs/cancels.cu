// cancels.cu: y[m] = sum over n of x[m][n] w[n], in float; the reference is a kernel of the specification's. LATHE_WAY:
// right in three orders, or wrong: operands in bf16, denormal numbers to zero, a term missing, nothing but zeros, one
// sum 1 % off.
extern "C" __global__ void cancels_reference(const LatheType_x *x, const LatheType_w *w, LatheType_y *y, int M, int N)
{
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M) return;
    float sum = 0;
    for (int n = 0; n < N; n++) sum += lathe_to_float(x[m * N + n]) * lathe_to_float(w[n]);
    y[m] = lathe_from_float<LatheType_y>(sum);
}

#ifdef LATHE_WAY
static __device__ float as_kernel_sees(float x)
{
    if (LATHE_WAY == LATHE_WAY_flush) return x < 1.17549435e-38f && x > -1.17549435e-38f ? 0.0f : x;
    return LATHE_WAY == LATHE_WAY_bf16 ? lathe_to_float(lathe_from_float<lathe_bf16>(x)) : x;
}

extern "C" __global__ void cancels(const LatheType_x *x, const LatheType_w *w, LatheType_y *y, int M, int N)
{
    const int m = blockIdx.x * blockDim.x + threadIdx.x, parts = LATHE_WAY == LATHE_WAY_parts ? 8 : 1;
    if (m >= M) return;
    float total = 0;
    for (int part = 0; part < parts; part++) {
        float sum = 0;
        for (int i = part; i < N; i += parts) {
            const int n = LATHE_WAY == LATHE_WAY_backward ? N - 1 - i : i;
            if (LATHE_WAY == LATHE_WAY_missing && n == m) continue;
            sum += as_kernel_sees(lathe_to_float(x[m * N + n])) * as_kernel_sees(lathe_to_float(w[n]));
        }
        total += sum;
    }
    if (LATHE_WAY == LATHE_WAY_one_wrong && m == 9) total *= 1.01f;
    y[m] = lathe_from_float<LatheType_y>(LATHE_WAY == LATHE_WAY_zeros ? 0.0f : total);
}
#endif
