/* problem_json_torch.c: the table `torch`: how the problem's PyTorch model looks from outside (docs/specification.md).
 *
 * Invariants of what is read: every input is an argument of forward or a parameter, and no two things of the model have
 * one Python name; what a parameter's shape needs is among the constructor's arguments. */
#include "model/problem/problem_read.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

/* An attribute or an argument of the model: `seen` holds those before it. */
struct names {
    const char *seen[3 * MAX_TENSORS + MAX_DIMS + MAX_SCALARS];
    int count;
};

static status read_python_name(struct reader *r, const json_t *j, const char *what, struct names *names, char **out)
{
    TRY(read_identifier(r, j, what, MAX_NAME, out));
    if (torch_model_reserved(*out) || strncmp(*out, "lathe", 5) == 0 || (*out)[0] == '_')
        return read_fail(r, "'%s' cannot be %s's name: it is taken in Python or by the module", *out, what);
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->seen[i], *out) == 0)
            return read_fail(r, "there is another '%s'", *out);
    names->seen[names->count++] = *out;
    return LATHE_OK;
}

/* The input that `j` names. */
static status read_input(struct reader *r, const json_t *j, int *out)
{
    TRY(read_buffer_name(r, NULL, j, out));
    if (r->p->tensors[*out].output)
        return read_fail(r, "%s is an output, expected an input", r->p->tensors[*out].name);
    return LATHE_OK;
}

static status read_key_input(struct reader *r, const struct table *t, const char *key, int *out)
{
    const json_t *j = table_get(t, key);
    size_t mark = at_enter(r, ".%s", key);
    *out = -1;
    if (j)
        TRY(read_input(r, j, out));
    at_leave(r, mark);
    return LATHE_OK;
}

static status read_default(struct reader *r, const struct table *t, struct torch_init *out)
{
    const json_t *j = table_get(t, "default");
    size_t mark = at_enter(r, ".default");
    if (j && out->kind == TORCH_BIAS && !json_is_boolean(j))
        return read_wrong(r, j, "true or false");
    if (j && out->kind == TORCH_DIM && (!json_is_integer(j) || json_integer_value(j) < 1))
        return read_wrong(r, j, "an integer, 1 or more");
    if (j && (out->kind == TORCH_SCALAR || out->kind == TORCH_VALUE) &&
        (!json_is_number(j) || !isfinite((float)json_number_value(j))))
        return read_wrong(r, j, "a number that a float32 can hold");
    if (j && out->kind == TORCH_SHAPE)
        return read_fail(r, "a shape has no default");
    if (j)
        out->initial = json_is_boolean(j) ? json_is_true(j) : json_number_value(j);
    out->has_initial = j != NULL;
    at_leave(r, mark);
    return LATHE_OK;
}

/* { "in_features", "K" }, { "bias_shape", shape = "A" }, { "constant", value = "c" } or { "bias", bias = "b" } */
static status read_init_item(struct reader *r, json_t *j, struct names *names, struct torch_init *out)
{
    static const char *const keys[] = {"shape", "value", "bias", "default", NULL};
    static const struct table_form form = {"{ \"in_features\", \"K\" }, or { name, shape = tensor }, value = or bias =",
                                           NULL, 1, 2, keys};
    static const enum torch_init_kind kinds[] = {TORCH_SHAPE, TORCH_VALUE, TORCH_BIAS};
    struct table t;
    TRY(read_table(r, j, &form, &t));
    TRY(read_python_name(r, table_item(&t, 0), "an argument", names, &out->name));
    int given = t.nitems == 2;
    for (int i = 0; i < 3; i++) {
        if (!table_get(&t, keys[i]))
            continue;
        given++;
        out->kind = kinds[i];
        TRY(read_key_input(r, &t, keys[i], &out->index));
    }
    if (given != 1)
        return read_fail(r, "expected what '%s' is, once: %s", out->name, form.written);
    if (t.nitems == 2) {
        const char *what = node_text(table_item(&t, 1));
        out->kind = TORCH_DIM;
        out->index = what ? problem_find_dim(r->p, what) : -1;
        for (int i = 0; i < r->p->nscalars && out->index < 0 && what; i++)
            if (strcmp(r->p->scalars[i].name, what) == 0) {
                out->kind = TORCH_SCALAR;
                out->index = i;
            }
        if (out->index < 0)
            return read_wrong(r, table_item(&t, 1), "the name of a dimension or a scalar");
    }
    return read_default(r, &t, out);
}

static status read_init(struct reader *r, json_t *j, struct names *names, struct torch_model *m)
{
    struct table list;
    size_t top = at_enter(r, ".init");
    TRY(read_list(r, j, "{ name, what it is }", 0, MAX_DIMS + MAX_SCALARS, &list));
    m->init = mem_zalloc((size_t)list.nitems, sizeof *m->init);
    m->ninit = list.nitems;
    for (int i = 0; i < m->ninit; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_init_item(r, table_item(&list, i), names, &m->init[i]));
        for (int k = 0; k < i; k++)
            if (m->init[k].kind == m->init[i].kind && m->init[k].index == m->init[i].index)
                return read_fail(r, "'%s' is the same as '%s'", m->init[i].name, m->init[k].name);
        if (i > 0 && m->init[i - 1].has_initial && !m->init[i].has_initial)
            return read_fail(r, "'%s' has no default, and follows one that has", m->init[i].name);
        at_leave(r, mark);
    }
    at_leave(r, top);
    return LATHE_OK;
}

/* { "x", "X" } */
static status read_forward(struct reader *r, json_t *j, struct names *names, struct torch_model *m)
{
    static const char *const keys[] = {NULL};
    static const struct table_form form = {"{ \"x\", \"X\" }", NULL, 2, 2, keys};
    struct table list, t;
    size_t top = at_enter(r, ".forward");
    TRY(read_list(r, j, form.written, 1, MAX_TENSORS, &list));
    m->forward = mem_zalloc((size_t)list.nitems, sizeof *m->forward);
    m->nforward = list.nitems;
    for (int i = 0; i < m->nforward; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_table(r, table_item(&list, i), &form, &t));
        TRY(read_python_name(r, table_item(&t, 0), "an argument", names, &m->forward[i].name));
        TRY(read_input(r, table_item(&t, 1), &m->forward[i].tensor));
        at_leave(r, mark);
    }
    at_leave(r, top);
    return LATHE_OK;
}

/* nn.Linear's parameters are a matrix and, for each of its rows, a number. */
static status check_linear(struct reader *r, const struct torch_parameter *q)
{
    const struct tensor *w = &r->p->tensors[q->weight], *b = q->bias < 0 ? NULL : &r->p->tensors[q->bias];
    if (w->rank != 2)
        return read_fail(r, "%s is not a matrix, as an nn.Linear's weight is", w->name);
    if (b && (b->rank != 1 || strcmp(expr_text(b->shape[0]), expr_text(w->shape[0])) != 0))
        return read_fail(r, "%s is not a vector of %s's rows, as an nn.Linear's bias is", b->name, w->name);
    return LATHE_OK;
}

/* { "matmul", linear = "W", bias = "b" } or { "add_value", "A" } */
static status read_parameter(struct reader *r, json_t *j, struct names *names, struct torch_parameter *out)
{
    static const char *const keys[] = {"linear", "bias", NULL};
    static const struct table_form form = {"{ \"matmul\", linear = \"W\", bias = \"b\" } or { \"scale\", \"S\" }", NULL,
                                           1, 2, keys};
    struct table t;
    TRY(read_table(r, j, &form, &t));
    TRY(read_python_name(r, table_item(&t, 0), "a parameter", names, &out->name));
    TRY(read_key_input(r, &t, "linear", &out->weight));
    TRY(read_key_input(r, &t, "bias", &out->bias));
    out->linear = out->weight >= 0;
    if (out->linear == (t.nitems == 2) || (!out->linear && out->bias >= 0))
        return read_fail(r, "expected %s", form.written);
    return out->linear ? check_linear(r, out) : read_input(r, table_item(&t, 1), &out->weight);
}

static status read_parameters(struct reader *r, json_t *j, struct names *names, struct torch_model *m)
{
    struct table list;
    size_t top = at_enter(r, ".parameters");
    TRY(read_list(r, j, "{ name, linear = tensor, bias = tensor } or { name, tensor }", 0, MAX_TENSORS, &list));
    m->parameters = mem_zalloc((size_t)list.nitems, sizeof *m->parameters);
    m->nparameters = list.nitems;
    for (int i = 0; i < m->nparameters; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_parameter(r, table_item(&list, i), names, &m->parameters[i]));
        at_leave(r, mark);
    }
    at_leave(r, top);
    return LATHE_OK;
}

static int times_used(const struct torch_model *m, int tensor)
{
    int n = 0;
    for (int i = 0; i < m->nforward; i++)
        n += m->forward[i].tensor == tensor;
    for (int i = 0; i < m->nparameters; i++)
        n += (m->parameters[i].weight == tensor) + (m->parameters[i].bias == tensor);
    return n;
}

/* The parameter that holds the tensor of an argument shape =, value = or bias =. */
static const struct torch_parameter *holder(const struct torch_model *m, const struct torch_init *init)
{
    for (int i = 0; i < m->nparameters; i++) {
        const struct torch_parameter *q = &m->parameters[i];
        if (init->kind == TORCH_BIAS ? q->linear && q->bias == init->index : !q->linear && q->weight == init->index)
            return q;
    }
    return NULL;
}

static const struct torch_init *find_init(const struct torch_model *m, enum torch_init_kind kind, int index)
{
    for (int i = 0; i < m->ninit; i++)
        if (m->init[i].kind == kind && m->init[i].index == index)
            return &m->init[i];
    return NULL;
}

/* Every dimension and scalar that `x` uses must be known when the model is made. */
static status check_known(struct reader *r, const struct torch_model *m, const struct expr *x, const char *tensor)
{
    for (int d = 0; d < r->p->ndims; d++)
        if (expr_uses(x, d) && !find_init(m, TORCH_DIM, d))
            return read_fail(r, "%s needs %s, which is no argument of init", tensor, r->p->dims[d].name);
    return LATHE_OK;
}

static status check_made(struct reader *r, const struct torch_model *m, int tensor, bool linear)
{
    const struct tensor *t = &r->p->tensors[tensor];
    bool shaped = !linear && (find_init(m, TORCH_SHAPE, tensor) || find_init(m, TORCH_VALUE, tensor));
    for (int i = 0; i < t->rank && !shaped; i++)
        TRY(check_known(r, m, t->shape[i], t->name));
    if (!linear && !find_init(m, TORCH_VALUE, tensor)) {
        TRY(check_known(r, m, t->fill_a, t->name));
        TRY(check_known(r, m, t->fill_b, t->name));
    }
    return LATHE_OK;
}

static status check_model(struct reader *r, const struct torch_model *m)
{
    const struct problem *p = r->p;
    int tensor, axis;
    for (int i = 0; i < p->ntensors; i++)
        if (!p->tensors[i].output && times_used(m, i) != 1)
            return read_fail(r, "the input %s is %s: each is one argument of forward or one parameter",
                             p->tensors[i].name, times_used(m, i) ? "named twice" : "not named");
    for (int d = 0; d < p->ndims; d++)
        if (!torch_model_axis(p, m, d, &tensor, &axis) && !find_init(m, TORCH_DIM, d))
            return read_fail(r, "the dimension %s is no axis of an input, so it must be an argument of init",
                             p->dims[d].name);
    for (int i = 0; i < m->ninit; i++) {
        const struct torch_init *init = &m->init[i];
        if (init->kind == TORCH_DIM || init->kind == TORCH_SCALAR)
            continue;
        if (!holder(m, init))
            return read_fail(r, "init: '%s' is of %s, which is not %s", init->name, p->tensors[init->index].name,
                             init->kind == TORCH_BIAS ? "the bias of one with linear =" : "a parameter of its own");
        if (init->kind == TORCH_VALUE)
            for (int a = 0; a < p->tensors[init->index].rank; a++)
                if (strcmp(expr_text(p->tensors[init->index].shape[a]), "1") != 0)
                    return read_fail(r, "init: '%s' is the value of %s, which is not of shape { 1 }", init->name,
                                     p->tensors[init->index].name);
    }
    for (int i = 0; i < m->nparameters; i++)
        TRY(check_made(r, m, m->parameters[i].weight, m->parameters[i].linear));
    return LATHE_OK;
}

/* What would not end where the expression does: it is printed between parentheses, on a line of its own. */
static const char *formula_flaw(const char *s)
{
    char open[64];
    int depth = 0;
    for (; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == '\\' || *s == '#' || *s == ';')
            return "a control character, a backslash, '#' or ';'";
        if (*s == '\'' || *s == '"') {
            const char *end = strchr(s + 1, *s);
            if (!end)
                return "a text that does not end";
            s = end;
        } else if (strchr("([{", *s)) {
            if (depth == (int)sizeof open)
                return "too many brackets";
            open[depth++] = *s == '(' ? ')' : *s == '[' ? ']' : '}';
        } else if (strchr(")]}", *s) && (depth == 0 || open[--depth] != *s)) {
            return "a bracket that closes nothing";
        }
    }
    return depth ? "a bracket that is not closed" : NULL;
}

/* "torch.softmax(X, dim=1)": for problems whose reference PyTorch can't be told otherwise */
static status read_torch_formula(struct reader *r, const json_t *j, struct torch_model *m)
{
    const char *text = node_text(j), *flaw;
    size_t mark = at_enter(r, ".formula");
    if (!j)
        return at_leave(r, mark), LATHE_OK;
    if (!text || !*text)
        return read_wrong(r, j, "a text: a Python expression of the inputs, dimensions and scalars");
    if (r->p->reference.kind == REFERENCE_GEMM)
        return read_fail(r, "the reference is a gemm, which says it already");
    if (r->p->output < 0)
        return read_fail(r, "the problem has several outputs, and a formula gives one");
    if ((flaw = formula_flaw(text)))
        return read_fail(r, "%.200s has %s", text, flaw);
    m->formula = mem_strdup(text);
    at_leave(r, mark);
    return LATHE_OK;
}

status read_torch(struct reader *r, json_t *j)
{
    static const char *const keys[] = {"init", "forward", "parameters", "formula", NULL};
    static const struct table_form form = {"{ init = ..., forward = ..., parameters = ..., formula = ... }", NULL, 0, 0,
                                           keys};
    struct torch_model *m;
    struct names arguments = {0}, inputs = {0};     /* of the constructor and the model's attributes; of forward */
    struct table t;
    if (!j)
        return LATHE_OK;
    size_t mark = at_enter(r, ".torch");
    TRY(read_table(r, j, &form, &t));
    m = r->p->torch = mem_zalloc(1, sizeof *m);
    TRY(read_init(r, table_get(&t, "init"), &arguments, m));
    TRY(read_forward(r, table_get(&t, "forward"), &inputs, m));
    arguments.count = 0;
    TRY(read_parameters(r, table_get(&t, "parameters"), &arguments, m));
    for (int i = 0; i < m->nparameters; i++)
        for (int k = 0; k < m->ninit; k++)          /* the rest are kept under their names too */
            if ((m->init[k].kind == TORCH_DIM || m->init[k].kind == TORCH_SCALAR) &&
                strcmp(m->init[k].name, m->parameters[i].name) == 0)
                return read_fail(r, "parameters[%d]: there is another '%s'", i + 1, m->init[k].name);
    TRY(check_model(r, m));
    TRY(read_torch_formula(r, table_get(&t, "formula"), m));
    at_leave(r, mark);
    return LATHE_OK;
}
