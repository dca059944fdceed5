/* pipeline.h: a plan made runnable on a device: its image loaded, its functions found, its workspace allocated, its
 * arguments packed and its tensor maps made once. Used in the device worker only. */
#ifndef LATHE_TRIAL_PIPELINE_H
#define LATHE_TRIAL_PIPELINE_H

#include "device/dev.h"

enum { GUARD_BYTES = 65536 };       /* of a band; what `forbid` acts on may be more */

/* What memory that nobody has written yet holds. A kernel that reads it shows by NaN, unless it handles NaN (and does
 * the work another way): then by numbers. */
enum garbage {
    GARBAGE_NAN,                /* NaN as f64, f32, f16 and bf16 alike */
    GARBAGE_NUMBERS,            /* 0.75 as f32 and bf16, 1.8 as f16 */
    GARBAGE_ZERO,
    /* The same in outputs, by words of their own: no arithmetic, conversion or other memory gives these, so an element
     * that has them after a run was not written. */
    GARBAGE_OUTPUT_NAN,
    GARBAGE_OUTPUT_NUMBERS,
};
#define OUTPUT_NAN 0xfffbfffbu  /* the word of GARBAGE_OUTPUT_NAN, which verify.cu knows too */

/* Memory on the device with a guard band on both sides. */
struct guarded {
    dev_ptr base, data;
    uint64_t bytes;             /* of the data */
    uint64_t guard;             /* before and after it; the bands are what is next to the data */
    enum garbage bands;
};

status guarded_alloc(const struct dev_ops *ops, struct dev *d, uint64_t bytes, struct guarded *out, struct err *e);
/* Fills the bands again, which hold NaN at first. Waits for the queue. */
status guarded_bands(const struct dev_ops *ops, struct dev *d, struct guarded *g, enum garbage with, struct err *e);
void guarded_release(const struct dev_ops *ops, struct dev *d, struct guarded *g);
/* *where: 0 whole, -1 written before the start, 1 written after the end; *offset: distance of the damage from the
 * data. */
status guarded_check(const struct dev_ops *ops, struct dev *d, const struct guarded *g, int *where, int64_t *offset,
                     struct err *e);
/* That in words: "just past its end", "4 bytes before its start". */
void guarded_where(int where, int64_t offset, char *text, size_t size);

/* Queues filling memory. Any number of bytes. */
status buffer_poison(const struct dev_ops *ops, struct dev *d, dev_ptr at, uint64_t bytes, enum garbage with,
                     struct err *e);
/* What that leaves in 32 bits. */
uint32_t garbage_word(enum garbage of);
/* Whether an element, of `size` bytes (2 or 4), is what that leaves. */
bool is_garbage(const void *element, int size, enum garbage of);

struct pipeline_step {
    struct dev_function *function;
    struct dev_launch how;
    unsigned char *bytes;       /* packed arguments */
    void **args;
};

struct pipeline {
    const struct dev_ops *ops;
    struct dev *dev;
    const struct plan *plan;    /* borrowed */
    struct dev_module *module;  /* NULL if no launches */
    struct guarded *workspace;  /* one a workspace buffer of the plan */
    dev_ptr *address;           /* one a buffer of the plan */
    struct pipeline_step *steps;
    bool launched;              /* verified, or begun to be: set by verify_pipeline, false at first */
    bool persists;              /* until it is closed the device keeps room for lines of the L2 that persist */
};

/* tensors: addresses of the plan's first ntensors buffers. workspace_at[i] may give a ready address for workspace
 * buffer i (0: allocate it), or be NULL. On failure everything is released and *stage names what failed ("load",
 * "alloc", ...). */
status pipeline_open(const struct dev_ops *ops, struct dev *d, const struct plan *plan, const char *image,
                     const dev_ptr *tensors, const dev_ptr *workspace_at, struct pipeline *out, const char **stage,
                     struct err *e);
void pipeline_close(struct pipeline *p);

/* Packs the arguments of another plan in place of its own: one that differs in numbers alone. */
status pipeline_arguments(struct pipeline *p, const struct plan *plan, struct err *e);

/* Fills workspace, but zeroes what must start as zeros. Queued. */
status pipeline_poison(struct pipeline *p, enum garbage with, struct err *e);
/* Queues the whole pipeline once. */
status pipeline_run(struct pipeline *p, struct err *e);
/* The largest registers and local memory, smallest occupancy over its launches. */
status pipeline_resources(struct pipeline *p, struct resources *out, struct err *e);

#endif
