/* main.c: a program of its own that uses kernels/linear by liblathe: it opens what was exported, launches it at a few
 * sizes, and compares every element with a plain loop in double. Exit code 0: all right. See README.md. */
#include "lathe.h"

#include <cuda.h>
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

static void lathe_must(lathe_result result)
{
    if (result == LATHE_SUCCESS) return;
    fprintf(stderr, "%s\n", lathe_error());
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
static size_t check(lathe *linear, int64_t M, int64_t N, int64_t K)
{
    const float s = 2;
    const double bound = 1 / sqrt((double)K);
    float *X, *W, *b, *Y;
    size_t bad = 0;
    const CUdeviceptr x = make((size_t)(M * K), 0, 1, &X), w = make((size_t)(N * K), -bound, bound, &W);
    const CUdeviceptr bias = make((size_t)N, -bound, bound, &b), y = make((size_t)(M * N), 0, 1, &Y);
    const int64_t size[] = {M, N, K};
    const uint64_t tensors[] = {x, w, bias, y};
    CUdeviceptr workspace = 0;
    lathe_kernel *kernel;
    lathe_must(lathe_select(linear, size, 3, &s, 1, &kernel));
    must(cuMemAlloc(&workspace, lathe_workspace(kernel) + 1), "cuMemAlloc");
    must(cuMemsetD8(y, 0xff, (size_t)(M * N) * sizeof(float)), "cuMemsetD8");    /* NaN */
    lathe_must(lathe_launch(kernel, tensors, 4, workspace, lathe_workspace(kernel), 0));
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
           lathe_choice(kernel));
    lathe_release(kernel);
    cuMemFree(x), cuMemFree(w), cuMemFree(bias), cuMemFree(y), cuMemFree(workspace);
    free(X), free(W), free(b), free(Y);
    return bad;
}

int main(int argc, char **argv)
{
    static const int64_t sizes[][3] = {{128, 512, 256}, {64, 512, 256}, {130, 516, 260}, {3, 5, 7}};
    CUdevice device;
    CUcontext context;
    lathe *linear;
    size_t bad = 0;
    lathe_must(lathe_open(argc > 1 ? argv[1] : "linear.lathe", "linear", &linear));
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        bad += check(linear, sizes[i][0], sizes[i][1], sizes[i][2]);
    lathe_close(linear);
    cuDevicePrimaryCtxRelease(device);
    puts(bad ? "FAIL" : "PASS");
    return bad != 0;
}
