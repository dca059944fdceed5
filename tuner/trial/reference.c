/* reference.c: see reference.h. The plans use the same steps as a candidate's, so the worker has one way to run
 * anything. Invariant: buffer indices below ntensors are the problem's tensors, in the problem's order. */
#include "trial/reference.h"
#include "base/mem.h"
#include "model/inputs.h"
#include "model/source.h"
#include "trial/pipeline.h"
#include <stdio.h>
#include <string.h>

static const char VERIFY_SOURCE[] = {
#include "kernels/common/verify.cu.inc"
    , 0};
static const char INPUTS_SOURCE[] = {
#include "kernels/common/inputs.cu.inc"
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
    sb_addf(&b, "#define LATHE_OUTPUT_NAN 0x%xu\n", OUTPUT_NAN);
    for (int i = 0; i < INPUTS_COUNT; i++)
        sb_addf(&b, "#define LATHE_INPUTS_%s %d\n", inputs_name((enum inputs)i), i);
    sb_add(&b, VERIFY_SOURCE);
    sb_add(&b, INPUTS_SOURCE);
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

/* Upcasts the operands and multiplies them: Z in double. a, b: the operands in double. */
static int product(struct plan *plan, const struct gemm *g, int *a, int *b)
{
    *a = add_buffer(plan, "a64", "", DTYPE_f64, plan->buffers[g->a].count);
    *b = add_buffer(plan, "b64", "", DTYPE_f64, plan->buffers[g->b].count);
    int z = add_buffer(plan, "z64", "", DTYPE_f64, plan->buffers[g->c].count);
    upcast_step(plan, g->a, *a);
    upcast_step(plan, g->b, *b);
    gemm_step(plan, g, *a, *b, z, GEMM_F64);
    return z;
}

static status gemm_reference(const struct problem *p, struct plan *plan, struct err *e)
{
    const struct gemm *g = &p->reference.gemm;
    int a, b, z = product(plan, g, &a, &b);
    int r = add_buffer(plan, "ref.", p->tensors[g->c].name, DTYPE_f64, plan->buffers[g->c].count);
    return epilogue_step(plan, p, "lathe_reference_f64", z, r, false, e);
}

static status gemm_sgemm(const struct problem *p, struct plan *plan, struct err *e)
{
    const struct gemm *g = &p->reference.gemm;
    int z = add_buffer(plan, "z32", "", DTYPE_f32, plan->buffers[g->c].count);
    gemm_step(plan, g, g->a, g->b, z, GEMM_F32);
    return epilogue_step(plan, p, "lathe_reference_f32", z, g->c, true, e);
}

static void absolute_step(struct plan *plan, int buffer)
{
    struct plan_step *s = add_launch(plan, "lathe_absolute", 2);
    s->args[0] = buffer_arg(buffer);
    s->args[1] = int_arg(plan->buffers[buffer].count);
}

/* Z and sum |x| |w| in double, and the scale from both. */
static status gemm_scale(const struct problem *p, struct plan *plan, struct err *e)
{
    const struct gemm *g = &p->reference.gemm;
    int a, b, z = product(plan, g, &a, &b);
    int scale = add_buffer(plan, "scale.", p->tensors[g->c].name, DTYPE_f64, plan->buffers[g->c].count);
    absolute_step(plan, a);
    absolute_step(plan, b);
    gemm_step(plan, g, a, b, scale, GEMM_F64);
    const struct plan_step *gemm = &plan->steps[plan->nsteps - 1];
    int64_t m = gemm->m, n = gemm->n, k = gemm->k;
    struct plan_step *s = add_launch(plan, "lathe_scale", 6);
    s->args[0] = buffer_arg(z);
    s->args[1] = buffer_arg(scale);
    /* each of k sums is rounded to a multiple of 2^-149, and the least limit is 2^-17 */
    s->args[2] = (struct plan_arg){.kind = PLAN_F64, .f = (double)k * 0x1p-149 * 0x1p17};
    s->args[3] = int_arg(m);
    s->args[4] = int_arg(n);
    return plan_epilogue_arg(p, &s->args[5], e);
}

static status kernel_reference(const struct problem *p, const struct target *t, struct plan *out, struct err *e)
{
    const struct kernel *k = p->reference.kernel;
    struct value *slots = mem_zalloc((size_t)k->scope.count, sizeof *slots);
    config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
    kernel_slots_fixed(p, k, t, slots);
    status s = kernel_slots_config(k, choice, slots, e);
    if (!s) s = plan_build(p, k, slots, out, e);
    mem_free(choice);
    mem_free(slots);
    return s;
}

status reference_plans(const struct problem *p, const struct target *t, struct reference_plans *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    bool gemm = p->reference.kind == REFERENCE_GEMM;
    status s = gemm ? plan_tensors(p, &out->reference, e) : kernel_reference(p, t, &out->reference, e);
    if (!s) s = plan_tensors(p, &out->sgemm, e);
    if (!s) s = plan_tensors(p, &out->scale, e);
    if (!s && gemm) s = gemm_reference(p, &out->reference, e);
    if (!s && gemm) s = gemm_sgemm(p, &out->sgemm, e);
    if (!s && gemm) s = gemm_scale(p, &out->scale, e);
    if (s) reference_plans_free(out);
    return s;
}

void reference_plans_free(struct reference_plans *p)
{
    plan_free(&p->reference);
    plan_free(&p->sgemm);
    plan_free(&p->scale);
}
