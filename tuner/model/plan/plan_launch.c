/* plan_launch.c: a launch with every expression evaluated and every limit of it checked. */
#include "model/plan/plan_internal.h"

#include "base/mem.h"
#include "model/source.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

status plan_eval_range(struct builder *b, const struct expr *x, const char *field, int64_t low, int64_t high,
                       int64_t *out)
{
    status s = expr_eval_int(x, b->slots, out, b->e);
    if (s) {
        err_prefix(b->e, "%s", field);
        return s;
    }
    if (*out >= low && *out <= high)
        return LATHE_OK;
    struct strbuf shown = {0};
    expr_explain(&shown, x, b->slots);
    s = err_set(b->e, LATHE_SPEC, "%s is %lld, expected %lld to %lld (%s)", field, (long long)*out, (long long)low,
                (long long)high, sb_str(&shown));
    sb_free(&shown);
    return s;
}

/* most: the largest of each axis; all of them may be at most `product` together (0: no limit). */
static status build_extent(struct builder *b, struct expr *const x[3], const char *field, const int64_t most[3],
                           int64_t product, uint32_t out[3])
{
    int64_t all = 1;
    for (int i = 0; i < 3; i++) {
        char name[24];
        int64_t n = 0;
        snprintf(name, sizeof name, "%s.%c", field, "xyz"[i]);
        TRY(plan_eval_range(b, x[i], name, 1, most[i], &n));
        out[i] = (uint32_t)n;
        all = product ? all * n : 1;
    }
    if (product && all > product)
        return err_set(b->e, LATHE_SPEC, "%s is %u x %u x %u = %lld, expected at most %lld", field, out[0], out[1],
                       out[2], (long long)all, (long long)product);
    return LATHE_OK;
}

static status build_expr_arg(struct builder *b, const struct arg *a, struct plan_arg *out)
{
    static const enum plan_arg_kind kinds[] = {[ARG_I32] = PLAN_I32, [ARG_I64] = PLAN_I64, [ARG_F32] = PLAN_F32,
                                               [ARG_F64] = PLAN_F64};
    out->kind = kinds[a->type];
    if (a->type == ARG_I32)
        return plan_eval_range(b, a->expr, expr_text(a->expr), INT32_MIN, INT32_MAX, &out->i);
    if (a->type == ARG_I64)
        return expr_eval_int(a->expr, b->slots, &out->i, b->e);
    TRY(expr_eval_double(a->expr, b->slots, &out->f, b->e));
    if (isfinite(out->f) && (a->type == ARG_F64 || fabs(out->f) <= FLT_MAX))
        return LATHE_OK;
    return err_set(b->e, LATHE_SPEC, "`%.200s` is %g, expected a finite %s", expr_text(a->expr), out->f,
                   a->type == ARG_F64 ? "f64" : "f32");
}

status plan_epilogue_arg(const struct problem *p, struct plan_arg *out, struct err *e)
{
    struct field *fields;
    int n;
    epilogue_fields(p, &fields, &n);
    memset(out, 0, sizeof *out);
    out->kind = PLAN_STRUCT;
    out->fields = mem_zalloc((size_t)n, sizeof *out->fields);
    out->nfields = n;
    status s = LATHE_OK;
    for (int i = 0; i < n && !s; i++) {
        struct plan_arg *f = &out->fields[i];
        int index = fields[i].index;
        switch (fields[i].kind) {
        case FIELD_TENSOR: *f = (struct plan_arg){.kind = PLAN_BUFFER, .buffer = index}; break;
        case FIELD_SCALAR: *f = (struct plan_arg){.kind = PLAN_F32, .f = p->scalars[index].value}; break;
        case FIELD_DIM:
            *f = (struct plan_arg){.kind = PLAN_I32, .i = p->dims[index].value};
            if (f->i > INT32_MAX)
                s = err_set(e, LATHE_SPEC, "epilogue: the size %s=%lld does not fit an int; expected at most %d",
                            p->dims[index].name, (long long)f->i, INT32_MAX);
            break;
        }
    }
    mem_free(fields);
    return s;
}

static status build_args(struct builder *b, const struct launch *l, struct plan_step *out)
{
    out->args = mem_zalloc((size_t)l->nargs, sizeof *out->args);
    out->nargs = l->nargs;
    for (int i = 0; i < l->nargs; i++) {
        const struct arg *a = &l->args[i];
        status s = LATHE_OK;
        switch (a->kind) {
        case ARG_TENSOR: out->args[i] = (struct plan_arg){.kind = PLAN_BUFFER, .buffer = a->tensor}; break;
        case ARG_EXPR: s = build_expr_arg(b, a, &out->args[i]); break;
        case ARG_EPILOGUE: s = plan_epilogue_arg(b->p, &out->args[i], b->e); break;
        case ARG_TENSOR_MAP: s = plan_tensor_map(b, a, &out->args[i]); break;
        }
        if (s) {
            err_prefix(b->e, "args[%d]", i + 1);
            return s;
        }
    }
    return LATHE_OK;
}

static status build_cluster(struct builder *b, const struct launch *l, struct plan_step *out)
{
    static const int64_t most[3] = {16, 16, 16};
    if (!l->cluster[0])
        return LATHE_OK;
    TRY(build_extent(b, l->cluster, "cluster", most, 16, out->cluster));
    for (int i = 0; i < 3; i++)
        if (out->grid[i] % out->cluster[i])
            return err_set(b->e, LATHE_SPEC, "cluster.%c is %u, which does not divide grid.%c = %u", "xyz"[i],
                           out->cluster[i], "xyz"[i], out->grid[i]);
    return LATHE_OK;
}

static status build_programmatic(struct builder *b, const struct launch *l, struct plan_step *out)
{
    if (!l->programmatic)
        return LATHE_OK;
    status s = expr_eval_bool(l->programmatic, b->slots, &out->programmatic, b->e);
    if (s) {
        err_prefix(b->e, "programmatic");
        return s;
    }
    if (out->programmatic && out == b->plan->steps)
        return err_set(b->e, LATHE_SPEC, "programmatic is true, but this is the first step that runs in this "
                       "configuration: there is none before it with which it may overlap");
    return LATHE_OK;
}

static status build_window(struct builder *b, const struct l2_window *w, struct plan_window *out)
{
    bool on = true;
    if (w->when) {
        status s = expr_eval_bool(w->when, b->slots, &on, b->e);
        if (s) {
            err_prefix(b->e, "l2_window.when");
            return s;
        }
    }
    if (!on || b->plan->buffers[w->tensor].count == 0)
        return LATHE_OK;
    *out = (struct plan_window){.on = true, .buffer = w->tensor, .hit = w->hit, .miss = w->miss};
    status s = expr_eval_double(w->ratio, b->slots, &out->ratio, b->e);
    if (s) {
        err_prefix(b->e, "l2_window.ratio");
        return s;
    }
    if (out->ratio >= 0 && out->ratio <= 1)
        return LATHE_OK;
    return err_set(b->e, LATHE_SPEC, "l2_window.ratio is %g, expected 0 to 1 (%.200s)", out->ratio,
                   expr_text(w->ratio));
}

status plan_launch(struct builder *b, const struct launch *l, struct plan_step *out)
{
    static const int64_t most_grid[3] = {INT32_MAX, 65535, 65535}, most_block[3] = {1024, 1024, 64};
    int64_t shared = 0;
    snprintf(out->function, sizeof out->function, "%s", l->function);
    TRY(build_extent(b, l->grid, "grid", most_grid, 0, out->grid));
    TRY(build_extent(b, l->block, "block", most_block, 1024, out->block));
    TRY(build_cluster(b, l, out));
    TRY(plan_eval_range(b, l->shared, "shared", 0, INT64_C(1) << 31, &shared));
    out->shared = (uint32_t)shared;
    TRY(build_programmatic(b, l, out));
    if (l->l2_window)
        TRY(build_window(b, l->l2_window, &out->window));
    return build_args(b, l, out);
}
