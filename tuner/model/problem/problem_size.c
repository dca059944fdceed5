/* problem_size.c: what depends on the sizes: values of the scope, shapes, and whether they fit together.
 *
 * Invariant: after problem_from_json only the dims' values change, and only to sizes that problem_check_size takes. */
#include "model/problem.h"

#include "base/mem.h"
#include "model/problem/problem_internal.h"
#include <math.h>
#include <string.h>

void problem_slots(const struct problem *p, struct value *slots)
{
    for (int i = 0; i < p->ndims; i++)
        slots[i] = value_int(p->dims[i].value);
    for (int i = 0; i < p->nscalars; i++)
        slots[p->ndims + i] = value_float(p->scalars[i].value);
}

status tensor_shape(const struct tensor *t, const struct value *slots, bool workspace, int64_t shape[MAX_RANK],
                    int64_t *count, struct err *e)
{
    const int64_t most = (INT64_C(1) << 60) / dtype_bytes(t->dtype);
    int64_t n = 1;
    bool too_many = false;
    for (int i = 0; i < t->rank; i++) {
        status s = expr_eval_int(t->shape[i], slots, &shape[i], e);
        if (s) {
            err_prefix(e, "%s: shape[%d]", t->name, i + 1);
            return s;
        }
        if (shape[i] < (workspace ? 0 : 1))
            return err_set(e, LATHE_SPEC, "%s: shape[%d]: %s is %lld, expected %s", t->name, i + 1,
                           expr_text(t->shape[i]), (long long)shape[i], workspace ? "0 or more" : "1 or more");
        if (shape[i] > 0 && n > most / shape[i])
            too_many = true;
        else
            n *= shape[i];
    }
    for (int i = 0; i < t->rank; i++)
        if (shape[i] == 0) {
            n = 0;
            too_many = false;
        }
    if (too_many) {
        struct strbuf text = {0};
        for (int i = 0; i < t->rank; i++)
            sb_addf(&text, "%s%lld", i ? " x " : "", (long long)shape[i]);
        err_set(e, LATHE_SPEC, "%s: %s elements of %s are more than 2^60 bytes: choose a smaller size", t->name,
                sb_str(&text), dtype_name(t->dtype));
        sb_free(&text);
        return LATHE_SPEC;
    }
    *count = n;
    return LATHE_OK;
}

struct gemm_axes gemm_axes(const struct gemm *g)
{
    return (struct gemm_axes){g->trans_a ? 1 : 0, g->trans_a ? 0 : 1, g->trans_b ? 1 : 0, g->trans_b ? 0 : 1};
}

/* Whether an axis depends on nothing but dims and scalars. */
static bool axis_is_fixed(const struct problem *p, const struct kernel *k, const struct expr *x)
{
    for (int i = p->scope.count; k && i < k->scope.count; i++)
        if (expr_uses(x, i))
            return false;
    return true;
}

struct axis {
    const struct tensor *t;
    int axis;
};

static status compare_axes(const struct problem *p, const struct kernel *k, const struct value *slots, struct axis a,
                           struct axis b, const struct gemm *g, struct err *e)
{
    const struct expr *x = a.t->shape[a.axis], *y = b.t->shape[b.axis];
    int64_t i, j;
    if (strcmp(expr_text(x), expr_text(y)) == 0 || !axis_is_fixed(p, k, x) || !axis_is_fixed(p, k, y))
        return LATHE_OK;
    TRY(expr_eval_int(x, slots, &i, e));
    TRY(expr_eval_int(y, slots, &j, e));
    if (i == j)
        return LATHE_OK;
    return err_set(e, LATHE_SPEC,
                   "the shapes do not match: axis %d of %s is %s = %lld, axis %d of %s is %s = %lld, and they must be "
                   "equal (trans_a = %s, trans_b = %s: is one of them the other way?)",
                   a.axis + 1, a.t->name, expr_text(x), (long long)i, b.axis + 1, b.t->name, expr_text(y), (long long)j,
                   g->trans_a ? "true" : "false", g->trans_b ? "true" : "false");
}

status problem_check_gemm(const struct problem *p, const struct kernel *k, const struct gemm *g, struct err *e)
{
    const struct tensor *a = problem_buffer(p, k, g->a), *b = problem_buffer(p, k, g->b),
                        *c = problem_buffer(p, k, g->c);
    struct gemm_axes x = gemm_axes(g);
    struct value *slots = mem_zalloc((size_t)(k ? k->scope.count : p->scope.count) + 1, sizeof *slots);
    problem_slots(p, slots);
    status s = compare_axes(p, k, slots, (struct axis){a, x.k_a}, (struct axis){b, x.k_b}, g, e);
    if (!s)
        s = compare_axes(p, k, slots, (struct axis){a, x.m_a}, (struct axis){c, 0}, g, e);
    if (!s)
        s = compare_axes(p, k, slots, (struct axis){b, x.n_b}, (struct axis){c, 1}, g, e);
    mem_free(slots);
    return s;
}

/* key: "fill" or "check" */
static status check_values(const struct tensor *t, const char *key, enum fill_kind kind, const struct expr *first,
                           const struct expr *second, const struct value *slots, struct err *e)
{
    enum { DEVIATIONS = 7 };                /* no normal value is further from the mean */
    double a, b;
    status s = expr_eval_double(first, slots, &a, e);
    if (!s)
        s = expr_eval_double(second, slots, &b, e);
    if (s) {
        err_prefix(e, "%s: %s", t->name, key);
        return s;
    }
    bool uniform = kind == FILL_UNIFORM;
    if (!isfinite(a) || !isfinite(b) || !(uniform ? a <= b : b >= 0))
        return err_set(e, LATHE_SPEC, "%s: %s: %s(%g, %g): expected %s", t->name, key, uniform ? "uniform" : "normal",
                       a, b, uniform ? "finite bounds, the lower first" : "a finite mean and a deviation of 0 or more");
    double most = uniform ? fmax(fabs(a), fabs(b)) : fabs(a) + DEVIATIONS * b;
    if (most > dtype_largest(t->dtype))
        return err_set(e, LATHE_SPEC, "%s: %s: %s(%g, %g): values up to %g do not fit %s, whose largest is %g", t->name,
                       key, uniform ? "uniform" : "normal", a, b, most, dtype_name(t->dtype),
                       dtype_largest(t->dtype));
    return LATHE_OK;
}

static status check_fills(const struct tensor *t, const struct value *slots, struct err *e)
{
    if (t->output)
        return LATHE_OK;
    TRY(check_values(t, "fill", t->fill, t->fill_a, t->fill_b, slots, e));
    return t->check_a ? check_values(t, "check", t->check, t->check_a, t->check_b, slots, e) : LATHE_OK;
}

static status check_bias(const struct problem *p, const struct value *slots, struct err *e)
{
    const struct tensor *bias = &p->tensors[p->reference.bias], *c = &p->tensors[p->reference.gemm.c];
    int64_t got, want;
    TRY(expr_eval_int(bias->shape[0], slots, &got, e));
    TRY(expr_eval_int(c->shape[c->rank - 1], slots, &want, e));
    if (got == want)
        return LATHE_OK;
    return err_set(e, LATHE_SPEC, "reference: bias: %s has %lld elements, expected %lld, one for each column of %s",
                   bias->name, (long long)got, (long long)want, c->name);
}

static status check_size(const struct problem *p, const struct value *slots, struct err *e)
{
    int64_t shape[MAX_RANK], count;
    double flops, bytes;
    for (int i = 0; i < p->ntensors; i++) {
        TRY(tensor_shape(&p->tensors[i], slots, false, shape, &count, e));
        TRY(check_fills(&p->tensors[i], slots, e));
    }
    if (p->reference.kind == REFERENCE_GEMM) {
        status s = problem_check_gemm(p, NULL, &p->reference.gemm, e);
        if (s) {
            err_prefix(e, "reference");
            return s;
        }
        if (p->reference.bias >= 0)
            TRY(check_bias(p, slots, e));
    }
    return problem_flops(p, &flops, &bytes, e);
}

status problem_check_size(const struct problem *p, struct err *e)
{
    if (p->space_alone)
        return LATHE_OK;
    struct value *slots = mem_zalloc((size_t)p->scope.count + 1, sizeof *slots);
    problem_slots(p, slots);
    status s = check_size(p, slots, e);
    mem_free(slots);
    return s;
}

static status unknown_dim(const struct problem *p, const char *name, struct err *e)
{
    struct strbuf list = {0};
    const char **names = mem_zalloc((size_t)p->ndims + 1, sizeof *names);
    for (int i = 0; i < p->ndims; i++) {
        names[i] = p->dims[i].name;
        sb_addf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = nearest_word(name, names, p->ndims);
    err_set(e, LATHE_USAGE, "%s has no dimension '%.60s'%s%s%s; it has %s", p->name, name,
            near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", p->ndims ? sb_str(&list) : "none");
    mem_free(names);
    sb_free(&list);
    return LATHE_USAGE;
}

status problem_set_dim(struct problem *p, const char *name, int64_t value, struct err *e)
{
    int i = problem_find_dim(p, name);
    if (i < 0)
        return unknown_dim(p, name, e);
    if (value < 1)
        return err_set(e, LATHE_USAGE, "size %s=%lld: expected 1 or more", name, (long long)value);
    int64_t old = p->dims[i].value;
    struct err why;
    p->dims[i].value = value;
    if (!problem_check_size(p, &why))
        return LATHE_OK;
    p->dims[i].value = old;
    return err_set(e, LATHE_USAGE, "size %s=%lld: %s", name, (long long)value, why.text);
}

static status eval_amount(const char *field, const struct expr *x, const struct value *slots, double *out,
                          struct err *e)
{
    *out = NAN;
    if (!x)
        return LATHE_OK;
    status s = expr_eval_double(x, slots, out, e);
    if (s)
        err_prefix(e, "%s", field);
    else if (!(isfinite(*out) && *out >= 0))
        s = err_set(e, LATHE_SPEC, "%s: %s is %g, expected a finite number, 0 or more", field, expr_text(x), *out);
    return s;
}

status problem_flops(const struct problem *p, double *flops, double *bytes, struct err *e)
{
    struct value *slots = mem_zalloc((size_t)p->scope.count + 1, sizeof *slots);
    problem_slots(p, slots);
    status s = eval_amount("flops", p->flops, slots, flops, e);
    if (!s)
        s = eval_amount("bytes", p->bytes, slots, bytes, e);
    mem_free(slots);
    return s;
}

void problem_size_text(const struct problem *p, struct strbuf *b)
{
    for (int i = 0; i < p->ndims; i++)
        sb_addf(b, "%s%s=%lld", i ? " " : "", p->dims[i].name, (long long)p->dims[i].value);
}
