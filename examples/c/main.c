/* main.c: a program of its own that uses an export of kernels/linear, by CUDA's driver alone: it opens the export,
 * launches it at a few sizes, and compares every element with a plain loop in double. Exit code 0: all right. See
 * README.md. */
#include "gemm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(CUresult error, const char *what)
{
    const char *text = "?";
    if (error == CUDA_SUCCESS) return;
    cuGetErrorName(error, &text);
    fprintf(stderr, "%s: %s\n", what, text);
    exit(1);
}

/* Uniform in [a, b), the same on every machine. */
static float next(unsigned long long *state, double a, double b)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (float)(a + (b - a) * ((double)(*state >> 11) * 0x1p-53));
}

/* n floats on the device; on the host at *host. */
static CUdeviceptr make(size_t n, double a, double b, float **host)
{
    static unsigned long long state = 88172645463325252ull;
    CUdeviceptr at = 0;
    *host = malloc(n * sizeof(float));
    if (!*host) exit(1);
    for (size_t i = 0; i < n; i++) (*host)[i] = next(&state, a, b);
    must(cuMemAlloc(&at, n * sizeof(float)), "cuMemAlloc");
    must(cuMemcpyHtoD(at, *host, n * sizeof(float)), "cuMemcpyHtoD");
    return at;
}

/* Y = s z sigmoid(z), z = X W^T + b. The number of elements that are wrong. */
static size_t check(const struct gemm *gemm, int64_t M, int64_t N, int64_t K)
{
    const float s = 2;
    const double bound = 1 / sqrt((double)K);
    float *X, *W, *b, *Y;
    size_t bytes = 0, bad = 0;
    const CUdeviceptr x = make((size_t)(M * K), 0, 1, &X), w = make((size_t)(N * K), -bound, bound, &W);
    const CUdeviceptr bias = make((size_t)N, -bound, bound, &b), y = make((size_t)(M * N), 0, 1, &Y);
    CUdeviceptr workspace = 0;
    must(gemm_workspace(gemm, M, N, K, &bytes), "gemm_workspace");
    must(cuMemAlloc(&workspace, bytes + 1), "cuMemAlloc");
    must(cuMemsetD8(y, 0xff, (size_t)(M * N) * sizeof(float)), "cuMemsetD8");    /* NaN */
    must(gemm_launch(gemm, x, w, bias, y, M, N, K, s, workspace, bytes, 0), "gemm_launch");
    must(cuCtxSynchronize(), "cuCtxSynchronize");
    must(cuMemcpyDtoH(Y, y, (size_t)(M * N) * sizeof(float)), "cuMemcpyDtoH");
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++) {
            double z = b[n];
            for (int64_t k = 0; k < K; k++) z += (double)X[m * K + k] * (double)W[n * K + k];
            const double wanted = s * z / (1 + exp(-z));
            if (!(fabs(Y[m * N + n] - wanted) <= 1e-4 + 1e-4 * fabs(wanted))) bad++;    /* NaN is bad */
        }
    printf("M=%lld N=%lld K=%lld: %s: %s\n", (long long)M, (long long)N, (long long)K, bad ? "WRONG" : "right",
           gemm_choice(gemm, M, N, K, s));
    cuMemFree(x), cuMemFree(w), cuMemFree(bias), cuMemFree(y), cuMemFree(workspace);
    free(X), free(W), free(b), free(Y);
    return bad;
}

int main(void)
{
    static const int64_t sizes[][3] = {{128, 512, 256}, {64, 512, 256}, {130, 516, 260}, {3, 5, 7}};
    CUdevice device;
    CUcontext context;
    struct gemm *gemm;
    size_t bad = 0;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    must(gemm_open(&gemm), "gemm_open");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) bad += check(gemm, sizes[i][0], sizes[i][1], sizes[i][2]);
    gemm_close(gemm);
    cuDevicePrimaryCtxRelease(device);
    puts(bad ? "FAIL" : "PASS");
    return bad != 0;
}
