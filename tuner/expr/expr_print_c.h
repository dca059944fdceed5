/* expr_print_c.h: what the two halves of the C printer share: expr_print_c.c has constants, names and the way in,
 * expr_print_ops.c the operators and functions. Private to them.
 *
 * Invariants: integer nodes print as `long long` (names are cast, literals have LL), float nodes as `float` or `double`
 * as p->how says, so C's own promotions never decide. No argument is printed twice: there are no side effects, but
 * lengths would explode. What is printed computes what expr_eval computes, wherever that gives a value.
 *
 * Every function here appends to p->b, and puts parentheses around what binds less tightly than `at_least`. */
#ifndef LATHE_EXPR_PRINT_C_H
#define LATHE_EXPR_PRINT_C_H

#include "expr/expr_ast.h"

/* C's precedences, as far as they are used here; a higher one binds tighter. */
enum c_level { C_TERNARY, C_OR, C_AND, C_EQUAL, C_LESS, C_SUM, C_PRODUCT, C_UNARY, C_PRIMARY };

struct c_printer {
    struct strbuf *b;
    const struct expr *x;
    const struct expr_c *how;
    struct expr_fact *facts;
    int lazy;                                       /* inside how many branches that may not be evaluated */
    struct err *e;
};

static inline bool c_single(const struct c_printer *p)
{
    return p->how->precision == EXPR_C_FLOAT;
}

static inline void c_open(struct c_printer *p, bool needed)
{
    sb_add(p->b, needed ? "(" : "");
}

static inline void c_close(struct c_printer *p, bool needed)
{
    sb_add(p->b, needed ? ")" : "");
}

status expr_c_print(struct c_printer *p, int node, enum c_level at_least);
status expr_c_print_operator(struct c_printer *p, const struct expr_node *n, enum c_level at_least);
status expr_c_print_float(struct c_printer *p, int node, double f, enum c_level at_least);    /* f: its value */
status expr_c_no_string(struct c_printer *p, const struct expr_node *n);     /* the refusal of a string */

#endif
