/* bench.c: see bench.h. Invariants: inputs hold exactly what `seed` and `now->inputs` give, or seed is 0; `exact` of
 * all answers, and for scaled inputs `scale` and `sgemm`, belong to the seed. */
#include "trial/bench_private.h"
#include "base/mem.h"
#include <math.h>
#include <string.h>

static const uint64_t SCRATCH_BYTES =
    (BENCH_MAX_BLOCKS + BENCH_JOINED_BLOCKS) * BENCH_THREADS * sizeof(struct partial);

status bench_run_support(struct bench *b, struct dev_function *f, uint32_t blocks, void **args, struct err *e)
{
    const struct dev_launch how = {.grid = {blocks, 1, 1}, .block = {BENCH_THREADS, 1, 1}};
    return b->ops->launch(b->dev, f, &how, args, e);
}

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
                  {"lathe_fill_class", &b->fill_class},
                  {"lathe_hash", &b->hash_words},
                  {"lathe_sum", &b->sum},
                  {"lathe_join", &b->join},
                  {"lathe_compare", &b->compare},
                  {"lathe_compare_scaled", &b->compare_scaled},
                  {"lathe_perturb", &b->perturb},
                  {"lathe_add_square", &b->add_square},
                  {"lathe_largest", &b->largest},
                  {"lathe_sensitivity", &b->sensitivity},
                  {"lathe_upcast", &b->upcast},
                  {"lathe_count_same", &b->count_same},
                  {"lathe_leave_shared", &b->leave_shared}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !s; i++)
        s = b->ops->function(b->dev, b->support, wanted[i].name, wanted[i].at, e);
    return s;
}

status bench_leave_shared(struct bench *b, enum garbage with, struct err *e)
{
    enum { BLOCKS_PER_SM = 2 };     /* of which one has room at a time: none of the SMs is left out */
    if (!b->shared_bytes) return LATHE_OK;
    const struct dev_launch how = {.grid = {(uint32_t)b->sm_count * BLOCKS_PER_SM, 1, 1},
                                   .block = {BENCH_THREADS, 1, 1}, .shared = (uint32_t)b->shared_bytes};
    uint32_t word = garbage_word(with);
    void *args[] = {&word, &b->shared_bytes};
    return b->ops->launch(b->dev, b->leave_shared, &how, args, e);
}

status bench_alloc_answers(struct bench *b, struct answers *a, struct err *e)
{
    const struct plan *t = &b->setup.tensors;
    size_t n = (size_t)t->ntensors + 1;
    a->exact = mem_zalloc(n, sizeof *a->exact);
    a->hash = mem_zalloc(n, sizeof *a->hash);
    a->same = mem_zalloc(n, sizeof *a->same);
    a->common = mem_zalloc(n, sizeof *a->common);
    a->zeros = mem_zalloc(n, sizeof *a->zeros);
    a->scale = mem_zalloc(n, sizeof *a->scale);
    a->sgemm = mem_zalloc(n, sizeof *a->sgemm);
    a->sgemm_error = NAN;
    for (int i = 0; i < t->ntensors; i++) {
        const struct plan_buffer *p = bench_tensor(b, i);
        if (p->role != PLAN_OUTPUT) continue;
        status s = guarded_alloc(b->ops, b->dev, (uint64_t)p->count * sizeof(double), &a->exact[i], e);
        if (s) return err_prefix(e, "the reference of tensor %s", p->name);
    }
    return LATHE_OK;
}

void bench_free_answers(struct bench *b, struct answers *a)
{
    for (int i = 0; a->exact && i < b->setup.tensors.ntensors; i++) {
        guarded_release(b->ops, b->dev, &a->exact[i]);
        guarded_release(b->ops, b->dev, &a->scale[i]);
        guarded_release(b->ops, b->dev, &a->sgemm[i]);
    }
    mem_free(a->exact);
    mem_free(a->scale);
    mem_free(a->sgemm);
    mem_free(a->hash);
    mem_free(a->same);
    mem_free(a->common);
    mem_free(a->zeros);
    memset(a, 0, sizeof *a);
}

static status alloc_tensors(struct bench *b, struct err *e)
{
    const struct plan *t = &b->setup.tensors;
    size_t n = (size_t)t->ntensors + 1;
    b->tensors = mem_zalloc(n, sizeof *b->tensors);
    b->address = mem_zalloc(n, sizeof *b->address);
    for (int i = 0; i < t->ntensors; i++) {
        const struct plan_buffer *p = bench_tensor(b, i);
        if (p->dtype != DTYPE_f32 && !dtype_is_16_bit_float(p->dtype))
            return err_set(e, LATHE_SPEC, "tensor %s is %s: problem tensors are f32, f16 or bf16 in this version",
                           p->name, dtype_name(p->dtype));
        status s = guarded_alloc(b->ops, b->dev, (uint64_t)plan_buffer_bytes(p), &b->tensors[i], e);
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
    out->now = &out->timed;
    memset(setup, 0, sizeof *setup);
    if (t->limit[LIMIT_sm] > 0) out->shared_bytes = (int32_t)t->limit[LIMIT_max_shared_per_block];
    out->sm_count = (int32_t)t->limit[LIMIT_sm_count];
    status s = load_support(out, e);
    if (!s) s = alloc_tensors(out, e);
    if (!s) s = bench_alloc_answers(out, &out->timed, e);
    if (!s && out->setup.check) s = bench_alloc_answers(out, &out->check, e);
    if (!s) s = guarded_alloc(ops, d, SCRATCH_BYTES, &out->scratch, e);
    if (!s) s = guarded_alloc(ops, d, (uint64_t)t->limit[LIMIT_l2_bytes] * 2 / 4 * 4 + 4, &out->flush, e);
    if (s) bench_close(out);
    return s;
}

void bench_close(struct bench *b)
{
    if (!b->ops) return;
    for (int i = 0; b->tensors && i < b->setup.tensors.ntensors; i++)
        guarded_release(b->ops, b->dev, &b->tensors[i]);
    bench_free_answers(b, &b->timed);
    bench_free_answers(b, &b->check);
    bench_free_answers(b, &b->varied);
    guarded_release(b->ops, b->dev, &b->scratch);
    guarded_release(b->ops, b->dev, &b->flush);
    if (b->support) b->ops->unload(b->dev, b->support);
    mem_free(b->tensors);
    mem_free(b->address);
    bench_setup_free(&b->setup);
    memset(b, 0, sizeof *b);
}

status bench_partials(struct bench *b, struct dev_function *join, uint32_t blocks, size_t size, int64_t *count,
                      void **out, struct err *e)
{
    int64_t n = (int64_t)blocks * BENCH_THREADS;
    dev_ptr from = b->scratch.data, to = from + (uint64_t)n * size;
    status s = LATHE_OK;
    if (blocks > BENCH_JOINED_BLOCKS) {
        void *args[] = {&from, &n, &to};
        s = bench_run_support(b, join, BENCH_JOINED_BLOCKS, args, e);
        from = to;
        n = BENCH_JOINED_BLOCKS * BENCH_THREADS;
    }
    *out = mem_alloc((size_t)n * size);
    if (!s) s = b->ops->copy_out(b->dev, *out, from, (size_t)n * size, e);
    *count = s ? 0 : n;
    return s;
}

status bench_add_up(struct bench *b, uint32_t blocks, uint64_t *sum, struct err *e)
{
    int64_t n;
    void *all;
    status s = bench_partials(b, b->sum, blocks, sizeof *sum, &n, &all, e);
    *sum = 0;
    for (int64_t i = 0; i < n; i++) *sum += ((uint64_t *)all)[i];
    mem_free(all);
    return s;
}

static status hash_words(struct bench *b, dev_ptr at, uint64_t bytes, uint64_t *hash, struct err *e)
{
    int64_t size = (int64_t)bytes;
    uint32_t blocks = bench_blocks(size / 4);
    void *args[] = {&at, &size, &b->scratch.data};
    status s = bench_run_support(b, b->hash_words, blocks, args, e);
    return s ? s : bench_add_up(b, blocks, hash, e);
}

status bench_hash(struct bench *b, int tensor, uint64_t *hash, struct err *e)
{
    return hash_words(b, b->address[tensor], b->tensors[tensor].bytes, hash, e);
}

status bench_hash_exact(struct bench *b, const struct answers *a, int tensor, uint64_t *hash, struct err *e)
{
    return hash_words(b, a->exact[tensor].data, a->exact[tensor].bytes, hash, e);
}

status bench_poison_outputs(struct bench *b, enum garbage with, struct err *e)
{
    enum garbage own = with == GARBAGE_NAN ? GARBAGE_OUTPUT_NAN : GARBAGE_OUTPUT_NUMBERS;
    for (int i = 0; i < b->setup.tensors.ntensors; i++) {
        if (bench_tensor(b, i)->role != PLAN_OUTPUT) continue;
        status s = buffer_poison(b->ops, b->dev, b->address[i], b->tensors[i].bytes, own, e);
        if (s) return s;
    }
    return LATHE_OK;
}

status bench_flush(struct bench *b, struct err *e)
{
    return b->ops->fill(b->dev, b->flush.data, 0x3f800000u, b->flush.bytes / 4 * 4, e);
}
