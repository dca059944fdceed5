/* target.h: what is known of a device: who it is, and the numbers constraints may use. */
#ifndef LATHE_MODEL_TARGET_H
#define LATHE_MODEL_TARGET_H

#include "base/err.h"
#include <jansson.h>
#include <stdint.h>

/* Limits that constraints may name. */
#define LIMIT_TABLE(X)                                                                                                 \
    X(sm)                       /* compute capability, 10 * major + minor; 0 on the host device */                     \
    X(sm_count)                                                                                                        \
    X(warp_size)                                                                                                       \
    X(max_threads_per_block)                                                                                           \
    X(max_threads_per_sm)                                                                                              \
    X(max_shared_per_block)     /* bytes, with the opt-in */                                                           \
    X(max_shared_per_sm)        /* bytes */                                                                            \
    X(max_registers_per_sm)                                                                                            \
    X(max_registers_per_thread)                                                                                        \
    X(l2_bytes)                                                                                                        \
    X(memory_bytes)
enum limit {
#define X(name) LIMIT_##name,
    LIMIT_TABLE(X)
#undef X
        LIMIT_COUNT
};
const char *limit_name(enum limit l);

struct target {
    char device[24];            /* "cuda:0", "host" */
    char name[128];             /* "NVIDIA H200" */
    char uuid[64];
    char arch[24];              /* what the compiler is asked for: "sm_90a"; "host" */
    char driver[64];            /* driver version text, or the host compiler's */
    char toolchain[128];        /* "NVRTC 13.0", "g++ 12.2.0": whatever compiles for it */
    char host[128];             /* host name, CPU */
    int64_t limit[LIMIT_COUNT];
    double peak_tflops_f32;     /* 0 if not known: SMs x lanes x 2 x max clock */
    double peak_gbps;           /* memory bandwidth, 0 if not known */
};

json_t *target_to_json(const struct target *t);                     /* new reference */
status target_from_json(const json_t *j, struct target *t, struct err *e);

/* A target to reason about without the device (`lathe space` on a machine with no GPU, compile checks): "sm_80",
 * "sm_90a", "sm_100", "host". */
status target_named(const char *arch, struct target *t, struct err *e);
const char *target_known(int i);    /* their names, i = 0, 1, ...; NULL after the last */

#endif
