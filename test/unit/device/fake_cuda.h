/* fake_cuda.h: a CUDA driver, cuBLAS and NVML in memory, as the tables that cuda_open_with takes. It counts what is
 * alive, can fail the Nth call, computes GEMMs, and becomes "sticky" after a kernel named "crash", as the driver does.
 */
#ifndef LATHE_TEST_FAKE_CUDA_H
#define LATHE_TEST_FAKE_CUDA_H

#include "device/cuda/cuda_dev.h"

enum { FAKE_SGEMM = 1, FAKE_DGEMM };        /* gemm_compute of a GEMM that is not cublasGemmEx's */

struct fake {
    /* set by the test */
    int fail_at;                    /* which call fails (from 1), 0: none; releases are not counted and never fail */
    CUresult fail_with;
    int cublas_fail_with;
    int gpus, driver_version;
    size_t memory;                  /* the device's, bytes */
    int static_shared, max_threads;
    bool no_clocks;                 /* the driver has no clock attributes */
    bool no_nvml;                   /* nvmlInit_v2 fails */
    int processes[4];               /* on the GPU, up to a 0 */
    bool no_processes;              /* the driver does not tell them */
    bool no_windows;                /* the device has no access policies for the L2 */
    bool no_tensor_maps;            /* the driver has no function to make them */
    bool maps_memory;               /* it maps memory by page, and the device too */
    bool forgets;                   /* what was unmapped comes back as something else */
    size_t parameters[8];           /* sizes of every kernel's, up to a 0 */
    bool no_parameters;             /* the driver does not tell them */
    CUresult init, load;            /* what cuInit and cuModuleLoadData give */
    /* read by the test */
    int calls;
    const char *failed;             /* the call that was made to fail */
    int reservations, mapped;       /* of addresses; parts of memory mapped to them */
    int contexts, streams, events, modules, allocations, blas_handles, nvml_open;
    size_t used;
    CUresult sticky;
    unsigned int last_cluster[3];   /* of its attributes, zeros if it has none */
    int last_programmatic;
    CUaccessPolicyWindow last_window;
    struct fake_map {               /* what cuTensorMapEncodeTiled was last given */
        CUtensorMapDataType type;
        cuuint32_t rank, box[5];
        void *address;
        cuuint64_t extents[5], strides[4];
        CUtensorMapSwizzle swizzle;
        CUtensorMapL2promotion promotion;
    } last_map;
    int maps;                       /* made */
    size_t persisting;              /* bytes of the L2 set aside */
    int persisting_resets;
    unsigned int last_grid[3], last_block[3], last_shared;
    void **last_args;
    bool capturing, capture_broken; /* cuStreamBeginCapture was called; a call that may not be captured too */
    int captured;                   /* launches in it so far */
    int graphs, graph_launches;     /* alive, instantiated ones too; launched */
    int launches, raised_shared, non_portable, math_mode, gemm_compute;
    unsigned int context_flags, stream_flags;
};

extern struct fake fake;

void fake_reset(void);              /* one H200-like GPU, nothing fails */
bool fake_nothing_alive(void);
struct cuda_tables fake_tables(void);

#endif
