/* bench.c: see bench.h. Invariants: inputs hold exactly what `seed` gives, or seed is 0; `exact` belongs to that seed;
 * support kernels run with GRID x THREADS threads, one partial result each, summed here in thread order. */
#include "trial/bench.h"
#include "base/mem.h"
#include "base/rng.h"
#include <math.h>
#include <string.h>

enum { THREADS = 128 };

struct partial {            /* lathe_partial in kernels/common/verify.cu */
    double max_abs, max_rel, diff1, diff2, ref2;
    uint64_t mismatches;
};

/* Few threads for few elements: the host device runs them one by one. */
static uint32_t grid_for(int64_t count)
{
    int64_t blocks = (count + THREADS * 4 - 1) / (THREADS * 4);
    return (uint32_t)(blocks < 1 ? 1 : blocks > 264 ? 264 : blocks);
}
enum { MAX_PARTIALS = 264 * THREADS };

static status run_support(struct bench *b, struct dev_function *f, uint32_t blocks, void **args, struct err *e)
{
    const struct dev_launch how = {.grid = {blocks, 1, 1}, .block = {THREADS, 1, 1}};
    return b->ops->launch(b->dev, f, &how, args, e);
}

static const struct plan_buffer *tensor_of(const struct bench *b, int i) { return &b->setup.tensors.buffers[i]; }

/* The number that the support kernels know a tensor's type by. */
static int32_t type_of(const struct bench *b, int i) { return tensor_of(b, i)->dtype; }

/* --- life --- */

static status load_support(struct bench *b, struct err *e)
{
    status s = b->ops->load(b->dev, b->setup.support_image, &b->support, e);
    if (s) return s;
    struct {
        const char *name;
        struct dev_function **at;
    } wanted[] = {{"lathe_fill_uniform", &b->fill_uniform},
                  {"lathe_fill_normal", &b->fill_normal},
                  {"lathe_hash", &b->hash_words},
                  {"lathe_compare", &b->compare},
                  {"lathe_upcast", &b->upcast}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !s; i++)
        s = b->ops->function(b->dev, b->support, wanted[i].name, wanted[i].at, e);
    return s;
}

static status alloc_tensors(struct bench *b, struct err *e)
{
    const struct plan *t = &b->setup.tensors;
    size_t n = (size_t)t->ntensors + 1;
    b->tensors = mem_zalloc(n, sizeof *b->tensors);
    b->exact = mem_zalloc(n, sizeof *b->exact);
    b->address = mem_zalloc(n, sizeof *b->address);
    b->hash = mem_zalloc(n, sizeof *b->hash);
    for (int i = 0; i < t->ntensors; i++) {
        const struct plan_buffer *p = tensor_of(b, i);
        if (p->dtype != DTYPE_f32 && !dtype_is_16_bit_float(p->dtype))
            return err_set(e, LATHE_SPEC, "tensor %s is %s: problem tensors are f32, f16 or bf16 in this version",
                           p->name, dtype_name(p->dtype));
        status s = guarded_alloc(b->ops, b->dev, (uint64_t)plan_buffer_bytes(p), &b->tensors[i], e);
        if (!s && p->role == PLAN_OUTPUT)
            s = guarded_alloc(b->ops, b->dev, (uint64_t)p->count * sizeof(double), &b->exact[i], e);
        if (s) return err_prefix(e, "tensor %s", p->name);
        b->address[i] = b->tensors[i].data;
    }
    return LATHE_OK;
}

status bench_open(const struct dev_ops *ops, struct dev *d, const struct target *t, struct bench_setup *setup,
                  struct bench *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    out->ops = ops;
    out->dev = d;
    out->setup = *setup;
    out->sgemm_error = NAN;
    memset(setup, 0, sizeof *setup);
    status s = load_support(out, e);
    if (!s) s = alloc_tensors(out, e);
    if (!s) s = guarded_alloc(ops, d, MAX_PARTIALS * sizeof(struct partial), &out->scratch, e);
    if (!s) s = guarded_alloc(ops, d, (uint64_t)t->limit[LIMIT_l2_bytes] * 2 / 4 * 4 + 4, &out->flush, e);
    if (s) bench_close(out);
    return s;
}

void bench_close(struct bench *b)
{
    if (!b->ops) return;
    for (int i = 0; b->tensors && i < b->setup.tensors.ntensors; i++) {
        guarded_release(b->ops, b->dev, &b->tensors[i]);
        if (b->exact) guarded_release(b->ops, b->dev, &b->exact[i]);
    }
    guarded_release(b->ops, b->dev, &b->scratch);
    guarded_release(b->ops, b->dev, &b->flush);
    if (b->support) b->ops->unload(b->dev, b->support);
    mem_free(b->tensors);
    mem_free(b->exact);
    mem_free(b->address);
    mem_free(b->hash);
    bench_setup_free(&b->setup);
    memset(b, 0, sizeof *b);
}

/* --- inputs and reference --- */

static status fill_input(struct bench *b, int i, uint64_t seed, struct err *e)
{
    const struct plan_buffer *p = tensor_of(b, i);
    int64_t count = p->count, tensor_seed = (int64_t)splitmix64(seed + (uint64_t)i * 0x51ed2701u);
    int32_t type = type_of(b, i);
    float lo = (float)p->fill_a, hi = (float)p->fill_b;
    void *args[] = {&b->address[i], &type, &count, &tensor_seed, &lo, &hi};
    return run_support(b, p->fill == FILL_NORMAL ? b->fill_normal : b->fill_uniform, grid_for(count), args, e);
}

static status hash_words(struct bench *b, dev_ptr at, uint64_t bytes, uint64_t *hash, struct err *e)
{
    int64_t size = (int64_t)bytes;
    uint32_t blocks = grid_for(size / 4);
    void *args[] = {&at, &size, &b->scratch.data};
    status s = run_support(b, b->hash_words, blocks, args, e);
    if (s) return s;
    size_t n = (size_t)blocks * THREADS;
    uint64_t *sums = mem_alloc(n * sizeof *sums);
    s = b->ops->copy_out(b->dev, sums, b->scratch.data, n * sizeof *sums, e);
    *hash = 0;
    for (size_t i = 0; i < n && !s; i++) *hash += sums[i];
    mem_free(sums);
    return s;
}

status bench_hash(struct bench *b, int tensor, uint64_t *hash, struct err *e)
{
    return hash_words(b, b->address[tensor], b->tensors[tensor].bytes, hash, e);
}

status bench_hash_exact(struct bench *b, int tensor, uint64_t *hash, struct err *e)
{
    return hash_words(b, b->exact[tensor].data, b->exact[tensor].bytes, hash, e);
}

static bool is_exact_name(const char *buffer, const char *tensor)
{
    return !strncmp(buffer, "ref.", 4) && !strcmp(buffer + 4, tensor);
}

/* What a plan left in output i, as its reference. */
static status keep_as_exact(struct bench *b, int i, struct err *e)
{
    int64_t count = tensor_of(b, i)->count;
    int32_t type = type_of(b, i);
    void *args[] = {&b->address[i], &type, &b->exact[i].data, &count};
    return run_support(b, b->upcast, grid_for(count), args, e);
}

/* Runs the reference plan; its "ref.NAME" buffers are ours. */
static status run_reference(struct bench *b, struct err *e)
{
    const struct plan *plan = &b->setup.reference;
    dev_ptr *at = mem_zalloc((size_t)(plan->nbuffers - plan->ntensors) + 1, sizeof *at);
    bool direct = true;
    for (int w = plan->ntensors; w < plan->nbuffers; w++)
        for (int i = 0; i < plan->ntensors; i++)
            if (is_exact_name(plan->buffers[w].name, plan->buffers[i].name)) {
                at[w - plan->ntensors] = b->exact[i].data;
                direct = false;
            }
    struct pipeline run;
    const char *stage;
    const char *image = b->setup.reference_image ? b->setup.reference_image : b->setup.support_image;
    status s = pipeline_open(b->ops, b->dev, plan, image, b->address, at, &run, &stage, e);
    mem_free(at);
    if (s) return s;
    s = bench_poison_outputs(b, e);
    if (!s) s = pipeline_poison(&run, e);
    if (!s) s = pipeline_run(&run, e);
    for (int i = 0; direct && i < plan->ntensors && !s; i++)
        if (plan->buffers[i].role == PLAN_OUTPUT) s = keep_as_exact(b, i, e);
    if (!s) s = b->ops->sync(b->dev, e);
    snprintf(b->reference, sizeof b->reference, "%s", direct ? "kernel" : "fp64");
    pipeline_close(&run);
    return s;
}

/* What the GEMM that sums in float32 leaves in the output, compared with the reference; with no room for fp64 it is the
 * reference. */
static status run_sgemm(struct bench *b, bool as_reference, struct err *e)
{
    const struct plan *plan = &b->setup.sgemm;
    if (!plan->nsteps) return LATHE_OK;
    struct pipeline run;
    const char *stage;
    status s = pipeline_open(b->ops, b->dev, plan, b->setup.support_image, b->address, NULL, &run, &stage, e);
    if (s) return s;
    s = bench_poison_outputs(b, e);
    if (!s) s = pipeline_poison(&run, e);
    if (!s) s = pipeline_run(&run, e);
    for (int i = 0; i < plan->ntensors && !s; i++) {
        if (plan->buffers[i].role != PLAN_OUTPUT) continue;
        if (as_reference) {
            s = keep_as_exact(b, i, e);
            continue;
        }
        struct comparison c;
        s = bench_compare(b, i, &c, e);
        if (!s) b->sgemm_error = c.frobenius;
    }
    if (!s) s = b->ops->sync(b->dev, e);
    pipeline_close(&run);
    return s;
}

/* The GEMM's error as measured; where the output has too few elements to tell (by luck it may be almost nothing), at
 * least one rounding of the output, and what a running sum of k products typically has: u sqrt(k) / 3, u = 2^-24, which
 * is within 10 % of what cuBLAS SGEMM measured at k = 4096 to 32768 (docs/results.md). */
static double yardstick(const struct bench *b)
{
    enum { ENOUGH_ELEMENTS = 4096 };
    const double u = dtype_roundoff(DTYPE_f32);
    const struct plan *plan = &b->setup.sgemm;
    double floor = u;           /* one rounding of the sum is always allowed */
    for (int i = 0; i < plan->nsteps; i++) {
        const struct plan_step *s = &plan->steps[i];
        if (s->kind == STEP_GEMM && s->m * s->n < ENOUGH_ELEMENTS) floor = fmax(floor, u * sqrt((double)s->k) / 3);
    }
    for (int i = 0; i < plan->ntensors; i++) {
        const struct plan_buffer *t = &plan->buffers[i];
        if (t->role == PLAN_OUTPUT && t->count < ENOUGH_ELEMENTS) floor = fmax(floor, dtype_roundoff(t->dtype));
    }
    return fmax(b->sgemm_error, floor);
}

static void set_limit(struct bench *b)
{
    const struct tolerance *t = &b->setup.tolerance;
    double limit = t->frobenius;
    if (t->times_sgemm_error > 0 && isfinite(b->sgemm_error)) {
        double by_sgemm = t->times_sgemm_error * yardstick(b);
        if (limit <= 0 || by_sgemm < limit) limit = by_sgemm;
    }
    b->frobenius_limit = limit;
}

status bench_inputs(struct bench *b, uint64_t seed, struct err *e)
{
    b->seed = 0;
    b->sgemm_error = NAN;
    int n = b->setup.tensors.ntensors;
    for (int i = 0; i < n; i++) {
        if (tensor_of(b, i)->role != PLAN_INPUT) continue;
        status s = fill_input(b, i, seed, e);
        if (!s) s = bench_hash(b, i, &b->hash[i], e);
        if (s) return s;
    }
    status s = run_reference(b, e);
    bool no_room = s && b->ops->fault(b->dev) == DEV_FAULT_RESOURCES && b->setup.sgemm.nsteps;
    if (s && !no_room) return err_prefix(e, "computing the reference");
    s = run_sgemm(b, no_room, e);
    if (s) return err_prefix(e, "computing the GEMM's own error");
    if (no_room) snprintf(b->reference, sizeof b->reference, "sgemm");
    set_limit(b);
    for (int i = 0; i < n; i++) {
        if (tensor_of(b, i)->role != PLAN_OUTPUT) continue;
        s = bench_hash_exact(b, i, &b->hash[i], e);
        if (s) return s;
    }
    b->seed = seed;
    return LATHE_OK;
}

status bench_poison_outputs(struct bench *b, struct err *e)
{
    for (int i = 0; i < b->setup.tensors.ntensors; i++) {
        if (tensor_of(b, i)->role != PLAN_OUTPUT) continue;
        status s = buffer_poison(b->ops, b->dev, b->address[i], b->tensors[i].bytes, false, e);
        if (s) return s;
    }
    return LATHE_OK;
}

status bench_flush(struct bench *b, struct err *e)
{
    return b->ops->fill(b->dev, b->flush.data, 0x3f800000u, b->flush.bytes / 4 * 4, e);
}

/* --- comparison --- */

/* The larger; NaN if either is (fmax would drop it). */
static double larger(double a, double b) { return isnan(a) || isnan(b) ? NAN : a > b ? a : b; }

status bench_compare(struct bench *b, int tensor, struct comparison *out, struct err *e)
{
    int64_t count = tensor_of(b, tensor)->count;
    int32_t type = type_of(b, tensor);
    double atol = b->setup.tolerance.atol, rtol = b->setup.tolerance.rtol;
    uint32_t blocks = grid_for(count);
    void *args[] = {&b->address[tensor], &type, &b->exact[tensor].data, &count, &atol, &rtol, &b->scratch.data};
    status s = run_support(b, b->compare, blocks, args, e);
    if (s) return s;
    size_t n = (size_t)blocks * THREADS;
    struct partial *parts = mem_alloc(n * sizeof *parts);
    s = b->ops->copy_out(b->dev, parts, b->scratch.data, n * sizeof *parts, e);
    if (!s) {
        double diff1 = 0, diff2 = 0, ref2 = 0;
        *out = (struct comparison){.elements = count};
        for (size_t i = 0; i < n; i++) {
            out->max_abs = larger(out->max_abs, parts[i].max_abs);
            out->max_rel = larger(out->max_rel, parts[i].max_rel);
            diff1 += parts[i].diff1;
            diff2 += parts[i].diff2;
            ref2 += parts[i].ref2;
            out->mismatches += (int64_t)parts[i].mismatches;
        }
        out->frobenius = diff2 == 0 ? 0 : sqrt(diff2) / sqrt(ref2);
        out->mean_abs = diff1 / (double)count;
        out->rms = sqrt(diff2 / (double)count);
    }
    mem_free(parts);
    return s;
}

/* "[3,17]" for a flat index */
static void index_text(const struct plan_buffer *p, int64_t flat, char *text, size_t size)
{
    int64_t index[MAX_RANK];
    for (int d = p->rank - 1; d >= 0; d--) {
        index[d] = flat % p->shape[d];
        flat /= p->shape[d];
    }
    size_t at = 0;
    for (int d = 0; d < p->rank && at < size; d++)
        at += (size_t)snprintf(text + at, size - at, "%c%lld", d ? ',' : '[', (long long)index[d]);
    if (at < size) snprintf(text + at, size - at, "]");
}

static bool is_poison(const unsigned char *element, int size)
{
    for (int i = 0; i < size; i++)
        if (element[i] != 0xff) return false;
    return true;
}

/* The sign of a NaN says nothing. */
static void number_text(double v, char *text, size_t size)
{
    if (isnan(v))
        snprintf(text, size, "nan");
    else
        snprintf(text, size, "%.9g", v);
}

status bench_describe_mismatches(struct bench *b, int tensor, char *text, size_t size, struct err *e)
{
    const struct plan_buffer *p = tensor_of(b, tensor);
    const struct tolerance *t = &b->setup.tolerance;
    size_t n = (size_t)p->count;
    int size_of_one = dtype_bytes(p->dtype);
    unsigned char *data = mem_alloc(n * (size_t)size_of_one);
    double *ref = mem_alloc(n * sizeof *ref);
    status s = b->ops->copy_out(b->dev, data, b->address[tensor], n * (size_t)size_of_one, e);
    if (!s) s = b->ops->copy_out(b->dev, ref, b->exact[tensor].data, n * sizeof *ref, e);
    size_t at = 0, shown = 0, unwritten = 0;
    for (size_t i = 0; i < n && !s; i++) {
        if (is_poison(data + i * (size_t)size_of_one, size_of_one)) unwritten++;
        double got = dtype_read(p->dtype, data, (int64_t)i), diff = fabs(got - ref[i]);
        if (diff <= t->atol + t->rtol * fabs(ref[i]) || shown >= 4 || at >= size) continue;
        char index[64];
        index_text(p, (int64_t)i, index, sizeof index);
        char g[32], r[32];
        number_text(got, g, sizeof g);
        number_text(ref[i], r, sizeof r);
        at += (size_t)snprintf(text + at, size - at, "%s%s%s got %s, wanted %s", shown ? "; " : "", p->name, index, g, r);
        shown++;
    }
    if (unwritten && !s && at < size)
        snprintf(text + at, size - at, "%s%zu of %zu elements were never written", at ? "; " : "", unwritten, n);
    mem_free(data);
    mem_free(ref);
    return s;
}
