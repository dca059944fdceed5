// cublas_v2.h: cublasGemmEx for cuda_runtime.h.
#ifndef STUB_CUBLAS
#define STUB_CUBLAS

#include "cuda_runtime.h"

typedef int *cublasHandle_t;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_32F_FAST_16F = 74,
                           CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };
inline int stub_handle;
inline cublasStatus_t cublasCreate(cublasHandle_t *out) { return *out = &stub_handle, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }

// As the row-major product that it is: C[n, m] = op(B)^T op(A)^T in the order of the arguments.
inline cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t trans_b, cublasOperation_t trans_a, int n, int m,
                                   int k, const void *, const void *b, cudaDataType_t b_type, int ldb, const void *a,
                                   cudaDataType_t a_type, int lda, const void *, void *c, cudaDataType_t c_type,
                                   int ldc, cublasComputeType_t compute, cublasGemmAlgo_t)
{
    printf("gemm %d %d %d, %zx %d of %d:%d, %zx %d of %d:%d, %zx %d:%d, %d\n", m, n, k, (size_t)a, trans_a, a_type, lda,
           (size_t)b, trans_b, b_type, ldb, (size_t)c, c_type, ldc, compute);
    return CUBLAS_STATUS_SUCCESS;
}

#endif
