/* problem_json_steps.c: the pipeline of a kernel: its steps, and GEMMs. Launches: problem_json_launch.c. */
#include "model/problem/problem_read.h"

#include "base/mem.h"
#include <string.h>

status read_buffer_name(struct reader *r, const struct kernel *k, const json_t *j, int *out)
{
    const struct problem *p = r->p;
    const char *names[2 * MAX_TENSORS], *wanted = node_text(j);
    int n = p->ntensors + (k ? k->nworkspace : 0);
    const char *expected = k ? "the name of a tensor or workspace buffer" : "the name of a tensor";
    if (!wanted)
        return read_wrong(r, j, expected);
    for (int i = 0; i < n; i++) {
        names[i] = problem_buffer(p, k, i)->name;
        if (strcmp(names[i], wanted) == 0) {
            *out = i;
            return LATHE_OK;
        }
    }
    const char *near = nearest_word(wanted, names, n);
    return read_fail(r, "expected %s, got '%.60s'%s%s%s", expected, wanted, near ? " (did you mean '" : "",
                     near ? near : "", near ? "'?)" : "");
}

status read_gemm(struct reader *r, const struct kernel *k, const struct table *t, struct gemm *out)
{
    int *matrix[3] = {&out->a, &out->b, &out->c};
    for (int i = 0; i < 3; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        TRY(read_buffer_name(r, k, table_item(t, i), matrix[i]));
        const struct tensor *x = problem_buffer(r->p, k, *matrix[i]);
        if (x->rank != 2)
            return read_fail(r, "%s has %d dimension%s, and a gemm works on matrices of 2", x->name, x->rank,
                             x->rank == 1 ? "" : "s");
        at_leave(r, mark);
    }
    if (out->c == out->a || out->c == out->b)
        return read_fail(r, "a gemm cannot write %s, which it reads", problem_buffer(r->p, k, out->c)->name);
    TRY(read_flag(r, t, "trans_a", &out->trans_a));
    TRY(read_flag(r, t, "trans_b", &out->trans_b));
    status s = problem_check_gemm(r->p, k, out, r->e);
    return s ? read_because(r, s) : s;
}

/* In what a gemm of such matrices computes. */
static status read_compute(struct reader *r, const json_t *j, enum dtype matrices, enum gemm_compute *out)
{
    static const struct {
        const char *name;
        enum gemm_compute compute;
    } all[] = {{"f32", GEMM_F32}, {"tf32", GEMM_TF32}, {"bf16", GEMM_BF16}, {"f16", GEMM_F16}, {"f64", GEMM_F64}};
    const char *name = node_text(j), *expected = "'f32', as the sums are";
    int first = 0, last = 0;
    if (matrices == DTYPE_f32) {
        expected = "'f32', 'tf32', 'bf16' or 'f16'";
        last = 3;
    } else if (matrices == DTYPE_f64) {
        expected = "'f64', as the matrices are";
        first = last = 4;
    }
    *out = all[first].compute;
    if (!j)
        return LATHE_OK;
    for (int i = first; name && i <= last; i++)
        if (strcmp(name, all[i].name) == 0) {
            *out = all[i].compute;
            return LATHE_OK;
        }
    size_t mark = at_enter(r, ".compute");
    status s = read_wrong(r, j, expected);
    at_leave(r, mark);
    return s;
}

static status read_gemm_step(struct reader *r, struct kernel *k, json_t *j, struct step *out)
{
    static const char *const keys[] = {"trans_a", "trans_b", "compute", "when", NULL};
    static const struct table_form form = {"gemm { \"X\", \"W\", \"Z\", trans_b = true }", "gemm", 3, 3, keys};
    struct gemm *g = &out->gemm;
    struct table t;
    TRY(read_table(r, j, &form, &t));
    out->kind = STEP_GEMM;
    TRY(read_formula_key(r, &t, "when", WANT_BOOLEAN, &k->scope, &out->when));
    TRY(read_gemm(r, k, &t, g));
    const struct tensor *a = problem_buffer(r->p, k, g->a), *b = problem_buffer(r->p, k, g->b),
                        *c = problem_buffer(r->p, k, g->c);
    bool narrow = dtype_is_16_bit_float(a->dtype);
    if (a->dtype != b->dtype || (a->dtype != c->dtype && !(narrow && c->dtype == DTYPE_f32)) ||
        (a->dtype != DTYPE_f32 && a->dtype != DTYPE_f64 && !narrow))
        return read_fail(r, "a gemm step works on matrices of one type, f32, f64, f16 or bf16, and may write f32 where "
                         "it reads f16 or bf16; %s, %s and %s are %s, %s and %s", a->name, b->name, c->name,
                         dtype_name(a->dtype), dtype_name(b->dtype), dtype_name(c->dtype));
    if (g->c < r->p->ntensors && !r->p->tensors[g->c].output)
        return read_fail(r, "a gemm cannot write %s, which is an input", c->name);
    return read_compute(r, table_get(&t, "compute"), a->dtype, &g->compute);
}

status read_steps(struct reader *r, struct kernel *k, json_t *j)
{
    struct table list;
    size_t top = at_enter(r, ".steps");
    TRY(read_list(r, j, "launch { ... } or gemm { ... }", 1, MAX_STEPS, &list));
    k->steps = mem_zalloc((size_t)list.nitems, sizeof *k->steps);
    k->nsteps = list.nitems;
    for (int i = 0; i < k->nsteps; i++) {
        size_t mark = at_enter(r, "[%d]", i + 1);
        json_t *step = table_item(&list, i);
        if (strcmp(node_tag(step), "launch") == 0)
            TRY(read_launch(r, k, step, &k->steps[i]));
        else if (strcmp(node_tag(step), "gemm") == 0)
            TRY(read_gemm_step(r, k, step, &k->steps[i]));
        else
            return read_wrong(r, step, "launch { ... } or gemm { ... }");
        at_leave(r, mark);
    }
    at_leave(r, top);
    return LATHE_OK;
}
