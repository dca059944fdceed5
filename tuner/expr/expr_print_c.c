/* expr_print_c.c: an expression as C or CUDA C++ source: the way in, constants, names and elements. */
#include "expr/expr_print_c.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void print_int(struct c_printer *p, int64_t i, enum c_level at_least)
{
    bool parentheses = i < 0 && at_least > C_UNARY;
    c_open(p, parentheses);
    if (i == INT64_MIN)                             /* its digits alone are too large for a literal */
        sb_addf(p->b, "(-%lldLL - 1LL)", (long long)INT64_MAX);
    else
        sb_addf(p->b, "%lldLL", (long long)i);
    c_close(p, parentheses);
}

/* The shortest text that is read back as the same float. */
static void print_single(struct strbuf *b, float f)
{
    struct value v = value_float(f);
    for (int digits = 1; digits <= 9; digits++) {
        char text[32];
        snprintf(text, sizeof text, "%.*g", digits, f);
        if (strtof(text, NULL) == f) {
            v.f = strtod(text, NULL);
            break;
        }
    }
    value_print(b, v);
    sb_add(b, "f");
}

status expr_c_print_float(struct c_printer *p, int node, double f, enum c_level at_least)
{
    const struct expr_node *n = &p->x->nodes[node];
    bool parentheses = signbit(f) && at_least > C_UNARY;
    if (c_single(p) && !isfinite((float)f))
        return expr_error(p->e, p->x->text, n->start, "the constant %g is too large for a float", f);
    c_open(p, parentheses);
    if (c_single(p))
        print_single(p->b, (float)f);
    else
        value_print(p->b, value_float(f));
    c_close(p, parentheses);
    return LATHE_OK;
}

/* A constant that C can write down: infinities and NaNs have no literals. */
static bool is_printable(struct value v)
{
    return v.type == VALUE_INT || v.type == VALUE_BOOL || (v.type == VALUE_FLOAT && isfinite(v.f));
}

static status print_constant(struct c_printer *p, int node, enum c_level at_least)
{
    struct value v = p->facts[node].value;
    if (v.type == VALUE_FLOAT)
        return expr_c_print_float(p, node, v.f, at_least);
    if (v.type == VALUE_INT)
        print_int(p, v.i, at_least);
    else
        sb_add(p->b, v.b ? "1" : "0");
    return LATHE_OK;
}

status expr_c_no_string(struct c_printer *p, const struct expr_node *n)
{
    return expr_error(p->e, p->x->text, n->start,
                      "a string has no form in C: only comparisons of known strings can be printed");
}

static status print_name(struct c_printer *p, const struct expr_node *n, enum c_level at_least)
{
    if (n->type == VALUE_STRING)
        return expr_c_no_string(p, n);
    bool cast = n->type == VALUE_INT || (n->type == VALUE_FLOAT && !c_single(p));
    bool parentheses = cast && at_least > C_UNARY;
    c_open(p, parentheses);
    if (cast)
        sb_addf(p->b, "(%s)", n->type == VALUE_INT ? "long long" : "double");
    if (p->how->name)
        p->how->name(p->b, n->slot, NULL, 0, p->how->ctx);
    else
        sb_addn(p->b, p->x->text + n->at, (size_t)n->at_len);
    c_close(p, parentheses);
    return LATHE_OK;
}

static status print_element(struct c_printer *p, const struct expr_node *n, enum c_level at_least)
{
    char *index[EXPR_MAX_RANK] = {0};
    int rank = 0;
    status s = LATHE_OK;
    if (!p->how->name)
        return expr_error(p->e, p->x->text, n->at, "an element of a tensor cannot be printed here");
    struct strbuf *outer = p->b;
    for (int i = n->first; i >= 0 && !s; i = p->x->nodes[i].next) {
        struct strbuf b = {0};
        p->b = &b;
        s = expr_c_print(p, i, C_PRIMARY);
        index[rank++] = sb_take(&b);
    }
    p->b = outer;
    if (!s) {
        bool parentheses = !c_single(p) && at_least > C_UNARY;
        c_open(p, parentheses);
        sb_add(p->b, c_single(p) ? "" : "(double)");
        p->how->name(p->b, n->slot, index, rank, p->how->ctx);
        c_close(p, parentheses);
    }
    for (int i = 0; i < rank; i++)
        mem_free(index[i]);
    return s;
}

/* Appends the node, in parentheses if it binds less tightly than `at_least`. */
status expr_c_print(struct c_printer *p, int node, enum c_level at_least)
{
    const struct expr_node *n = &p->x->nodes[node];
    const struct expr_fact *fact = &p->facts[node];
    if (is_printable(fact->value))
        return print_constant(p, node, at_least);
    if (fact->fault && !p->lazy)
        return expr_error(p->e, p->x->text, n->at, "this cannot be computed: %s", expr_fault_text(fact->fault));
    switch (n->form) {
    case FORM_CONST: return expr_c_no_string(p, n);
    case FORM_NAME: return print_name(p, n, at_least);
    case FORM_ELEMENT: return print_element(p, n, at_least);
    default: return expr_c_print_operator(p, n, at_least);
    }
}

status expr_print_c(struct strbuf *b, const struct expr *x, const struct expr_c *how, struct err *e)
{
    if (!x->bound)
        return err_set(e, LATHE_INTERNAL, "`%s` is printed before it is bound to a scope", x->text);
    struct strbuf text = {0};
    struct c_printer p = {.b = &text, .x = x, .how = how, .e = e, .facts = expr_facts(x, how->known, how->ranges)};
    status s = expr_c_print(&p, x->count - 1, C_TERNARY);
    if (!s)
        sb_add(b, sb_str(&text));
    sb_free(&text);
    mem_free(p.facts);
    return s;
}
