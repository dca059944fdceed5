/* expr_fixture.h: the scope, its values and a parsed and bound expression, for the tests of expr.h. Included once by
 * each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "expr/expr.h"

#include <string.h>

static struct scope scope;
static struct value slots[16];

static int setup(void **state)
{
    static const struct {
        const char *name;
        enum value_type type;
        int rank;
        struct value value;
    } names[] = {
        {"BM", VALUE_INT, 0, {.type = VALUE_INT, .i = 64}},
        {"BN", VALUE_INT, 0, {.type = VALUE_INT, .i = 128}},
        {"neg", VALUE_INT, 0, {.type = VALUE_INT, .i = -7}},
        {"zero", VALUE_INT, 0, {.type = VALUE_INT, .i = 0}},
        {"max_shared", VALUE_INT, 0, {.type = VALUE_INT, .i = 232448}},
        {"s", VALUE_FLOAT, 0, {.type = VALUE_FLOAT, .f = 2.5}},
        {"whole", VALUE_FLOAT, 0, {.type = VALUE_INT, .i = 3}},     /* an integer in the place of a float */
        {"flag", VALUE_BOOL, 0, {.type = VALUE_BOOL, .b = true}},
        {"REDUCE", VALUE_STRING, 0, {.type = VALUE_STRING, .s = "last_block"}},
        {"X", VALUE_FLOAT, 2, {.type = VALUE_NONE}},
        {"b", VALUE_FLOAT, 1, {.type = VALUE_NONE}},
        {"unset", VALUE_INT, 0, {.type = VALUE_NONE}},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(scope_add(&scope, names[i].name, names[i].type, names[i].rank), (int)i);
        slots[i] = names[i].value;
    }
    return 0;
}

static int teardown(void **state)
{
    scope_free(&scope);
    return 0;
}

static struct expr *bound(const char *text)
{
    struct expr *x = NULL;
    struct err e = {0};
    if (expr_parse(text, &x, &e) || expr_bind(x, &scope, &e))
        fail_msg("%s: %s", text, e.text);
    return x;
}

struct pair {
    const char *text, *wanted;
};
