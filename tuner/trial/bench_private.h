/* bench_private.h: what bench.c, bench_fill.c and bench_compare.c share. Support kernels run with blocks x
 * BENCH_THREADS threads; those that reduce leave one partial result each in `scratch`, summed on the host in thread
 * order. */
#ifndef LATHE_TRIAL_BENCH_PRIVATE_H
#define LATHE_TRIAL_BENCH_PRIVATE_H

#include "trial/bench.h"

enum { BENCH_THREADS = 128, BENCH_MAX_BLOCKS = 264 };

struct partial {            /* lathe_partial in kernels/common/verify.cu */
    double max_abs, max_rel, diff1, diff2, ref2;
    uint64_t mismatches, idle;
};

/* Few threads for few elements: the host device runs them one by one. */
static inline uint32_t bench_blocks(int64_t count)
{
    int64_t blocks = (count + BENCH_THREADS * 4 - 1) / (BENCH_THREADS * 4);
    return (uint32_t)(blocks < 1 ? 1 : blocks > BENCH_MAX_BLOCKS ? BENCH_MAX_BLOCKS : blocks);
}

static inline const struct plan_buffer *bench_tensor(const struct bench *b, int i)
{
    return &b->setup.tensors.buffers[i];
}

/* The number that the support kernels know a tensor's type by. */
static inline int32_t bench_type(const struct bench *b, int i) { return bench_tensor(b, i)->dtype; }

status bench_run_support(struct bench *b, struct dev_function *f, uint32_t blocks, void **args, struct err *e);

/* bench_fill.c: fills input i with values of the class b->now->inputs; mixed: about half of them from another seed. */
status bench_fill(struct bench *b, int i, uint64_t seed, bool mixed, struct err *e);

/* bench_common.c: b->now's same[i] and common[i] of output i, whose exact values are there; 0 for scaled inputs and few
 * elements. */
status bench_find_common(struct bench *b, int i, struct err *e);

/* The sum of the numbers that each thread of a support kernel left in b->scratch. */
status bench_add_up(struct bench *b, uint32_t blocks, uint64_t *sum, struct err *e);

/* bench_compare of values elsewhere than in the output. */
status bench_compare_at(struct bench *b, int tensor, dev_ptr at, struct comparison *out, struct err *e);

#endif
