/* python_values.c: lists of values in Python's syntax: "[1, 2, 4] + list(range(32, 1025, 32))",
 * "[2**i for i in range(0, 6)]". An element is a formula (python.c) that is evaluated at once, a comprehension's for
 * each value of its name. */
#include "search/spec/python_impl.h"

#include "base/mem.h"
#include "expr/expr.h"
#include <math.h>
#include <string.h>

struct list_parser {
    struct python_parser p;
    struct python_name var;     /* of the comprehension, while one is read */
    struct python_names names;
    int most;
    int depth;
};

static status list(struct list_parser *l, json_t *out);

/* The value of a formula whose only name is the comprehension's. */
static status evaluate(struct list_parser *l, const char *formula, int at, const struct value *var, struct value *out)
{
    struct expr *x = NULL;
    struct scope scope = {0};
    struct err why;
    struct value v;
    if (var)
        scope_add(&scope, l->var.name, var->type, 0);
    status s = expr_parse(formula, &x, &why);
    if (!s)
        s = expr_bind(x, &scope, &why);
    if (!s)
        s = expr_eval(x, var, &v, &why);
    if (s)
        python_fail(&l->p, at, "%.300s", why.text);
    else if (v.type == VALUE_STRING) {
        struct strbuf b = {0};
        sb_add(&b, v.s);
        v.s = python_keep(&l->p, &b); /* the expression goes */
        s = v.s ? LATHE_OK : LATHE_SPEC;
    }
    *out = v;
    expr_free(x);
    scope_free(&scope);
    return s;
}

static status append(struct list_parser *l, struct value v, int at, json_t *out)
{
    if ((int)json_array_size(out) >= l->most)
        return python_fail(&l->p, at, "more than %d values", l->most);
    if (v.type == VALUE_FLOAT && !isfinite(v.f))
        return python_fail(&l->p, at, "a value is not finite");
    json_t *j = v.type == VALUE_BOOL ? json_boolean(v.b) : v.type == VALUE_INT ? json_integer(v.i)
              : v.type == VALUE_FLOAT ? json_real(v.f) : json_string(v.s);
    if (json_array_append_new(out, j))
        return python_fail(&l->p, at, "a text is not UTF-8");
    return LATHE_OK;
}

/* One expression without names, evaluated. */
static status constant(struct list_parser *l, struct value *out)
{
    struct python_term t;
    int at = l->p.token.at;
    status s = python_expression(&l->p, &t);
    if (!s && t.type == VALUE_NONE)
        return python_fail(&l->p, at, "neither a text nor a number");
    return s ? s : evaluate(l, t.text, at, NULL, out);
}

/* After `range`. */
static status range(struct list_parser *l, json_t *out)
{
    int64_t bound[3] = {0, 0, 1};
    int n = 0, at = l->p.token.at;
    bool more = true;
    status s = python_expect(&l->p, "(");
    for (; !s && more && n < 3; n++) {
        struct value v;
        if ((s = constant(l, &v)))
            return s;
        if (v.type != VALUE_INT)
            return python_fail(&l->p, at, "range takes integers");
        bound[n] = v.i;
        s = python_take(&l->p, ",", &more);
    }
    if (!s)
        s = python_expect(&l->p, ")");
    if (s)
        return s;
    if (n == 1) {
        bound[1] = bound[0];
        bound[0] = 0;
    }
    if (bound[2] == 0)
        return python_fail(&l->p, at, "range: the step is 0");
    for (int64_t i = bound[0]; bound[2] > 0 ? i < bound[1] : i > bound[1];) {
        if ((s = append(l, value_int(i), at, out)))
            return s;
        if (__builtin_add_overflow(i, bound[2], &i))
            break;
    }
    return LATHE_OK;
}

static struct value value_of(const json_t *j)
{
    return json_is_integer(j)   ? value_int(json_integer_value(j))
           : json_is_real(j)    ? value_float(json_real_value(j))
           : json_is_boolean(j) ? value_bool(json_is_true(j))
                                : value_string(json_string_value(j));
}

/* Type and bounds of the comprehension's name. */
static status find_bounds(struct list_parser *l, const json_t *over, int at)
{
    l->var.type = VALUE_INT;
    l->var.low = INFINITY;
    l->var.high = -INFINITY;
    for (size_t i = 0; i < json_array_size(over); i++) {
        struct value v = value_of(json_array_get(over, i));
        double d;
        if (i && v.type != l->var.type)
            return python_fail(&l->p, at, "the values of '%s' are of different types", l->var.name);
        l->var.type = v.type;
        if (value_as_double(v, &d)) {
            l->var.low = fmin(l->var.low, d);
            l->var.high = fmax(l->var.high, d);
        }
    }
    return LATHE_OK;
}

/* Appends the element for each value of `over` for which the condition (NULL: none) is true. */
static status expand(struct list_parser *l, const char *element, const char *condition, const json_t *over, int at,
                     json_t *out)
{
    status s = LATHE_OK;
    for (size_t i = 0; i < json_array_size(over) && !s; i++) {
        struct value var = value_of(json_array_get(over, i)), v, yes = value_bool(true);
        if (condition)
            s = evaluate(l, condition, at, &var, &yes);
        if (!s && yes.b && !(s = evaluate(l, element, at, &var, &v)))
            s = append(l, v, at, out);
    }
    return s;
}

/* Reads a term at `at` again, now that its name is known, and returns to where it was. */
static status term_at(struct list_parser *l, int at, const char **out)
{
    struct python_token here = l->p.token;
    struct python_term t;
    l->p.token = (struct python_token){.at = at};
    status s = python_advance(&l->p);
    if (!s)
        s = python_expression(&l->p, &t);
    if (!s && t.type == VALUE_NONE)
        s = python_fail(&l->p, at, "neither a text nor a number");
    if (s)
        return s;
    *out = t.text;
    l->p.token = here;
    return LATHE_OK;
}

/* ELEMENT `for` NAME `in` LIST [`if` CONDITION], after ELEMENT, which begins at byte `at`. */
static status comprehension(struct list_parser *l, int at, json_t *out)
{
    struct python_parser *p = &l->p;
    const char *element = NULL, *condition = NULL;
    status s = python_advance(p);
    if (s)
        return s;
    if (p->token.kind != PYTHON_NAME)
        return python_fail(p, p->token.at, "expected a name after `for`");
    struct strbuf b = {0};
    sb_addn(&b, p->text + p->token.at, (size_t)p->token.len);
    const char *name = python_keep(p, &b);
    json_t *over = json_array();
    if (!name)
        s = LATHE_SPEC;
    if (!s && !(s = python_advance(p)) && !(s = python_expect(p, "in")) && !(s = list(l, over))) {
        bool more = false;
        l->var = (struct python_name){.name = name}; /* only now: the list may have had a comprehension of its own */
        s = find_bounds(l, over, at);
        l->names = (struct python_names){&l->var, 1};
        if (!s)
            s = term_at(l, at, &element);
        if (!s && !(s = python_take(p, "if", &more)) && more) {
            struct python_term t;
            if (!(s = python_expression(p, &t)))
                s = (condition = python_truth(p, &t, LEVEL_OR)) ? LATHE_OK : LATHE_SPEC;
        }
        if (!s && (python_is(p, "if") || python_is(p, "for")))
            s = python_fail(p, p->token.at, "a comprehension of several `for` or `if` is not read");
        if (!s)
            s = expand(l, element, condition, over, at, out);
        l->names.count = 0;
    }
    json_decref(over);
    return s;
}

/* Skips the element that begins here: to a comma, a `for` or the end of the list it stands in. *loop: a `for`. */
static status skip_element(struct list_parser *l, bool *loop)
{
    int open = 0;
    status s = LATHE_OK;
    for (; !s && l->p.token.kind != PYTHON_END; s = python_advance(&l->p)) {
        bool closes = python_is(&l->p, ")") || python_is(&l->p, "]");
        if (open == 0 && (closes || python_is(&l->p, ",") || python_is(&l->p, "for")))
            break;
        open += (python_is(&l->p, "(") || python_is(&l->p, "[")) - closes;
    }
    *loop = python_is(&l->p, "for");
    return s;
}

/* What stands between brackets, after the opening one. */
static status items(struct list_parser *l, const char *close, json_t *out)
{
    struct python_parser *p = &l->p;
    struct python_token start = p->token;
    bool more = true, loop;
    status s = skip_element(l, &loop);
    if (s)
        return s;
    if (loop)
        return (s = comprehension(l, start.at, out)) ? s : python_expect(p, close);
    p->token = start;
    while (!s && !python_is(p, close)) {
        struct value v;
        int at = p->token.at;
        if (!more)
            return python_expect(p, close);
        if (!(s = constant(l, &v)) && !(s = append(l, v, at, out)))
            s = python_take(p, ",", &more);
    }
    return s ? s : python_expect(p, close);
}

/* One list: [..], (..), range(..), list(..). */
static status one_list(struct list_parser *l, json_t *out)
{
    struct python_parser *p = &l->p;
    bool taken;
    status s = python_take(p, "[", &taken);
    if (s || taken)
        return s ? s : items(l, "]", out);
    if (!(s = python_take(p, "(", &taken)) && taken)
        return items(l, ")", out);
    if (!s && !(s = python_take(p, "range", &taken)) && taken)
        return range(l, out);
    if (!s && !(s = python_take(p, "list", &taken)) && taken) {
        if (!(s = python_expect(p, "(")) && !(s = list(l, out)))
            s = python_expect(p, ")");
        return s;
    }
    return s ? s : python_fail(p, p->token.at, "expected a list: [...], (...), range(...) or list(...)");
}

static status list(struct list_parser *l, json_t *out)
{
    bool more = true;
    status s = LATHE_OK;
    if (++l->depth > 16)
        return python_fail(&l->p, l->p.token.at, "lists nested more than 16 deep");
    while (!s && more)
        if (!(s = one_list(l, out)))
            s = python_take(&l->p, "+", &more);
    l->depth--;
    return s;
}

status python_values(const char *text, int most, json_t **out, struct err *e)
{
    enum { TEXT_MAX = 1 << 20 };
    struct list_parser l = {.most = most};
    struct err own;
    if (strlen(text) > TEXT_MAX)
        return err_set(e, LATHE_SPEC, "longer than %d MiB", TEXT_MAX >> 20);
    json_t *values = json_array();
    python_open(&l.p, text, &l.names, e ? e : &own);
    l.p.powers = true;
    status s = python_advance(&l.p);
    if (!s)
        s = list(&l, values);
    if (!s && l.p.token.kind != PYTHON_END)
        s = python_fail(&l.p, l.p.token.at, "expected the end of the list");
    python_close(&l.p);
    if (s)
        json_decref(values);
    else
        *out = values;
    return s;
}
