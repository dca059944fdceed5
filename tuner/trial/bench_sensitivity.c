/* bench_sensitivity.c: what an error is relative to where the inputs differ much in size and the reference is a kernel
 * of the specification's: lathe does not know what it sums, but can see how far each element moves when all inputs move
 * by a little, each up or down by chance. Of a sum that is the root of its squares, however much of it cancels. */
#include "base/mem.h"
#include "base/rng.h"
#include "trial/bench_private.h"
#include <math.h>

/* By chance one run may not move an element. With this many it moves by less than a tenth of what is typical once in
 * 5000, and by less than a hundredth once in 50 million. */
enum { RUNS = 4 };

/* By how much inputs are moved: far above the roundings of all types. */
static double step_of(const struct bench *b)
{
    double step = 0x1p-12;
    for (int i = 0; i < b->setup.tensors.ntensors; i++)
        step = fmax(step, 4 * dtype_roundoff(bench_tensor(b, i)->dtype));
    return step;
}

/* The longest axis of an input, or its elements to one of an output, as where all of it is summed. */
static double longest_sum(const struct bench *b)
{
    const struct plan *t = &b->setup.tensors;
    int64_t inputs = 1, outputs = INT64_MAX, axis = 1;
    for (int i = 0; i < t->ntensors; i++) {
        const struct plan_buffer *p = bench_tensor(b, i);
        if (p->role == PLAN_OUTPUT && p->count < outputs) outputs = p->count;
        if (p->role != PLAN_INPUT) continue;
        if (p->count > inputs) inputs = p->count;
        for (int d = 0; d < p->rank; d++)
            if (p->shape[d] > axis) axis = p->shape[d];
    }
    return fmax((double)axis, (double)inputs / (double)outputs);
}

/* A running sum of k has u sqrt(k) / 3 typically, u = 2^-24 (bench_inputs.c); no element may have 8 times that. */
double bench_sum_error(const struct bench *b) { return 8 * dtype_roundoff(DTYPE_f32) * sqrt(longest_sum(b)) / 3; }

/* The largest number of output i's type. */
static double edge_of(const struct bench *b, int i)
{
    enum dtype t = bench_tensor(b, i)->dtype;
    return t == DTYPE_f16 ? 65504 : t == DTYPE_bf16 ? 0x1.fep127 : 0x1.fffffep127;
}

static status largest_of(struct bench *b, int i, double *largest, struct err *e)
{
    int64_t count = bench_tensor(b, i)->count;
    uint32_t blocks = bench_blocks(count);
    size_t n = (size_t)blocks * BENCH_THREADS;
    double edge = edge_of(b, i);
    void *args[] = {&b->now->exact[i].data, &count, &edge, &b->scratch.data};
    double *all = mem_alloc(n * sizeof *all);
    status s = bench_run_support(b, b->largest, blocks, args, e);
    if (!s) s = b->ops->copy_out(b->dev, all, b->scratch.data, n * sizeof *all, e);
    *largest = 0;
    for (size_t k = 0; k < n && !s; k++) *largest = fmax(*largest, all[k]);
    mem_free(all);
    return s;
}

static status start(struct bench *b, int i, struct err *e)
{
    uint64_t bytes = (uint64_t)bench_tensor(b, i)->count * sizeof(double);
    status s = b->now->scale[i].data ? LATHE_OK : guarded_alloc(b->ops, b->dev, bytes, &b->now->scale[i], e);
    return s ? s : buffer_poison(b->ops, b->dev, b->now->scale[i].data, bytes, GARBAGE_ZERO, e);
}

static status perturb(struct bench *b, int i, uint64_t seed, int64_t how, struct err *e)
{
    int64_t count = bench_tensor(b, i)->count;
    int32_t type = bench_type(b, i);
    double by = step_of(b);
    void *args[] = {&b->address[i], &type, &count, &how, &by};
    status s = bench_fill(b, i, seed, MIX_NONE, e);
    return s ? s : bench_run_support(b, b->perturb, bench_blocks(count), args, e);
}

static status add(struct bench *b, int i, struct err *e)
{
    int64_t count = bench_tensor(b, i)->count;
    int32_t type = bench_type(b, i);
    double edge = edge_of(b, i);
    void *args[] = {&b->address[i], &type, &b->now->exact[i].data, &b->now->scale[i].data, &count, &edge};
    return bench_run_support(b, b->add_square, bench_blocks(count), args, e);
}

/* No error that is allowed is more than half of the largest element: zeros are never right, whatever the inputs. */
static status finish(struct bench *b, int i, struct err *e)
{
    int64_t count = bench_tensor(b, i)->count;
    double largest;
    status s = largest_of(b, i, &largest, e);
    double limit = b->now->scaled_limit, factor = 1 / (step_of(b) * sqrt(RUNS)), most = largest / (2 * limit);
    double smallest = longest_sum(b) * 0x1p-149 / limit;    /* each term may be rounded to a multiple of that */
    void *args[] = {&b->now->scale[i].data, &b->now->exact[i].data, &count, &factor, &most, &smallest};
    return s ? s : bench_run_support(b, b->sensitivity, bench_blocks(count), args, e);
}

static status run_perturbed(struct bench *b, struct pipeline *run, uint64_t seed, int r, struct err *e)
{
    const int n = b->setup.tensors.ntensors;
    status s = LATHE_OK;
    for (int i = 0; i < n && !s; i++) {
        int64_t how = (int64_t)splitmix64(seed ^ splitmix64((uint64_t)(r * n + i) + 0x5e45));
        if (bench_tensor(b, i)->role == PLAN_INPUT) s = perturb(b, i, seed, how, e);
    }
    if (!s) s = bench_poison_outputs(b, GARBAGE_NAN, e);
    if (!s) s = pipeline_poison(run, GARBAGE_NAN, e);
    if (!s) s = pipeline_run(run, e);
    for (int i = 0; i < n && !s; i++)
        if (bench_tensor(b, i)->role == PLAN_OUTPUT) s = add(b, i, e);
    return s;
}

status bench_measure_sensitivity(struct bench *b, struct pipeline *run, uint64_t seed, struct err *e)
{
    const int n = b->setup.tensors.ntensors;
    status s = LATHE_OK;
    for (int i = 0; i < n && !s; i++)
        if (bench_tensor(b, i)->role == PLAN_OUTPUT) s = start(b, i, e);
    for (int r = 0; r < RUNS && !s; r++) s = run_perturbed(b, run, seed, r, e);
    for (int i = 0; i < n && !s; i++)
        s = bench_tensor(b, i)->role == PLAN_OUTPUT ? finish(b, i, e) : bench_fill(b, i, seed, MIX_NONE, e);
    return s ? s : b->ops->sync(b->dev, e);
}
