/* lathe.h: liblathe, kernels that lathe tuned, chosen and launched at run time (docs/liblathe.md).
 *
 *     lathe *l;
 *     lathe_kernel *k;
 *     lathe_open("linear.lathe", NULL, &l);
 *     lathe_select(l, (int64_t[]){128, 32768, 32768}, 3, NULL, 0, &k);
 *     lathe_launch(k, (uint64_t[]){x, w, b, y}, 4, workspace, workspace_bytes, stream);
 *     lathe_release(k);
 *     lathe_close(l);
 *
 * Works in the calling thread's current CUDA context, with that program's memory and streams; opens the driver
 * (libcuda.so.1) itself and needs nothing else. All functions may be called by any number of threads at a time, on the
 * same objects too; only lathe_close and lathe_release must be the last call on theirs. Where memory of the host is
 * gone, the process is aborted.
 *
 * Versions (docs/versioning.md): LATHE_API_VERSION grows by one when something is added. What an existing program could
 * notice, in source or as a binary, changes with lathe's major version only, which is the number in the library's name
 * (liblathe.so.0). */
#ifndef LATHE_H
#define LATHE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATHE_API_VERSION 1

#if defined(__GNUC__)
#define LATHE_API __attribute__((visibility("default")))
#else
#define LATHE_API
#endif

typedef struct lathe lathe;                 /* an opened file */
typedef struct lathe_kernel lathe_kernel;   /* what serves one size, with one set of scalars, in one context */

/* Codes keep their numbers; later versions may have more. */
typedef enum lathe_result {
    LATHE_SUCCESS = 0,
    LATHE_ERROR_ARGUMENT = 1,  /* NULL, a wrong count, a size below 1, a pointer that is not aligned, too little
                                  workspace */
    LATHE_ERROR_FILE = 2,      /* it cannot be read, or is no regular file (a pipe is not waited for) */
    LATHE_ERROR_FORMAT = 3,    /* it is not lathe's, or damaged */
    LATHE_ERROR_VERSION = 4,   /* it is of a newer lathe */
    LATHE_ERROR_NOT_FOUND = 5, /* it has no such problem, or a database has nothing that was exported into it */
    LATHE_ERROR_DRIVER = 6,    /* there is no CUDA driver, or it is too old */
    LATHE_ERROR_CONTEXT = 7, /* the calling thread has no current context, or another than the kernel was selected in */
    LATHE_ERROR_NOT_SERVED = 8, /* nothing in the file serves this size on this device; the message says why */
    LATHE_ERROR_CUDA = 9        /* a call of the driver failed; the message has its words */
} lathe_result;

/* The calling thread's last failure, for people: what, where, why. Lives until the thread's next call that fails; "":
 * none has. */
LATHE_API const char *lathe_error(void);
/* LATHE_API_VERSION of the library that runs, and the version of lathe that it was built with. */
LATHE_API int lathe_api_version(void);
LATHE_API const char *lathe_version(void);

/* path: a file of `lathe export --format bundle`, or a database that it was exported into. problem: its name; NULL: the
 * only one there is. The file is read whole: it may change or go afterwards. Needs no GPU. *out is NULL on failure. */
LATHE_API lathe_result lathe_open(const char *path, const char *problem, lathe **out);
/* NULL is nothing. Kernels that were selected stay good until they are released; then modules are unloaded, so the
 * contexts must still be there. */
LATHE_API void lathe_close(lathe *l);

/* What it computes: the order of tensors, dimensions and scalars in the arrays below. NULL: the index is too large. */
LATHE_API const char *lathe_problem(const lathe *l);
LATHE_API int lathe_tensors(const lathe *l);
LATHE_API int lathe_dims(const lathe *l);
LATHE_API int lathe_scalars(const lathe *l);
LATHE_API const char *lathe_tensor_name(const lathe *l, int i);
LATHE_API const char *lathe_tensor_type(const lathe *l, int i);     /* "f32", "f16", "bf16" */
LATHE_API const char *lathe_dim_name(const lathe *l, int i);
LATHE_API const char *lathe_scalar_name(const lathe *l, int i);

/* What serves this size best on the current context's device: of those tuned on its compute capability the nearest in
 * size, then of those tuned elsewhere, then a plain kernel; one that would not be right is passed over. Loads its code,
 * so not while a stream is captured. scalars: NULL and 0: as in the specification. *out is NULL on failure. */
LATHE_API lathe_result lathe_select(lathe *l, const int64_t *dims, int ndims, const float *scalars, int nscalars,
                                    lathe_kernel **out);
LATHE_API void lathe_release(lathe_kernel *k);
/* Bytes of workspace that a launch needs; 0: none. */
LATHE_API size_t lathe_workspace(const lathe_kernel *k);
/* Which configuration it is, and where it was tuned, for people. Lives as long as the kernel. */
LATHE_API const char *lathe_choice(const lathe_kernel *k);

/* Queues the computation on a stream of the context it was selected in (a CUstream or cudaStream_t; NULL: the default
 * one). tensors, workspace: addresses on the device (CUdeviceptr), aligned to 256 bytes as cuMemAlloc gives them,
 * tensors row-major. Nothing is allocated on the device, nothing is waited for, and it may be captured into a graph.
 * The workspace is not shared by launches that may run at the same time. On failure but LATHE_ERROR_CUDA nothing was
 * queued. */
LATHE_API lathe_result lathe_launch(const lathe_kernel *k, const uint64_t *tensors, int ntensors, uint64_t workspace,
                                    size_t workspace_bytes, void *stream);

#ifdef __cplusplus
}
#endif
#endif
