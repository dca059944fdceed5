/* cublas_functions.h: the functions and values of cuBLAS that lathe uses, by their names in the documentation. No type
 * is defined here, so a test can check each line against a real cublas_v2.h. */
#ifndef LATHE_DEVICE_CUBLAS_FUNCTIONS_H
#define LATHE_DEVICE_CUBLAS_FUNCTIONS_H

#define CUBLAS_FUNCTIONS(X) /* symbol, parameters */                                                                   \
    X(cublasCreate_v2, (cublasHandle_t * handle))                                                                      \
    X(cublasDestroy_v2, (cublasHandle_t handle))                                                                       \
    X(cublasSetStream_v2, (cublasHandle_t handle, cudaStream_t stream))                                                \
    X(cublasSetMathMode, (cublasHandle_t handle, cublasMath_t mode))                                                   \
    X(cublasSgemm_v2,                                                                                                  \
      (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const float *alpha, \
       const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc))                        \
    X(cublasDgemm_v2,                                                                                                  \
      (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,                     \
       const double *alpha, const double *a, int lda, const double *b, int ldb, const double *beta, double *c,         \
       int ldc))                                                                                                       \
    X(cublasGemmEx,                                                                                                    \
      (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const void *alpha,  \
       const void *a, cudaDataType type_a, int lda, const void *b, cudaDataType type_b, int ldb, const void *beta,     \
       void *c, cudaDataType type_c, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algorithm))                \
    X(cublasGetProperty, (libraryPropertyType property, int *value))

#define CUBLAS_VALUES(X)                                                                                               \
    X(CUBLAS_STATUS_SUCCESS, 0)                                                                                        \
    X(CUBLAS_STATUS_NOT_INITIALIZED, 1)                                                                                \
    X(CUBLAS_STATUS_ALLOC_FAILED, 3)                                                                                   \
    X(CUBLAS_STATUS_INVALID_VALUE, 7)                                                                                  \
    X(CUBLAS_STATUS_ARCH_MISMATCH, 8)                                                                                  \
    X(CUBLAS_STATUS_MAPPING_ERROR, 11)                                                                                 \
    X(CUBLAS_STATUS_EXECUTION_FAILED, 13)                                                                              \
    X(CUBLAS_STATUS_INTERNAL_ERROR, 14)                                                                                \
    X(CUBLAS_STATUS_NOT_SUPPORTED, 15)                                                                                 \
    X(CUBLAS_OP_N, 0)                                                                                                  \
    X(CUBLAS_OP_T, 1)                                                                                                  \
    X(CUBLAS_DEFAULT_MATH, 0)                                                                                          \
    X(CUBLAS_COMPUTE_32F, 68)                                                                                          \
    X(CUBLAS_COMPUTE_32F_FAST_16F, 74)                                                                                 \
    X(CUBLAS_COMPUTE_32F_FAST_16BF, 75)                                                                                \
    X(CUBLAS_COMPUTE_32F_FAST_TF32, 77)                                                                                \
    X(CUBLAS_GEMM_DEFAULT, -1)                                                                                         \
    X(CUDA_R_32F, 0)                                                                                                   \
    X(CUDA_R_16F, 2)                                                                                                   \
    X(CUDA_R_16BF, 14)

#endif
