/* guest.h: launches in a context, on a stream and with memory that are another program's: what liblathe does. Makes no
 * context, allocates nothing on the device, waits for nothing. The driver is opened by dlopen, once in a process.
 *
 * Functions may be called by several threads at a time. LATHE_DEVICE, with the driver's words: a call failed. */
#ifndef LATHE_DEVICE_GUEST_H
#define LATHE_DEVICE_GUEST_H

#include "device/dev.h"

struct guest_context {              /* what was asked of the context once; no context is owned */
    void *handle;
    uint64_t id;                    /* the driver's number of it, which is given to no other; 0: the driver has none */
    struct target target;           /* its name and limits alone */
    int64_t max_window, max_persisting;     /* bytes of the L2, as struct dev's */
};

struct guest_function {
    void *handle;
    int64_t max_threads, max_shared;        /* of a block; dynamic, bytes */
};

/* LATHE_DEVICE: there is no driver, or an older one than CUDA 12's. */
status guest_open(struct err *e);

/* The calling thread's context: its handle and id. LATHE_NOTHING: it has none. */
status guest_current(struct guest_context *out, struct err *e);
/* The rest, of the current context. */
status guest_describe(struct guest_context *c, struct err *e);

/* In the current context. LATHE_NOTHING, with the reason: the driver does not take the image. A zero follows it. */
status guest_load(const char *image, void **module, struct err *e);
/* c: the module's context, which is made current for the call; a context that is gone took its modules with it. */
void guest_unload(const struct guest_context *c, void *module);
/* Raises its dynamic shared memory to what the device has, and lets clusters be larger than is portable. */
status guest_function(const struct guest_context *c, void *module, const char *name, struct guest_function *out,
                      struct err *e);
/* LATHE_NOTHING, with the reason: a launch of this extent is more than the kernel or the device takes, or its arguments
 * are not the kernel's parameters. */
status guest_fits(const struct guest_function *f, const struct plan_step *step, struct err *e);
/* Sets the L2 aside for lines that persist, for the current context. */
status guest_persist(const struct guest_context *c, struct err *e);

/* In the current context, on a stream (CUstream; NULL: the default one). */
status guest_zero(uint64_t at, uint64_t bytes, void *stream, struct err *e);
status guest_tensor_map(const struct plan_tensor_map *m, enum dtype dtype, uint64_t at, void *out, struct err *e);
status guest_launch(const struct guest_context *c, const struct guest_function *f, const struct dev_launch *how,
                    void **args, void *stream, struct err *e);

#endif
