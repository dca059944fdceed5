// plain_gemm.cu: a GEMM and its epilogue for any size, without a single parameter: what an exported launcher does at a
// size that nothing tuned serves. One element a thread; products are summed in double, so it is right, and slow.
//
// What includes it has typedefs LatheA, LatheB and LatheC for the elements of the three matrices.
//
// C [m, n] row-major; A's element (i, l) is A[i * row_a + l * step_a], B's (l, j) is B[j * column_b + l * step_b].
extern "C" __global__ void plain_gemm(const LatheA *A, const LatheB *B, LatheC *C, int m, int n, int k, int row_a,
                                      int step_a, int column_b, int step_b, LatheEpilogue epilogue) {
    const long long all = static_cast<long long>(m) * n, together = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < all; at += together) {
        const int i = static_cast<int>(at / n), j = static_cast<int>(at % n);
        const LatheA *a = A + static_cast<long long>(i) * row_a;
        const LatheB *b = B + static_cast<long long>(j) * column_b;
        double sum = 0;
        for (long long l = 0; l < k; l++)
            sum += static_cast<double>(lathe_to_float(a[l * step_a])) *
                   static_cast<double>(lathe_to_float(b[l * step_b]));
        C[at] = lathe_from_float<LatheC>(epilogue(static_cast<float>(sum), i, j));
    }
}
