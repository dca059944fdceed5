/* main.c: softmax of rows by an export of this folder's kernel, through CUDA's driver alone (docs/tutorial.md). Every
 * element is compared with a plain loop in double. Exit code 0: all right. */
#include "softmax.h"

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

/* How many elements of Y are not the softmax of X's rows; NaN is none. */
static size_t differing(const float *X, const float *Y, int64_t M, int64_t N)
{
    size_t bad = 0;
    for (int64_t m = 0; m < M; m++, X += N, Y += N) {
        double most = X[0], sum = 0;
        for (int64_t n = 1; n < N; n++) most = fmax(most, X[n]);
        for (int64_t n = 0; n < N; n++) sum += exp(X[n] - most);
        for (int64_t n = 0; n < N; n++) {
            const double wanted = exp(X[n] - most) / sum;
            bad += !(fabs(Y[n] - wanted) <= 1e-7 + 1e-5 * wanted);
        }
    }
    return bad;
}

static size_t check(const struct softmax *softmax, int64_t M, int64_t N)
{
    const size_t bytes = (size_t)(M * N) * sizeof(float);
    float *X = malloc(bytes), *Y = malloc(bytes);
    CUdeviceptr x, y, workspace;
    size_t workspace_bytes = 0;
    if (!X || !Y) exit(1);
    for (int64_t i = 0; i < M * N; i++) X[i] = (float)((i * 7919) % 1000) / 50 - 10;
    must(cuMemAlloc(&x, bytes), "cuMemAlloc");
    must(cuMemAlloc(&y, bytes), "cuMemAlloc");
    must(cuMemcpyHtoD(x, X, bytes), "cuMemcpyHtoD");
    must(softmax_workspace(softmax, M, N, &workspace_bytes), "softmax_workspace");
    must(cuMemAlloc(&workspace, workspace_bytes + 1), "cuMemAlloc");
    must(softmax_launch(softmax, x, y, M, N, workspace, workspace_bytes, 0), "softmax_launch");
    must(cuCtxSynchronize(), "cuCtxSynchronize");
    must(cuMemcpyDtoH(Y, y, bytes), "cuMemcpyDtoH");
    const size_t bad = differing(X, Y, M, N);
    printf("M=%lld N=%lld: %s: %s\n", (long long)M, (long long)N, bad ? "WRONG" : "right",
           softmax_choice(softmax, M, N));
    cuMemFree(x), cuMemFree(y), cuMemFree(workspace);
    free(X), free(Y);
    return bad;
}

int main(void)
{
    static const int64_t sizes[][2] = {{64, 1000}, {64, 4096}, {65, 1024}, {3, 37}, {1, 1}};
    CUdevice device;
    CUcontext context;
    struct softmax *softmax;
    size_t bad = 0;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    must(softmax_open(&softmax), "softmax_open");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) bad += check(softmax, sizes[i][0], sizes[i][1]);
    softmax_close(softmax);
    cuDevicePrimaryCtxRelease(device);
    puts(bad ? "FAIL" : "PASS");
    return bad != 0;
}
