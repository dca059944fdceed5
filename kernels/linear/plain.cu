// plain.cu: the epilogue as anyone would write it first: one element a thread. The baselines run it after their GEMM.
#include "lathe.cuh"

// Z, Y [M, N], row-major; one thread an element.
extern "C" __global__ void linear_epilogue_plain(const float *Z, float *Y, int M, int N, LatheEpilogue epilogue) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < static_cast<long long>(M) * N)
        Y[i] = epilogue(Z[i], static_cast<int>(i / N), static_cast<int>(i % N));
}
