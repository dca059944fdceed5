/* problem_json_check.c: what must hold of a kernel as a whole. */
#include "model/problem/problem_read.h"

#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every macro that a configuration defines must have a name of its own (model/source.h), and none that the kernels'
 * common files, the host's shim or an export define. */
status check_macros(struct reader *r, const struct kernel *k)
{
    static const char *const taken[] = {"HOST", "SELFTEST", "DYNAMIC_SHARED", "EXPR_HELPERS", "EXPR_FN", "TYPES",
                                        "WORKSPACE_KEPT"};
    char **names = NULL;
    size_t count = 0, cap = 0;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        MEM_GROW(names, count, cap);
        names[count++] = mem_strdup(taken[i]);
    }
    for (int i = 0; i < DTYPE_COUNT + r->p->ntensors; i++) {
        MEM_GROW(names, count, cap);
        names[count++] = mem_printf("DTYPE_%s", i < DTYPE_COUNT ? dtype_name((enum dtype)i)
                                                                : r->p->tensors[i - DTYPE_COUNT].name);
    }
    for (int i = 0; i < k->nparams + k->nlets; i++) {
        const struct param *p = i < k->nparams ? &k->params[i] : NULL;
        MEM_GROW(names, count, cap);
        names[count++] = p ? mem_strdup(p->name) : mem_printf("LET_%s", k->lets[i - k->nparams].name);
        for (int v = 0; p && p->type == VALUE_STRING && v < p->nvalues; v++) {
            struct strbuf b = {0};
            source_value_macro(&b, p, v);
            MEM_GROW(names, count, cap);
            names[count++] = sb_take(&b);
        }
    }
    qsort(names, count, sizeof *names, by_text);
    status s = LATHE_OK;
    for (size_t i = 1; i < count && !s; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            s = read_fail(r, "the macro LATHE_%s would be defined twice: rename a tensor, a parameter, a let or a "
                          "value", names[i]);
    for (size_t i = 0; i < count; i++)
        mem_free(names[i]);
    mem_free(names);
    return s;
}

static bool step_names(const struct step *s, int tensor)
{
    if (s->kind == STEP_GEMM)
        return s->gemm.c == tensor;
    for (int i = 0; i < s->launch.nargs; i++) {
        const struct arg *a = &s->launch.args[i];
        if ((a->kind == ARG_TENSOR || a->kind == ARG_TENSOR_MAP) && a->tensor == tensor)
            return true;
    }
    return false;
}

status check_outputs(struct reader *r, const struct kernel *k)
{
    for (int t = 0; t < r->p->ntensors; t++) {
        bool named = !r->p->tensors[t].output || !k->checked;
        for (int i = 0; i < k->nsteps && !named; i++)
            named = step_names(&k->steps[i], t);
        if (!named)
            return read_fail(r, "no step has the output %s among its arguments, so nothing would write it",
                             r->p->tensors[t].name);
    }
    return LATHE_OK;
}
