/* problem_json_launch.c: a launch of a kernel's pipeline: its extents, its attributes and its arguments. */
#include "model/problem/problem_read.h"
#include "model/source.h"

#include "base/mem.h"
#include "model/plan.h"
#include <string.h>

/* The formula of an optional key; `missing` where it is not given. */
static status read_formula_or(struct reader *r, const struct kernel *k, const struct table *t, const char *key,
                              enum formula_want want, struct value missing, struct expr **out)
{
    TRY(read_formula_key(r, t, key, want, &k->scope, out));
    if (*out)
        return LATHE_OK;
    *out = expr_literal(missing);
    return expr_bind(*out, &k->scope, r->e);
}

/* One to three formulas; those not given are 1. */
static status read_extent(struct reader *r, const struct kernel *k, const struct table *t, const char *key,
                          struct expr *out[3])
{
    json_t *j = table_get(t, key);
    size_t top = at_enter(r, ".%s", key);
    struct table list = {0};
    if (!j)
        return read_fail(r, "missing: expected one formula, or a list of up to 3 (x, y, z)");
    if (!json_is_array(j) && !json_is_object(j)) {
        TRY(read_formula(r, j, WANT_INTEGER, &k->scope, NULL, &out[0]));
    } else {
        TRY(read_list(r, j, "formula (x, then y and z if needed)", 1, 3, &list));
        for (int i = 0; i < list.nitems; i++) {
            size_t mark = at_enter(r, "[%d]", i + 1);
            TRY(read_formula(r, table_item(&list, i), WANT_INTEGER, &k->scope, NULL, &out[i]));
            at_leave(r, mark);
        }
    }
    for (int i = 1; i < 3; i++)
        if (!out[i]) {
            out[i] = expr_literal(value_int(1));
            TRY(expr_bind(out[i], &k->scope, r->e));
        }
    at_leave(r, top);
    return LATHE_OK;
}

/* At least one axis, at most MAX_RANK. */
static status read_axes(struct reader *r, const struct kernel *k, const struct table *t, const char *key,
                        struct expr *out[MAX_RANK], int *rank)
{
    struct table list;
    size_t top = at_enter(r, ".%s", key);
    TRY(read_list(r, table_get(t, key), "formula (one an axis)", 1, MAX_RANK, &list));
    *rank = list.nitems;
    for (int i = 0; i < list.nitems; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_formula(r, table_item(&list, i), WANT_INTEGER, &k->scope, NULL, &out[i]));
        at_leave(r, mark);
    }
    at_leave(r, top);
    return LATHE_OK;
}

static status read_tensor_map(struct reader *r, const struct kernel *k, json_t *j, struct arg *out)
{
    static const char *const keys[] = {"shape", "box", "swizzle", "l2", NULL};
    static const struct table_form form = {"tensor_map { \"W\", box = { ... } }", "tensor_map", 1, 1, keys};
    struct tensor_map *m = out->map = mem_zalloc(1, sizeof *m);
    struct table t;
    int nbox = 0;
    out->kind = ARG_TENSOR_MAP;
    TRY(read_table(r, j, &form, &t));
    size_t mark = at_enter(r, "[1]");
    TRY(read_buffer_name(r, k, table_item(&t, 0), &out->tensor));
    at_leave(r, mark);
    const struct tensor *buffer = problem_buffer(r->p, k, out->tensor);
    m->rank = buffer->rank;
    if (table_get(&t, "shape"))
        TRY(read_axes(r, k, &t, "shape", m->shape, &m->rank));
    TRY(read_axes(r, k, &t, "box", m->box, &nbox));
    if (nbox != m->rank)
        return read_fail(r, "the box has %d ax%s, and %s %s has %d: one formula an axis, the innermost last", nbox,
                         nbox == 1 ? "is" : "es", m->shape[0] ? "the shape given for" : "the tensor", buffer->name,
                         m->rank);
    TRY(read_formula_or(r, k, &t, "swizzle", WANT_INTEGER, value_int(0), &m->swizzle));
    TRY(read_formula_or(r, k, &t, "l2", WANT_INTEGER, value_int(0), &m->l2));
    if (!source_has_word(k->source, "LatheTensorMap"))
        return read_fail(r, "%s has no LatheTensorMap, which is the parameter's type: include \"lathe.cuh\"",
                         k->source_path ? k->source_path : "the source");
    return LATHE_OK;
}

static status read_property(struct reader *r, const struct table *t, const char *key, bool for_misses,
                            enum l2_property *out)
{
    const json_t *j = table_get(t, key);
    int found = node_text(j) ? l2_property_parse(node_text(j)) : -1;
    size_t mark = at_enter(r, ".%s", key);
    if (for_misses && !j)
        found = L2_normal;
    if (found < 0 || (for_misses && found == L2_persisting))
        return read_wrong(r, j, for_misses ? "'normal' or 'streaming'" : "'normal', 'streaming' or 'persisting'");
    *out = (enum l2_property)found;
    at_leave(r, mark);
    return LATHE_OK;
}

static status read_l2_window(struct reader *r, const struct kernel *k, json_t *j, struct launch *out)
{
    static const char *const keys[] = {"hit", "miss", "ratio", "when", NULL};
    static const struct table_form form = {"{ \"buffer\", hit = ..., miss = ... }", NULL, 1, 1, keys};
    struct l2_window *w = out->l2_window = mem_zalloc(1, sizeof *w);
    struct table t;
    size_t top = at_enter(r, ".l2_window");
    TRY(read_table(r, j, &form, &t));
    size_t mark = at_enter(r, "[1]");
    TRY(read_buffer_name(r, k, table_item(&t, 0), &w->tensor));
    at_leave(r, mark);
    TRY(read_property(r, &t, "hit", false, &w->hit));
    TRY(read_property(r, &t, "miss", true, &w->miss));
    TRY(read_formula_or(r, k, &t, "ratio", WANT_NUMBER, value_float(1), &w->ratio));
    TRY(read_formula_key(r, &t, "when", WANT_BOOLEAN, &k->scope, &w->when));
    at_leave(r, top);
    return LATHE_OK;
}

static status read_formula_arg(struct reader *r, const struct kernel *k, const json_t *j, struct arg *out)
{
    static const char hint[] = "an argument is a tensor, a workspace buffer, epilogue, tensor_map, or a formula";
    out->kind = ARG_EXPR;
    TRY(read_formula(r, j, WANT_NUMBER, &k->scope, hint, &out->expr));
    out->type = expr_type(out->expr) == VALUE_INT ? ARG_I32 : ARG_F32;
    return LATHE_OK;
}

static status read_typed_arg(struct reader *r, const struct kernel *k, json_t *j, struct arg *out)
{
    static const char *const types[] = {"i32", "i64", "f32", "f64"};    /* in the order of enum arg_type */
    static const char *const keys[] = {NULL};
    struct table t;
    for (int i = 0; i < 4; i++)
        if (strcmp(node_tag(j), types[i]) == 0) {
            struct table_form form = {"one formula", types[i], 1, 1, keys};
            TRY(read_table(r, j, &form, &t));
            bool integer = i <= ARG_I64;
            out->kind = ARG_EXPR;
            out->type = (enum arg_type)i;
            return read_formula(r, table_item(&t, 0), integer ? WANT_INTEGER : WANT_NUMBER, &k->scope, NULL,
                                &out->expr);
        }
    return read_wrong(r, j, "a name, a formula, i32, i64, f32 or f64 of one, or tensor_map");
}

static status read_arg(struct reader *r, const struct kernel *k, json_t *j, struct arg *out)
{
    const char *name = node_text(j);
    if (strcmp(node_tag(j), "tensor_map") == 0)
        return read_tensor_map(r, k, j, out);
    if (json_is_object(j) || json_is_array(j))
        return read_typed_arg(r, k, j, out);
    if (name && strcmp(name, "epilogue") == 0) {
        out->kind = ARG_EPILOGUE;
        return LATHE_OK;
    }
    for (int i = 0; name && i < r->p->ntensors + k->nworkspace; i++)
        if (strcmp(problem_buffer(r->p, k, i)->name, name) == 0) {
            out->kind = ARG_TENSOR;
            out->tensor = i;
            return LATHE_OK;
        }
    return read_formula_arg(r, k, j, out);
}

static status read_function(struct reader *r, const struct kernel *k, const json_t *j, struct launch *out)
{
    size_t mark = at_enter(r, "[1]");
    TRY(read_identifier(r, j, "a __global__ function", MAX_FUNCTION, &out->function));
    if (!k->source)
        return read_fail(r, "a launch needs a source: add source = \"FILE.cu\" to the kernel");
    if (!source_has_word(k->source, out->function))
        return read_fail(r, "%s has no function '%s'", k->source_path ? k->source_path : "the source", out->function);
    at_leave(r, mark);
    return LATHE_OK;
}

status read_launch(struct reader *r, struct kernel *k, json_t *j, struct step *out)
{
    static const char *const keys[] = {"grid",      "block", "cluster", "shared", "programmatic",
                                       "l2_window", "args",  "when",    NULL};
    static const struct table_form form = {"launch { \"function\", grid = ..., block = ..., args = { ... } }", "launch",
                                           1, 1, keys};
    struct launch *l = &out->launch;
    struct table t, list;
    TRY(read_table(r, j, &form, &t));
    out->kind = STEP_LAUNCH;
    TRY(read_function(r, k, table_item(&t, 0), l));
    TRY(read_formula_key(r, &t, "when", WANT_BOOLEAN, &k->scope, &out->when));
    TRY(read_extent(r, k, &t, "grid", l->grid));
    TRY(read_extent(r, k, &t, "block", l->block));
    if (table_get(&t, "cluster"))
        TRY(read_extent(r, k, &t, "cluster", l->cluster));
    TRY(read_formula_or(r, k, &t, "shared", WANT_INTEGER, value_int(0), &l->shared));
    TRY(read_formula_key(r, &t, "programmatic", WANT_BOOLEAN, &k->scope, &l->programmatic));
    if (table_get(&t, "l2_window"))
        TRY(read_l2_window(r, k, table_get(&t, "l2_window"), l));
    size_t top = at_enter(r, ".args");
    TRY(read_list(r, table_get(&t, "args"), "arguments", 0, PLAN_MAX_ARGS, &list));
    l->args = mem_zalloc((size_t)list.nitems, sizeof *l->args);
    l->nargs = list.nitems;
    for (int i = 0; i < l->nargs; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_arg(r, k, table_item(&list, i), &l->args[i]));
        at_leave(r, mark);
    }
    at_leave(r, top);
    return LATHE_OK;
}
