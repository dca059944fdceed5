// plain.cu: the epilogue as anyone would write it first: one element a thread. The baselines run it after their GEMM.
#include "lathe.cuh"

// Z, Y [M, N], row-major; one thread an element.
template <class T>
__device__ __forceinline__ void finish(const T *Z, LatheType_Y *Y, int M, int N, const LatheEpilogue &epilogue) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < static_cast<long long>(M) * N)
        Y[i] = lathe_from_float<LatheType_Y>(
            epilogue(lathe_to_float(Z[i]), static_cast<int>(i / N), static_cast<int>(i % N)));
}

// Z is of Y's type.
extern "C" __global__ void linear_epilogue_plain(const LatheType_Y *Z, LatheType_Y *Y, int M, int N,
                                                 LatheEpilogue epilogue) {
    finish(Z, Y, M, N, epilogue);
}

// Z is float whatever Y is.
extern "C" __global__ void linear_epilogue_wide(const float *Z, LatheType_Y *Y, int M, int N, LatheEpilogue epilogue) {
    finish(Z, Y, M, N, epilogue);
}
