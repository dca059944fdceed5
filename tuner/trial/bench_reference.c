/* bench_reference.c: is the specification's own reference kernel fit to judge others? What it writes out of bounds,
 * into its inputs or not at all, or makes of what it should not read, would be said of every candidate. It is looked at
 * by itself, each time it has run, and what is found is the specification's fault (LATHE_SPEC). */
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

static struct guarded *guard_of(struct bench *b, const struct pipeline *run, int buffer)
{
    const int workspace = buffer - run->plan->ntensors;
    return workspace < 0 ? &b->tensors[buffer] : &run->workspace[workspace];
}

/* Guards of all its buffers, and its inputs. */
static status check_memory(struct bench *b, const struct pipeline *run, struct err *e)
{
    const struct plan *plan = run->plan;
    for (int i = 0; i < plan->nbuffers; i++) {
        int where;
        int64_t offset;
        char place[60];
        status s = guarded_check(b->ops, b->dev, guard_of(b, run, i), &where, &offset, e);
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
        if (!is_garbage(first->copy + k * size, size, GARBAGE_OUTPUT_NAN) ||
            !is_garbage(second + k * size, size, GARBAGE_OUTPUT_NUMBERS))
            continue;
        if (!unwritten++) where = k;
    }
    mem_free(second);
    if (s || !unwritten) return s;
    char index[64];
    bench_index_text(p, where, index, sizeof index);
    return faulty(b, e, "leaves %lld of %lld elements of %s unwritten, the first %s%s", (long long)unwritten,
                  (long long)p->count, p->name, p->name, index);
}

/* An output that differs from what the first run gave by more than a candidate may; -1: none. Sums may come out in
 * another order. */
static status find_other(struct bench *b, const struct first_run *first, int *which, struct comparison *c,
                         struct err *e)
{
    *which = -1;
    for (int i = 0; i < b->setup.tensors.ntensors; i++) {
        uint64_t now;
        if (bench_tensor(b, i)->role != PLAN_OUTPUT) continue;
        status s = bench_hash(b, i, &now, e);
        if (s) return s;
        if (now == first[i].hash) continue;
        s = bench_compare(b, i, c, e);
        if (s) return s;
        const double limit = bench_norm_limit(b, c);
        if (!c->mismatches && (!(limit > 0) || c->frobenius <= limit)) continue;
        *which = i;
        return LATHE_OK;
    }
    return LATHE_OK;
}

/* What it finds beside its buffers, in outputs and workspace, and in shared memory. */
struct found {
    enum garbage bands, memory, shared;
};
static const struct found all_nan = {GARBAGE_NAN, GARBAGE_NAN, GARBAGE_NAN},
                          all_numbers = {GARBAGE_NUMBERS, GARBAGE_NUMBERS, GARBAGE_NUMBERS};

static status run_in(struct bench *b, struct pipeline *run, struct found in, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < run->plan->nbuffers && !s; i++)
        s = guarded_bands(b->ops, b->dev, guard_of(b, run, i), in.bands, e);
    if (!s) s = bench_poison_outputs(b, in.memory, e);
    if (!s) s = pipeline_poison(run, in.memory, e);
    if (!s) s = bench_leave_shared(b, in.shared, e);
    if (!s) s = pipeline_run(run, e);
    return s ? s : b->ops->sync(b->dev, e);
}

#define NOT_THE_SAME "does not give the same twice"

/* Why its second run gave something else: one thing after the other is as it was not in the first. What is compared is
 * always an even number of runs after that: on the host device every other launch of a kernel finds other numbers in
 * shared memory, and has another order, so that is what is left there. On a GPU it is chance, but for shared memory. */
static status find_why(struct bench *b, struct pipeline *run, const struct first_run *first, const char **why,
                       struct err *e)
{
    static const struct {
        struct found in;
        const char *why;
    } tries[] = {{{GARBAGE_NAN, GARBAGE_NAN, GARBAGE_NAN}, NOT_THE_SAME},
                 {{GARBAGE_NUMBERS, GARBAGE_NAN, GARBAGE_NAN}, "reads out of bounds, what lies beside its buffers"},
                 {{GARBAGE_NAN, GARBAGE_NUMBERS, GARBAGE_NAN}, "reads an output or workspace that it did not write"},
                 {{GARBAGE_NAN, GARBAGE_NAN, GARBAGE_NUMBERS}, "reads shared memory that it did not write"}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        int which;
        struct comparison c;
        status s = i ? run_in(b, run, all_nan, e) : LATHE_OK;
        if (!s) s = run_in(b, run, tries[i].in, e);
        if (!s) s = find_other(b, first, &which, &c, e);
        *why = tries[i].why;
        if (s || which >= 0) return s;
    }
    *why = !strcmp(b->ops->kind, "host")
               ? "reads shared memory that it did not write, or counts on an order of threads or blocks"
               : NOT_THE_SAME;
    return LATHE_OK;
}

/* The outputs are those of the second run. quick: a run takes so little time that the reason can be looked for. */
static status check_same(struct bench *b, struct pipeline *run, const struct first_run *first, bool quick,
                         struct err *e)
{
    int i;
    struct comparison c;
    char text[400];
    const char *why = NOT_THE_SAME;
    status s = find_other(b, first, &i, &c, e);
    if (s || i < 0) return s;
    s = bench_describe_mismatches(b, i, text, sizeof text, e);
    if (!s && quick) s = find_why(b, run, first, &why, e);
    const struct plan_buffer *p = bench_tensor(b, i);
    return s ? s
             : faulty(b, e,
                      "%s: by more than the tolerance its second run differs from the first in %lld of %lld elements "
                      "of %s (wanted is the first): %s",
                      why, (long long)c.mismatches, (long long)c.elements, p->name, text);
}

status bench_check_reference(struct bench *b, struct pipeline *run, double seconds, struct err *e)
{
    const struct plan *plan = run->plan;
    struct first_run *first = mem_zalloc((size_t)plan->ntensors + 1, sizeof *first);
    const bool quick = seconds < RUN_AGAIN_BELOW;
    bool again = quick;
    status s = check_memory(b, run, e);
    for (int i = 0; i < plan->ntensors && !s; i++) {
        if (plan->buffers[i].role == PLAN_OUTPUT) s = look_at(b, i, &first[i], e);
        again |= first[i].copy != NULL;
    }
    if (!s && again) s = run_in(b, run, all_numbers, e);
    if (!s && again) s = check_memory(b, run, e);
    for (int i = 0; i < plan->ntensors && !s && again; i++)
        if (plan->buffers[i].role == PLAN_OUTPUT) s = check_written(b, i, &first[i], e);
    if (!s && again) s = check_same(b, run, first, quick, e);
    for (int i = 0; i < plan->ntensors; i++) mem_free(first[i].copy);
    mem_free(first);
    return s;
}
