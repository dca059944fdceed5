/* bench_private.h: what bench.c, bench_fill.c and bench_compare.c share. Support kernels run with blocks x
 * BENCH_THREADS threads; those that reduce leave one partial result each in `scratch`, summed on the host in thread
 * order. */
#ifndef LATHE_TRIAL_BENCH_PRIVATE_H
#define LATHE_TRIAL_BENCH_PRIVATE_H

#include "trial/bench.h"

enum { BENCH_THREADS = 128, BENCH_MAX_BLOCKS = 264, BENCH_JOINED_BLOCKS = 8 };

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

/* bench.c. Memory for the answers' outputs; freed by bench_free_answers, also if it fails. */
status bench_alloc_answers(struct bench *b, struct answers *a, struct err *e);
void bench_free_answers(struct bench *b, struct answers *a);

/* The plans that give b->now. */
static inline const struct reference_plans *bench_plans(const struct bench *b)
{
    return b->now == &b->varied ? &b->setup.varied : &b->setup.plans;
}

/* bench_varied.c: what is right with other scalars; b->varies, or b->unvaried says why not. `now` is any then. */
status bench_find_varied(struct bench *b, enum inputs inputs, uint64_t seed, struct err *e);
/* bench_inputs.c: fills every input with values of a class, and finds what is right on them: a's fields. */
status bench_find_answers(struct bench *b, struct answers *a, enum inputs inputs, uint64_t seed, struct err *e);

/* bench_fill.c: fills input i with values of the class b->now->inputs; mix: how much
 * from another seed. */
status bench_fill(struct bench *b, int i, uint64_t seed, enum bench_mix mix, struct err *e);

/* bench_common.c: b->now's same[i] and common[i] of output i, whose exact values are there; 0 for scaled inputs and few
 * elements. */
status bench_find_common(struct bench *b, int i, struct err *e);

/* bench_common.c: b->now's zeros[i] of output i, whose exact values and limits are there; false for scaled inputs.
 * Leaves another output. */
status bench_try_zeros(struct bench *b, int i, struct err *e);

/* The share of an output's exact elements that, rounded to its type, are `value`; NaN: that are NaN. */
status bench_share_of(struct bench *b, int tensor, double value, double *share, struct err *e);

/* bench_reference.c: whether the specification's reference kernel, which `run` ran in `seconds` on outputs and
 * workspace of NaN, and whose outputs are kept as exact, writes what it should and nothing else, and gives the
 * same again, which is only seen where a run costs little: else LATHE_SPEC. b->now's limits are set.
 * Leaves other outputs. */
status bench_check_reference(struct bench *b, struct pipeline *run, double seconds, struct err *e);

/* bench_sensitivity.c, for scaled inputs and a reference that is a kernel, which `run` has just run, its outputs kept
 * as exact, the scaled limit set: the scale is made of how far inputs that are slightly other move each element. Leaves
 * the inputs as they were, other outputs and workspace. */
status bench_measure_sensitivity(struct bench *b, struct pipeline *run, uint64_t seed, struct err *e);
/* How far sums in float32 may be off that of such a problem, over the scale; the longest sum is guessed. */
double bench_sum_error(const struct bench *b);

/* "[3,17]" for a flat index */
void bench_index_text(const struct plan_buffer *p, int64_t flat, char *text, size_t size);

/* The partial results of `size` bytes that each thread of a support kernel left in b->scratch, joined into those of few
 * threads by `join` where there are many, since copying takes longer than joining. *count of them; mem_free. */
status bench_partials(struct bench *b, struct dev_function *join, uint32_t blocks, size_t size, int64_t *count,
                      void **out, struct err *e);
/* The sum of the numbers that each thread left there. */
status bench_add_up(struct bench *b, uint32_t blocks, uint64_t *sum, struct err *e);

/* bench_compare of values elsewhere than in the output. */
status bench_compare_at(struct bench *b, int tensor, dev_ptr at, struct comparison *out, struct err *e);

#endif
