/* expr_eval_as.c: an expression's value as what a caller wants: an integer, a finite number, true or false. */
#include "expr/expr.h"

#include <math.h>

/* The refusal of result v. */
static status not_wanted(const struct expr *x, const struct value *slots, struct value v, const char *wanted,
                         const char *advice, struct err *e)
{
    if (!e)
        return LATHE_SPEC;
    struct strbuf b = {0};
    expr_explain(&b, x, slots);
    sb_addf(&b, ": expected %s, got %s ", wanted, value_type_name(v.type));
    value_print(&b, v);
    sb_add(&b, advice);
    status s = err_set(e, LATHE_SPEC, "%s", sb_str(&b));
    sb_free(&b);
    return s;
}

status expr_eval_int(const struct expr *x, const struct value *slots, int64_t *out, struct err *e)
{
    struct value v;
    status s = expr_eval(x, slots, &v, e);
    if (!s && !value_as_int(v, out))
        s = not_wanted(x, slots, v, "an integer", v.type == VALUE_FLOAT ? ": use `//`, floor, ceil or round" : "", e);
    return s;
}

status expr_eval_double(const struct expr *x, const struct value *slots, double *out, struct err *e)
{
    struct value v;
    status s = expr_eval(x, slots, &v, e);
    if (!s && (!value_as_double(v, out) || !isfinite(*out)))
        s = not_wanted(x, slots, v, "a finite number", "", e);
    return s;
}

status expr_eval_bool(const struct expr *x, const struct value *slots, bool *out, struct err *e)
{
    struct value v;
    status s = expr_eval(x, slots, &v, e);
    if (s)
        return s;
    if (v.type != VALUE_BOOL)
        return not_wanted(x, slots, v, "true or false", v.type == VALUE_INT ? ": write `x != 0`" : "", e);
    *out = v.b;
    return LATHE_OK;
}
