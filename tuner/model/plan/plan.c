/* plan.c: a configuration with every expression evaluated and every limit of a launch checked.
 *
 * Invariants of a built plan: buffer indices in steps are in range, and a GEMM's are of buffers that exist (count > 0);
 * every extent of grid and block is at least 1. */
#include "model/plan.h"

#include "base/mem.h"
#include "model/ceiling.h"
#include "model/plan/plan_internal.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

static void args_free(struct plan_arg *args, int n)
{
    for (int i = 0; i < n; i++)
        mem_free(args[i].fields);       /* fields have none of their own */
    mem_free(args);
}

void plan_free(struct plan *plan)
{
    for (int i = 0; i < plan->nsteps; i++)
        args_free(plan->steps[i].args, plan->steps[i].nargs);
    mem_free(plan->steps);
    mem_free(plan->buffers);
    *plan = (struct plan){0};
}

int64_t plan_buffer_bytes(const struct plan_buffer *b)
{
    return b->count * dtype_bytes(b->dtype);
}

int64_t plan_bytes(const struct plan *plan)
{
    int64_t total = 0;
    for (int i = 0; i < plan->nbuffers; i++)    /* each at most 2^60: saturates instead of overflowing */
        if (__builtin_add_overflow(total, plan_buffer_bytes(&plan->buffers[i]), &total))
            return INT64_MAX;
    return total;
}

static status build_buffer(struct builder *b, const struct tensor *t, enum plan_role role, struct plan_buffer *out)
{
    bool present = true;
    snprintf(out->name, sizeof out->name, "%s", t->name);
    out->dtype = t->dtype;
    out->role = role;
    out->rank = t->rank;
    out->fill = t->fill;
    out->zero = t->zero;
    if (t->when) {
        status s = expr_eval_bool(t->when, b->slots, &present, b->e);
        if (s) {
            err_prefix(b->e, "%s: when", t->name);
            return s;
        }
    }
    if (!present)
        return LATHE_OK;
    TRY(tensor_shape(t, b->slots, role == PLAN_WORKSPACE, out->shape, &out->count, b->e));
    if (role == PLAN_INPUT) {
        TRY(expr_eval_double(t->fill_a, b->slots, &out->fill_a, b->e));
        TRY(expr_eval_double(t->fill_b, b->slots, &out->fill_b, b->e));
    }
    out->has_check = role == PLAN_INPUT && t->check_a;
    if (out->has_check) {
        out->check = t->check;
        TRY(expr_eval_double(t->check_a, b->slots, &out->check_a, b->e));
        TRY(expr_eval_double(t->check_b, b->slots, &out->check_b, b->e));
    }
    return LATHE_OK;
}

static status build_buffers(struct builder *b)
{
    const struct problem *p = b->p;
    struct plan *plan = b->plan;
    plan->ntensors = p->ntensors;
    plan->nbuffers = p->ntensors + (b->k ? b->k->nworkspace : 0);
    plan->buffers = mem_zalloc((size_t)plan->nbuffers, sizeof *plan->buffers);
    for (int i = 0; i < plan->nbuffers; i++) {
        bool tensor = i < p->ntensors;
        enum plan_role role = !tensor ? PLAN_WORKSPACE : p->tensors[i].output ? PLAN_OUTPUT : PLAN_INPUT;
        status s = build_buffer(b, problem_buffer(p, b->k, i), role, &plan->buffers[i]);
        if (s && !tensor)
            err_prefix(b->e, "kernel %s: workspace", b->k->name);
        if (s)
            return s;
    }
    return LATHE_OK;
}

static status match(struct builder *b, const struct plan_buffer *x, int i, const struct plan_buffer *y, int j)
{
    if (x->shape[i] == y->shape[j])
        return LATHE_OK;
    return err_set(b->e, LATHE_SPEC, "the shapes do not match: %s is %lld x %lld, %s is %lld x %lld, and axis %d of %s "
                   "must equal axis %d of %s", x->name, (long long)x->shape[0], (long long)x->shape[1], y->name,
                   (long long)y->shape[0], (long long)y->shape[1], i + 1, x->name, j + 1, y->name);
}

static status build_gemm(struct builder *b, const struct gemm *g, struct plan_step *out)
{
    const struct plan_buffer *buffers = b->plan->buffers;
    const struct plan_buffer *ma = &buffers[g->a], *mb = &buffers[g->b], *mc = &buffers[g->c], *all[3] = {ma, mb, mc};
    struct gemm_axes x = gemm_axes(g);
    for (int i = 0; i < 3; i++) {
        if (all[i]->count == 0)
            return err_set(b->e, LATHE_SPEC, "%s is not there in this configuration (its `when` does not hold)",
                           all[i]->name);
        if (all[i]->shape[0] > INT32_MAX || all[i]->shape[1] > INT32_MAX)
            return err_set(b->e, LATHE_SPEC, "%s is %lld x %lld, and a gemm takes at most 2^31-1 rows and columns",
                           all[i]->name, (long long)all[i]->shape[0], (long long)all[i]->shape[1]);
    }
    TRY(match(b, ma, x.k_a, mb, x.k_b));
    TRY(match(b, ma, x.m_a, mc, 0));
    TRY(match(b, mb, x.n_b, mc, 1));
    *out = (struct plan_step){.kind = STEP_GEMM, .a = g->a, .b = g->b, .c = g->c, .trans_a = g->trans_a,
                              .trans_b = g->trans_b, .compute = g->compute, .m = mc->shape[0], .n = mc->shape[1],
                              .k = ma->shape[x.k_a]};
    return LATHE_OK;
}

static status build_step(struct builder *b, const struct step *step)
{
    struct plan *plan = b->plan;
    bool runs = true;
    if (step->when)
        TRY(expr_eval_bool(step->when, b->slots, &runs, b->e));
    if (!runs)
        return LATHE_OK;
    struct plan_step *out = &plan->steps[plan->nsteps++];
    out->kind = step->kind;
    return step->kind == STEP_LAUNCH ? plan_launch(b, &step->launch, out) : build_gemm(b, &step->gemm, out);
}

static status build_steps(struct builder *b)
{
    const struct kernel *k = b->k;
    b->plan->steps = mem_zalloc((size_t)k->nsteps, sizeof *b->plan->steps);
    for (int i = 0; i < k->nsteps; i++) {
        status s = build_step(b, &k->steps[i]);
        if (s) {
            err_prefix(b->e, "kernel %s: step %d (%s)", k->name, i + 1,
                       k->steps[i].kind == STEP_GEMM ? "gemm" : k->steps[i].launch.function);
            return s;
        }
    }
    if (b->plan->nsteps == 0)
        return err_set(b->e, LATHE_SPEC,
                       "kernel %s: no step's `when` holds in this configuration, so nothing would run", k->name);
    return LATHE_OK;
}

status plan_build(const struct problem *p, const struct kernel *k, const struct value *slots, struct plan *out,
                  struct err *e)
{
    struct builder b = {.p = p, .k = k, .slots = slots, .plan = out, .e = e};
    const struct computes *entry;
    double products;                                /* no part of the plan; a mistake there is told before it runs */
    *out = (struct plan){0};
    status s = build_buffers(&b);
    if (!s)
        s = build_steps(&b);
    if (!s)
        s = kernel_computes(k, slots, &entry, &products, e);
    if (s)
        plan_free(out);
    return s;
}

status plan_tensors(const struct problem *p, struct plan *out, struct err *e)
{
    struct value *slots = mem_zalloc((size_t)p->scope.count + 1, sizeof *slots);
    struct builder b = {.p = p, .slots = slots, .plan = out, .e = e};
    *out = (struct plan){0};
    problem_slots(p, slots);
    status s = build_buffers(&b);
    mem_free(slots);
    if (s)
        plan_free(out);
    return s;
}
