/* export_exact.c: the exact answer of a GEMM on the host, a plain loop in double, for the self-test of an exported
 * file (export_selftest.c). */
#include "base/mem.h"
#include "export/internal.h"

struct host_names {
    const struct problem *p;
};

/* Names of the epilogue's scope on the host: tensors are vectors h_NAME. */
static void print_name(struct strbuf *b, int slot, char *const *index, int rank, void *ctx)
{
    const struct problem *p = ((struct host_names *)ctx)->p;
    const char *name = p->epilogue_scope.names[slot].name;
    if (!rank) {
        sb_addf(b, "%s", name);
        return;
    }
    const struct tensor *t = &p->tensors[problem_find_tensor(p, name)];
    sb_addf(b, "(double)lathe_h_%s[(size_t)0", name);
    for (int d = 0; d < rank; d++) {
        sb_addf(b, " + (size_t)(%s)", index[d]);
        for (int k = d + 1; k < rank; k++) sb_addf(b, " * (size_t)%s", expr_text(t->shape[k]));
    }
    sb_add(b, "]");
}

static const char *index_name(const struct problem *p, int axis)
{
    return p->epilogue_scope.names[p->epilogue_index + axis].name;
}

/* An axis as C: a dimension's name, or a formula. Free with mem_free. */
static status axis_text(const struct exporter *x, const struct tensor *t, int axis, char **out, struct err *e)
{
    const char *text = expr_text(t->shape[axis]);
    struct expr_c how = {.precision = EXPR_C_DOUBLE};
    struct strbuf b = {0};
    status s = problem_find_dim(x->p, text) < 0 ? expr_print_c(&b, t->shape[axis], &how, e) : LATHE_OK;
    *out = b.len ? sb_take(&b) : mem_strdup(text);
    return s;
}

/* The loops, with the axes of the matrices: rows and columns of the result, inner ones, and what a row of A and of B
 * has. */
static status print_loops(struct exporter *x, char *const axis[5], struct err *e)
{
    const struct problem *p = x->p;
    const struct gemm *g = &p->reference.gemm;
    const struct tensor *a = &p->tensors[g->a], *b = &p->tensors[g->b], *c = &p->tensors[g->c];
    const char *rows = axis[0], *columns = axis[1], *inner = axis[2];
    const char *i = p->epilogue ? index_name(p, 0) : "lathe_i", *j = p->epilogue ? index_name(p, 1) : "lathe_j";
    sb_addf(x->out,
            "    for (int64_t %s = 0; %s < (%s); %s++)\n        for (int64_t %s = 0; %s < (%s); %s++) {\n"
            "            double z = 0;\n            for (int64_t lathe_k = 0; lathe_k < (%s); lathe_k++)\n"
            "                z += (double)lathe_h_%s[",
            i, i, rows, i, j, j, columns, j, inner, a->name);
    if (g->trans_a) sb_addf(x->out, "lathe_k * (%s) + %s", axis[3], i);
    else sb_addf(x->out, "%s * (%s) + lathe_k", i, inner);
    sb_addf(x->out, "] * (double)lathe_h_%s[", b->name);
    if (g->trans_b) sb_addf(x->out, "%s * (%s) + lathe_k", j, inner);
    else sb_addf(x->out, "lathe_k * (%s) + %s", axis[4], j);
    sb_add(x->out, "];\n");
    if (p->reference.bias >= 0)
        sb_addf(x->out, "            z += (double)lathe_h_%s[%s];\n", p->tensors[p->reference.bias].name, j);
    sb_addf(x->out, "            lathe_r_%s[(size_t)(%s * (%s) + %s)] = ", c->name, i, columns, j);
    status s = LATHE_OK;
    if (p->epilogue) {
        struct host_names names = {p};
        struct expr_c how = {.precision = EXPR_C_DOUBLE, .name = print_name, .ctx = &names};
        s = expr_print_c(x->out, p->epilogue, &how, e);
    } else {
        sb_add(x->out, "z");
    }
    sb_add(x->out, ";\n        }\n");
    return s;
}

status export_exact_gemm(struct exporter *x, struct err *e)
{
    const struct problem *p = x->p;
    const struct gemm *g = &p->reference.gemm;
    const struct tensor *a = &p->tensors[g->a], *b = &p->tensors[g->b], *c = &p->tensors[g->c];
    char *axis[5] = {0};
    status s = axis_text(x, c, 0, &axis[0], e);
    if (!s) s = axis_text(x, c, 1, &axis[1], e);
    if (!s) s = axis_text(x, a, g->trans_a ? 0 : 1, &axis[2], e);
    if (!s) s = axis_text(x, a, 1, &axis[3], e);
    if (!s) s = axis_text(x, b, 1, &axis[4], e);
    if (!s) s = print_loops(x, axis, e);
    for (int i = 0; i < 5; i++) mem_free(axis[i]);
    return s;
}
