/* cublas.c: row-major GEMM on cuBLAS, which is column-major.
 *
 * A row-major matrix read as column-major is its transpose, so C = op(A) op(B) is computed as C' = op(B)' op(A)': the
 * operands change places, keep their transposition flags, and the row length is the leading dimension.
 *
 * Precision: the math mode stays CUBLAS_DEFAULT_MATH, in which SGEMM never uses TF32; narrower products of float32
 * matrices are asked for by call. Sums of 16-bit matrices are in float32. */
#include "device/cuda/cublas.h"
#include "base/mem.h"
#include "device/find_lib.h"

#include <limits.h>
#include <stdio.h>

struct cublas {
    struct cublas_api api;
    cublasHandle_t handle;
};

static const struct lib_symbol symbols[] = {
#define X(symbol, args) {#symbol, offsetof(struct cublas_api, symbol), false},
    CUBLAS_FUNCTIONS(X)
#undef X
};

status cublas_api_open(struct cublas_api *api, struct err *e)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", NULL};
    static const char *const old[] = {"libcublas.so.11", NULL};
    const struct lib_query query = {.names = names, .too_old = old};
    struct lib lib;
    struct strbuf tried = {0};
    if (!find_lib(&query, &lib, &tried)) {
        err_set(e, LATHE_DEVICE, "no cuBLAS of CUDA 12 or 13:%s. Install it (NVIDIA's package libcublas-13-0, or "
                "pip install nvidia-cublas), or set LATHE_CUDA_PATH to a CUDA toolkit", sb_str(&tried));
        sb_free(&tried);
        return LATHE_DEVICE;
    }
    sb_free(&tried);
    const char *missing = lib_bind(lib.handle, symbols, sizeof symbols / sizeof *symbols, api);
    if (missing)
        return err_set(e, LATHE_DEVICE, "%s has no %s: it is no cuBLAS of CUDA 12 or 13. Set LATHE_CUDA_PATH to a CUDA "
                       "toolkit", lib.path, missing);
    snprintf(api->path, sizeof api->path, "%s", lib.path);
    return LATHE_OK;
}

void cublas_version(const struct cublas_api *api, char out[32])
{
    int part[3] = {0};
    for (int i = 0; i < 3; i++)                     /* MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL */
        api->cublasGetProperty(i, &part[i]);
    snprintf(out, 32, "%d.%d.%d", part[0], part[1], part[2]);
}

static const char *status_label(int r)
{
    switch (r) {
#define NAME(s) case s: return #s
    NAME(CUBLAS_STATUS_NOT_INITIALIZED);
    NAME(CUBLAS_STATUS_ALLOC_FAILED);
    NAME(CUBLAS_STATUS_INVALID_VALUE);
    NAME(CUBLAS_STATUS_ARCH_MISMATCH);
    NAME(CUBLAS_STATUS_MAPPING_ERROR);
    NAME(CUBLAS_STATUS_EXECUTION_FAILED);
    NAME(CUBLAS_STATUS_INTERNAL_ERROR);
    NAME(CUBLAS_STATUS_NOT_SUPPORTED);
#undef NAME
    default: return "an unknown cuBLAS status";
    }
}

static enum dev_fault fault_of(int r)
{
    switch (r) {
    case CUBLAS_STATUS_NOT_INITIALIZED:       /* what cublasCreate says when memory is short */
    case CUBLAS_STATUS_ALLOC_FAILED:
        return DEV_FAULT_RESOURCES;
    case CUBLAS_STATUS_MAPPING_ERROR:
    case CUBLAS_STATUS_EXECUTION_FAILED:
    case CUBLAS_STATUS_INTERNAL_ERROR:
        return DEV_FAULT_CRASH;
    default:
        return DEV_FAULT_LAUNCH;
    }
}

status cublas_open(const struct cublas_api *with, CUstream stream, struct cublas **out, enum dev_fault *fault,
                   struct err *e)
{
    *fault = DEV_FAULT_NONE;
    struct cublas *b = mem_zalloc(1, sizeof *b);
    const char *call = "cublasCreate";
    if (with) {
        b->api = *with;
    } else {
        status s = cublas_api_open(&b->api, e);
        if (s) {
            mem_free(b);
            return s;
        }
    }
    int r = b->api.cublasCreate_v2(&b->handle);
    if (r)
        goto free_struct;
    call = "cublasSetStream";
    r = b->api.cublasSetStream_v2(b->handle, stream);
    if (r)
        goto destroy;
    call = "cublasSetMathMode";
    r = b->api.cublasSetMathMode(b->handle, CUBLAS_DEFAULT_MATH);
    if (r)
        goto destroy;
    *out = b;
    return LATHE_OK;

destroy:
    b->api.cublasDestroy_v2(b->handle);
free_struct:
    *fault = fault_of(r);
    err_set(e, LATHE_DEVICE, "%s (%s): %s (%d)%s", call, b->api.path, status_label(r), r,
            r == CUBLAS_STATUS_NOT_INITIALIZED ? ": GPU memory is short, or the driver is older than this cuBLAS" : "");
    mem_free(b);
    return LATHE_DEVICE;
}

void cublas_close(struct cublas *b)
{
    if (!b)
        return;
    b->api.cublasDestroy_v2(b->handle);
    mem_free(b);
}

static status refuse(const struct plan_step *s, const char *why, enum dev_fault *fault, struct err *e)
{
    *fault = DEV_FAULT_LAUNCH;
    return err_set(e, LATHE_DEVICE, "gemm %lldx%lldx%lld: %s", (long long)s->m, (long long)s->n, (long long)s->k, why);
}

/* The GEMMs of floats that there are: types of A and B, precision, and how cublasGemmEx is told. */
struct ex {
    enum dtype from;
    enum gemm_compute compute;
    const char *call;
    int type, compute_type;
};

static const struct ex *find_ex(enum dtype from, enum gemm_compute compute)
{
    static const struct ex all[] = {
        {DTYPE_f32, GEMM_F32, "cublasSgemm", CUDA_R_32F, CUBLAS_COMPUTE_32F},
        {DTYPE_f32, GEMM_TF32, "cublasGemmEx (TF32)", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
        {DTYPE_f32, GEMM_BF16, "cublasGemmEx (f32 as bf16)", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16BF},
        {DTYPE_f32, GEMM_F16, "cublasGemmEx (f32 as f16)", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F},
        {DTYPE_f16, GEMM_F32, "cublasGemmEx (f16)", CUDA_R_16F, CUBLAS_COMPUTE_32F},
        {DTYPE_bf16, GEMM_F32, "cublasGemmEx (bf16)", CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].from == from && all[i].compute == compute)
            return &all[i];
    return NULL;
}

status cublas_gemm(struct cublas *b, const struct plan_step *step, enum dtype from, enum dtype to, dev_ptr a,
                   dev_ptr pb, dev_ptr c, enum dev_fault *fault, struct err *e)
{
    if (step->m < 1 || step->n < 1 || step->k < 1 || step->m > INT_MAX || step->n > INT_MAX || step->k > INT_MAX)
        return refuse(step, "each dimension must be 1 to 2147483647", fault, e);
    const struct ex *ex = find_ex(from, step->compute);
    bool wide = from == DTYPE_f64 && to == DTYPE_f64;
    if (!wide && (!ex || (to != from && to != DTYPE_f32)))
        return refuse(step, "only f32 (compute f32, tf32, bf16 or f16), f64, and f16 or bf16 to itself or f32 are "
                      "supported", fault, e);
    const int m = (int)step->m, n = (int)step->n, k = (int)step->k;
    const int op_a = step->trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int op_b = step->trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int lda = step->trans_a ? m : k, ldb = step->trans_b ? k : n;
    const void *A = (const void *)(uintptr_t)a, *B = (const void *)(uintptr_t)pb;
    void *C = (void *)(uintptr_t)c;
    const float one = 1, zero = 0;
    const double one64 = 1, zero64 = 0;
    const char *call;
    int r;
    if (wide) {
        call = "cublasDgemm";
        r = b->api.cublasDgemm_v2(b->handle, op_b, op_a, n, m, k, &one64, B, ldb, A, lda, &zero64, C, n);
    } else if (from == DTYPE_f32 && step->compute == GEMM_F32) {
        call = "cublasSgemm";
        r = b->api.cublasSgemm_v2(b->handle, op_b, op_a, n, m, k, &one, B, ldb, A, lda, &zero, C, n);
    } else {
        call = ex->call;
        r = b->api.cublasGemmEx(b->handle, op_b, op_a, n, m, k, &one, B, ex->type, ldb, A, ex->type, lda, &zero, C,
                                to == DTYPE_f32 ? CUDA_R_32F : ex->type, n, ex->compute_type, CUBLAS_GEMM_DEFAULT);
    }
    if (!r)
        return LATHE_OK;
    *fault = fault_of(r);
    return err_set(e, LATHE_DEVICE, "%s %dx%dx%d: %s (%d)", call, m, n, k, status_label(r), r);
}
