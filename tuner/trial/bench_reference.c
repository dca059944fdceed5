/* bench_reference.c: is the specification's own reference kernel fit to judge others? What it writes out of bounds,
 * into its inputs or not at all, or differently each time, would be said of every candidate. It is looked at by
 * itself, each time it has run, and what is found is the specification's fault (LATHE_SPEC). */
#include "base/clock.h"
#include "base/mem.h"
#include "trial/bench_private.h"
#include <math.h>
#include <string.h>

/* Where a run takes longer than this, there is no second one, but to settle whether a NaN was written. */
#define RUN_AGAIN_BELOW 1.0

static status faulty(const struct bench *b, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static status faulty(const struct bench *b, struct err *e, const char *fmt, ...)
{
    char whose[600], what[700];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    bench_setup_blame(&b->setup, whose, sizeof whose);
    return err_set(e, LATHE_SPEC, "%s %s", whose, what);
}

/* Guards of all its buffers, and its inputs. */
static status check_memory(struct bench *b, const struct pipeline *run, struct err *e)
{
    const struct plan *plan = run->plan;
    for (int i = 0; i < plan->nbuffers; i++) {
        int where;
        int64_t offset;
        char place[60];
        const struct guarded *g = i < plan->ntensors ? &b->tensors[i] : &run->workspace[i - plan->ntensors];
        status s = guarded_check(b->ops, b->dev, g, &where, &offset, e);
        if (s) return s;
        if (!where) continue;
        guarded_where(where, offset, place, sizeof place);
        return faulty(b, e, "writes out of bounds: %s was written %s", plan->buffers[i].name, place);
    }
    for (int i = 0; i < plan->ntensors; i++) {
        uint64_t now;
        if (plan->buffers[i].role != PLAN_INPUT) continue;
        status s = bench_hash(b, i, &now, e);
        if (s) return s;
        if (now != b->now->hash[i]) return faulty(b, e, "changes its input %s", plan->buffers[i].name);
    }
    return LATHE_OK;
}

/* What the first run left in an output. */
struct first_run {
    uint64_t hash;
    unsigned char *copy;        /* NULL: no NaN is among it, so all was written */
};

static status look_at(struct bench *b, int i, struct first_run *out, struct err *e)
{
    double nans;
    status s = bench_hash(b, i, &out->hash, e);
    if (!s) s = bench_share_of(b, i, NAN, &nans, e);
    if (s || !(nans > 0)) return s;
    out->copy = mem_alloc(b->tensors[i].bytes);
    return b->ops->copy_out(b->dev, out->copy, b->address[i], b->tensors[i].bytes, e);
}

static bool all_bytes(const unsigned char *p, int n, unsigned char value)
{
    for (int i = 0; i < n; i++)
        if (p[i] != value) return false;
    return true;
}

/* An element is unwritten that is, after each run, what it was before: no NaN that the reference itself gives. */
static status check_written(struct bench *b, int i, const struct first_run *first, struct err *e)
{
    const struct plan_buffer *p = bench_tensor(b, i);
    const int size = dtype_bytes(p->dtype);
    if (!first->copy) return LATHE_OK;
    unsigned char *second = mem_alloc(b->tensors[i].bytes);
    status s = b->ops->copy_out(b->dev, second, b->address[i], b->tensors[i].bytes, e);
    int64_t unwritten = 0, where = 0;
    for (int64_t k = 0; k < p->count && !s; k++) {
        if (!all_bytes(first->copy + k * size, size, 0xff) || !all_bytes(second + k * size, size, 0x3f)) continue;
        if (!unwritten++) where = k;
    }
    mem_free(second);
    if (s || !unwritten) return s;
    char index[64];
    bench_index_text(p, where, index, sizeof index);
    return faulty(b, e, "leaves %lld of %lld elements of %s unwritten, the first %s%s", (long long)unwritten,
                  (long long)p->count, p->name, p->name, index);
}

/* Sums may come out in another order, but not further off than a candidate may be. */
static status check_same(struct bench *b, int i, const struct first_run *first, struct err *e)
{
    const struct plan_buffer *p = bench_tensor(b, i);
    uint64_t now;
    struct comparison c;
    char text[400];
    status s = bench_hash(b, i, &now, e);
    if (s || now == first->hash) return s;
    s = bench_compare(b, i, &c, e);
    double limit = b->now->frobenius_limit;
    if (s || (!c.mismatches && (!(limit > 0) || c.frobenius <= limit))) return s;
    s = bench_describe_mismatches(b, i, text, sizeof text, e);
    return s ? s
             : faulty(b, e,
                      "does not give the same twice: by more than the tolerance its second run differs from the first "
                      "in %lld of %lld elements of %s (wanted is the first): %s",
                      (long long)c.mismatches, (long long)c.elements, p->name, text);
}

static status run_again(struct bench *b, struct pipeline *run, struct err *e)
{
    status s = bench_poison_outputs(b, GARBAGE_NUMBERS, e);
    if (!s) s = pipeline_poison(run, GARBAGE_NUMBERS, e);
    if (!s) s = pipeline_run(run, e);
    if (!s) s = b->ops->sync(b->dev, e);
    return s ? s : check_memory(b, run, e);
}

status bench_check_reference(struct bench *b, struct pipeline *run, double seconds, struct err *e)
{
    const struct plan *plan = run->plan;
    struct first_run *first = mem_zalloc((size_t)plan->ntensors + 1, sizeof *first);
    bool again = seconds < RUN_AGAIN_BELOW;
    status s = check_memory(b, run, e);
    for (int i = 0; i < plan->ntensors && !s; i++) {
        if (plan->buffers[i].role == PLAN_OUTPUT) s = look_at(b, i, &first[i], e);
        again |= first[i].copy != NULL;
    }
    if (!s && again) s = run_again(b, run, e);
    for (int i = 0; i < plan->ntensors && !s && again; i++) {
        if (plan->buffers[i].role != PLAN_OUTPUT) continue;
        s = check_written(b, i, &first[i], e);
        if (!s) s = check_same(b, i, &first[i], e);
    }
    for (int i = 0; i < plan->ntensors; i++) mem_free(first[i].copy);
    mem_free(first);
    return s;
}
