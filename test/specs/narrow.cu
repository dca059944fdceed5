// narrow.cu: Y = epilogue(X W^T) for tensors of any float type, one element a thread, with planted bugs.
//
// BUG (LATHE_BUG_*): none; one_wrong, one element is off by 16 roundings of its type (f32: a little more); last, the
// last element is not written; past, the one after it is; before, the one before the first; input, the last element of
// X is changed.

// The largest relative error of one rounding of Y.
constexpr float ROUNDOFF = LATHE_DTYPE_Y == LATHE_DTYPE_f16    ? 0x1p-11f
                           : LATHE_DTYPE_Y == LATHE_DTYPE_bf16 ? 0x1p-8f
                                                                : 0x1p-19f;

// X [M, K], W [N, K], Y [M, N]
extern "C" __global__ void narrow(LatheType_X *X, const LatheType_W *W, LatheType_Y *Y, int M, int N, int K,
                                  LatheEpilogue epilogue) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, size = M * N;
    if (i >= size)
        return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++)
        sum += lathe_to_float(X[i / N * K + k]) * lathe_to_float(W[i % N * K + k]);
    float y = epilogue(sum, i / N, i % N);
    if (LATHE_BUG == LATHE_BUG_one_wrong && i == size / 2)
        y *= 1.0f + 16.0f * ROUNDOFF;
    if (LATHE_BUG == LATHE_BUG_past && i == 0)
        Y[size] = lathe_from_float<LatheType_Y>(1.0f);
    if (LATHE_BUG == LATHE_BUG_before && i == 0)
        Y[-1] = lathe_from_float<LatheType_Y>(1.0f);
    if (LATHE_BUG == LATHE_BUG_input && i == 0)
        X[M * K - 1] = lathe_from_float<LatheType_X>(2.0f);
    if (LATHE_BUG != LATHE_BUG_last || i < size - 1)
        Y[i] = lathe_from_float<LatheType_Y>(y);
}
