/* expr_c_fixture.h: the scope and the names of the tests that print expressions as C. Included once by each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "expr/expr.h"

#include <string.h>

enum { A, B, C, X, Y, T, K, R, U, V, NSLOTS };      /* K and R are known, U and V are tensors */
static struct scope scope;
static struct value known[NSLOTS];

static void make_scope(void)
{
    scope_add(&scope, "a", VALUE_INT, 0);
    scope_add(&scope, "b", VALUE_INT, 0);
    scope_add(&scope, "c", VALUE_INT, 0);
    scope_add(&scope, "x", VALUE_FLOAT, 0);
    scope_add(&scope, "y", VALUE_FLOAT, 0);
    scope_add(&scope, "t", VALUE_BOOL, 0);
    scope_add(&scope, "K", VALUE_INT, 0);
    scope_add(&scope, "R", VALUE_STRING, 0);
    scope_add(&scope, "u", VALUE_FLOAT, 1);
    scope_add(&scope, "v", VALUE_FLOAT, 2);
    known[K] = value_int(128);
    known[R] = value_string("word");
}

static void print_name(struct strbuf *b, int slot, char *const *index, int rank, void *ctx)
{
    const struct expr_c *how = ctx;
    if (rank == 0) {
        sb_add(b, scope.names[slot].name);
        return;
    }
    sb_addf(b, "%c%s(%s", how->precision == EXPR_C_FLOAT ? 'f' : 'd', scope.names[slot].name, index[0]);
    if (rank == 2)
        sb_addf(b, ", %s", index[1]);
    sb_add(b, ")");
}

static struct expr *bound(const char *text)
{
    struct expr *x = NULL;
    struct err e = {0};
    if (expr_parse(text, &x, &e) || expr_bind(x, &scope, &e))
        fail_msg("%s: %s", text, e.text);
    return x;
}

/* Not every test prints C. */
__attribute__((unused))
static status print(struct strbuf *b, const struct expr *x, enum expr_c_float precision, const struct value *values,
                    struct err *e)
{
    struct expr_c how = {.precision = precision, .known = values, .name = print_name};
    how.ctx = &how;
    return expr_print_c(b, x, &how, e);
}
