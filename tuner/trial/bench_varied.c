/* bench_varied.c: what is right with other values of the problem's scalars. Nothing but that depends on it: where there
 * is no room for it, or no finite answer, candidates are verified with the problem's own alone, and that is told. */
#include "trial/bench_private.h"
#include <math.h>
#include <stdio.h>

/* The share of an output's elements that are no number. */
static status share_of_none(struct bench *b, int tensor, double *share, struct err *e)
{
    static const double none[] = {NAN, INFINITY, -INFINITY};
    *share = 0;
    for (int i = 0; i < 3; i++) {
        double one;
        status s = bench_share_of(b, tensor, none[i], &one, e);
        if (s) return s;
        *share += one;
    }
    return LATHE_OK;
}

/* Are there as many numbers as with the problem's own scalars? */
static status check_finite(struct bench *b, struct err *e)
{
    struct answers *own = b->setup.check ? &b->check : &b->timed;
    for (int i = 0; i < b->setup.tensors.ntensors && !*b->unvaried; i++) {
        double now, then;
        if (bench_tensor(b, i)->role != PLAN_OUTPUT) continue;
        status s = share_of_none(b, i, &now, e);
        b->now = own;
        if (!s) s = share_of_none(b, i, &then, e);
        b->now = &b->varied;
        if (s) return s;
        if (now > then)
            snprintf(b->unvaried, sizeof b->unvaried, "with %.200s elements of %s are infinite or no number",
                     b->setup.scalars, bench_tensor(b, i)->name);
    }
    return LATHE_OK;
}

static status no_room(struct bench *b, status s)
{
    if (b->ops->fault(b->dev) != DEV_FAULT_RESOURCES) return s;
    bench_free_answers(b, &b->varied);
    snprintf(b->unvaried, sizeof b->unvaried, "there is no room for a reference with %.200s", b->setup.scalars);
    return LATHE_OK;
}

status bench_find_varied(struct bench *b, enum inputs inputs, uint64_t seed, struct err *e)
{
    b->varies = false;
    *b->unvaried = 0;
    if (!b->setup.scalars) return LATHE_OK;
    status s = b->varied.exact ? LATHE_OK : bench_alloc_answers(b, &b->varied, e);
    if (!s) s = bench_find_answers(b, &b->varied, inputs, seed, e);
    if (!s) s = check_finite(b, e);
    if (s) s = no_room(b, s);
    if (s) return err_prefix(e, "with %s", b->setup.scalars);
    b->varies = !*b->unvaried;
    return LATHE_OK;
}

status bench_vary(struct bench *b, struct err *e)
{
    const uint64_t seed = b->seed;
    b->seed = 0;
    status s = bench_find_varied(b, b->setup.check ? INPUTS_check : b->timed.inputs, seed, e);
    b->seed = seed;
    if (!s) s = bench_use(b, &b->timed, e);
    if (s) b->seed = 0;
    return s;
}
