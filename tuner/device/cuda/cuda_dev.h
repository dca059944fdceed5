/* cuda_dev.h: the inside of a CUDA device, shared by cuda.c (context, queue), cuda_memory.c, cuda_launch.c (modules,
 * kernels), cuda_graph.c (batches as one launch), cuda_tma.c (tensor maps, the L2's lines that persist) and
 * cuda_target.c (what the device is).
 *
 * Ownership: the device owns its modules, a module its functions; both end with their owner at the latest. Allocations
 * are the caller's, and end with the device.
 */
#ifndef LATHE_DEVICE_CUDA_DEV_H
#define LATHE_DEVICE_CUDA_DEV_H

#include "device/cuda/cublas.h"
#include "device/cuda/cuda_api.h"
#include "device/nvml.h"
#include "device/others.h"

/* Tables to use instead of the libraries; NULL: the library. cuda must not be NULL. Borrowed for the call. */
struct cuda_tables {
    const struct cuda_api *cuda;
    const struct cublas_api *cublas;
    const struct nvml_api *nvml;
};

struct dev_function {
    CUfunction handle;
    char *name;
    int registers, local_bytes, shared_static, max_threads;
    uint32_t max_shared;            /* dynamic shared memory that a launch may ask for, bytes */
    struct dev_function *next;
};

struct dev_module {
    CUmodule handle;
    struct dev_function *functions;
    struct dev_module *next;
};

/* Memory mapped page by page: [a page that never is | first page | what is between | last page | one that never is]. */
struct cuda_allocation {
    dev_ptr at;                     /* what alloc gave: so that its end is that of the last page, to 256 bytes */
    CUdeviceptr reserved;
    size_t reserved_bytes;
    struct {
        CUdeviceptr at;
        size_t bytes;               /* 0: there is none */
        CUmemGenericAllocationHandle memory;
        bool mapped;
    } part[3];
};

struct last_launch {                /* for the message when the queue fails later; name NULL: none */
    const char *name;               /* borrowed from the function: cleared when it goes */
    struct dev_launch how;
};

struct dev {
    struct cuda_api cu;
    struct cublas_api blas_table;   /* used if has_blas_table */
    bool has_blas_table;
    struct cublas *blas;            /* NULL until the first GEMM */
    struct nvml nvml;
    int others[OTHERS_MOST], nothers;       /* processes on the GPU when it was opened */
    int number;
    CUdevice device;
    CUstream stream;
    CUevent mark[DEV_MARKS];        /* NULL until first used */
    bool marked[DEV_MARKS];         /* its last record succeeded */
    struct dev_module *modules;
    struct last_launch last;
    enum dev_fault fault;
    size_t page;                    /* of memory that can be forbidden, bytes; 0: this driver maps none */
    struct cuda_allocation *allocations;    /* mapped by page */
    size_t nallocations, cap;
    int driver_version;             /* 13000 */
    int64_t max_threads_per_sm, max_shared_per_block;
    int64_t max_window;             /* of a launch's access policy, bytes; 0: there is no such thing */
    int64_t max_persisting;         /* L2 that can be set aside for lines that persist, bytes; likewise */
};

/* The open of cuda_ops, with tables given. */
status cuda_open_with(const struct cuda_tables *tables, int number, struct dev **out, struct target *target,
                      struct err *e);

/* cuda_error.c. LATHE_OK for CUDA_SUCCESS. Else sets the fault and the message "operation: CUDA_ERROR_... (words)". */
status cuda_check(struct dev *d, CUresult r, struct err *e, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Fills target and d's limits from the device; needs d->device, d->nvml and d->driver_version, but no context. */
status cuda_describe(struct dev *d, struct target *target, struct err *e);
void cuda_uuid_text(const CUuuid *uuid, char out[64]);                  /* "GPU-d2a3..." as nvidia-smi prints it */

/* cuda_memory.c. Finds out whether memory can be mapped by page, by trying: what is not as it should be means no. */
void cuda_memory_open(struct dev *d);
void cuda_memory_close(struct dev *d);
/* Operations of dev.h. */
status cuda_alloc(struct dev *d, uint64_t bytes, dev_ptr *out, struct err *e);
void cuda_release(struct dev *d, dev_ptr p);
uint64_t cuda_guard_bytes(struct dev *d);
status cuda_forbid(struct dev *d, dev_ptr p, uint64_t bytes, bool on, struct err *e);

/* cuda_launch.c: these are operations of dev.h. */
status cuda_load(struct dev *d, const char *image_path, struct dev_module **out, struct err *e);
void cuda_unload(struct dev *d, struct dev_module *m);
status cuda_function(struct dev *d, struct dev_module *m, const char *name, struct dev_function **out, struct err *e);
status cuda_takes_args(struct dev *d, struct dev_function *f, const struct plan_step *step, struct err *e);
status cuda_resources(struct dev *d, struct dev_function *f, uint32_t threads, uint32_t shared, struct resources *out,
                      struct err *e);
status cuda_launch(struct dev *d, struct dev_function *f, const struct dev_launch *how, void **args, struct err *e);
/* "launch linear_simt grid 256x1x1 block 256 shared 65536" */
void cuda_launch_text(const struct last_launch *l, char *out, size_t size);

/* cuda_graph.c: the same. */
status cuda_graph_begin(struct dev *d, struct err *e);
status cuda_graph_end(struct dev *d, struct dev_graph **out, struct err *e);
status cuda_graph_launch(struct dev *d, struct dev_graph *g, struct err *e);
void cuda_graph_free(struct dev *d, struct dev_graph *g);

/* cuda_tma.c: the same. */
status cuda_tensor_map(struct dev *d, const struct plan_tensor_map *m, enum dtype dtype, dev_ptr at, void *out,
                       struct err *e);
status cuda_persist(struct dev *d, bool on, struct err *e);

extern const struct dev_ops cuda_ops;

#endif
