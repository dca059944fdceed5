/* bench_compare.c: outputs against their reference, by the specification's tolerance or, on inputs of sizes that differ
 * much, each element by its own scale; and in words. */
#include "base/mem.h"
#include "trial/bench_private.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The larger; NaN if either is (fmax would drop it). */
static double larger(double a, double b) { return isnan(a) || isnan(b) ? NAN : a > b ? a : b; }

/* The smallest denormal number, by which results of a type differ at least. */
static double least_of(enum dtype t) { return t == DTYPE_f16 ? 0x1p-24 : t == DTYPE_bf16 ? 0x1p-133 : 0x1p-149; }

/* Queues the comparison of what is at `at`; partial results come to b->scratch. */
static status queue_compare(struct bench *b, int tensor, dev_ptr at, uint32_t blocks, struct err *e)
{
    int64_t count = bench_tensor(b, tensor)->count;
    int32_t type = bench_type(b, tensor);
    dev_ptr exact = b->now->exact[tensor].data, scale = b->now->scale[tensor].data, sgemm = b->now->sgemm[tensor].data;
    if (!b->scaled) {
        double atol = b->setup.tolerance.atol, rtol = b->setup.tolerance.rtol;
        double common = b->now->common[tensor];
        void *args[] = {&at, &type, &exact, &count, &atol, &rtol, &common, &b->scratch.data};
        return bench_run_support(b, b->compare, blocks, args, e);
    }
    double limit = b->now->scaled_limit, unit = dtype_roundoff(bench_tensor(b, tensor)->dtype);
    double least = least_of(bench_tensor(b, tensor)->dtype);
    void *args[] = {&at, &type, &exact, &scale, &sgemm, &count, &limit, &unit, &least, &b->scratch.data};
    return bench_run_support(b, b->compare_scaled, blocks, args, e);
}

status bench_compare_at(struct bench *b, int tensor, dev_ptr at, struct comparison *out, struct err *e)
{
    int64_t count = bench_tensor(b, tensor)->count;
    uint32_t blocks = bench_blocks(count);
    status s = queue_compare(b, tensor, at, blocks, e);
    if (s) return s;
    int64_t n;
    void *all;
    s = bench_partials(b, b->join, blocks, sizeof(struct partial), &n, &all, e);
    if (!s) {
        const struct partial *parts = all;
        double diff1 = 0, diff2 = 0, ref2 = 0;
        *out = (struct comparison){.elements = count};
        for (int64_t i = 0; i < n; i++) {
            out->max_abs = larger(out->max_abs, parts[i].max_abs);
            out->max_rel = larger(out->max_rel, parts[i].max_rel);
            diff1 += parts[i].diff1;
            diff2 += parts[i].diff2;
            ref2 += parts[i].ref2;
            out->mismatches += (int64_t)parts[i].mismatches;
            out->idle += (int64_t)parts[i].idle;
        }
        out->no_norm = diff2 != 0 && ref2 == 0;
        out->frobenius = diff2 == 0 ? 0 : out->no_norm ? NAN : sqrt(diff2) / sqrt(ref2);
        double busy = (double)(count > out->idle ? count - out->idle : 1);
        out->mean_abs = diff1 / busy;
        out->rms = sqrt(diff2 / busy);
        out->scaled = b->scaled ? out->max_rel : NAN;
    }
    mem_free(all);
    return s;
}

status bench_compare(struct bench *b, int tensor, struct comparison *out, struct err *e)
{
    return bench_compare_at(b, tensor, b->address[tensor], out, e);
}

double bench_norm_limit(const struct bench *b, const struct comparison *c)
{
    return c->no_norm ? 0 : b->now->frobenius_limit;
}

void bench_index_text(const struct plan_buffer *p, int64_t flat, char *text, size_t size)
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

/* The sign of a NaN says nothing. */
static void number_text(double v, char *text, size_t size)
{
    if (isnan(v))
        snprintf(text, size, "nan");
    else
        snprintf(text, size, "%.9g", v);
}

/* An output and what it is compared with, on the host. */
struct copies {
    unsigned char *got, *sgemm;         /* sgemm: NULL unless the comparison uses it */
    double *ref, *scale;                /* scale likewise */
};

static status copy_all(struct bench *b, int tensor, struct copies *c, struct err *e)
{
    const struct plan_buffer *p = bench_tensor(b, tensor);
    size_t n = (size_t)p->count, bytes = (size_t)plan_buffer_bytes(p);
    c->got = mem_alloc(bytes);
    c->ref = mem_alloc(n * sizeof *c->ref);
    status s = b->ops->copy_out(b->dev, c->got, b->address[tensor], bytes, e);
    if (!s) s = b->ops->copy_out(b->dev, c->ref, b->now->exact[tensor].data, n * sizeof *c->ref, e);
    if (s || !b->scaled || !b->now->scale[tensor].data) return s;
    c->scale = mem_alloc(n * sizeof *c->scale);
    s = b->ops->copy_out(b->dev, c->scale, b->now->scale[tensor].data, n * sizeof *c->scale, e);
    if (s || !b->now->sgemm[tensor].data) return s;
    c->sgemm = mem_alloc(bytes);
    return b->ops->copy_out(b->dev, c->sgemm, b->now->sgemm[tensor].data, bytes, e);
}

static void free_copies(struct copies *c)
{
    mem_free(c->got);
    mem_free(c->sgemm);
    mem_free(c->ref);
    mem_free(c->scale);
}

/* As lathe_same has it. */
static bool is_same(enum dtype type, const struct copies *c, size_t i, double got, double wanted)
{
    size_t size = (size_t)dtype_bytes(type);
    return isnan(wanted) ? isnan(got) && !is_garbage(c->got + i * size, (int)size, GARBAGE_OUTPUT_NAN) : got == wanted;
}

/* Is element i right? As lathe_compare and lathe_compare_scaled have it. *wanted: what it should be. */
static bool is_right(const struct bench *b, enum dtype type, const struct copies *c, size_t i, double got,
                     double *wanted)
{
    const struct tolerance *t = &b->setup.tolerance;
    double ref = c->ref[i], diff = fabs(got - ref), held = dtype_round(type, ref);
    *wanted = ref;
    if (!b->scaled)
        return (!isfinite(held) && is_same(type, c, i, got, held)) ||
               (isfinite(ref) && diff <= t->atol + t->rtol * fabs(ref));
    double sgemm = c->sgemm ? dtype_read(type, c->sgemm, (int64_t)i) : ref;
    if (!isfinite(sgemm)) {
        *wanted = sgemm;
        return is_same(type, c, i, got, sgemm);
    }
    double free = dtype_roundoff(type) * fabs(ref) + least_of(type);
    return diff <= free || (diff - free) / (c->scale ? c->scale[i] : fabs(ref)) <= b->now->scaled_limit;
}

status bench_describe_mismatches(struct bench *b, int tensor, char *text, size_t size, struct err *e)
{
    const struct plan_buffer *p = bench_tensor(b, tensor);
    size_t n = (size_t)p->count, at = 0, shown = 0, unwritten = 0;
    int size_of_one = dtype_bytes(p->dtype);
    struct copies c = {0};
    status s = copy_all(b, tensor, &c, e);
    for (size_t i = 0; i < n && !s; i++) {
        unwritten += is_garbage(c.got + i * (size_t)size_of_one, size_of_one, GARBAGE_OUTPUT_NAN);
        double got = dtype_read(p->dtype, c.got, (int64_t)i), wanted;
        if (is_right(b, p->dtype, &c, i, got, &wanted) || shown >= 4 || at >= size) continue;
        char index[64];
        bench_index_text(p, (int64_t)i, index, sizeof index);
        char g[32], r[32];
        number_text(got, g, sizeof g);
        number_text(wanted, r, sizeof r);
        at +=
            (size_t)snprintf(text + at, size - at, "%s%s%s got %s, wanted %s", shown ? "; " : "", p->name, index, g, r);
        shown++;
    }
    if (unwritten && !s && at < size)
        snprintf(text + at, size - at, "%s%zu of %zu elements were never written", at ? "; " : "", unwritten, n);
    free_copies(&c);
    return s;
}
