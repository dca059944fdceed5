// use.cu: calls the launcher of an exported winner.cu (docs/tutorial.md).
// Build: nvcc -std=c++17 use.cu winner.cu -o use
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

extern "C" size_t lathe_softmax_workspace(int64_t M, int64_t N);
extern "C" cudaError_t lathe_softmax(const float *X, float *Y, int64_t M, int64_t N, void *workspace,
                                     size_t workspace_bytes, cudaStream_t stream);

int main() {
    const int64_t M = 64, N = 1000;
    float *X, *Y;
    void *workspace = nullptr;
    const size_t bytes = lathe_softmax_workspace(M, N);
    if (bytes == SIZE_MAX || cudaMallocManaged(&X, M * N * 4) || cudaMallocManaged(&Y, M * N * 4) ||
        (bytes && cudaMalloc(&workspace, bytes)))
        return 1;
    for (int64_t i = 0; i < M * N; i++)
        X[i] = static_cast<float>(i % 17);
    cudaError_t error = lathe_softmax(X, Y, M, N, workspace, bytes, 0);
    if (!error)
        error = cudaDeviceSynchronize();
    double sum = 0;
    for (int64_t n = 0; n < N && !error; n++)
        sum += Y[n];
    printf("%s, the first row's sum is %.6f\n", cudaGetErrorString(error), sum);
    return error || !(sum > 0.999 && sum < 1.001);
}
