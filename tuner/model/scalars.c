/* scalars.c: see scalars.h. */
#include "model/scalars.h"

#include "base/mem.h"
#include "model/serve.h"
#include <math.h>
#include <string.h>

/* --- which may vary --- */

/* A kernel's formulas, and which of its slots depend on the scalar: itself, and lets. */
struct reach {
    const struct kernel *k;
    bool *slot;
};

static bool reaches(const struct reach *r, const struct expr *x)
{
    for (int i = 0; x && i < r->k->scope.count; i++)
        if (r->slot[i] && expr_uses(x, i))
            return true;
    return false;
}

static bool reaches_any(const struct reach *r, struct expr *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (reaches(r, list[i]))
            return true;
    return false;
}

static bool reaches_arg(const struct reach *r, const struct arg *a)
{
    const struct tensor_map *m = a->map;
    if (a->kind == ARG_EXPR)
        return (a->type == ARG_I32 || a->type == ARG_I64) && reaches(r, a->expr);
    return a->kind == ARG_TENSOR_MAP && (reaches_any(r, m->shape, MAX_RANK) || reaches_any(r, m->box, MAX_RANK) ||
                                         reaches(r, m->swizzle) || reaches(r, m->l2));
}

static bool reaches_step(const struct reach *r, const struct step *s)
{
    const struct launch *l = &s->launch;
    if (reaches(r, s->when))
        return true;
    if (s->kind != STEP_LAUNCH)
        return false;
    if (reaches_any(r, l->grid, 3) || reaches_any(r, l->block, 3) || reaches_any(r, l->cluster, 3) ||
        reaches(r, l->shared) || reaches(r, l->programmatic))
        return true;
    if (l->l2_window && (reaches(r, l->l2_window->ratio) || reaches(r, l->l2_window->when)))
        return true;
    for (int i = 0; i < l->nargs; i++)
        if (reaches_arg(r, &l->args[i]))
            return true;
    return false;
}

/* NOTE: no parameter's `when` and no requirement may use a scalar. */
static bool reaches_kernel(const struct reach *r)
{
    const struct kernel *k = r->k;
    for (int i = 0; i < k->nlets; i++) {
        r->slot[k->first_let + i] = reaches(r, k->lets[i].expr);
        if (r->slot[k->first_let + i] && expr_type(k->lets[i].expr) != VALUE_FLOAT)
            return true;                            /* it may be compiled in */
    }
    for (int i = 0; i < k->nconstraints; i++)
        if (reaches(r, k->constraints[i].expr))
            return true;
    for (int i = 0; i < k->nworkspace; i++)
        if (reaches(r, k->workspace[i].when) || reaches_any(r, k->workspace[i].shape, MAX_RANK))
            return true;
    for (int i = 0; i < k->nsteps; i++)
        if (reaches_step(r, &k->steps[i]))
            return true;
    return false;
}

static bool kernel_depends_on(const struct kernel *k, int slot)
{
    struct reach r = {k, mem_zalloc((size_t)k->scope.count + 1, sizeof *r.slot)};
    r.slot[slot] = true;
    bool depends = reaches_kernel(&r);
    mem_free(r.slot);
    return depends;
}

bool scalar_varies(const struct problem *p, int scalar)
{
    int slot = p->ndims + scalar;
    for (int i = 0; i < p->ntensors; i++)
        for (int d = 0; d < p->tensors[i].rank; d++)
            if (expr_uses(p->tensors[i].shape[d], slot))
                return false;
    if (p->epilogue && expr_indexes_by(p->epilogue, slot))
        return false;
    if (p->reference.kind == REFERENCE_KERNEL && kernel_depends_on(p->reference.kernel, slot))
        return false;
    for (int i = 0; i < p->nkernels; i++)
        if (kernel_depends_on(&p->kernels[i], slot))
            return false;
    return true;
}

/* --- other values --- */

/* The least size of a scalar that is not 0, but at most 1. */
static double least_size(const struct problem *p)
{
    double least = 1;
    for (int i = 0; i < p->nscalars; i++)
        if (p->scalars[i].value != 0)
            least = fmin(least, fabs(p->scalars[i].value));
    return least;
}

static double size_of(const struct problem *p, int i)
{
    return fabs(p->scalars[i].value);
}

/* What is left of each that varies: from 3/4 to 15/16, each another share, so that equal ones, and a ratio of two that
 * is compiled in, show too. by_size: the smallest has the least. */
static double share_of(const struct problem *p, const bool *varies, bool by_size, int i)
{
    int n = 0, before = 0;
    for (int j = 0; j < p->nscalars; j++) {
        const double less = size_of(p, j) - size_of(p, i);
        n += varies[j];
        before += varies[j] && (by_size && less != 0 ? less < 0 : j < i);
    }
    return 0.75 + before * fmin(1 / 16.0, 3 / 16.0 / fmax(n - 1, 1));
}

/* The largest size of one of the same sign that is smaller and stays. */
static double stays_below(const struct problem *p, const bool *varies, int i)
{
    double most = 0;
    for (int j = 0; j < p->nscalars; j++)
        if (!varies[j] && size_of(p, j) < size_of(p, i) && p->scalars[j].value * p->scalars[i].value > 0)
            most = fmax(most, size_of(p, j));
    return most;
}

/* Towards 0, where bounds, rates and exponents mean no harm; a 0 becomes less than all others. in_order: those of one
 * sign keep their order, since none gets below a smaller one that stays, and of those that vary the larger keeps the
 * larger share, of its size and of what it is above that. */
static void set_values(const struct problem *p, const bool *varies, bool in_order, struct scalar *out)
{
    double least = least_size(p);
    for (int i = 0; i < p->nscalars; i++) {
        const double v = p->scalars[i].value, share = share_of(p, varies, in_order, i);
        const double below = in_order ? stays_below(p, varies, i) : 0;
        const double size = fmax(fabs(v) * share, below + (fabs(v) - below) * (share - 0.5));
        out[i] = p->scalars[i];
        if (varies[i] && v == 0)
            out[i].value = (float)(least * (share - 0.25));
        else if (varies[i] && (float)size > (float)below)       /* else no float lies between */
            out[i].value = (float)copysign(size, v);
    }
}

/* A lower bound stays below the upper one. */
static bool keeps_order(const struct problem *p, const struct scalar *other)
{
    for (int i = 0; i < p->nscalars; i++)
        for (int j = 0; j < p->nscalars; j++)
            if (p->scalars[i].value < p->scalars[j].value && other[i].value >= other[j].value)
                return false;
    return true;
}

static bool differs(const struct problem *p, const struct scalar *other, int i)
{
    return (float)other[i].value != (float)p->scalars[i].value;
}

bool scalars_vary(const struct problem *p, struct problem *out)
{
    struct scalar *other = mem_zalloc((size_t)p->nscalars + 1, sizeof *other);
    bool *varies = mem_zalloc((size_t)p->nscalars + 1, sizeof *varies), any = false;
    for (int i = 0; i < p->nscalars; i++)
        varies[i] = scalar_varies(p, i);
    set_values(p, varies, false, other);
    if (!keeps_order(p, other))
        set_values(p, varies, true, other);
    mem_free(varies);
    for (int i = 0; i < p->nscalars; i++)
        any = any || differs(p, other, i);
    *out = (struct problem){0};
    if (!any || !keeps_order(p, other)) {
        mem_free(other);
        return false;
    }
    *out = *p;
    out->scalars = other;
    return true;
}

void scalars_free(struct problem *varied)
{
    mem_free(varied->scalars);                      /* their names are the problem's */
    *varied = (struct problem){0};
}

void scalars_text(const struct problem *p, const struct problem *varied, struct strbuf *b)
{
    const char *comma = "";
    for (int i = 0; i < p->nscalars; i++) {
        if (!differs(p, varied->scalars, i))
            continue;
        sb_addf(b, "%s%s = %.6g", comma, p->scalars[i].name, varied->scalars[i].value);
        comma = ", ";
    }
}

void scalars_kept_text(const struct problem *p, struct strbuf *b)
{
    for (int i = 0; i < p->nscalars; i++)
        if (!scalar_varies(p, i))
            sb_addf(b, "%s%s", b->len ? ", " : "", p->scalars[i].name);
}

/* --- a configuration --- */

static bool same_args(const struct plan_arg *a, const struct plan_arg *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i].kind != b[i].kind || a[i].buffer != b[i].buffer || a[i].i != b[i].i || a[i].nfields != b[i].nfields ||
            !same_args(a[i].fields, b[i].fields, a[i].nfields))
            return false;
    return true;
}

/* NOTE: what else a step has depends on no scalar that varies. */
static bool same_steps(const struct plan *a, const struct plan *b)
{
    if (a->nsteps != b->nsteps || a->nbuffers != b->nbuffers)
        return false;
    for (int i = 0; i < a->nsteps; i++) {
        const struct plan_step *x = &a->steps[i], *y = &b->steps[i];
        if (x->kind != y->kind || strcmp(x->function, y->function) != 0 || x->nargs != y->nargs ||
            memcmp(x->grid, y->grid, sizeof x->grid) != 0 || memcmp(x->block, y->block, sizeof x->block) != 0 ||
            x->shared != y->shared || !same_args(x->args, y->args, x->nargs))
            return false;
    }
    return true;
}

bool scalars_plan(const struct problem *varied, const struct kernel *k, const struct value *tuned,
                  const struct target *device, const struct plan *plan, struct plan *out)
{
    struct err why;
    *out = (struct plan){0};
    if (serve_plan(varied, k, tuned, device, out, &why))
        return false;
    if (same_steps(plan, out))
        return true;
    plan_free(out);
    return false;
}
