/* cublas.h: GEMM by cuBLAS, opened at run time. The handle works on one stream and belongs to one context; who opens it
 * closes it before the context goes.
 */
#ifndef LATHE_DEVICE_CUBLAS_H
#define LATHE_DEVICE_CUBLAS_H

#include "device/cuda/cublas_functions.h"
#include "device/cuda/cuda_api.h"

typedef struct cublasContext *cublasHandle_t;

typedef int cublasStatus_t, cublasMath_t, cublasOperation_t, cublasComputeType_t, cublasGemmAlgo_t;
typedef int cudaDataType, libraryPropertyType;      /* enums to cuBLAS: ints to the caller */
typedef CUstream cudaStream_t;

enum {
#define X(name, value) name = value,
    CUBLAS_VALUES(X)
#undef X
};

struct cublas_api {
#define X(symbol, args) cublasStatus_t(*symbol) args;
    CUBLAS_FUNCTIONS(X)
#undef X
    char path[4096];
};

struct cublas;

/* Opens libcublas of CUDA 13 or 12 and fills the table. LATHE_DEVICE: where it was looked for, and what to install. */
status cublas_api_open(struct cublas_api *api, struct err *e);
void cublas_version(const struct cublas_api *api, char out[32]);        /* "13.0.2" */

/* A handle on `stream` of the current context; `with` is a table to use instead of the library (tests), or NULL. On
 * failure *fault says what it means for a trial: NONE when the library itself is missing. */
status cublas_open(const struct cublas_api *with, CUstream stream, struct cublas **out, enum dev_fault *fault,
                   struct err *e);
void cublas_close(struct cublas *b);

/* Queues row-major C[m,n] = op(A) op(B). Types and precision: dev.h. */
status cublas_gemm(struct cublas *b, const struct plan_step *step, enum dtype from, enum dtype to, dev_ptr a,
                   dev_ptr pb, dev_ptr c, enum dev_fault *fault, struct err *e);

#endif
