/* bench_common.c: does an output tell products apart? Where nearly all of its elements are one value (an epilogue of
 * max(z, 0) on sums below 0), any kernel that writes that value is right, and an error over all elements says
 * nothing. And does the tolerance? Where it is wider than the elements are large, a kernel that writes zeros is
 * right. */
#include "base/rng.h"
#include "trial/bench_private.h"
#include <math.h>
#include <stdio.h>

/* Where a larger share of the elements than this is one value, the others are too few to judge a kernel by. Nothing is
 * said of outputs with few elements, which may well be one value. */
#define NEARLY_ALL 0.99
enum { FEW_ELEMENTS = 64, SAMPLES = 8 };

status bench_share_of(struct bench *b, int tensor, double value, double *share, struct err *e)
{
    int64_t count = bench_tensor(b, tensor)->count;
    int32_t type = bench_type(b, tensor);
    uint32_t blocks = bench_blocks(count);
    void *args[] = {&b->now->exact[tensor].data, &type, &count, &value, &b->scratch.data};
    status s = bench_run_support(b, b->count_same, blocks, args, e);
    int64_t same = 0;
    if (!s) s = bench_add_up(b, blocks, (uint64_t *)&same, e);
    *share = (double)same / (double)count;
    return s;
}

/* One of a few elements has the value that most have; so sure of what nearly all have that 8 miss it once in 10^16. */
status bench_find_common(struct bench *b, int tensor, struct err *e)
{
    int64_t count = bench_tensor(b, tensor)->count;
    struct answers *a = b->now;
    status s = LATHE_OK;
    a->same[tensor] = 0;
    a->common[tensor] = NAN;
    for (int i = 0; i < SAMPLES && a->same[tensor] <= 0.5 && count >= FEW_ELEMENTS && !b->scaled && !s; i++) {
        double value, share = 0;
        uint64_t at = splitmix64((uint64_t)i) % (uint64_t)count;
        s = b->ops->copy_out(b->dev, &value, a->exact[tensor].data + at * sizeof value, sizeof value, e);
        if (!s) s = bench_share_of(b, tensor, value, &share, e);
        if (s || share <= a->same[tensor]) continue;
        a->same[tensor] = share;
        a->common[tensor] = value;
    }
    return s;
}

/* A limit below 1 refuses them: the error of zeros is 1, where the reference is not all zeros itself. */
status bench_try_zeros(struct bench *b, int tensor, struct err *e)
{
    struct answers *a = b->now;
    struct comparison c;
    a->zeros[tensor] = false;
    if (b->scaled || (a->frobenius_limit > 0 && a->frobenius_limit < 1)) return LATHE_OK;
    status s = buffer_poison(b->ops, b->dev, b->address[tensor], b->tensors[tensor].bytes, GARBAGE_ZERO, e);
    if (!s) s = bench_compare(b, tensor, &c, e);
    if (!s) a->zeros[tensor] = !c.mismatches && c.frobenius > 0;
    return s;
}

void bench_lax(const struct bench *b, char *text, size_t size)
{
    *text = 0;
    for (int i = 0; i < b->setup.tensors.ntensors && !*text; i++)
        if (b->timed.zeros[i] && (!b->setup.check || b->check.zeros[i]))
            snprintf(text, size, "%s", bench_tensor(b, i)->name);
}

void bench_blind(const struct bench *b, char *text, size_t size)
{
    *text = 0;
    for (int i = 0; i < b->setup.tensors.ntensors && !*text; i++) {
        double same = b->timed.same[i];
        if (!(same > NEARLY_ALL) || (b->setup.check && !(b->check.same[i] > NEARLY_ALL))) continue;
        if (same == 1)
            snprintf(text, size, "all elements of %s are %.3g", bench_tensor(b, i)->name, b->timed.common[i]);
        else        /* rounded down: 100 % would be all */
            snprintf(text, size, "%.2f %% of the elements of %s are %.3g", floor(same * 1e4) / 100,
                     bench_tensor(b, i)->name, b->timed.common[i]);
    }
}
