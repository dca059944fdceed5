// narrow_finish.cu: what follows a GEMM, for tensors of any float type.

// Y = epilogue(Z), one element a thread; Z, Y [M, N].
template <class Z> __device__ __forceinline__ void finish(const Z *z, LatheType_Y *Y, int M, int N,
                                                          const LatheEpilogue &epilogue) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * N)
        Y[i] = lathe_from_float<LatheType_Y>(epilogue(lathe_to_float(z[i]), i / N, i % N));
}
extern "C" __global__ void finish_wide(const float *Z, LatheType_Y *Y, int M, int N, LatheEpilogue epilogue) {
    finish(Z, Y, M, N, epilogue);
}
extern "C" __global__ void finish_narrow(const LatheType_X *Z, LatheType_Y *Y, int M, int N, LatheEpilogue epilogue) {
    finish(Z, Y, M, N, epilogue);
}
