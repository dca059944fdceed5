/* nvrtc.h: CUDA source to a cubin by NVRTC of CUDA 12 or 13, opened at run time. jit.h is the public face.
 *
 * The library stays loaded once opened (find_lib.h), so opening it again for each compilation costs next to nothing.
 */
#ifndef LATHE_DEVICE_NVRTC_H
#define LATHE_DEVICE_NVRTC_H

#include "device/jit.h"
#include "device/cuda/nvrtc_functions.h"
#include <stddef.h>

#define X(name, value) name = value,
typedef enum { NVRTC_RESULTS(X) } nvrtcResult;
#undef X
typedef struct _nvrtcProgram *nvrtcProgram;

struct nvrtc {
#define X(symbol, args) nvrtcResult(*symbol) args;
    NVRTC_FUNCTIONS(X)
#undef X
    int major, minor;
    char path[4096];                /* the library */
    char build[9];                  /* lib_build_id */
    char include[4096];             /* CUDA's headers, "" if there are none */
};

/* LATHE_COMPILER when there is none: where it was looked for, what to install. */
status nvrtc_open(struct nvrtc *n, struct err *e);

/* "75 80 86 87 88 89 90 100 103 110 120 121" */
void nvrtc_archs_text(const struct nvrtc *n, char *out, size_t size);

/* 13000; 0 if there is no NVRTC. Loads the library: about a second the first time. */
int nvrtc_version(void);

/* jit.h's functions for "sm_..." and "compute_..." */
status nvrtc_compile(const struct jit_request *r, struct jit_outcome *out, struct err *e);
status nvrtc_toolchain(char *out, int size, struct err *e);

#endif
