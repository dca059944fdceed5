/* dev.h: a device is a table of operations. cuda.c and host.c each fill one; nothing above knows which it has.
 *
 * Everything runs in one in-order queue (stream); launches, fills and GEMMs are queued, sync() waits and reports what
 * went wrong. After LATHE_DEVICE from a launch or sync the device is to be considered lost ("sticky"): the worker
 * process reports and ends. Only device workers call these; the coordinator never does.
 */
#ifndef LATHE_DEVICE_DEV_H
#define LATHE_DEVICE_DEV_H

#include "model/plan/plan_args.h"
#include "model/result.h"

struct dev;                     /* opaque, the device's own */
typedef uint64_t dev_ptr;       /* an address on the device; 0 is none */
struct dev_module;
struct dev_function;
struct dev_graph;

enum dev_fault {                /* what kind of failure an operation had: becomes the trial's outcome */
    DEV_FAULT_NONE,
    DEV_FAULT_RESOURCES,        /* out of memory, too many resources requested */
    DEV_FAULT_LAUNCH,           /* refused */
    DEV_FAULT_CRASH,            /* illegal address, trap, misaligned, assert: the context is gone */
    DEV_FAULT_LOST,             /* likewise, by no doing of what was launched: the device fell off, its memory failed */
};

enum { DEV_MARKS = 2048 };

struct dev_launch {             /* everything of a launch but its arguments */
    uint32_t grid[3], block[3], cluster[3];         /* cluster all 0: none */
    uint32_t shared;            /* dynamic, bytes */
    bool programmatic;          /* may begin before what was queued before it has ended */
    /* The access policy for memory from window on, as struct plan_window has it; cut to what the device takes. */
    dev_ptr window;             /* 0: none */
    uint64_t window_bytes;
    enum l2_property hit, miss;
    float ratio;
};

enum { DEV_TENSOR_MAP_BYTES = PLAN_TENSOR_MAP_BYTES };

struct dev_ops {
    const char *kind;           /* "cuda", "host" */
    /* number: the N of cuda:N. On failure says what is missing and what to do. */
    status (*open)(int number, struct dev **out, struct target *target, struct err *e);
    void (*close)(struct dev *d);

    status (*alloc)(struct dev *d, uint64_t bytes, dev_ptr *out, struct err *e);    /* 256-byte aligned */
    void (*release)(struct dev *d, dev_ptr p);
    status (*copy_in)(struct dev *d, dev_ptr to, const void *from, uint64_t bytes, struct err *e);
    status (*copy_out)(struct dev *d, void *to, dev_ptr from, uint64_t bytes, struct err *e);  /* waits for the queue */
    status (*fill)(struct dev *d, dev_ptr p, uint32_t word, uint64_t bytes, struct err *e);     /* bytes % 4 == 0 */
    /* on: kernels can neither read nor write part of an allocation (whole pages of it; from its start and to its end
     * also what is beside it) without a crash; off: they can again. Waits for the queue. NULL: the device has no such
     * thing. */
    status (*forbid)(struct dev *d, dev_ptr p, uint64_t bytes, bool on, struct err *e);

    /* How much of an allocation's start and end `forbid` needs to act on. NULL: any number of bytes. */
    uint64_t (*guard_bytes)(struct dev *d);

    status (*load)(struct dev *d, const char *image_path, struct dev_module **out, struct err *e);
    void (*unload)(struct dev *d, struct dev_module *m);
    /* Finds a kernel; raises its dynamic shared memory limit if it can. */
    status (*function)(struct dev *d, struct dev_module *m, const char *name, struct dev_function **out, struct err *e);
    /* Whether its parameters are as many and as large as what the launch passes. NULL: the device cannot tell. */
    status (*takes)(struct dev *d, struct dev_function *f, const struct plan_step *step, struct err *e);
    /* registers, local_bytes, shared_static; occupancy at this block size and dynamic shared memory */
    status (*resources)(struct dev *d, struct dev_function *f, uint32_t threads, uint32_t shared, struct resources *out,
                        struct err *e);

    /* Writes the DEV_TENSOR_MAP_BYTES that a kernel takes by value as the map of the memory at `at`. m->rank > 0. */
    status (*tensor_map)(struct dev *d, const struct plan_tensor_map *m, enum dtype dtype, dev_ptr at, void *out,
                         struct err *e);
    /* on: gives lines of the L2 that persist all the room that the device has for them; off: none, and ends those that
     * there are. Waits for the queue. A device without such lines does nothing. */
    status (*persist)(struct dev *d, bool on, struct err *e);
    /* args: one pointer a kernel parameter, as cuLaunchKernel takes them. */
    status (*launch)(struct dev *d, struct dev_function *f, const struct dev_launch *how, void **args, struct err *e);
    /* step is a STEP_GEMM; `from` is the type of A and B, `to` of C. f32 to f32 (any compute but GEMM_F64), f64 to f64,
     * f16 and bf16 to themselves or f32 (GEMM_F32: sums in float). */
    status (*gemm)(struct dev *d, const struct plan_step *step, enum dtype from, enum dtype to, dev_ptr a, dev_ptr b,
                   dev_ptr c, struct err *e);
    status (*sync)(struct dev *d, struct err *e);

    void (*mark)(struct dev *d, int slot);          /* records a point in the queue; slot < DEV_MARKS */
    double (*elapsed_ms)(struct dev *d, int from, int to);  /* waits for `to`; NaN on failure */

    /* What is queued between begin and end does not run but becomes a graph, which launch queues as a whole, as often
     * as is wanted. *out NULL, or a failure: something cannot be in a graph, and the queue is as it was before. begin
     * NULL: the device has none of these four. */
    status (*graph_begin)(struct dev *d, struct err *e);
    status (*graph_end)(struct dev *d, struct dev_graph **out, struct err *e);
    status (*graph_launch)(struct dev *d, struct dev_graph *g, struct err *e);
    void (*graph_free)(struct dev *d, struct dev_graph *g);

    void (*telemetry)(struct dev *d, struct telemetry *out);
    /* The clock now and NVML's reasons for it, of telemetry what is quick to read. False, or NULL: not known. */
    bool (*pulse)(struct dev *d, double *sm_mhz, uint64_t *reasons);
    double (*energy_mj)(struct dev *d);             /* taken so far, millijoules; NaN, or NULL: not known */
    /* The other processes that used it when it was opened, and how many; the device's own list. NULL: not known. */
    int (*others)(struct dev *d, const int **pids);
    enum dev_fault (*fault)(struct dev *d);         /* of the last operation that failed */
};

/* "cuda:0", "cuda:1", "host". Unknown: LATHE_USAGE with the list. number may be NULL. */
status dev_find(const char *device, const struct dev_ops **ops, int *number, struct err *e);

/* dev_launch.c. A plan's launch; address[i]: where its buffer i lies. */
void dev_launch_of(const struct plan *plan, const struct plan_step *step, const dev_ptr *address,
                   struct dev_launch *out);

/* How many GPUs there are. Looks with NVML or the driver in a short-lived child, so that the caller's process never
 * touches CUDA. */
int dev_gpus(void);
/* The first usable device's name: "cuda:0" if there is a GPU, else "host". */
void dev_default(char out[24]);

#endif
