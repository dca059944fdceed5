/* export_torch_class.c: class ModelNew of an exported Python file: the constructor's arguments, the parameters and
 * forward as the specification's `torch` says. */
#include "export/torch/torch.h"
#include <string.h>

void torch_input_name(struct strbuf *b, const struct torch_model *m, int i)
{
    for (int k = 0; k < m->nforward; k++)
        if (m->forward[k].tensor == i) sb_add(b, m->forward[k].name);
    for (int k = 0; k < m->nparameters; k++) {
        const struct torch_parameter *q = &m->parameters[k];
        if (q->weight == i) sb_addf(b, "%s%s", q->name, q->linear ? ".weight" : "");
        if (q->bias == i) sb_addf(b, "%s.bias", q->name);
    }
}

static bool is_input(const struct problem *p, int i)
{
    return !p->tensors[i].output;
}

/* A text of the specification's between three quotes. */
static void print_doc_text(struct strbuf *b, const char *text)
{
    for (const char *c = text; *c; c++)
        sb_addn(b, *c == '"' ? "'" : *c == '\\' || (unsigned char)*c < ' ' ? " " : c, 1);
}

/* "f32 [M, K]" */
static void print_type(struct strbuf *b, const struct tensor *t)
{
    sb_addf(b, "%s [", dtype_name(t->dtype));
    for (int i = 0; i < t->rank; i++) {
        sb_add(b, i ? ", " : "");
        print_doc_text(b, expr_text(t->shape[i]));
    }
    sb_add(b, "]");
}

static const struct torch_init *find_init(const struct torch_model *m, enum torch_init_kind kind, int index)
{
    for (int i = 0; i < m->ninit; i++)
        if (m->init[i].kind == kind && m->init[i].index == index) return &m->init[i];
    return NULL;
}

/* In the constructor, a dimension is the argument that gives it, and a scalar that is no argument its value. */
static void print_init_name(struct strbuf *b, int slot, char *const *index, int rank, void *ctx)
{
    const struct model_printer *mp = ctx;
    const struct problem *p = mp->x->p;
    bool dim = slot < p->ndims;
    const struct torch_init *init = find_init(mp->m, dim ? TORCH_DIM : TORCH_SCALAR, dim ? slot : slot - p->ndims);
    if (init) sb_add(b, init->name);
    else value_print(b, value_float(p->scalars[slot - p->ndims].value));
}

static status init_formula(struct model_printer *mp, const struct expr *e, struct err *err)
{
    struct expr_py how = {.name = print_init_name, .ctx = mp};
    return expr_print_py(mp->x->out, e, &how, err);
}

static void print_default(struct strbuf *b, const struct torch_init *init)
{
    if (!init->has_initial) return;
    if (init->kind == TORCH_BIAS) sb_addf(b, "=%s", init->initial != 0 ? "True" : "False");
    else if (init->kind == TORCH_DIM) sb_addf(b, "=%lld", (long long)init->initial);
    else {
        sb_add(b, "=");
        value_print(b, value_float(init->initial));
    }
}

static void print_doc(struct model_printer *mp)
{
    const struct problem *p = mp->x->p;
    struct strbuf *b = mp->x->out;
    sb_add(b, "    \"\"\"");
    print_doc_text(b, p->summary ? p->summary : p->name);
    sb_add(b, "\n\n    forward takes, as contiguous tensors on a CUDA device:\n");
    for (int i = 0; i < mp->m->nforward; i++) {
        sb_addf(b, "      %s: ", mp->m->forward[i].name);
        print_type(b, &p->tensors[mp->m->forward[i].tensor]);
        sb_add(b, "\n");
    }
    if (mp->m->nparameters) sb_add(b, "    Parameters:\n");
    for (int i = 0; i < mp->m->nparameters; i++) {
        const struct torch_parameter *q = &mp->m->parameters[i];
        sb_add(b, "      ");
        torch_input_name(b, mp->m, q->weight);
        sb_addf(b, ": %s, ", p->tensors[q->weight].name);
        print_type(b, &p->tensors[q->weight]);
        if (q->bias >= 0) {
            sb_addf(b, "\n      %s.bias: %s, ", q->name, p->tensors[q->bias].name);
            print_type(b, &p->tensors[q->bias]);
        }
        sb_add(b, "\n");
    }
    sb_add(b, "    and gives:\n");
    for (int i = 0; i < p->ntensors; i++)
        if (p->tensors[i].output) {
            sb_addf(b, "      %s: ", p->tensors[i].name);
            print_type(b, &p->tensors[i]);
            sb_add(b, "\n");
        }
    sb_add(b, "    The result has no gradient.\n    \"\"\"\n");
}

/* ", dtype=torch.float16" where it is not PyTorch's default */
static void print_dtype(struct strbuf *b, const struct tensor *t)
{
    if (t->dtype != DTYPE_f32) sb_addf(b, ", dtype=torch.%s", torch_type(t->dtype));
}

static status print_linear(struct model_printer *mp, const struct torch_parameter *q, struct err *e)
{
    struct strbuf *b = mp->x->out;
    const struct tensor *w = &mp->x->p->tensors[q->weight];
    const struct torch_init *has_bias = q->bias >= 0 ? find_init(mp->m, TORCH_BIAS, q->bias) : NULL;
    sb_addf(b, "        self.%s = nn.Linear(", q->name);
    status s = init_formula(mp, w->shape[1], e);
    sb_add(b, ", ");
    if (!s) s = init_formula(mp, w->shape[0], e);
    if (has_bias) sb_addf(b, ", bias=%s", has_bias->name);
    else if (q->bias < 0) sb_add(b, ", bias=False");
    print_dtype(b, w);
    sb_add(b, ")\n");
    if (!has_bias || s) return s;
    sb_addf(b, "        self.register_buffer(\"lathe_zeros_%s\", torch.zeros(", q->name);
    s = init_formula(mp, w->shape[0], e);
    print_dtype(b, w);
    sb_add(b, "), persistent=False)  # the bias of a layer that has none\n");
    return s;
}

static bool is_number(const struct problem *p, const struct expr *x, double value)
{
    struct value v;
    struct err ignored;
    for (int i = 0; i < p->scope.count; i++)
        if (expr_uses(x, i)) return false;
    if (expr_eval(x, NULL, &v, &ignored)) return false;
    return v.type == VALUE_INT ? (double)v.i == value : v.type == VALUE_FLOAT && v.f == value;
}

/* nn.Parameter(torch.randn(bias_shape)) */
static status print_own(struct model_printer *mp, const struct torch_parameter *q, struct err *e)
{
    struct strbuf *b = mp->x->out;
    const struct tensor *t = &mp->x->p->tensors[q->weight];
    const struct torch_init *value = find_init(mp->m, TORCH_VALUE, q->weight);
    const struct torch_init *shape = find_init(mp->m, TORCH_SHAPE, q->weight);
    status s = LATHE_OK;
    sb_addf(b, "        self.%s = nn.Parameter(torch.", q->name);
    if (value) {
        sb_addf(b, "tensor(float(%s)", value->name);
        print_dtype(b, t);
        sb_add(b, "))\n");
        return LATHE_OK;
    }
    bool normal = t->fill == FILL_NORMAL;
    sb_add(b, normal ? "randn(" : "rand(");
    if (shape) sb_add(b, shape->name);
    for (int i = 0; i < t->rank && !shape && !s; i++) {
        sb_add(b, i ? ", " : "");
        s = init_formula(mp, t->shape[i], e);
    }
    print_dtype(b, t);
    sb_add(b, ")");
    if (!s && !(is_number(mp->x->p, t->fill_a, 0) && is_number(mp->x->p, t->fill_b, 1))) {
        sb_add(b, " * (");
        s = init_formula(mp, t->fill_b, e);
        sb_add(b, normal ? ") + (" : " - (");
        if (!s) s = init_formula(mp, t->fill_a, e);
        sb_add(b, normal ? ")" : ")) + (");
        if (!s && !normal) s = init_formula(mp, t->fill_a, e);
        sb_add(b, normal ? "" : ")");
    }
    sb_add(b, ")\n");
    return s;
}

/* Arguments that a call needs again. */
static bool is_kept(const struct problem *p, const struct torch_model *m, const struct torch_init *init)
{
    int tensor, axis;
    return init->kind == TORCH_SCALAR ||
           (init->kind == TORCH_DIM && !torch_model_axis(p, m, init->index, &tensor, &axis));
}

static status print_constructor(struct model_printer *mp, struct err *e)
{
    struct strbuf *b = mp->x->out;
    sb_add(b, "\n    def __init__(self");
    for (int i = 0; i < mp->m->ninit; i++) {
        sb_addf(b, ", %s", mp->m->init[i].name);
        print_default(b, &mp->m->init[i]);
    }
    sb_add(b, "):\n        super().__init__()\n");
    status s = LATHE_OK;
    for (int i = 0; i < mp->m->nparameters && !s; i++) {
        const struct torch_parameter *q = &mp->m->parameters[i];
        s = q->linear ? print_linear(mp, q, e) : print_own(mp, q, e);
    }
    for (int i = 0; i < mp->m->ninit; i++)
        if (is_kept(mp->x->p, mp->m, &mp->m->init[i]))
            sb_addf(b, "        self.%s = %s\n", mp->m->init[i].name, mp->m->init[i].name);
    return s;
}

/* What holds input i when forward is called. */
static void print_held(struct model_printer *mp, int i)
{
    struct strbuf *b = mp->x->out;
    bool argument = false;
    for (int k = 0; k < mp->m->nforward; k++) argument |= mp->m->forward[k].tensor == i;
    for (int k = 0; k < mp->m->nparameters; k++) {
        const struct torch_parameter *q = &mp->m->parameters[k];
        if (q->bias == i && find_init(mp->m, TORCH_BIAS, i))
            sb_addf(b, "self.lathe_zeros_%s if self.%s.bias is None else ", q->name, q->name);
    }
    sb_add(b, argument ? "" : "self.");
    torch_input_name(b, mp->m, i);
}

static void print_forward_arguments(struct model_printer *mp, bool definition)
{
    for (int i = 0; i < mp->m->nforward; i++)
        sb_addf(mp->x->out, "%s%s", definition || i ? ", " : "", mp->m->forward[i].name);
}

/* The three groups that lathe_run takes. */
static void print_call_inputs(struct model_printer *mp)
{
    const struct problem *p = mp->x->p;
    struct strbuf *b = mp->x->out;
    int tensor, axis;
    sb_add(b, "\n    def lathe_arguments(self");
    print_forward_arguments(mp, true);
    sb_add(b, "):\n        return (");
    for (int i = 0; i < p->ntensors; i++)
        if (is_input(p, i)) {
            print_held(mp, i);
            sb_add(b, ", ");
        }
    sb_add(b, "), (");
    for (int d = 0; d < p->ndims; d++)
        if (!torch_model_axis(p, mp->m, d, &tensor, &axis))
            sb_addf(b, "self.%s, ", find_init(mp->m, TORCH_DIM, d)->name);
    sb_add(b, "), (");
    for (int i = 0; i < p->nscalars; i++) {
        const struct torch_init *init = find_init(mp->m, TORCH_SCALAR, i);
        if (init) sb_addf(b, "self.%s", init->name);
        else value_print(b, value_float(p->scalars[i].value));
        sb_add(b, ", ");
    }
    sb_add(b, ")\n");
}

status export_torch_class(struct model_printer *mp, struct err *e)
{
    struct strbuf *b = mp->x->out;
    sb_add(b, "\n\nclass ModelNew(nn.Module):\n");
    print_doc(mp);
    status s = print_constructor(mp, e);
    print_call_inputs(mp);
    sb_add(b, "\n    def forward(self");
    print_forward_arguments(mp, true);
    sb_add(b, "):\n        return lathe_run(*self.lathe_arguments(");
    print_forward_arguments(mp, false);
    sb_add(b, "))\n");
    if (mp->x->p->reference.kind != REFERENCE_GEMM && !mp->m->formula) return s;
    sb_add(b, "\n    def reference(self");
    print_forward_arguments(mp, true);
    sb_add(b, "):\n        \"\"\"The same by PyTorch's own operations, with gradients.\"\"\"\n"
              "        return lathe_reference(*self.lathe_arguments(");
    print_forward_arguments(mp, false);
    sb_add(b, "))\n");
    return s;
}
