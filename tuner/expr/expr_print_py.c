/* expr_print_py.c: an expression as Python, of numbers and of torch tensors.
 *
 * Invariants: a node is a tensor exactly if a name below it is one (struct expr_py's `tensor`), so every call is of
 * torch's function or of Python's, decided here and not at run time. Integers of both kinds have floor semantics, as
 * the language has. Every function here appends to p->b, with parentheses around what binds less tightly than
 * `at_least`. */
#include "base/mem.h"
#include "expr/expr_ast.h"

#include <math.h>
#include <stdio.h>

/* Python's precedences, as far as they are used here; a higher one binds tighter. */
enum py_level { PY_TERNARY, PY_OR, PY_AND, PY_NOT, PY_COMPARE, PY_BITS, PY_SUM, PY_PRODUCT, PY_UNARY, PY_PRIMARY };

struct py_printer {
    struct strbuf *b;
    const struct expr *x;
    const struct expr_py *how;
    struct expr_fact *facts;
    bool *tensor;                                   /* one a node */
    struct err *e;
};

static status print(struct py_printer *p, int node, enum py_level at_least);

static int next_of(const struct py_printer *p, int node)
{
    return p->x->nodes[node].next;
}

static void open_if(struct py_printer *p, bool needed)
{
    sb_add(p->b, needed ? "(" : "");
}

static void close_if(struct py_printer *p, bool needed)
{
    sb_add(p->b, needed ? ")" : "");
}

static status print_infix(struct py_printer *p, const struct expr_node *n, const char *text, enum py_level own,
                          enum py_level at_least)
{
    bool compares = own == PY_COMPARE;              /* Python chains comparisons that stand side by side */
    bool parentheses = own < at_least;
    open_if(p, parentheses);
    status s = print(p, n->first, compares ? PY_SUM : own);
    sb_addf(p->b, " %s ", text);
    if (!s)
        s = print(p, next_of(p, n->first), compares ? PY_SUM : own + 1);
    close_if(p, parentheses);
    return s;
}

/* FUNCTION(FIRST, SECOND ...)AFTER */
static status print_call(struct py_printer *p, const char *function, int first, const char *after)
{
    status s = LATHE_OK;
    sb_addf(p->b, "%s(", function);
    for (int i = first; i >= 0 && !s; i = next_of(p, i)) {
        sb_add(p->b, i == first ? "" : ", ");
        s = print(p, i, PY_TERNARY);
    }
    sb_addf(p->b, ")%s", after);
    return s;
}

/* torch.clamp(TENSOR, min=NUMBER), torch.maximum(TENSOR, TENSOR) or max(NUMBER, NUMBER) of two texts. */
static void print_extreme(struct strbuf *b, bool largest, const char *left, bool left_tensor, const char *right,
                          bool right_tensor)
{
    if (left_tensor && right_tensor)
        sb_addf(b, "torch.%s(%s, %s)", largest ? "maximum" : "minimum", left, right);
    else if (left_tensor || right_tensor)
        sb_addf(b, "torch.clamp(%s, %s=%s)", left_tensor ? left : right, largest ? "min" : "max",
                left_tensor ? right : left);
    else
        sb_addf(b, "%s(%s, %s)", largest ? "max" : "min", left, right);
}

/* min and max of two or more; clamp(x, low, high) is min(max(x, low), high). */
static status print_extremes(struct py_printer *p, const struct expr_node *n)
{
    struct strbuf value = {0}, *file = p->b;
    bool tensor = false, largest = n->form == FORM_MAX;
    status s = LATHE_OK;
    for (int i = n->first; i >= 0 && !s; i = next_of(p, i)) {
        struct strbuf item = {0}, joined = {0};
        p->b = &item;
        s = print(p, i, PY_TERNARY);
        if (n->form == FORM_CLAMP)
            largest = i == next_of(p, n->first);
        if (i == n->first)
            sb_add(&joined, sb_str(&item));
        else
            print_extreme(&joined, largest, sb_str(&value), tensor, sb_str(&item), p->tensor[i]);
        tensor = tensor || p->tensor[i];
        sb_free(&item);
        sb_free(&value);
        value = joined;
    }
    p->b = file;
    sb_add(p->b, sb_str(&value));
    sb_free(&value);
    return s;
}

static status print_logic(struct py_printer *p, const struct expr_node *n, enum py_level at_least)
{
    bool is_and = n->form == FORM_AND;
    int left = n->first, right = next_of(p, left);
    if (p->facts[left].value.type != VALUE_NONE)    /* known, and does not decide: the node would be a constant */
        return print(p, right, at_least);
    if (!p->tensor[n - p->x->nodes])
        return print_infix(p, n, is_and ? "and" : "or", is_and ? PY_AND : PY_OR, at_least);
    bool parentheses = PY_BITS < at_least;
    open_if(p, parentheses);
    status s = print(p, left, PY_PRIMARY);
    sb_add(p->b, is_and ? " & " : " | ");
    if (!s)
        s = print(p, right, PY_PRIMARY);
    close_if(p, parentheses);
    return s;
}

static status print_select(struct py_printer *p, const struct expr_node *n, enum py_level at_least)
{
    int condition = n->first, one = next_of(p, condition), two = next_of(p, one);
    struct value known = p->facts[condition].value;
    if (known.type == VALUE_BOOL)
        return print(p, known.b ? one : two, at_least);
    if (p->tensor[condition])
        return print_call(p, "torch.where", condition, "");
    bool parentheses = at_least > PY_TERNARY;
    open_if(p, parentheses);
    status s = print(p, one, PY_OR);
    sb_add(p->b, " if ");
    if (!s)
        s = print(p, condition, PY_OR);
    sb_add(p->b, " else ");
    if (!s)
        s = print(p, two, PY_TERNARY);
    close_if(p, parentheses);
    return s;
}

static status print_prefix(struct py_printer *p, const struct expr_node *n, const char *text, enum py_level own,
                           enum py_level argument, enum py_level at_least)
{
    bool parentheses = own < at_least;
    open_if(p, parentheses);
    sb_add(p->b, text);
    status s = print(p, n->first, argument);
    close_if(p, parentheses);
    return s;
}

/* 1 / (1 + math.exp(-x)) and 1 / math.sqrt(x), of a number. */
static status print_reciprocal(struct py_printer *p, const struct expr_node *n, enum py_level at_least)
{
    bool sigmoid = n->form == FORM_SIGMOID, parentheses = PY_PRODUCT < at_least;
    open_if(p, parentheses);
    sb_add(p->b, sigmoid ? "1.0 / (1.0 + math.exp(-(" : "1.0 / math.sqrt(");
    status s = print(p, n->first, PY_TERNARY);
    sb_add(p->b, sigmoid ? ")))" : ")");
    close_if(p, parentheses);
    return s;
}

/* torch's function, or its formula of a number. */
static status print_activation(struct py_printer *p, const struct expr_node *n)
{
    bool mish = n->form == FORM_MISH;
    if (p->tensor[n - p->x->nodes])
        return print_call(p, mish ? "torch.nn.functional.mish" : "torch.nn.functional.gelu", n->first, "");
    return print_call(p, mish ? "(lambda v: v * math.tanh(math.log1p(math.exp(min(v, 20.0)))))"
                              : "(lambda v: 0.5 * v * (1.0 + math.erf(v * 0.7071067811865476)))", n->first, "");
}

/* floor, ceil and round give integers. */
static status print_to_int(struct py_printer *p, const struct expr_node *n, enum py_level at_least)
{
    bool tensor = p->tensor[n->first];
    if (n->op == OP_NONE)
        return print(p, n->first, at_least);
    if (n->form == FORM_ROUND)
        return print_call(p, "lathe_round", n->first, "");
    if (n->form == FORM_FLOOR)
        return print_call(p, tensor ? "torch.floor" : "math.floor", n->first, tensor ? ".long()" : "");
    return print_call(p, tensor ? "torch.ceil" : "math.ceil", n->first, tensor ? ".long()" : "");
}

static status print_function(struct py_printer *p, const struct expr_node *n, enum py_level at_least)
{
    bool tensor = p->tensor[n - p->x->nodes];
    char name[40];
    switch (n->form) {
    case FORM_MIN: case FORM_MAX: case FORM_CLAMP: return print_extremes(p, n);
    case FORM_SELECT: return print_select(p, n, at_least);
    case FORM_FLOOR: case FORM_CEIL: case FORM_ROUND: return print_to_int(p, n, at_least);
    case FORM_ABS: return print_call(p, "abs", n->first, "");
    case FORM_CEIL_DIV: case FORM_IS_POW2: case FORM_LOG2:
        snprintf(name, sizeof name, "lathe_%s", expr_forms[n->form].text);
        return print_call(p, name, n->first, "");
    case FORM_GELU: case FORM_MISH: return print_activation(p, n);
    case FORM_SIGMOID: case FORM_RSQRT:
        if (!tensor)
            return print_reciprocal(p, n, at_least);
        break;
    default: break;
    }
    snprintf(name, sizeof name, "%s.%s", tensor ? "torch" : "math", expr_forms[n->form].text);
    return print_call(p, name, n->first, "");
}

static status no_string(struct py_printer *p, const struct expr_node *n)
{
    return expr_error(p->e, p->x->text, n->start, "a string has no form in Python here");
}

static status print_operator(struct py_printer *p, const struct expr_node *n, enum py_level at_least)
{
    const char *text = expr_forms[n->form].text;
    bool tensor = p->tensor[n - p->x->nodes];
    switch (n->form) {
    case FORM_OR: case FORM_AND: return print_logic(p, n, at_least);
    case FORM_NOT:
        return tensor ? print_prefix(p, n, "~", PY_UNARY, PY_PRIMARY, at_least)
                      : print_prefix(p, n, "not ", PY_NOT, PY_NOT, at_least);
    case FORM_NEG: return print_prefix(p, n, "-", PY_UNARY, PY_PRIMARY, at_least);
    case FORM_EQ: case FORM_NE:
        if (n->op == OP_EQ_S || n->op == OP_NE_S)
            return no_string(p, n);
        return print_infix(p, n, text, PY_COMPARE, at_least);
    case FORM_LT: case FORM_LE: case FORM_GT: case FORM_GE: return print_infix(p, n, text, PY_COMPARE, at_least);
    case FORM_ADD: case FORM_SUB: return print_infix(p, n, text, PY_SUM, at_least);
    case FORM_MUL: case FORM_DIV: case FORM_FLOOR_DIV: case FORM_MOD:
        return print_infix(p, n, text, PY_PRODUCT, at_least);
    default: return print_function(p, n, at_least);
    }
}

static status print_element(struct py_printer *p, const struct expr_node *n)
{
    char *index[EXPR_MAX_RANK] = {0};
    int rank = 0;
    status s = LATHE_OK;
    struct strbuf *file = p->b;
    for (int i = n->first; i >= 0 && !s; i = next_of(p, i)) {
        struct strbuf b = {0};
        p->b = &b;
        s = print(p, i, PY_TERNARY);
        index[rank++] = mem_strdup(sb_str(&b));
        sb_free(&b);
    }
    p->b = file;
    if (!s)
        p->how->name(p->b, n->slot, index, rank, p->how->ctx);
    for (int i = 0; i < rank; i++)
        mem_free(index[i]);
    return s;
}

static void print_constant(struct py_printer *p, struct value v, enum py_level at_least)
{
    bool negative = v.type == VALUE_INT ? v.i < 0 : v.type == VALUE_FLOAT && signbit(v.f);
    bool parentheses = negative && at_least > PY_UNARY;
    open_if(p, parentheses);
    if (v.type == VALUE_BOOL)
        sb_add(p->b, v.b ? "True" : "False");
    else if (v.type == VALUE_INT)
        sb_addf(p->b, "%lld", (long long)v.i);
    else
        value_print(p->b, v);
    close_if(p, parentheses);
}

static status print(struct py_printer *p, int node, enum py_level at_least)
{
    const struct expr_node *n = &p->x->nodes[node];
    struct value v = p->facts[node].value;
    if (v.type == VALUE_INT || v.type == VALUE_BOOL || (v.type == VALUE_FLOAT && isfinite(v.f))) {
        print_constant(p, v, at_least);
        return LATHE_OK;
    }
    switch (n->form) {
    case FORM_CONST: return no_string(p, n);
    case FORM_NAME:
        if (n->type == VALUE_STRING)
            return no_string(p, n);
        p->how->name(p->b, n->slot, NULL, 0, p->how->ctx);
        return LATHE_OK;
    case FORM_ELEMENT: return print_element(p, n);
    default: return print_operator(p, n, at_least);
    }
}

/* Arguments stand before their operator: one loop finds all tensors. */
static void find_tensors(struct py_printer *p)
{
    for (int i = 0; i < p->x->count; i++) {
        const struct expr_node *n = &p->x->nodes[i];
        bool named = n->form == FORM_NAME && p->how->tensor && p->how->tensor(n->slot, p->how->ctx);
        p->tensor[i] = n->form == FORM_ELEMENT || named;
        for (int k = n->first; k >= 0; k = next_of(p, k))
            p->tensor[i] |= p->tensor[k];
        if (p->facts[i].value.type != VALUE_NONE)
            p->tensor[i] = false;
    }
}

status expr_print_py(struct strbuf *b, const struct expr *x, const struct expr_py *how, struct err *e)
{
    if (!x->bound)
        return err_set(e, LATHE_INTERNAL, "`%s` is printed before it is bound to a scope", x->text);
    struct strbuf text = {0};
    struct py_printer p = {.b = &text, .x = x, .how = how, .e = e, .facts = expr_facts(x, NULL, NULL)};
    p.tensor = mem_zalloc((size_t)x->count, sizeof *p.tensor);
    find_tensors(&p);
    status s = print(&p, x->count - 1, PY_TERNARY);
    if (!s)
        sb_add(b, sb_str(&text));
    sb_free(&text);
    mem_free(p.tensor);
    mem_free(p.facts);
    return s;
}
