/* problem_json.c: a specification's tree to a struct problem: dimensions, scalars, tensors, tolerance, and the way in.
 *
 * The tree is copied first, and everything is read from the copy, which the problem keeps: names in scopes are the
 * problem's own texts, values of string parameters are borrowed from the copy. */
#include "model/problem/problem_read.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

static status read_dims(struct reader *r, json_t *j)
{
    static const char *const keys[] = {NULL};
    static const struct table_form form = {"{ \"M\", 128 }", NULL, 2, 2, keys};
    struct problem *p = r->p;
    struct table list, t;
    size_t top = at_enter(r, ".dims");
    TRY(read_list(r, j, form.written, 1, MAX_DIMS, &list));
    p->dims = mem_zalloc((size_t)list.nitems, sizeof *p->dims);
    p->ndims = list.nitems;
    for (int i = 0; i < p->ndims; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_table(r, table_item(&list, i), &form, &t));
        TRY(read_new_name(r, NULL, table_item(&t, 0), "a dimension", &p->dims[i].name));
        at_leave(r, mark);
        at_enter(r, ".%s", p->dims[i].name);
        const json_t *value = table_item(&t, 1);
        if (!json_is_integer(value) || json_integer_value(value) < 1)
            return read_wrong(r, value, "an integer, 1 or more");
        p->dims[i].value = json_integer_value(value);
        at_leave(r, mark);
        scope_add(&p->scope, p->dims[i].name, VALUE_INT, 0);
    }
    at_leave(r, top);
    return LATHE_OK;
}

static status read_scalars(struct reader *r, json_t *j)
{
    static const char *const keys[] = {NULL};
    static const struct table_form form = {"{ \"s\", 2.0 }", NULL, 2, 2, keys};
    struct problem *p = r->p;
    struct table list, t;
    size_t top = at_enter(r, ".scalars");
    TRY(read_list(r, j, form.written, 0, MAX_SCALARS, &list));
    p->scalars = mem_zalloc((size_t)list.nitems, sizeof *p->scalars);
    p->nscalars = list.nitems;
    for (int i = 0; i < p->nscalars; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_table(r, table_item(&list, i), &form, &t));
        TRY(read_new_name(r, NULL, table_item(&t, 0), "a scalar", &p->scalars[i].name));
        at_leave(r, mark);
        at_enter(r, ".%s", p->scalars[i].name);
        const json_t *value = table_item(&t, 1);
        double x = json_number_value(value);
        if (!json_is_number(value) || !isfinite((float)x))
            return read_wrong(r, value, "a number that a float32 can hold");
        p->scalars[i].value = x;
        at_leave(r, mark);
        scope_add(&p->scope, p->scalars[i].name, VALUE_FLOAT, 0);
    }
    at_leave(r, top);
    return LATHE_OK;
}

status read_tensor(struct reader *r, const struct kernel *k, const struct table *t, const struct scope *scope,
                   struct tensor *out)
{
    const char *type = node_text(table_item(t, 1));
    struct table shape;
    TRY(read_new_name(r, k, table_item(t, 0), k ? "a workspace buffer" : "a tensor", &out->name));
    if (!type || dtype_parse(type) < 0) {
        struct strbuf list = {0};
        for (int i = 0; i < DTYPE_COUNT; i++)
            sb_addf(&list, "%s%s", i ? ", " : "one of ", dtype_name((enum dtype)i));
        status s = read_wrong(r, table_item(t, 1), sb_str(&list));
        sb_free(&list);
        return s;
    }
    out->dtype = (enum dtype)dtype_parse(type);
    size_t top = at_enter(r, ".shape");
    TRY(read_list(r, table_item(t, 2), "formulas, one a dimension (a single element is { 1 })", 1, MAX_RANK, &shape));
    for (int i = 0; i < shape.nitems; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_formula(r, table_item(&shape, i), WANT_INTEGER, scope, NULL, &out->shape[i]));
        at_leave(r, mark);
        out->rank = i + 1;
    }
    at_leave(r, top);
    return LATHE_OK;
}

/* uniform(low, high) or normal(mean, deviation) of an input; key: "fill" or "check". */
static status read_values(struct reader *r, json_t *j, const char *key, bool output, enum fill_kind *kind,
                          struct expr **first, struct expr **second)
{
    static const char *const keys[] = {NULL};
    static const struct table_form uniform = {"uniform(low, high) or normal(mean, deviation)", "uniform", 2, 2, keys};
    struct table_form form = uniform;
    struct table t;
    size_t mark = at_enter(r, ".%s", key);
    if (output)
        return read_fail(r, "an output has no %s: kernels write it", key);
    if (strcmp(node_tag(j), "normal") == 0) {
        form.tag = "normal";
        *kind = FILL_NORMAL;
    }
    TRY(read_table(r, j, &form, &t));
    TRY(read_formula(r, table_item(&t, 0), WANT_NUMBER, &r->p->scope, NULL, first));
    TRY(read_formula(r, table_item(&t, 1), WANT_NUMBER, &r->p->scope, NULL, second));
    at_leave(r, mark);
    return LATHE_OK;
}

static status default_fill(struct reader *r, struct tensor *out)
{
    out->fill_a = expr_literal(value_float(0));
    out->fill_b = expr_literal(value_float(1));
    TRY(expr_bind(out->fill_a, &r->p->scope, r->e));
    return expr_bind(out->fill_b, &r->p->scope, r->e);
}

static status read_fills(struct reader *r, const struct table *t, struct tensor *out)
{
    json_t *fill = table_get(t, "fill"), *check = table_get(t, "check");
    if (fill)
        TRY(read_values(r, fill, "fill", out->output, &out->fill, &out->fill_a, &out->fill_b));
    else
        TRY(default_fill(r, out));
    return check ? read_values(r, check, "check", out->output, &out->check, &out->check_a, &out->check_b) : LATHE_OK;
}

static status read_tensors(struct reader *r, json_t *j)
{
    static const char *const keys[] = {"fill", "check", "output", NULL};
    static const struct table_form form = {"{ \"X\", \"f32\", { \"M\", \"K\" } }", NULL, 3, 3, keys};
    struct problem *p = r->p;
    struct table list, t;
    size_t top = at_enter(r, ".tensors");
    int outputs = 0;
    TRY(read_list(r, j, form.written, 1, MAX_TENSORS, &list));
    p->tensors = mem_zalloc((size_t)list.nitems, sizeof *p->tensors);
    p->ntensors = list.nitems;
    p->output = -1;
    for (int i = 0; i < p->ntensors; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_table(r, table_item(&list, i), &form, &t));
        TRY(read_tensor(r, NULL, &t, &p->scope, &p->tensors[i]));
        at_leave(r, mark);
        at_enter(r, ".%s", p->tensors[i].name);
        TRY(read_flag(r, &t, "output", &p->tensors[i].output));
        TRY(read_fills(r, &t, &p->tensors[i]));
        at_leave(r, mark);
        if (p->tensors[i].output) {
            outputs++;
            p->output = i;
        }
    }
    if (outputs == 0)
        return read_fail(r, "none of the tensors is an output: mark one with output = true");
    if (outputs > 1)
        p->output = -1;
    at_leave(r, top);
    return LATHE_OK;
}

static status read_tolerance(struct reader *r, json_t *j)
{
    static const char *const keys[] = {"atol", "rtol", "times_sgemm_error", "frobenius", NULL};
    static const struct table_form form = {"{ atol = 1e-4, rtol = 1e-4 }", NULL, 0, 0, keys};
    struct tolerance *tol = &r->p->tolerance;
    struct table t;
    size_t mark = at_enter(r, ".tolerance");
    TRY(read_table(r, j, &form, &t));
    TRY(read_amount(r, &t, "atol", true, &tol->atol));
    TRY(read_amount(r, &t, "rtol", true, &tol->rtol));
    TRY(read_amount(r, &t, "times_sgemm_error", false, &tol->times_sgemm_error));
    TRY(read_amount(r, &t, "frobenius", false, &tol->frobenius));
    if (tol->times_sgemm_error > 0 && r->p->reference.kind != REFERENCE_GEMM)
        return read_fail(r, "times_sgemm_error needs a gemm reference: use frobenius");
    at_leave(r, mark);
    return LATHE_OK;
}

static status read_problem(struct reader *r)
{
    static const char *const keys[] = {"name", "summary", "dims", "scalars", "tensors", "epilogue", "reference",
                                       "tolerance", "flops", "bytes", "torch", "kernels", "baselines",
                                       NULL};
    static const char *const needed[] = {"name", "dims", "tensors", "reference", "tolerance", "kernels", NULL};
    static const struct table_form form = {"problem { name = ..., dims = ..., ... }", "problem", 0, 0, keys};
    struct problem *p = r->p;
    struct table t;
    TRY(read_table(r, p->json, &form, &t));
    for (int i = 0; needed[i]; i++)
        if (!table_get(&t, needed[i]))
            return read_fail(r, "missing field '%s'", needed[i]);
    size_t mark = at_enter(r, ".name");
    TRY(read_identifier(r, table_get(&t, "name"), "a problem", MAX_NAME, &p->name));
    at_leave(r, mark);
    TRY(read_text(r, &t, "summary", &p->summary));
    TRY(read_dims(r, table_get(&t, "dims")));
    TRY(read_scalars(r, table_get(&t, "scalars")));
    TRY(read_tensors(r, table_get(&t, "tensors")));
    TRY(read_epilogue(r, table_get(&t, "epilogue")));
    TRY(read_reference(r, table_get(&t, "reference")));
    TRY(read_tolerance(r, table_get(&t, "tolerance")));
    TRY(read_formula_key(r, &t, "flops", WANT_NUMBER, &p->scope, &p->flops));
    TRY(read_formula_key(r, &t, "bytes", WANT_NUMBER, &p->scope, &p->bytes));
    TRY(read_torch(r, table_get(&t, "torch")));
    TRY(read_kernels(r, table_get(&t, "kernels"), table_get(&t, "baselines")));
    status s = problem_check_size(p, r->e);
    return s ? read_because(r, s) : s;
}

status problem_from_json(const json_t *json, const char *path, const char *const *include_dirs, struct problem **out,
                         struct err *e)
{
    struct err why = {0};
    struct problem *p = mem_zalloc(1, sizeof *p);
    struct reader r = {.path = path, .include_dirs = include_dirs, .p = p, .e = &why};
    p->path = mem_strdup(path);
    p->json = json_deep_copy(json);
    p->restrictions = json_array();
    status s = p->json ? strcmp(node_tag(p->json), "space") == 0 ? read_space(&r) : read_problem(&r)
                       : err_set(&why, LATHE_SPEC, "%s: not a tree that can be copied", path);
    sb_free(&r.at);
    if (s) {
        problem_free(p);
        return err_set(e, s, "%s", why.text);
    }
    *out = p;
    return LATHE_OK;
}
