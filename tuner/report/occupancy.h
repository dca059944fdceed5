/* occupancy.h: how many blocks of a launch an SM holds, and what keeps it from holding more.
 *
 * The rules are those of NVIDIA's occupancy calculation (CUDA C++ Programming Guide, "Hardware Multithreading" and the
 * table of technical specifications per compute capability; cuda_occupancy.h): registers are given to warps in units of
 * 256, after a thread's are rounded up to 8; an SM has four parts that each take a quarter of the warps' registers;
 * shared memory is given in units of 128 bytes, and from compute capability 8.0 on each block takes 1 KiB more. */
#ifndef LATHE_REPORT_OCCUPANCY_H
#define LATHE_REPORT_OCCUPANCY_H

#include "model/target.h"
#include <stdbool.h>

/* name, what a person is told */
#define OCCUPANCY_LIMIT_TABLE(X)                                                                                       \
    X(threads, "threads an SM may have")                                                                               \
    X(blocks, "blocks an SM may have")                                                                                 \
    X(registers, "registers")                                                                                          \
    X(shared, "shared memory")
enum occupancy_limit {
#define X(name, text) OCCUPANCY_##name,
    OCCUPANCY_LIMIT_TABLE(X)
#undef X
        OCCUPANCY_LIMITS
};
const char *occupancy_limit_name(enum occupancy_limit l);
const char *occupancy_limit_text(enum occupancy_limit l);

struct occupancy {
    int by[OCCUPANCY_LIMITS];   /* blocks an SM would hold if only that counted */
    int blocks;                 /* the least of them */
    enum occupancy_limit limiter;
    double share;               /* threads resident over threads possible */
};

/* threads: of a block; registers: a thread's; shared: a block's bytes, static and dynamic. False if the target is no
 * GPU, or its limits are not known. */
bool occupancy_of(const struct target *t, int threads, int registers, int64_t shared, struct occupancy *out);

#endif
