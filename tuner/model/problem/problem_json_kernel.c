/* problem_json_kernel.c: the kernels of a specification: source, parameters, lets, constraints, workspace.
 *
 * Order matters: a kernel's scope grows while it is read (dims, scalars, limits, params, lets), and each formula is
 * bound to the scope as it stands, so a formula can only use what comes before it. */
#include "model/problem/problem_read.h"

#include "base/mem.h"
#include "model/source.h"
#include <string.h>

/* Assembles the source, or takes it from the tree; then the tree holds it. */
static status read_source(struct reader *r, struct kernel *k, const struct table *t)
{
    TRY(read_text(r, t, "source_text", &k->source));
    TRY(read_text(r, t, "source", &k->source_path));
    if (k->source || !k->source_path)
        return LATHE_OK;
    size_t mark = at_enter(r, ".source");
    char *dir = strchr(r->path, '/') ? path_dirname(r->path) : mem_strdup("");
    char *path = path_join(dir, k->source_path);
    mem_free(dir);
    mem_free(k->source_path);
    k->source_path = path;
    status s = source_assemble(path, r->include_dirs, &k->source, r->e);
    if (s)
        return read_because(r, r->e->code = LATHE_SPEC);
    json_t *text = json_string(k->source);
    if (!text)
        return read_fail(r, "%s, or a file it includes, is not UTF-8 text", path);
    json_object_set_new(t->named, "source_text", text);
    at_leave(r, mark);
    return LATHE_OK;
}

status read_constraints(struct reader *r, struct kernel *k, json_t *j, bool limits_only, struct constraint **out,
                        int *count)
{
    static const char *const none[] = {NULL}, *const search[] = {"search", NULL};
    const struct table_form form = {"{ formula, \"reason\" }", NULL, 2, 2, limits_only ? none : search};
    static const char hint[] = "`requires` may use the device's limits only";
    struct table list, t = {0};
    TRY(read_list(r, j, "formulas, or of { formula, \"reason\" }", 0, MAX_CONSTRAINTS, &list));
    *out = mem_zalloc((size_t)list.nitems, sizeof **out);
    *count = list.nitems;
    for (int i = 0; i < list.nitems; i++) {
        struct constraint *c = &(*out)[i];
        size_t mark = at_enter(r, "[%d]", i + 1);
        json_t *formula = table_item(&list, i);
        if (json_is_array(formula) || json_is_object(formula)) {
            TRY(read_table(r, formula, &form, &t));
            if (!node_text(table_item(&t, 1)))
                return read_wrong(r, table_item(&t, 1), "a reason, as text");
            c->reason = mem_strdup(node_text(table_item(&t, 1)));
            TRY(read_flag(r, &t, "search", &c->search));
            formula = table_item(&t, 0);
        }
        TRY(read_formula(r, formula, WANT_BOOLEAN, &k->scope, limits_only ? hint : NULL, &c->expr));
        if (limits_only)
            TRY(forbid_slots(r, c->expr, &k->scope, 0, k->first_limit, hint));
        at_leave(r, mark);
    }
    return LATHE_OK;
}

/* A text that is a parameter's value must survive the command line and "name=value name=value". In a space alone, as
 * recordings have it, it may read as a number: beside "auto" a "1" is a text. */
static status check_word(struct reader *r, const char *s)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    if (!*s || s[strspn(s, good)] || strlen(s) > MAX_NAME)
        return read_fail(r, "'%.60s' cannot be a value: expected 1 to %d letters, digits and _ . + -", s, MAX_NAME);
    if (value_read(s).type != VALUE_STRING && !r->p->space_alone)
        return read_fail(r, "'%s' reads as %s: write it without quotes", s, value_type_name(value_read(s).type));
    return LATHE_OK;
}

static status read_value(struct reader *r, const json_t *j, struct value *v)
{
    if (json_is_integer(j))
        *v = value_int(json_integer_value(j));
    else if (json_is_real(j))
        *v = value_float(json_real_value(j));
    else if (json_is_boolean(j))
        *v = value_bool(json_is_true(j));
    else if (node_text(j))
        *v = value_string(node_text(j));
    else
        return read_wrong(r, j, "an integer, a float, a text, true or false");
    return v->type == VALUE_STRING ? check_word(r, v->s) : LATHE_OK;
}

static status read_values(struct reader *r, json_t *j, struct param *out)
{
    struct table list;
    TRY(read_list(r, j, "value", 1, MAX_VALUES, &list));
    out->values = mem_zalloc((size_t)list.nitems, sizeof *out->values);
    out->nvalues = list.nitems;
    for (int i = 0; i < list.nitems; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_value(r, table_item(&list, i), &out->values[i]));
        if (out->values[i].type != out->values[0].type)
            return read_fail(r, "the values are of different types: this one is %s, the first is %s%s",
                             value_type_name(out->values[i].type), value_type_name(out->values[0].type),
                             out->values[i].type + out->values[0].type == VALUE_INT + VALUE_FLOAT
                                 ? " (write a float as 1.0)" : "");
        for (int k = 0; k < i; k++)
            if (value_equal(out->values[k], out->values[i]))
                return read_fail(r, "the value is there already, at [%d]", k + 1);
        at_leave(r, mark);
    }
    out->type = out->values[0].type;
    return LATHE_OK;
}

status read_params(struct reader *r, struct kernel *k, json_t *j)
{
    static const char *const keys[] = {"help", "when", NULL};
    static const struct table_form form = {"{ \"BM\", { 32, 64 }, help = ..., when = ... }", NULL, 2, 2, keys};
    static const char hint[] = "a parameter's `when` may use dimensions, limits and the parameters before it";
    struct table list, t;
    size_t top = at_enter(r, ".params");
    TRY(read_list(r, j, form.written, 0, MAX_PARAMS, &list));
    k->params = mem_zalloc((size_t)list.nitems, sizeof *k->params);
    k->nparams = list.nitems;
    for (int i = 0; i < k->nparams; i++) {
        struct param *p = &k->params[i];
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_table(r, table_item(&list, i), &form, &t));
        TRY(read_new_name(r, k, table_item(&t, 0), "a parameter", &p->name));
        at_leave(r, mark);
        at_enter(r, ".%s", p->name);
        TRY(read_values(r, table_item(&t, 1), p));
        if (k->baseline && p->nvalues != 1)
            return read_fail(r, "a baseline is one configuration, so each parameter has one value; this has %d",
                             p->nvalues);
        TRY(read_text(r, &t, "help", &p->help));
        if (table_get(&t, "when")) {
            size_t here = at_enter(r, ".when");
            TRY(read_formula(r, table_get(&t, "when"), WANT_BOOLEAN, &k->scope, hint, &p->when));
            TRY(forbid_slots(r, p->when, &k->scope, r->p->ndims, k->first_limit, hint));
            at_leave(r, here);
        }
        at_leave(r, mark);
        scope_add(&k->scope, p->name, p->type, 0);
    }
    at_leave(r, top);
    return LATHE_OK;
}

status read_lets(struct reader *r, struct kernel *k, json_t *j)
{
    static const char *const keys[] = {NULL};
    static const struct table_form form = {"{ \"name\", formula }", NULL, 2, 2, keys};
    struct table list, t;
    size_t top = at_enter(r, ".let");
    TRY(read_list(r, j, form.written, 0, MAX_LETS, &list));
    k->lets = mem_zalloc((size_t)list.nitems, sizeof *k->lets);
    k->nlets = list.nitems;
    for (int i = 0; i < k->nlets; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_table(r, table_item(&list, i), &form, &t));
        TRY(read_new_name(r, k, table_item(&t, 0), "a let", &k->lets[i].name));
        at_leave(r, mark);
        at_enter(r, ".%s", k->lets[i].name);
        TRY(read_formula(r, table_item(&t, 1), WANT_ANY, &k->scope, NULL, &k->lets[i].expr));
        at_leave(r, mark);
        scope_add(&k->scope, k->lets[i].name, expr_type(k->lets[i].expr), 0);
    }
    at_leave(r, top);
    return LATHE_OK;
}

static status read_zero(struct reader *r, const struct table *t, enum zero_kind *out)
{
    const json_t *j = table_get(t, "zero");
    const char *s = node_text(j);
    size_t mark = at_enter(r, ".zero");
    if (s && strcmp(s, "once") == 0)
        *out = ZERO_ONCE;
    else if (s && strcmp(s, "each") == 0)
        *out = ZERO_EACH;
    else if (j && !(s && strcmp(s, "never") == 0))
        return read_wrong(r, j, "'never', 'once' or 'each'");
    at_leave(r, mark);
    return LATHE_OK;
}

static status read_workspace(struct reader *r, struct kernel *k, json_t *j)
{
    static const char *const keys[] = {"when", "zero", NULL};
    static const struct table_form form = {"{ \"partial\", \"f32\", { \"M\", \"N\" }, when = ..., zero = ... }", NULL,
                                           3, 3, keys};
    struct table list, t;
    size_t top = at_enter(r, ".workspace");
    TRY(read_list(r, j, form.written, 0, MAX_TENSORS, &list));
    k->workspace = mem_zalloc((size_t)list.nitems, sizeof *k->workspace);
    k->nworkspace = list.nitems;
    for (int i = 0; i < k->nworkspace; i++) {
        struct tensor *w = &k->workspace[i];
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_table(r, table_item(&list, i), &form, &t));
        TRY(read_tensor(r, k, &t, &k->scope, w));
        at_leave(r, mark);
        at_enter(r, ".%s", w->name);
        TRY(read_formula_key(r, &t, "when", WANT_BOOLEAN, &k->scope, &w->when));
        TRY(read_zero(r, &t, &w->zero));
        at_leave(r, mark);
    }
    at_leave(r, top);
    return LATHE_OK;
}

static status read_unit(struct reader *r, const json_t *j, enum unit *out)
{
    const char *names[UNIT_COUNT], *name = node_text(j);
    static const char expected[] = "a unit: 'f32', 'tf32', 'f16' or 'bf16'";
    int u = name ? unit_parse(name) : -1;
    if (!name)
        return read_wrong(r, j, expected);
    for (int i = 0; i < UNIT_COUNT; i++)
        names[i] = unit_name((enum unit)i);
    const char *near = u < 0 ? nearest_word(name, names, UNIT_COUNT) : NULL;
    if (u < 0)
        return read_fail(r, "expected %s, got '%.60s'%s%s%s", expected, name, near ? " (did you mean '" : "",
                         near ? near : "", near ? "'?)" : "");
    *out = (enum unit)u;
    return LATHE_OK;
}

static status read_computes(struct reader *r, struct kernel *k, json_t *j)
{
    static const char *const keys[] = {"products", "when", NULL};
    static const struct table_form form = {"{ \"bf16\", products = ..., when = ... }", NULL, 1, 1, keys};
    struct table list, t;
    size_t top = at_enter(r, ".computes");
    TRY(read_list(r, j, form.written, 0, MAX_COMPUTES, &list));
    k->computes = mem_zalloc((size_t)list.nitems, sizeof *k->computes);
    k->ncomputes = list.nitems;
    for (int i = 0; i < k->ncomputes; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1), first;
        TRY(read_table(r, table_item(&list, i), &form, &t));
        first = at_enter(r, "[1]");
        TRY(read_unit(r, table_item(&t, 0), &k->computes[i].unit));
        at_leave(r, first);
        TRY(read_formula_key(r, &t, "products", WANT_NUMBER, &k->scope, &k->computes[i].products));
        TRY(read_formula_key(r, &t, "when", WANT_BOOLEAN, &k->scope, &k->computes[i].when));
        at_leave(r, mark);
    }
    at_leave(r, top);
    return LATHE_OK;
}

/* Everything of a kernel but its name, after its table was opened. */
static status read_kernel_body(struct reader *r, struct kernel *k, const struct table *t)
{
    struct problem *p = r->p;
    TRY(read_text(r, t, "summary", &k->summary));
    TRY(read_source(r, k, t));
    for (int i = 0; i < p->scope.count; i++)
        scope_add(&k->scope, p->scope.names[i].name, p->scope.names[i].type, 0);
    k->first_limit = k->scope.count;
    for (int i = 0; i < LIMIT_COUNT; i++)
        scope_add(&k->scope, limit_name((enum limit)i), VALUE_INT, 0);
    k->first_param = k->scope.count;
    size_t mark = at_enter(r, ".requires");
    TRY(read_constraints(r, k, table_get(t, "requires"), true, &k->requires, &k->nrequires));
    at_leave(r, mark);
    TRY(read_params(r, k, table_get(t, "params")));
    k->first_let = k->scope.count;
    TRY(read_lets(r, k, table_get(t, "let")));
    TRY(check_macros(r, k));
    mark = at_enter(r, ".constraints");
    TRY(read_constraints(r, k, table_get(t, "constraints"), false, &k->constraints, &k->nconstraints));
    at_leave(r, mark);
    TRY(read_workspace(r, k, table_get(t, "workspace")));
    TRY(read_steps(r, k, table_get(t, "steps")));
    TRY(read_computes(r, k, table_get(t, "computes")));
    return check_outputs(r, k);
}

/* A kernel's table may be written kernel { ... } or just { ... }. */
static const char *kernel_tag(const json_t *j)
{
    return strcmp(node_tag(j), "kernel") == 0 ? "kernel" : NULL;
}

/* position: among the entries of its list, for the path until the name is known. */
static status read_kernel(struct reader *r, json_t *j, int position, struct kernel *k, bool baseline)
{
    static const char *const candidate_keys[] = {"source", "source_text", "summary", "requires", "params", "let",
                                                 "constraints", "workspace", "steps", "computes", "eligible", NULL};
    static const char *const baseline_keys[] = {"source", "source_text", "summary", "requires", "params", "let",
                                                "constraints", "workspace", "steps", "computes", "checked", "usual",
                                                NULL};
    struct table_form form = {"{ \"name\", source = ..., steps = { ... }, ... }", kernel_tag(j), 1, 1,
                              baseline ? baseline_keys : candidate_keys};
    struct table t;
    size_t mark = at_enter(r, "[%d]", position);
    TRY(read_table(r, j, &form, &t));
    char *name = NULL;
    TRY(read_identifier(r, table_item(&t, 0), "a kernel", MAX_NAME, &name));
    bool taken = problem_find_kernel(r->p, name) >= 0;
    k->name = name;
    if (taken)
        return read_fail(r, "there is another kernel or baseline named '%s'", name);
    at_leave(r, mark);
    at_enter(r, ".%s", name);
    k->baseline = baseline;
    k->eligible = !baseline;
    k->checked = true;
    k->usual = true;
    TRY(read_flag(r, &t, "eligible", &k->eligible));
    TRY(read_flag(r, &t, "checked", &k->checked));
    TRY(read_flag(r, &t, "usual", &k->usual));
    TRY(read_kernel_body(r, k, &t));
    at_leave(r, mark);
    return LATHE_OK;
}

status read_kernels(struct reader *r, json_t *candidates, json_t *baselines)
{
    struct problem *p = r->p;
    struct table list[2];
    size_t mark = at_enter(r, ".kernels");
    TRY(read_list(r, candidates, "{ \"name\", source = ..., steps = { ... }, ... }", 1, MAX_KERNELS, &list[0]));
    at_leave(r, mark);
    at_enter(r, ".baselines");
    TRY(read_list(r, baselines, "{ \"name\", source = ..., steps = { ... }, ... }", 0, MAX_KERNELS - list[0].nitems,
                  &list[1]));
    at_leave(r, mark);
    int n = list[0].nitems + list[1].nitems;
    p->kernels = mem_zalloc((size_t)n, sizeof *p->kernels);
    p->nkernels = n;
    for (int i = 0; i < n; i++) {
        bool baseline = i >= list[0].nitems;
        int position = baseline ? i - list[0].nitems : i;
        at_enter(r, baseline ? ".baselines" : ".kernels");
        TRY(read_kernel(r, table_item(&list[baseline], position), position + 1, &p->kernels[i], baseline));
        at_leave(r, mark);
    }
    return LATHE_OK;
}

status read_reference_kernel(struct reader *r, json_t *j, struct kernel *k)
{
    static const char *const keys[] = {"source", "source_text", "let", "workspace", "steps", NULL};
    struct table_form form = {"gemm { ... } or kernel { source = ..., steps = { ... } }", kernel_tag(j), 0, 0, keys};
    struct table t;
    TRY(read_table(r, j, &form, &t));
    k->name = mem_strdup("reference");
    k->checked = true;
    return read_kernel_body(r, k, &t);
}
