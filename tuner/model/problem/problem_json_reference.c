/* problem_json_reference.c: what is to be computed: the epilogue's formula and the reference.
 *
 * Invariant: after read_epilogue the output's elements have index names, real ones if the problem has an epilogue;
 * every tensor that generated code must index has axes that are plain dimensions (but for the first). */
#include "model/problem/problem_read.h"

#include "base/mem.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The index name of one axis of the output, or why it has none (in why). */
static char *index_name(const struct problem *p, const struct expr *axis, char *why, size_t size)
{
    const char *dim = expr_text(axis);
    if (problem_find_dim(p, dim) < 0) {
        snprintf(why, size, "`%.60s` is not the plain name of a dimension", dim);
        return NULL;
    }
    char *name = mem_strdup(dim);
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    const char *use = reserved_name(name);
    if (!use)
        use = problem_name_use(p, NULL, name);
    for (int i = 0; i < MAX_RANK && !use; i++)
        if (p->index_names[i] && strcmp(p->index_names[i], name) == 0)
            use = "another index";
    if (!use)
        return name;
    snprintf(why, size, "%s, the index along %s, is %s already: rename the dimension", name, dim, use);
    mem_free(name);
    return NULL;
}

/* Names the indices of the output's elements. Only an epilogue that a person wrote needs real ones. */
static status read_index_names(struct reader *r, bool needed)
{
    struct problem *p = r->p;
    char why[200] = "";
    bool named = p->output >= 0;
    int rank = named ? p->tensors[p->output].rank : 0;
    if (!named)
        snprintf(why, sizeof why, "the problem has several outputs");
    for (int i = 0; i < rank && named; i++)
        named = (p->index_names[i] = index_name(p, p->tensors[p->output].shape[i], why, sizeof why)) != NULL;
    if (!named && needed)
        return read_fail(r, "an epilogue needs exactly one output, whose shape is of distinct dimensions: %s", why);
    for (int i = 0; i < rank && !named; i++) {
        mem_free(p->index_names[i]);
        p->index_names[i] = mem_printf("lathe_i%d", i);
    }
    return LATHE_OK;
}

bool epilogue_uses_tensor(const struct problem *p, int i)
{
    int slot = p->epilogue_tensor;
    if (!p->epilogue || p->tensors[i].output)
        return false;
    for (int t = 0; t < i; t++)
        slot += !p->tensors[t].output;
    return expr_uses(p->epilogue, slot);
}

/* Tensors that generated code must index: every axis but the first a plain dimension. */
static status check_epilogue_tensor(struct reader *r, const struct tensor *t)
{
    for (int i = 1; i < t->rank; i++)
        if (problem_find_dim(r->p, expr_text(t->shape[i])) < 0)
            return read_fail(r, "%s: `%.60s` is not the plain name of a dimension, which an epilogue needs to index it",
                             t->name, expr_text(t->shape[i]));
    return LATHE_OK;
}

status read_epilogue(struct reader *r, const json_t *j)
{
    struct problem *p = r->p;
    struct scope *scope = &p->epilogue_scope;
    size_t mark = at_enter(r, ".epilogue");
    TRY(read_index_names(r, j != NULL));
    for (int i = 0; i < p->scope.count; i++)
        scope_add(scope, p->scope.names[i].name, p->scope.names[i].type, 0);
    p->epilogue_z = scope_add(scope, "z", VALUE_FLOAT, 0);
    p->epilogue_index = scope->count;
    for (int i = 0; i < MAX_RANK && p->index_names[i]; i++)
        scope_add(scope, p->index_names[i], VALUE_INT, 0);
    p->epilogue_tensor = scope->count;
    for (int i = 0; i < p->ntensors; i++)
        if (!p->tensors[i].output)
            scope_add(scope, p->tensors[i].name, VALUE_FLOAT, p->tensors[i].rank);
    if (j)
        TRY(read_formula(r, j, WANT_NUMBER, scope,
                         "an epilogue may use z, the output's indices, dimensions, scalars and input tensors",
                         &p->epilogue));
    for (int i = 0; i < p->ntensors; i++)
        if (epilogue_uses_tensor(p, i))
            TRY(check_epilogue_tensor(r, &p->tensors[i]));
    at_leave(r, mark);
    return LATHE_OK;
}

static bool is_float(enum dtype t)
{
    return t == DTYPE_f32 || t == DTYPE_f64 || t == DTYPE_f16 || t == DTYPE_bf16;
}

static status read_bias(struct reader *r, const json_t *j)
{
    struct problem *p = r->p;
    size_t mark = at_enter(r, ".bias");
    p->reference.bias = -1;
    if (j) {
        TRY(read_buffer_name(r, NULL, j, &p->reference.bias));
        const struct tensor *bias = &p->tensors[p->reference.bias];
        if (bias->output || bias->rank != 1)
            return read_fail(r, "%s is %s, expected an input of one dimension, with one element a column of the output",
                             bias->name, bias->output ? "an output" : "not of one dimension");
        TRY(check_epilogue_tensor(r, bias));
    }
    at_leave(r, mark);
    return LATHE_OK;
}

static status read_reference_gemm(struct reader *r, json_t *j)
{
    static const char *const keys[] = {"trans_a", "trans_b", "bias", NULL};
    static const struct table_form form = {"gemm { \"X\", \"W\", \"Y\", trans_b = true, bias = \"b\" }", "gemm", 3, 3,
                                           keys};
    struct problem *p = r->p;
    struct gemm *g = &p->reference.gemm;
    struct table t;
    TRY(read_table(r, j, &form, &t));
    TRY(read_gemm(r, NULL, &t, g));
    if (p->output < 0)
        return read_fail(r, "a gemm computes one output, and the problem has several: use a reference kernel");
    if (g->c != p->output || p->tensors[g->a].output || p->tensors[g->b].output)
        return read_fail(r, "expected two inputs and the output %s, got %s, %s and %s", p->tensors[p->output].name,
                         p->tensors[g->a].name, p->tensors[g->b].name, p->tensors[g->c].name);
    enum dtype type = p->tensors[g->a].dtype;
    if (type != p->tensors[g->b].dtype || !is_float(type) || !is_float(p->tensors[g->c].dtype))
        return read_fail(r, "expected matrices of floats, %s and %s of one type; they are %s, %s and %s",
                         p->tensors[g->a].name, p->tensors[g->b].name, dtype_name(type),
                         dtype_name(p->tensors[g->b].dtype), dtype_name(p->tensors[g->c].dtype));
    g->compute = GEMM_F64;
    return read_bias(r, table_get(&t, "bias"));
}

status read_reference(struct reader *r, json_t *j)
{
    struct reference *ref = &r->p->reference;
    size_t mark = at_enter(r, ".reference");
    if (strcmp(node_tag(j), "gemm") == 0) {
        ref->kind = REFERENCE_GEMM;
        TRY(read_reference_gemm(r, j));
    } else {
        ref->kind = REFERENCE_KERNEL;
        ref->bias = -1;
        ref->kernel = mem_zalloc(1, sizeof *ref->kernel);
        TRY(read_reference_kernel(r, j, ref->kernel));
    }
    at_leave(r, mark);
    return LATHE_OK;
}
