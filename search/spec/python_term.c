/* python_term.c: pieces of formulas that have the values of Python's operators.
 *
 * Where a number is wanted a boolean is select(b, 1, 0); where a condition is wanted a number is compared with 0 and a
 * text with ''. The least and greatest value of each number are kept, so that integer arithmetic that may leave 64 bits
 * becomes arithmetic of floats, by the factor 1.0. */
#include "search/spec/python_impl.h"

#include <math.h>
#include <string.h>

static const double INTEGER_MOST = 9.2e18;      /* below 2^63, with room for what rounding adds */

static void add_at(struct strbuf *b, const char *text, enum python_level level, enum python_level least)
{
    sb_addf(b, level < least ? "(%s)" : "%s", text);
}

static bool is_number(const struct python_term *t)
{
    return t->type == VALUE_INT || t->type == VALUE_FLOAT;
}

struct python_term python_literal(struct python_parser *p, struct value v)
{
    struct python_term t = {.type = v.type, .level = LEVEL_ATOM};
    struct strbuf b = {0};
    if (v.type == VALUE_STRING)
        sb_addf(&b, strchr(v.s, '\'') ? "\"%s\"" : "'%s'", v.s);
    else
        value_print(&b, v);
    if (value_as_double(v, &t.low))
        t.high = t.low;
    t.text = python_keep(p, &b);
    return t;
}

const char *python_truth(struct python_parser *p, const struct python_term *t, enum python_level least)
{
    struct strbuf b = {0};
    if (t->truth)
        add_at(&b, t->truth, t->truth_level, least);
    else if (t->type == VALUE_BOOL)
        add_at(&b, t->text, t->level, least);
    else {
        sb_add(&b, LEVEL_COMPARE < least ? "(" : "");
        add_at(&b, t->text, t->level, LEVEL_SUM);
        sb_add(&b, t->type == VALUE_STRING ? " != ''" : " != 0");
        sb_add(&b, LEVEL_COMPARE < least ? ")" : "");
    }
    return python_keep(p, &b);
}

/* The term as a number, an operand of `what`. */
static status as_number(struct python_parser *p, const struct python_term *t, const char *what, int at,
                        struct python_term *out)
{
    *out = *t;
    if (is_number(t))
        return LATHE_OK;
    if (t->type != VALUE_BOOL)
        return python_fail(p, at, t->type == VALUE_STRING ? "`%s` of a text is not read"
                                                          : "`%s` of what may be a text or a number is not read", what);
    struct strbuf b = {0};
    sb_addf(&b, "select(%s, 1, 0)", t->text);
    *out = (struct python_term){.text = python_keep(p, &b), .type = VALUE_INT, .level = LEVEL_ATOM, .high = 1};
    return out->text ? LATHE_OK : LATHE_SPEC;
}

static void sort_bounds(struct python_term *t, const double *v, int n)
{
    t->low = t->high = v[0];
    for (int i = 1; i < n; i++) {
        t->low = fmin(t->low, v[i]);
        t->high = fmax(t->high, v[i]);
    }
}

/* What the operator can give, of integers. */
static void find_bounds(char op, const struct python_term *a, const struct python_term *b, struct python_term *t)
{
    double most = fmax(fabs(b->low), fabs(b->high)), large = fmax(fabs(a->low), fabs(a->high));
    switch (op) {
    case '+': sort_bounds(t, (double[]){a->low + b->low, a->high + b->high}, 2); break;
    case '-': sort_bounds(t, (double[]){a->low - b->high, a->high - b->low}, 2); break;
    case '*':
        sort_bounds(t, (double[]){a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high}, 4);
        break;
    case '%': sort_bounds(t, (double[]){b->low < 0 ? -most : 0, b->high > 0 ? most : 0}, 2); break;
    default: sort_bounds(t, (double[]){-large, large}, 2); break;   /* of `/` too: the divisor is 1 or more */
    }
    if (isnan(t->low) || isnan(t->high))
        sort_bounds(t, (double[]){-INFINITY, INFINITY}, 2);
}

static bool may_overflow(const struct python_term *t)
{
    return !(t->low > -INTEGER_MOST && t->high < INTEGER_MOST);
}

/* The operand on the right binds tighter than the operator's level, but for comparisons, of which there are no chains.
 */
static void add_binary(struct strbuf *out, const char *op, const struct python_term *a, const struct python_term *b,
                       enum python_level level)
{
    add_at(out, a->text, a->level, level == LEVEL_COMPARE ? LEVEL_SUM : level);
    sb_addf(out, " %s ", op);
    add_at(out, b->text, b->level, level + 1);
}

static status power(struct python_parser *p, const struct python_term *a, const struct python_term *b, int at,
                    struct python_term *out)
{
    bool integer = a->type == VALUE_INT && b->type == VALUE_INT && b->high >= 0;
    double most = integer ? pow(fmax(fabs(a->low), fabs(a->high)), b->high) : 0;
    struct strbuf s = {0};
    if (integer && (b->low < 0 || !(most < INTEGER_MOST)))
        return python_fail(p, at, b->low < 0 ? "the power may be an integer or a float"
                                             : "this power does not fit in 64 bits");
    sb_addf(&s, integer ? "round(pow(%s, %s))" : "pow(%s, %s)", a->text, b->text);
    *out = (struct python_term){.text = python_keep(p, &s), .type = integer ? VALUE_INT : VALUE_FLOAT,
                                .level = LEVEL_ATOM, .low = a->low < 0 ? -most : 0, .high = most};
    return out->text ? LATHE_OK : LATHE_SPEC;
}

status python_arithmetic(struct python_parser *p, const char *op, const struct python_term *left,
                         const struct python_term *right, int at, struct python_term *out)
{
    struct python_term a, b;
    struct strbuf s = {0};
    status st = as_number(p, left, op, at, &a);
    if (!st)
        st = as_number(p, right, op, at, &b);
    if (st)
        return st;
    if (!strcmp(op, "**"))
        return power(p, &a, &b, at, out);
    bool floats = a.type == VALUE_FLOAT || b.type == VALUE_FLOAT, floor = !strcmp(op, "//");
    *out = (struct python_term){.type = floats || !strcmp(op, "/") ? VALUE_FLOAT : VALUE_INT,
                                .level = *op == '+' || *op == '-' ? LEVEL_SUM : LEVEL_PRODUCT};
    find_bounds(floor ? 'f' : *op, &a, &b, out);
    if (floor && floats) {
        /* as CPython does it: the quotient of what `%` leaves, which is next to an integer; not floor(a / b) */
        sb_add(&s, "1.0 * round((");
        struct python_term rest = {.text = NULL, .level = LEVEL_PRODUCT};
        struct strbuf m = {0};
        add_binary(&m, "%", &a, &b, LEVEL_PRODUCT);
        if (!(rest.text = python_keep(p, &m)))
            return sb_free(&s), LATHE_SPEC;
        add_binary(&s, "-", &a, &rest, LEVEL_SUM);
        sb_add(&s, ") / ");
        add_at(&s, b.text, b.level, LEVEL_UNARY);
        sb_add(&s, ")");
    } else {
        if (out->type == VALUE_INT && may_overflow(out)) {
            sb_add(&s, "1.0 * ");
            a.level = a.level < LEVEL_UNARY ? LEVEL_OR : a.level;
            out->type = VALUE_FLOAT;
        }
        add_binary(&s, op, &a, &b, out->level);
    }
    out->text = python_keep(p, &s);
    return out->text ? LATHE_OK : LATHE_SPEC;
}

status python_negate(struct python_parser *p, const struct python_term *term, int at, struct python_term *out)
{
    struct python_term a;
    struct strbuf s = {0};
    status st = as_number(p, term, "-", at, &a);
    if (st)
        return st;
    sb_add(&s, "-");
    add_at(&s, a.text, a.level, LEVEL_ATOM);
    *out = (struct python_term){.text = python_keep(p, &s), .type = a.type, .level = LEVEL_UNARY, .low = -a.high,
                                .high = -a.low};
    return out->text ? LATHE_OK : LATHE_SPEC;
}

status python_compare(struct python_parser *p, const char *op, const struct python_term *left,
                      const struct python_term *right, int at, struct strbuf *out)
{
    struct python_term a, b;
    bool equality = op[0] == '=' || op[0] == '!', texts = left->type == VALUE_STRING || right->type == VALUE_STRING;
    if (left->type == right->type && left->type != VALUE_NONE && equality) {
        add_binary(out, op, left, right, LEVEL_COMPARE);
        return LATHE_OK;
    }
    if (texts && equality && left->type != VALUE_NONE && right->type != VALUE_NONE) {
        sb_add(out, op[0] == '=' ? "false" : "true"); /* a text equals nothing else */
        return LATHE_OK;
    }
    if (texts)
        return python_fail(p, at, left->type == right->type ? "`%s` of texts is not read: only == and !="
                                                            : "`%s` of a text and a number is an error in Python", op);
    status st = as_number(p, left, op, at, &a);
    if (!st)
        st = as_number(p, right, op, at, &b);
    if (!st)
        add_binary(out, op, &a, &b, LEVEL_COMPARE);
    return st;
}

status python_logic(struct python_parser *p, bool is_and, const struct python_term *a, const struct python_term *b,
                    struct python_term *out)
{
    enum python_level level = is_and ? LEVEL_AND : LEVEL_OR;
    const char *x = python_truth(p, a, level), *y = x ? python_truth(p, b, level + 1) : NULL;
    struct strbuf s = {0};
    if (!y)
        return LATHE_SPEC;
    sb_addf(&s, is_and ? "%s and %s" : "%s or %s", x, y);
    *out = (struct python_term){.truth = python_keep(p, &s), .truth_level = level, .low = fmin(a->low, b->low),
                                .high = fmax(a->high, b->high)};
    out->text = out->truth;
    out->level = level;
    if (!out->truth)
        return LATHE_SPEC;
    if (a->type == VALUE_BOOL && b->type == VALUE_BOOL) {
        out->type = VALUE_BOOL;
        return LATHE_OK;
    }
    struct python_term m = *a, n = *b;
    if (a->type == VALUE_NONE || b->type == VALUE_NONE || (a->type == VALUE_STRING) != (b->type == VALUE_STRING))
        return LATHE_OK;                            /* as a value it is neither: VALUE_NONE */
    if (a->type != VALUE_STRING && (as_number(p, a, "and", 0, &m) || as_number(p, b, "and", 0, &n)))
        return LATHE_SPEC;
    if (!(x = python_truth(p, a, LEVEL_OR)))
        return LATHE_SPEC;
    sb_addf(&s, "select(%s, %s, %s)", x, is_and ? n.text : m.text, is_and ? m.text : n.text);
    out->type = m.type == VALUE_STRING ? VALUE_STRING
                : m.type == VALUE_FLOAT || n.type == VALUE_FLOAT ? VALUE_FLOAT : VALUE_INT;
    out->low = fmin(m.low, n.low);
    out->high = fmax(m.high, n.high);
    out->level = LEVEL_ATOM;
    out->text = python_keep(p, &s);
    return out->text ? LATHE_OK : LATHE_SPEC;
}
