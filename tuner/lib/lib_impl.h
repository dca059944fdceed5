/* lib_impl.h: the inside of liblathe. A file is a bundle (model/bundle.h): its configurations are plain data that
 * nothing changes after lathe_open; what a context has loaded is kept per context, under the mutex. A selected kernel
 * is a plan (model/plan.h) with its functions, and nothing changes it either, so that launches need no lock. */
#ifndef LATHE_LIB_IMPL_H
#define LATHE_LIB_IMPL_H

#include "lib/lathe.h"

#include "device/guest.h"
#include "model/bundle.h"
#include "model/serve.h"
#include <pthread.h>

struct variant {                    /* one configuration */
    char *text;
    const struct problem *p;        /* borrowed, as the kernel in it */
    const struct kernel *k;
    config_choice *choice;
    struct value *tuned;            /* slots, where it was tuned */
    int64_t *size;
    struct target target;
    bool fallback, exact;           /* exact: its cubin runs on that very capability alone */
    int cubin, ptx, ptx_sm;         /* images; -1: none */
};

struct context {                    /* of another program, with what was loaded into it */
    struct context *next;
    struct guest_context guest;
    void **modules;                 /* one an image; NULL: not loaded */
    char **refused;                 /* one an image: why the driver does not take it */
    bool persists;                  /* the L2's lines that persist have room */
    bool gone;                      /* another has its handle now, so it was destroyed, with its modules */
};

struct lathe {
    pthread_mutex_t lock;           /* of what follows it up to contexts */
    int users;                      /* the caller, until lathe_close, and selected kernels */
    struct context *contexts;
    char *data;                     /* the file's bytes, whose images are used where they lie */
    struct bundle bundle;
    char *name;                     /* of the problem */
    struct problem **problems;
    int nproblems;
    struct variant *variants;
    int nvariants;
};

struct lathe_kernel {
    struct lathe *lathe;
    struct context *context;
    const struct variant *variant;
    struct plan plan;
    struct guest_function *functions;   /* one a step */
    uint64_t *start;                /* where each workspace buffer begins */
    uint64_t workspace;             /* bytes of all of it */
};

/* lib_error.c: sets the thread's message. */
lathe_result lib_fail(lathe_result r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* lib_variants.c: fills problems and variants from the manifest. LATHE_STORE: it does not say what it must. */
status lib_variants(struct lathe *l, struct err *e);
void lib_variants_free(struct lathe *l);

/* lib_context.c, both under the lock: the current context's, made at its first use; an image's module in it, loaded at
 * its first use (LATHE_NOTHING, with the reason: the driver does not take it). */
lathe_result lib_context(struct lathe *l, struct context **out);
status lib_module(struct lathe *l, struct context *c, int image, void **out, struct err *e);
void lib_contexts_free(struct lathe *l);

/* lib_open.c: one user less; the last one frees it. */
void lib_leave(struct lathe *l);

#endif
