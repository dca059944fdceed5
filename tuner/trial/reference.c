/* reference.c: see reference.h. The plans use the same steps as a candidate's, so the worker has one way to run
 * anything. Invariant: buffer indices below ntensors are the problem's tensors, in the problem's order. */
#include "trial/reference.h"
#include "base/mem.h"
#include "model/source.h"
#include <stdio.h>
#include <string.h>

static const char VERIFY_SOURCE[] = {
#include "kernels/common/verify.cu.inc"
    , 0};

enum { REFERENCE_THREADS = 256, REFERENCE_BLOCKS = 1024 };

status reference_source(const struct problem *p, char **text, struct err *e)
{
    struct strbuf b = {0};
    status s = source_epilogue_reference(p, &b, e);
    if (s) {
        sb_free(&b);
        return s;
    }
    sb_addf(&b, "#define LATHE_GEMM %d\n", p->reference.kind == REFERENCE_GEMM);
    sb_add(&b, VERIFY_SOURCE);
    *text = sb_take(&b);
    return LATHE_OK;
}

/* Adds a workspace buffer of the shape of `like`; gives its index. */
static int add_buffer(struct plan *plan, const char *name, const char *suffix, enum dtype dtype, int64_t count)
{
    plan->buffers = mem_resize(plan->buffers, (size_t)plan->nbuffers + 1, sizeof *plan->buffers);
    struct plan_buffer *b = &plan->buffers[plan->nbuffers];
    memset(b, 0, sizeof *b);
    snprintf(b->name, sizeof b->name, "%s%s", name, suffix);
    b->dtype = dtype;
    b->role = PLAN_WORKSPACE;
    b->rank = 1;
    b->shape[0] = b->count = count;
    return plan->nbuffers++;
}

static struct plan_step *add_step(struct plan *plan, enum step_kind kind)
{
    plan->steps = mem_resize(plan->steps, (size_t)plan->nsteps + 1, sizeof *plan->steps);
    struct plan_step *s = &plan->steps[plan->nsteps++];
    memset(s, 0, sizeof *s);
    s->kind = kind;
    return s;
}

static struct plan_step *add_launch(struct plan *plan, const char *function, int nargs)
{
    struct plan_step *s = add_step(plan, STEP_LAUNCH);
    snprintf(s->function, sizeof s->function, "%s", function);
    for (int i = 0; i < 3; i++) s->grid[i] = s->block[i] = 1;
    s->grid[0] = REFERENCE_BLOCKS;
    s->block[0] = REFERENCE_THREADS;
    s->args = mem_zalloc((size_t)nargs, sizeof *s->args);
    s->nargs = nargs;
    return s;
}

static struct plan_arg buffer_arg(int buffer) { return (struct plan_arg){.kind = PLAN_BUFFER, .buffer = buffer}; }
static struct plan_arg int_arg(int64_t i) { return (struct plan_arg){.kind = PLAN_I64, .i = i}; }
static struct plan_arg type_arg(const struct plan *plan, int buffer)
{
    return (struct plan_arg){.kind = PLAN_I32, .i = plan->buffers[buffer].dtype};
}

/* op(A) is m x k and op(B) is k x n, from the tensors' shapes. */
static void gemm_step(struct plan *plan, const struct gemm *g, int a, int b, int c, enum gemm_compute compute)
{
    const struct plan_buffer *A = &plan->buffers[g->a], *B = &plan->buffers[g->b];
    int64_t m = A->shape[g->trans_a ? 1 : 0], k = A->shape[g->trans_a ? 0 : 1], n = B->shape[g->trans_b ? 0 : 1];
    struct plan_step *s = add_step(plan, STEP_GEMM);
    s->a = a;
    s->b = b;
    s->c = c;
    s->trans_a = g->trans_a;
    s->trans_b = g->trans_b;
    s->compute = compute;
    s->m = m;
    s->n = n;
    s->k = k;
}

static void upcast_step(struct plan *plan, int from, int to)
{
    struct plan_step *s = add_launch(plan, "lathe_upcast", 4);
    s->args[0] = buffer_arg(from);
    s->args[1] = type_arg(plan, from);
    s->args[2] = buffer_arg(to);
    s->args[3] = int_arg(plan->buffers[from].count);
}

/* typed: the function is told y's type. */
static status epilogue_step(struct plan *plan, const struct problem *p, const char *function, int z, int y, bool typed,
                            struct err *e)
{
    const struct plan_step *gemm = &plan->steps[plan->nsteps - 1];
    int64_t m = gemm->m, n = gemm->n;
    struct plan_step *s = add_launch(plan, function, 5 + typed);
    struct plan_arg *arg = s->args;
    *arg++ = buffer_arg(z);
    *arg++ = buffer_arg(y);
    if (typed) *arg++ = type_arg(plan, y);
    *arg++ = int_arg(m);
    *arg++ = int_arg(n);
    return plan_epilogue_arg(p, arg, e);
}

static status gemm_plans(const struct problem *p, struct plan *reference, struct plan *sgemm, struct err *e)
{
    const struct gemm *g = &p->reference.gemm;
    status s = plan_tensors(p, reference, e);
    if (s) return s;
    s = plan_tensors(p, sgemm, e);
    if (s) {
        plan_free(reference);
        return s;
    }
    const char *output = p->tensors[g->c].name;
    int64_t size_a = reference->buffers[g->a].count, size_b = reference->buffers[g->b].count;
    int64_t size_c = reference->buffers[g->c].count;
    int a = add_buffer(reference, "a64", "", DTYPE_f64, size_a), b = add_buffer(reference, "b64", "", DTYPE_f64, size_b);
    int z = add_buffer(reference, "z64", "", DTYPE_f64, size_c);
    int r = add_buffer(reference, "ref.", output, DTYPE_f64, size_c);
    upcast_step(reference, g->a, a);
    upcast_step(reference, g->b, b);
    gemm_step(reference, g, a, b, z, GEMM_F64);
    s = epilogue_step(reference, p, "lathe_reference_f64", z, r, false, e);

    int z32 = add_buffer(sgemm, "z32", "", DTYPE_f32, size_c);
    gemm_step(sgemm, g, g->a, g->b, z32, GEMM_F32);
    if (!s) s = epilogue_step(sgemm, p, "lathe_reference_f32", z32, g->c, true, e);
    if (s) {
        plan_free(reference);
        plan_free(sgemm);
    }
    return s;
}

status reference_plans(const struct problem *p, const struct target *t, struct plan *reference, struct plan *sgemm,
                       struct err *e)
{
    memset(reference, 0, sizeof *reference);
    memset(sgemm, 0, sizeof *sgemm);
    if (p->reference.kind == REFERENCE_GEMM) return gemm_plans(p, reference, sgemm, e);

    const struct kernel *k = p->reference.kernel;
    struct value *slots = mem_zalloc((size_t)k->scope.count, sizeof *slots);
    config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
    kernel_slots_fixed(p, k, t, slots);
    status s = kernel_slots_config(k, choice, slots, e);
    if (!s) s = plan_build(p, k, slots, reference, e);
    if (!s) {
        s = plan_tensors(p, sgemm, e);
        if (s) plan_free(reference);
    }
    mem_free(choice);
    mem_free(slots);
    return s;
}
