/* jit.h: source text to a loadable image, by NVRTC ("sm_90a", ...: a cubin; "compute_80", ...: PTX, for that GPU and
 * newer ones) or the system's C++ compiler ("host").
 * Called in compile workers only. The image file appears atomically at `image_path`. */
#ifndef LATHE_DEVICE_JIT_H
#define LATHE_DEVICE_JIT_H

#include "base/err.h"
#include <stdbool.h>

struct jit_request {
    const char *source;             /* self-contained text: model/source.h */
    const char *name;               /* shown in diagnostics, "linear/simt.cu" */
    char *const *defines;           /* "LATHE_BM=128" */
    int ndefines;
    const char *arch;               /* "sm_90a", "compute_80" or "host" */
    const char *image_path;
    bool sanitize;                  /* host only: build the kernel with -fsanitize=address,undefined */
};

struct jit_outcome {
    bool ok;
    bool died;                      /* not ok, and a signal ended the compiler: that may be no fault of the source */
    char *log;                      /* compiler's words, NULL if none; mem_free */
};

/* LATHE_OK also when the source is refused: then out->ok is false and out->log says why. LATHE_COMPILER when no
 * compiler can be had (what is missing, where it was looked for, what to install). */
status jit_compile(const struct jit_request *r, struct jit_outcome *out, struct err *e);

/* Identity of what would compile for `arch`, with its options: "NVRTC 13.0 -std=c++17 ...", part of the cache key. */
status jit_toolchain(const char *arch, char *out, int size, struct err *e);

#endif
