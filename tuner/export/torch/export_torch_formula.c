/* export_torch_formula.c: what an exported Python file says of its problem: how sizes are read off the inputs, and the
 * formula in PyTorch's own operations. export/torch/torch_runtime.py calls the functions printed here.
 *
 * Names: a tensor, dimension or scalar has its own, with _ after it where Python means something else by it. */
#include "base/mem.h"
#include "export/torch/torch.h"
#include <ctype.h>
#include <string.h>

/* --- names --- */

static void name(struct strbuf *b, const char *s)
{
    char *python = torch_model_python_name(s);
    sb_add(b, python);
    mem_free(python);
}

static void print_plain_name(struct strbuf *b, int slot, char *const *index, int rank, void *ctx)
{
    name(b, ((const struct scope *)ctx)->names[slot].name);
}

static status problem_formula(struct exporter *x, struct strbuf *b, const struct expr *e, struct err *err)
{
    struct expr_py how = {.name = print_plain_name, .ctx = (void *)&x->p->scope};
    return expr_print_py(b, e, &how, err);
}

static bool is_input(const struct problem *p, int i)
{
    return !p->tensors[i].output;
}

static bool own_parameter(const struct torch_model *m, int tensor)
{
    for (int i = 0; i < m->nparameters; i++)
        if (!m->parameters[i].linear && m->parameters[i].weight == tensor) return true;
    return false;
}

/* "X, W, b" */
static void print_inputs(struct strbuf *b, const struct problem *p)
{
    bool first = true;
    for (int i = 0; i < p->ntensors; i++)
        if (is_input(p, i)) {
            sb_add(b, first ? "" : ", ");
            name(b, p->tensors[i].name);
            first = false;
        }
}

static void print_dims(struct strbuf *b, const struct problem *p)
{
    for (int i = 0; i < p->ndims; i++) {
        sb_add(b, i ? ", " : "");
        name(b, p->dims[i].name);
    }
}

static void print_scalars(struct strbuf *b, const struct problem *p)
{
    for (int i = 0; i < p->nscalars; i++) {
        sb_add(b, ", ");
        name(b, p->scalars[i].name);
    }
}

/* "(M, N,)" */
static status print_shape(struct exporter *x, struct strbuf *b, const struct tensor *t, struct err *e)
{
    status s = LATHE_OK;
    sb_add(b, "(");
    for (int i = 0; i < t->rank && !s; i++) {
        sb_add(b, i ? ", " : "");
        s = problem_formula(x, b, t->shape[i], e);
    }
    sb_add(b, t->rank == 1 ? ",)" : ")");
    return s;
}

/* --- sizes --- */

/* Whether a dimension is read off this tensor, so that it must have all its axes. */
static bool read_off(const struct model_printer *mp, int tensor)
{
    const struct problem *p = mp->x->p;
    int t, axis;
    for (int d = 0; d < p->ndims; d++)
        if (torch_model_axis(p, mp->m, d, &t, &axis) && t == tensor) return true;
    return false;
}

static void print_bad_shapes(struct model_printer *mp)
{
    const struct problem *p = mp->x->p;
    struct strbuf *b = mp->x->out;
    bool first = true;
    sb_add(b, "        lathe_bad_shapes((");
    print_inputs(b, p);
    sb_add(b, ",), \"");
    for (int i = 0; i < p->ntensors; i++) {
        if (!is_input(p, i)) continue;
        sb_add(b, first ? "" : ", ");
        torch_input_name(b, mp->m, i);
        sb_add(b, " [");
        first = false;
        for (int a = 0; a < p->tensors[i].rank; a++) {
            sb_add(b, a ? ", " : "");
            export_torch_literal(b, expr_text(p->tensors[i].shape[a]));
        }
        sb_add(b, "]");
    }
    sb_add(b, "\")\n");
}

/* if X.dim() != 2 or ...: of those that dimensions are read off */
static void print_rank_check(struct model_printer *mp)
{
    const struct problem *p = mp->x->p;
    struct strbuf *b = mp->x->out;
    bool first = true;
    for (int i = 0; i < p->ntensors; i++) {
        if (!is_input(p, i) || !read_off(mp, i)) continue;
        sb_add(b, first ? "    if " : " or ");
        name(b, p->tensors[i].name);
        sb_addf(b, ".dim() != %d", p->tensors[i].rank);
        first = false;
    }
    if (first) return;
    sb_add(b, ":\n");
    print_bad_shapes(mp);
}

static status print_shape_check(struct model_printer *mp, struct err *e)
{
    const struct problem *p = mp->x->p;
    struct strbuf *b = mp->x->out;
    bool first = true;
    status s = LATHE_OK;
    for (int i = 0; i < p->ntensors && !s; i++) {
        if (!is_input(p, i)) continue;
        bool count_only = own_parameter(mp->m, i) && !read_off(mp, i);
        sb_add(b, first ? "    if " : " or ");
        name(b, p->tensors[i].name);
        sb_add(b, count_only ? ".numel() != math.prod(" : ".shape != ");
        s = print_shape(mp->x, b, &p->tensors[i], e);
        sb_add(b, count_only ? ")" : "");
        first = false;
    }
    sb_add(b, ":\n");
    print_bad_shapes(mp);
    return s;
}

static status print_sizes(struct model_printer *mp, struct err *e)
{
    const struct problem *p = mp->x->p;
    struct strbuf *b = mp->x->out;
    int tensor, axis;
    sb_add(b, "\n\ndef lathe_sizes(");
    print_inputs(b, p);
    for (int d = 0; d < p->ndims; d++)
        if (!torch_model_axis(p, mp->m, d, &tensor, &axis)) {
            sb_add(b, ", ");
            name(b, p->dims[d].name);
        }
    print_scalars(b, p);
    sb_add(b, "):\n    \"\"\"The dimensions, read off the inputs, whose shapes must fit.\"\"\"\n");
    print_rank_check(mp);
    for (int d = 0; d < p->ndims; d++) {
        if (!torch_model_axis(p, mp->m, d, &tensor, &axis)) continue;
        sb_add(b, "    ");
        name(b, p->dims[d].name);
        sb_add(b, " = ");
        name(b, p->tensors[tensor].name);
        sb_addf(b, ".shape[%d]\n", axis);
    }
    status s = print_shape_check(mp, e);
    sb_add(b, "    return (");
    print_dims(b, p);
    sb_add(b, ",)\n");
    return s;
}

static status print_output_shapes(struct exporter *x, struct err *e)
{
    status s = LATHE_OK;
    sb_add(x->out, "\n\ndef lathe_output_shapes(");
    print_dims(x->out, x->p);
    print_scalars(x->out, x->p);
    sb_add(x->out, "):\n    return (");
    for (int i = 0; i < x->p->ntensors && !s; i++)
        if (x->p->tensors[i].output) {
            s = print_shape(x, x->out, &x->p->tensors[i], e);
            sb_add(x->out, ", ");
        }
    sb_add(x->out, ")\n");
    return s;
}

/* --- formula --- */

static const struct tensor *slot_tensor(const struct problem *p, int slot)
{
    int input = slot - p->epilogue_tensor;
    for (int i = 0; i < p->ntensors; i++)
        if (is_input(p, i) && input-- == 0) return &p->tensors[i];
    return NULL;
}

/* Axes of t that are the output's last ones, each indexed by that axis's own name: then t is what it is. */
static bool is_whole(const struct problem *p, const struct tensor *t, char *const *index, int rank)
{
    const struct tensor *y = &p->tensors[p->output];
    int skip = y->rank - rank;
    bool whole = skip >= 0;
    for (int i = 0; i < rank && whole; i++) {
        char *own = torch_model_python_name(p->index_names[skip + i]);
        whole = strcmp(index[i], own) == 0 && strcmp(expr_text(t->shape[i]), expr_text(y->shape[skip + i])) == 0;
        mem_free(own);
    }
    return whole;
}

static void print_epilogue_name(struct strbuf *b, int slot, char *const *index, int rank, void *ctx)
{
    const struct problem *p = ctx;
    const char *text = p->epilogue_scope.names[slot].name;
    name(b, text);
    if (!rank) return;
    const struct tensor *t = slot_tensor(p, slot);
    if (!is_whole(p, t, index, rank)) {
        for (int i = 0; i < rank; i++) sb_addf(b, "%s%s", i ? ", " : "[", index[i]);
        sb_add(b, "]");
    }
    if (t->dtype != DTYPE_f32 && t->dtype != DTYPE_f64) sb_add(b, ".float()");
}

static bool epilogue_tensor(int slot, void *ctx)
{
    const struct problem *p = ctx;
    return slot == p->epilogue_z || (slot >= p->epilogue_index && slot < p->epilogue_tensor);
}

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += n) {
        bool starts = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.');
        if (starts && !(isalnum((unsigned char)at[n]) || at[n] == '_')) return true;
    }
    return false;
}

/* A matrix of the product: 16-bit types are multiplied as float32, which holds them. */
static void print_matrix(struct strbuf *b, const struct tensor *t, bool transposed)
{
    name(b, t->name);
    if (t->dtype != DTYPE_f32 && t->dtype != DTYPE_f64) sb_add(b, ".float()");
    if (transposed) sb_add(b, ".t()");
}

static void print_product(struct exporter *x)
{
    const struct reference *r = &x->p->reference;
    const struct tensor *a = &x->p->tensors[r->gemm.a], *w = &x->p->tensors[r->gemm.b];
    struct strbuf *b = x->out;
    bool linear = r->gemm.trans_b && !r->gemm.trans_a;
    sb_addf(b, "    z = torch.%s(", linear ? "nn.functional.linear" : "mm");
    print_matrix(b, a, r->gemm.trans_a);
    sb_add(b, ", ");
    print_matrix(b, w, r->gemm.trans_b && !linear);
    if (r->bias >= 0) {
        sb_add(b, linear ? ", " : ") + ");
        print_matrix(b, &x->p->tensors[r->bias], false);
    }
    sb_add(b, r->bias >= 0 && !linear ? "\n" : ")\n");
}

static status print_formula(struct model_printer *mp, struct err *e)
{
    struct exporter *x = mp->x;
    const struct problem *p = x->p;
    struct strbuf *b = x->out, value = {0};
    if (p->reference.kind != REFERENCE_GEMM && !mp->m->formula) {
        sb_add(b, "\n\nlathe_formula = None  # the specification has a reference kernel, and no torch.formula\n");
        return LATHE_OK;
    }
    struct expr_py how = {.name = print_epilogue_name, .tensor = epilogue_tensor, .ctx = (void *)p};
    status s = LATHE_OK;
    if (p->epilogue) s = expr_print_py(&value, p->epilogue, &how, e);
    else sb_add(&value, "z");
    sb_add(b, "\n\ndef lathe_formula(");
    print_inputs(b, p);
    sb_add(b, ", ");
    print_dims(b, p);
    print_scalars(b, p);
    sb_add(b, "):\n    \"\"\"The same by PyTorch's own operations.\"\"\"\n");
    for (int i = 0; i < p->ntensors && !s; i++) {
        if (!own_parameter(mp->m, i)) continue;
        sb_add(b, "    ");
        name(b, p->tensors[i].name);
        sb_add(b, " = ");
        name(b, p->tensors[i].name);
        sb_add(b, ".reshape");
        s = print_shape(x, b, &p->tensors[i], e);
        sb_add(b, "\n");
    }
    if (mp->m->formula) {
        sb_add(b, "    z = (");
        export_torch_said(b, p, mp->m->formula);
        sb_add(b, ")\n");
        sb_addf(b, "    return lathe_finish(z, z, torch.%s)\n", torch_type(p->tensors[p->output].dtype));
        sb_free(&value);
        return s;
    }
    print_product(x);
    const struct tensor *y = &p->tensors[p->output];
    for (int a = 0; a < y->rank && p->epilogue && !s; a++) {
        char *index = torch_model_python_name(p->index_names[a]);
        bool used = has_word(sb_str(&value), index);
        if (used) sb_addf(b, "    %s = torch.arange(", index);
        mem_free(index);
        if (!used) continue;
        s = problem_formula(x, b, y->shape[a], e);
        sb_addf(b, ", device=z.device)%s\n", a + 1 < y->rank ? ".unsqueeze(1)" : "");
    }
    sb_addf(b, "    return lathe_finish(%s, z, torch.%s)\n", sb_str(&value), torch_type(y->dtype));
    sb_free(&value);
    return s;
}

status export_torch_formula(struct model_printer *mp, struct err *e)
{
    status s = print_sizes(mp, e);
    if (!s) s = print_output_shapes(mp->x, e);
    return s ? s : print_formula(mp, e);
}
