/* bench_inputs.c: inputs, and what is right on them: the exact outputs, the own error of the GEMM that sums in float32,
 * the limits that follow; for scaled inputs also what an error of each element is relative to. */
#include "base/clock.h"
#include "base/mem.h"
#include "trial/bench_private.h"
#include <math.h>
#include <string.h>

/* What a plan left in output i, as its reference. */
static status keep_as_exact(struct bench *b, int i, struct err *e)
{
    int64_t count = bench_tensor(b, i)->count;
    int32_t type = bench_type(b, i);
    void *args[] = {&b->address[i], &type, &b->now->exact[i].data, &count};
    return bench_run_support(b, b->upcast, bench_blocks(count), args, e);
}

/* Is a plan's buffer called "PREFIX.NAME", after the tensor? */
static bool is_named(const char *buffer, const char *prefix, const char *tensor)
{
    size_t n = strlen(prefix);
    return !strncmp(buffer, prefix, n) && buffer[n] == '.' && !strcmp(buffer + n + 1, tensor);
}

/* Addresses for a plan's workspace: of its buffers "PREFIX.NAME" those in to[], 0 for others; mem_free it. */
static dev_ptr *workspace_at(const struct plan *plan, const char *prefix, const struct guarded *to, bool *any)
{
    dev_ptr *at = mem_zalloc((size_t)(plan->nbuffers - plan->ntensors) + 1, sizeof *at);
    *any = false;
    for (int w = plan->ntensors; w < plan->nbuffers; w++)
        for (int i = 0; i < plan->ntensors; i++)
            if (is_named(plan->buffers[w].name, prefix, plan->buffers[i].name)) {
                at[w - plan->ntensors] = to[i].data;
                *any = true;
            }
    return at;
}

/* Runs it on outputs, workspace and shared memory of NaN. direct: what it leaves in the outputs is the reference. */
static status run_once(struct bench *b, struct pipeline *run, bool direct, double *seconds, struct err *e)
{
    status s = bench_poison_outputs(b, GARBAGE_NAN, e);
    if (!s) s = pipeline_poison(run, GARBAGE_NAN, e);
    if (!s) s = bench_leave_shared(b, GARBAGE_NAN, e);
    if (!s) s = b->ops->sync(b->dev, e);
    double began = clock_seconds();
    if (!s) s = pipeline_run(run, e);
    if (!s) s = b->ops->sync(b->dev, e);
    *seconds = clock_seconds() - began;
    for (int i = 0; direct && i < run->plan->ntensors && !s; i++)
        if (run->plan->buffers[i].role == PLAN_OUTPUT) s = keep_as_exact(b, i, e);
    return s ? s : b->ops->sync(b->dev, e);
}

/* Runs the reference plan; its "ref.NAME" buffers are ours. */
static status run_reference(struct bench *b, uint64_t seed, struct err *e)
{
    const struct plan *plan = &bench_plans(b)->reference;
    bool named;
    dev_ptr *at = workspace_at(plan, "ref", b->now->exact, &named);
    bool direct = !named;
    struct pipeline run;
    const char *stage;
    const char *image = b->setup.reference_image ? b->setup.reference_image : b->setup.support_image;
    status s = pipeline_open(b->ops, b->dev, plan, image, b->address, at, &run, &stage, e);
    mem_free(at);
    if (s) return s;
    double seconds;
    s = run_once(b, &run, direct, &seconds, e);
    if (!s && direct && b->scaled) {            /* before the check, which compares by it */
        s = bench_measure_sensitivity(b, &run, seed, e);
        if (!s) s = run_once(b, &run, direct, &seconds, e);
    }
    if (!s && direct && b->now != &b->varied) s = bench_check_reference(b, &run, seconds, e);
    snprintf(b->now->reference, sizeof b->now->reference, "%s", direct ? "kernel" : "fp64");
    pipeline_close(&run);
    return s;
}

/* Memory for what scaled inputs need of output i: kept until the bench is closed. */
static status make_room(struct bench *b, int i, struct err *e)
{
    struct answers *a = b->now;
    if (a->sgemm[i].data) return LATHE_OK;
    const struct plan_buffer *p = bench_tensor(b, i);
    guarded_release(b->ops, b->dev, &a->scale[i]);
    status s = guarded_alloc(b->ops, b->dev, (uint64_t)p->count * sizeof(double), &a->scale[i], e);
    return s ? s : guarded_alloc(b->ops, b->dev, (uint64_t)plan_buffer_bytes(p), &a->sgemm[i], e);
}

/* Runs the scale plan; its "scale.NAME" buffers are ours. */
static status run_scale(struct bench *b, struct err *e)
{
    const struct plan *plan = &bench_plans(b)->scale;
    if (!b->scaled || !plan->nsteps) return LATHE_OK;
    status s = LATHE_OK;
    for (int i = 0; i < plan->ntensors && !s; i++)
        if (plan->buffers[i].role == PLAN_OUTPUT) s = make_room(b, i, e);
    if (s) return s;
    bool named;
    dev_ptr *at = workspace_at(plan, "scale", b->now->scale, &named);
    struct pipeline run;
    const char *stage;
    s = pipeline_open(b->ops, b->dev, plan, b->setup.support_image, b->address, at, &run, &stage, e);
    mem_free(at);
    if (s) return s;
    s = pipeline_run(&run, e);
    if (!s) s = b->ops->sync(b->dev, e);
    pipeline_close(&run);
    return s;
}

/* The float32 GEMM's results as the measure of a candidate's. */
static status measure_sgemm(struct bench *b, int i, dev_ptr at, struct err *e)
{
    struct comparison c;
    status s = bench_compare_at(b, i, at, &c, e);
    if (s) return s;
    b->now->sgemm_error = c.frobenius;
    b->now->sgemm_scaled = c.scaled;
    return LATHE_OK;
}

/* What the GEMM that sums in float32 leaves in the output (for scaled inputs in `sgemm`), compared with the reference;
 * with no room for fp64 it is the reference. */
static status run_sgemm(struct bench *b, bool as_reference, struct err *e)
{
    const struct plan *plan = &bench_plans(b)->sgemm;
    if (!plan->nsteps) return LATHE_OK;
    struct pipeline run;
    const char *stage;
    dev_ptr *tensors = mem_zalloc((size_t)plan->ntensors + 1, sizeof *tensors);
    for (int i = 0; i < plan->ntensors; i++)
        tensors[i] = b->scaled && plan->buffers[i].role == PLAN_OUTPUT ? b->now->sgemm[i].data : b->address[i];
    status s = pipeline_open(b->ops, b->dev, plan, b->setup.support_image, tensors, NULL, &run, &stage, e);
    if (s) {
        mem_free(tensors);
        return s;
    }
    s = bench_poison_outputs(b, GARBAGE_NAN, e);
    if (!s) s = pipeline_poison(&run, GARBAGE_NAN, e);
    if (!s) s = pipeline_run(&run, e);
    for (int i = 0; i < plan->ntensors && !s; i++) {
        if (plan->buffers[i].role != PLAN_OUTPUT) continue;
        s = as_reference ? keep_as_exact(b, i, e) : measure_sgemm(b, i, tensors[i], e);
    }
    if (!s) s = b->ops->sync(b->dev, e);
    pipeline_close(&run);
    mem_free(tensors);
    return s;
}

/* The GEMM's error as measured; where the output has too few elements to tell (by luck it may be almost nothing), at
 * least one rounding of the output, and what a running sum of k products typically has: u sqrt(k) / 3, u = 2^-24, which
 * is within 10 % of what cuBLAS SGEMM measured at k = 4096 to 32768 (docs/results.md). */
static double yardstick(const struct bench *b)
{
    enum { ENOUGH_ELEMENTS = 4096 };
    const double u = dtype_roundoff(DTYPE_f32);
    const struct plan *plan = &b->setup.plans.sgemm;
    bool chosen = !inputs_specified(b->now->inputs);    /* whose sums may be exact, so that only the epilogue rounds */
    double floor = chosen ? 4 * u : u;          /* one rounding of the sum is always allowed */
    for (int i = 0; i < plan->nsteps; i++) {
        const struct plan_step *s = &plan->steps[i];
        if (s->kind == STEP_GEMM && (chosen || s->m * s->n < ENOUGH_ELEMENTS))
            floor = fmax(floor, u * sqrt((double)s->k) / 3);
    }
    for (int i = 0; i < plan->ntensors; i++) {
        const struct plan_buffer *t = &plan->buffers[i];
        if (t->role == PLAN_OUTPUT && (chosen || t->count < ENOUGH_ELEMENTS))
            floor = fmax(floor, dtype_roundoff(t->dtype));
    }
    return fmax(b->now->sgemm_error, floor);
}

/* The limit on an error over its scale: a multiple of the float32 GEMM's own, which is 2^-17 at least: what two
 * operands of 17 bits each give, and so what is left of a product of floats that were split into two bf16. Where the
 * output has 16 bits, at least one rounding of z to its type. */
static double scaled_limit(const struct bench *b)
{
    const struct tolerance *t = &b->setup.tolerance;
    double least = fmax(0x1p-17, b->now->sgemm_scaled);      /* not NaN */
    if (!b->setup.plans.sgemm.nsteps) least = fmax(least, bench_sum_error(b));
    for (int i = 0; i < b->setup.tensors.ntensors; i++) {
        const struct plan_buffer *p = bench_tensor(b, i);
        if (p->role == PLAN_OUTPUT) least = fmax(least, dtype_roundoff(p->dtype));
    }
    return t->times_sgemm_error > 0 ? t->times_sgemm_error * least : fmax(fmax(t->rtol, t->frobenius), least);
}

static void set_limit(struct bench *b)
{
    b->now->scaled_limit = b->scaled ? scaled_limit(b) : NAN;
    b->now->frobenius_limit = 0;
    if (b->scaled) return;
    const struct tolerance *t = &b->setup.tolerance;
    double limit = t->frobenius;
    if (t->times_sgemm_error > 0 && isfinite(b->now->sgemm_error)) {
        double by_sgemm = t->times_sgemm_error * yardstick(b);
        if (limit <= 0 || by_sgemm < limit) limit = by_sgemm;
    }
    b->now->frobenius_limit = limit;
}

/* A kernel of the specification's that is refused or crashes is the specification's fault: lathe's own ran before
 * it. */
static status reference_failed(const struct bench *b, struct err *e)
{
    char whose[600];
    enum dev_fault fault = b->ops->fault(b->dev);
    bench_setup_blame(&b->setup, whose, sizeof whose);
    if (e->code == LATHE_SPEC) return e->code;      /* bench_check_reference */
    if (e->code != LATHE_DEVICE || !*whose || (fault != DEV_FAULT_LAUNCH && fault != DEV_FAULT_CRASH))
        return err_prefix(e, "computing the reference");
    e->code = LATHE_SPEC;
    return err_prefix(e, "%s fails", whose);
}

status bench_find_answers(struct bench *b, struct answers *a, enum inputs inputs, uint64_t seed, struct err *e)
{
    int n = b->setup.tensors.ntensors;
    b->now = a;
    a->inputs = inputs;
    a->sgemm_error = a->sgemm_scaled = NAN;
    a->scaled_limit = INFINITY;
    for (int i = 0; i < n; i++) {
        if (bench_tensor(b, i)->role != PLAN_INPUT) continue;
        status s = bench_fill(b, i, seed, MIX_NONE, e);
        if (!s) s = bench_hash(b, i, &a->hash[i], e);
        if (s) return s;
    }
    if (!b->setup.plans.sgemm.nsteps) set_limit(b);   /* without a GEMM it is known before */
    status s = run_reference(b, seed, e);
    if (!s) s = run_scale(b, e);
    bool no_room = s && !b->scaled && b->ops->fault(b->dev) == DEV_FAULT_RESOURCES && b->setup.plans.sgemm.nsteps;
    if (s && !no_room) return reference_failed(b, e);
    s = run_sgemm(b, no_room, e);
    if (s) return err_prefix(e, "computing the GEMM's own error");
    if (no_room) snprintf(a->reference, sizeof a->reference, "sgemm");
    set_limit(b);
    for (int i = 0; i < n; i++) {
        if (bench_tensor(b, i)->role != PLAN_OUTPUT) continue;
        s = bench_hash_exact(b, a, i, &a->hash[i], e);
        if (!s) s = bench_find_common(b, i, e);
        if (!s) s = bench_try_zeros(b, i, e);
        if (s) return s;
    }
    return LATHE_OK;
}

status bench_inputs(struct bench *b, enum inputs inputs, uint64_t seed, struct err *e)
{
    b->seed = 0;
    b->varies = false;
    *b->unvaried = 0;
    b->scaled = !inputs_plain(inputs);
    status s = b->setup.check ? bench_find_answers(b, &b->check, INPUTS_check, seed, e) : LATHE_OK;
    if (s) return err_prefix(e, "the check inputs");
    s = bench_find_answers(b, &b->timed, inputs, seed, e);
    b->seed = seed;         /* of what bench_use fills */
    if (!s) s = bench_use(b, &b->timed, e);
    if (s) b->seed = 0;
    return s;
}

status bench_other_inputs(struct bench *b, enum bench_mix mix, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < b->setup.tensors.ntensors && !s; i++)
        if (bench_tensor(b, i)->role == PLAN_INPUT) s = bench_fill(b, i, b->seed, mix, e);
    return s;
}

status bench_use(struct bench *b, struct answers *which, struct err *e)
{
    status s = LATHE_OK;
    if (b->now == which) return s;
    b->now = which;
    for (int i = 0; i < b->setup.tensors.ntensors && !s; i++)
        if (bench_tensor(b, i)->has_check) s = bench_fill(b, i, b->seed, MIX_NONE, e);
    return s;
}
