/* problem_where.c: formulas from the command line that restrict a search: --where. */
#include "base/mem.h"
#include "model/problem/problem_internal.h"

/* Makes the formula one more constraint of the kernel, or the kernel one that takes no part; that is added to
 * `lacking`. */
static status restrict_kernel(struct kernel *k, const char *text, struct strbuf *lacking, struct err *e)
{
    struct expr *x;
    TRY(expr_parse(text, &x, e));
    const char *near;
    char *unknown = expr_unknown(x, &k->scope, &near);
    if (unknown) {
        k->left_out = mem_printf("--where names %.100s, which it does not have", unknown);
        sb_addf(lacking, "\n%s has no '%.100s'", k->name, unknown);
        if (near)
            sb_addf(lacking, ": did you mean '%s'?", near);
        mem_free(unknown);
        expr_free(x);
        return LATHE_OK;
    }
    status s = expr_bind(x, &k->scope, e);
    if (!s && expr_type(x) != VALUE_BOOL)
        s = err_set(e, LATHE_USAGE, "'%.200s' is no condition, but of type %s\nexpected one as in FORMAT == 'tf32x1'",
                    text, value_type_name(expr_type(x)));
    if (s) {
        expr_free(x);
        return err_prefix(e, "kernel %s", k->name);
    }
    int cap = k->nconstraints;
    MEM_GROW(k->constraints, k->nconstraints, cap);
    k->constraints[k->nconstraints++] =
        (struct constraint){.expr = x, .reason = mem_strdup("--where"), .search = true};
    return LATHE_OK;
}

status problem_restrict(struct problem *p, const char *text, struct err *e)
{
    struct strbuf lacking = {0};
    int left = 0;
    if (json_array_append_new(p->restrictions, json_string(text)))
        return err_set(e, LATHE_USAGE, "the formula is not UTF-8 text");
    status s = LATHE_OK;
    for (int i = 0; i < p->nkernels && !s; i++) {
        struct kernel *k = &p->kernels[i];
        if (k->baseline)
            continue;
        if (k->left_out)
            sb_addf(&lacking, "\n%s is left out already", k->name);
        else
            s = restrict_kernel(k, text, &lacking, e);
        left += !k->left_out;
    }
    if (!s && !left)
        s = err_set(e, LATHE_USAGE, "no kernel has every name of '%.200s'%.1500s", text, sb_str(&lacking));
    sb_free(&lacking);
    return s ? e->code = LATHE_USAGE : LATHE_OK;
}
