/* expr_print_ops.c: operators and functions of an expression as C or CUDA C++ source. */
#include "expr/expr_print_c.h"

#include <string.h>

static const char *float_type(const struct c_printer *p)
{
    return c_single(p) ? "float" : "double";
}

/* Node as a value of the float type, whatever its own type is. */
static status print_as_float(struct c_printer *p, int node, enum c_level at_least)
{
    const struct expr_node *n = &p->x->nodes[node];
    if (n->type != VALUE_INT)
        return expr_c_print(p, node, at_least);
    struct value v = p->facts[node].value;
    if (v.type == VALUE_INT)
        return expr_c_print_float(p, node, (double)v.i, at_least);
    bool parentheses = at_least > C_UNARY;
    c_open(p, parentheses);
    sb_addf(p->b, "(%s)", float_type(p));
    status s = expr_c_print(p, node, C_UNARY);
    c_close(p, parentheses);
    return s;
}

static status print_argument(struct c_printer *p, int node, bool as_float, enum c_level at_least)
{
    return as_float ? print_as_float(p, node, at_least) : expr_c_print(p, node, at_least);
}

/* The arguments of n have a float type in C. */
static bool takes_floats(const struct c_printer *p, const struct expr_node *n)
{
    switch (expr_forms[n->form].typing) {
    case TYPING_FLOAT: return true;
    case TYPING_ARITH: return n->type == VALUE_FLOAT;
    case TYPING_ORDER: case TYPING_EQUAL: return n->op == expr_forms[n->form].as_float;
    case TYPING_TO_INT: return n->op != OP_NONE;
    default: return false;
    }
}

/* A divisor, or what log2 is of, through a function of expr_c_guards() that notes values which expr_eval refuses. */
static status print_guarded(struct c_printer *p, int node, const char *guard, bool as_float, enum c_level at_least)
{
    struct value v = p->facts[node].value;
    bool power = guard && strcmp(guard, "lathe_power_of_2") == 0;
    bool known = (v.type == VALUE_INT && v.i > 0 && !(power && (v.i & (v.i - 1)))) ||
                 (v.type == VALUE_FLOAT && v.f != 0);
    if (!guard || !p->how->undefined || known)
        return print_argument(p, node, as_float, at_least);
    sb_addf(p->b, "%s(", guard);
    status s = print_argument(p, node, as_float, C_TERNARY);
    sb_addf(p->b, ", &%s)", p->how->undefined);
    return s;
}

/* guard: of the right side; NULL: none. */
static status print_pair(struct c_printer *p, const struct expr_node *n, const char *text, const char *guard,
                         enum c_level own, enum c_level at_least)
{
    bool floats = takes_floats(p, n), parentheses = own < at_least;
    bool compares = own == C_EQUAL || own == C_LESS;    /* compilers warn of comparisons side by side */
    int left = n->first, right = p->x->nodes[left].next;
    c_open(p, parentheses);
    status s = print_argument(p, left, floats, compares ? C_SUM : own);
    sb_addf(p->b, " %s ", text);
    if (!s)
        s = print_guarded(p, right, guard, floats, compares ? C_SUM : own + 1);
    c_close(p, parentheses);
    return s;
}

static status print_infix(struct c_printer *p, const struct expr_node *n, const char *text, enum c_level own,
                          enum c_level at_least)
{
    return print_pair(p, n, text, NULL, own, at_least);
}

/* function(a, b), and function(function(a, b), c) for more than two. */
static status print_call(struct c_printer *p, const struct expr_node *n, const char *function, const char *suffix)
{
    bool floats = takes_floats(p, n);
    status s = LATHE_OK;
    for (int calls = n->nargs > 2 ? n->nargs - 1 : 1; calls > 0; calls--)
        sb_addf(p->b, "%s%s(", function, suffix);
    int done = 0;
    for (int i = n->first; i >= 0 && !s; i = p->x->nodes[i].next) {
        sb_add(p->b, done ? ", " : "");
        s = print_argument(p, i, floats, C_TERNARY);
        if (++done >= 2)
            sb_add(p->b, ")");
    }
    if (done == 1)
        sb_add(p->b, ")");
    return s;
}

/* Whether n is printed as a function of expr_c_guards() that notes a result beyond 64 bits. */
static bool is_checked(const struct c_printer *p, const struct expr_node *n)
{
    return p->how->undefined && p->facts[n - p->x->nodes].overflows;
}

/* function(a, &undefined) or function(a, b, &undefined) of integers */
static status print_checked(struct c_printer *p, const struct expr_node *n, const char *function)
{
    status s = LATHE_OK;
    sb_addf(p->b, "%s(", function);
    for (int i = n->first; i >= 0 && !s; i = p->x->nodes[i].next) {
        s = expr_c_print(p, i, C_TERNARY);
        sb_add(p->b, ", ");
    }
    sb_addf(p->b, "&%s)", p->how->undefined);
    return s;
}

/* function(a, guard(b)) */
static status print_divided(struct c_printer *p, const struct expr_node *n, const char *function, const char *suffix,
                            const char *guard)
{
    bool floats = takes_floats(p, n);
    sb_addf(p->b, "%s%s(", function, suffix);
    status s = print_argument(p, n->first, floats, C_TERNARY);
    sb_add(p->b, ", ");
    if (!s)
        s = print_guarded(p, p->x->nodes[n->first].next, guard, floats, C_TERNARY);
    sb_add(p->b, ")");
    return s;
}

/* lathe_min_i, lathe_min_f or lathe_min_d */
static const char *helper_suffix(const struct c_printer *p, const struct expr_node *n)
{
    return n->type == VALUE_INT ? "_i" : c_single(p) ? "_f" : "_d";
}

static status print_clamp(struct c_printer *p, const struct expr_node *n)
{
    bool floats = n->type == VALUE_FLOAT;
    const char *suffix = helper_suffix(p, n);
    int x = n->first, low = p->x->nodes[x].next, high = p->x->nodes[low].next;
    status s;
    sb_addf(p->b, "lathe_min%s(lathe_max%s(", suffix, suffix);
    if ((s = print_argument(p, x, floats, C_TERNARY)))
        return s;
    sb_add(p->b, ", ");
    if ((s = print_argument(p, low, floats, C_TERNARY)))
        return s;
    sb_add(p->b, "), ");
    s = print_argument(p, high, floats, C_TERNARY);
    sb_add(p->b, ")");
    return s;
}

/* How tightly an argument must bind after a minus: what may begin with another one needs parentheses. */
static enum c_level after_minus(const struct c_printer *p, int node)
{
    bool may_begin_with_minus = p->facts[node].value.type != VALUE_NONE || p->x->nodes[node].form == FORM_NEG;
    return may_begin_with_minus ? C_PRIMARY : C_UNARY;
}

static status print_prefix(struct c_printer *p, const struct expr_node *n, const char *text, enum c_level at_least)
{
    bool parentheses = at_least > C_UNARY;
    c_open(p, parentheses);
    sb_add(p->b, text);
    status s = expr_c_print(p, n->first, after_minus(p, n->first));
    c_close(p, parentheses);
    return s;
}

/* Floor division and modulo; C's own operators where both operands are natural numbers. */
static status print_floor(struct c_printer *p, const struct expr_node *n, enum c_level at_least)
{
    bool divides = n->form == FORM_FLOOR_DIV;
    const struct expr_fact *a = &p->facts[n->first], *b = &p->facts[p->x->nodes[n->first].next];
    if (is_checked(p, n))
        return print_checked(p, n, divides ? "lathe_quotient" : "lathe_remainder");
    if (n->type == VALUE_INT && a->natural && b->natural)
        return print_pair(p, n, divides ? "/" : "%", "lathe_divisor", C_PRODUCT, at_least);
    if (n->type == VALUE_INT)
        return print_divided(p, n, divides ? "lathe_floor_div" : "lathe_floor_mod", "", "lathe_divisor");
    if (!divides)
        return print_divided(p, n, "lathe_mod", helper_suffix(p, n), "lathe_divisor_d");
    sb_add(p->b, c_single(p) ? "floorf(" : "floor(");
    status s = print_pair(p, n, "/", "lathe_divisor_d", C_PRODUCT, C_TERNARY);
    sb_add(p->b, ")");
    return s;
}

/* (a + 127) / 128 where that is certainly right, else the helper. */
static status print_ceil_div(struct c_printer *p, const struct expr_node *n, enum c_level at_least)
{
    int divisor = p->x->nodes[n->first].next;
    struct value d = p->facts[divisor].value;
    bool fits = d.type == VALUE_INT && d.i >= 1 &&
                (!p->how->undefined || p->facts[n->first].range.high <= INT64_MAX - d.i);
    if (!p->facts[n->first].natural || !fits)
        return print_divided(p, n, "lathe_ceil_div", "_i", "lathe_positive");
    bool parentheses = at_least > C_PRODUCT;
    c_open(p, parentheses);
    sb_add(p->b, "(");
    status s = expr_c_print(p, n->first, C_SUM);
    sb_addf(p->b, " + %lldLL) / %lldLL", (long long)(d.i - 1), (long long)d.i);
    c_close(p, parentheses);
    return s;
}

/* floor, ceil and round of a float; of an integer they are nothing. */
static status print_to_int(struct c_printer *p, const struct expr_node *n, enum c_level at_least)
{
    if (n->op == OP_NONE)
        return expr_c_print(p, n->first, at_least);
    bool checked = is_checked(p, n), parentheses = at_least > C_UNARY && !checked;
    c_open(p, parentheses);
    sb_add(p->b, checked ? "lathe_whole(" : "(long long)");
    status s = print_call(p, n, expr_forms[n->form].text, c_single(p) ? "f" : "");
    if (checked)
        sb_addf(p->b, ", &%s)", p->how->undefined);
    c_close(p, parentheses);
    return s;
}

/* 1 / sqrt(x) */
static status print_rsqrt(struct c_printer *p, const struct expr_node *n, enum c_level at_least)
{
    const char *suffix = c_single(p) ? "f" : "";
    bool parentheses = at_least > C_PRODUCT;
    c_open(p, parentheses);
    sb_addf(p->b, "1.0%s / sqrt%s(", suffix, suffix);
    status s = print_as_float(p, n->first, C_TERNARY);
    sb_add(p->b, ")");
    c_close(p, parentheses);
    return s;
}

static status print_log2(struct c_printer *p, const struct expr_node *n)
{
    sb_add(p->b, "lathe_log2(");
    status s = print_guarded(p, n->first, "lathe_power_of_2", false, C_TERNARY);
    sb_add(p->b, ")");
    return s;
}

/* A left side that is known leaves the right side: otherwise the node would be a constant. */
static status print_logic(struct c_printer *p, const struct expr_node *n, enum c_level at_least)
{
    bool is_and = n->form == FORM_AND;
    int left = n->first, right = p->x->nodes[left].next;
    enum c_level own = is_and ? C_AND : C_OR;
    if (p->facts[left].value.type != VALUE_NONE)
        return expr_c_print(p, right, at_least);
    /* compilers warn of && inside || without parentheses */
    bool parentheses = own < at_least || (is_and && at_least == C_OR);
    c_open(p, parentheses);
    status s = expr_c_print(p, left, own);
    sb_add(p->b, is_and ? " && " : " || ");
    p->lazy++;
    if (!s)
        s = expr_c_print(p, right, is_and ? C_EQUAL : C_OR);
    p->lazy--;
    c_close(p, parentheses);
    return s;
}

static status print_select(struct c_printer *p, const struct expr_node *n, enum c_level at_least)
{
    bool floats = n->type == VALUE_FLOAT;
    int condition = n->first, one = p->x->nodes[condition].next, two = p->x->nodes[one].next;
    struct value known = p->facts[condition].value;
    if (n->type == VALUE_STRING)
        return expr_c_no_string(p, n);
    if (known.type == VALUE_BOOL)
        return print_argument(p, known.b ? one : two, floats, at_least);
    bool parentheses = at_least > C_TERNARY;
    c_open(p, parentheses);
    status s = expr_c_print(p, condition, C_OR);
    p->lazy++;
    sb_add(p->b, " ? ");
    if (!s)
        s = print_argument(p, one, floats, C_OR);
    sb_add(p->b, " : ");
    if (!s)
        s = print_argument(p, two, floats, C_OR);
    p->lazy--;
    c_close(p, parentheses);
    return s;
}

status expr_c_print_operator(struct c_printer *p, const struct expr_node *n, enum c_level at_least)
{
    const char *text = expr_forms[n->form].text;
    switch (n->form) {
    case FORM_OR: case FORM_AND: return print_logic(p, n, at_least);
    case FORM_SELECT: return print_select(p, n, at_least);
    case FORM_NOT: return print_prefix(p, n, "!", at_least);
    case FORM_NEG: return is_checked(p, n) ? print_checked(p, n, "lathe_negative") : print_prefix(p, n, "-", at_least);
    case FORM_LT: case FORM_LE: case FORM_GT: case FORM_GE: return print_infix(p, n, text, C_LESS, at_least);
    case FORM_EQ: case FORM_NE:
        if (n->op == OP_EQ_S || n->op == OP_NE_S)
            return expr_c_no_string(p, n);
        return print_infix(p, n, text, C_EQUAL, at_least);
    case FORM_ADD: case FORM_SUB:
        if (is_checked(p, n))
            return print_checked(p, n, n->form == FORM_ADD ? "lathe_sum" : "lathe_difference");
        return print_infix(p, n, text, C_SUM, at_least);
    case FORM_MUL:
        return is_checked(p, n) ? print_checked(p, n, "lathe_product") : print_infix(p, n, text, C_PRODUCT, at_least);
    case FORM_DIV: return print_pair(p, n, text, "lathe_divisor_d", C_PRODUCT, at_least);
    case FORM_FLOOR_DIV: case FORM_MOD: return print_floor(p, n, at_least);
    case FORM_MIN: return print_call(p, n, "lathe_min", helper_suffix(p, n));
    case FORM_MAX: return print_call(p, n, "lathe_max", helper_suffix(p, n));
    case FORM_CLAMP: return print_clamp(p, n);
    case FORM_ABS:
        if (is_checked(p, n))
            return print_checked(p, n, "lathe_magnitude");
        if (n->type == VALUE_INT)
            return print_call(p, n, "lathe_abs", "");
        return print_call(p, n, "fabs", c_single(p) ? "f" : "");
    case FORM_CEIL_DIV: return print_ceil_div(p, n, at_least);
    case FORM_FLOOR: case FORM_CEIL: case FORM_ROUND: return print_to_int(p, n, at_least);
    case FORM_SIGMOID: return print_call(p, n, "lathe_sigmoid", helper_suffix(p, n));
    case FORM_GELU: return print_call(p, n, "lathe_gelu", helper_suffix(p, n));
    case FORM_MISH: return print_call(p, n, "lathe_mish", helper_suffix(p, n));
    case FORM_RSQRT: return print_rsqrt(p, n, at_least);
    case FORM_IS_POW2: return print_call(p, n, "lathe_is_pow2", "");
    case FORM_LOG2: return print_log2(p, n);
    default: return print_call(p, n, text, c_single(p) ? "f" : "");   /* C's function of the same name */
    }
}
