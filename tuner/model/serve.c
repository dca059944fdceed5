/* serve.c: see serve.h. The same rules that exported launchers are printed by (export/export_launch.c). */
#include "model/serve.h"

#include "base/mem.h"
#include "model/source.h"
#include <limits.h>
#include <string.h>

/* A name may be pasted together: LATHE_LET_##x, LATHE_##x. Then it may be any. */
bool kernel_let_is_compiled_in(const struct kernel *k, int let)
{
    char *macro = mem_printf("LATHE_LET_%s", k->lets[let].name);
    bool found = source_has_word(k->source, macro) || source_has_word(k->source, "LATHE_LET_") ||
                 source_has_word(k->source, "LATHE_");
    mem_free(macro);
    return found;
}

static status check_dims(const struct problem *p, struct err *e)
{
    for (int d = 0; d < p->ndims; d++)
        if (p->dims[d].value < 1 || p->dims[d].value > INT_MAX)
            return err_set(e, LATHE_NOTHING, "%s=%lld, and sizes go from 1 to %d", p->dims[d].name,
                           (long long)p->dims[d].value, INT_MAX);
    return LATHE_OK;
}

static status check_list(const struct constraint *list, int n, const char *what, const struct value *slots,
                         struct err *e)
{
    for (int c = 0; c < n; c++) {
        bool holds = false;
        if (list[c].search)
            continue;
        if (expr_eval_bool(list[c].expr, slots, &holds, e)) {
            err_prefix(e, "%s", what);
            return LATHE_NOTHING;
        }
        if (holds)
            continue;
        struct strbuf why = {0};
        expr_explain(&why, list[c].expr, slots);
        constraint_reason(&why, &list[c]);
        err_set(e, LATHE_NOTHING, "%s %.600s", what, sb_str(&why));
        sb_free(&why);
        return LATHE_NOTHING;
    }
    return LATHE_OK;
}

static status fill_lets(const struct kernel *k, const struct value *tuned, struct value *slots, struct err *e)
{
    for (int l = 0; l < k->nlets; l++) {
        int at = k->first_let + l;
        if (expr_eval(k->lets[l].expr, slots, &slots[at], e))
            return LATHE_NOTHING;
        if (value_equal(slots[at], tuned[at]) || !kernel_let_is_compiled_in(k, l))
            continue;
        struct strbuf now = {0}, then = {0};
        value_print(&now, slots[at]);
        value_print(&then, tuned[at]);
        err_set(e, LATHE_NOTHING, "it was compiled for %s=%s, and %s is %s here", k->lets[l].name, sb_str(&then),
                k->lets[l].name, sb_str(&now));
        sb_free(&now);
        sb_free(&then);
        return LATHE_NOTHING;
    }
    return LATHE_OK;
}

status serve_plan(const struct problem *p, const struct kernel *k, const struct value *tuned,
                  const struct target *device, struct plan *out, struct err *e)
{
    struct value *slots = mem_alloc((size_t)(k->scope.count + 1) * sizeof *slots);
    memcpy(slots, tuned, (size_t)k->scope.count * sizeof *slots);
    kernel_slots_fixed(p, k, device, slots);
    status s = check_dims(p, e);
    if (!s)
        s = check_list(k->requires, k->nrequires, "requires", slots, e);
    if (!s)
        s = fill_lets(k, tuned, slots, e);
    if (!s)
        s = check_list(k->constraints, k->nconstraints, "constraint", slots, e);
    if (!s && plan_build(p, k, slots, out, e))
        s = LATHE_NOTHING;
    mem_free(slots);
    return s;
}
