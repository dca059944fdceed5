/* test_expr_c.c: the text of expressions printed as C, and what cannot be printed. test_expr_agree.c runs such text. */
#include "test/unit/expr/expr_c_fixture.h"

#include <math.h>

static int setup(void **state)
{
    make_scope();
    return 0;
}

static int teardown(void **state)
{
    scope_free(&scope);
    return 0;
}

static void texts(void **state)
{
    static const struct {
        const char *text, *in_float, *in_double;
    } cases[] = {
        {"2.5 * x * sigmoid(x)", "2.5f * x * lathe_sigmoid_f(x)", "2.5 * (double)x * lathe_sigmoid_d((double)x)"},
        {"x / (1 + exp(-x))", "x / (1.0f + expf(-x))", "(double)x / (1.0 + exp(-(double)x))"},
        {"mish(gelu(a))", "lathe_mish_f(lathe_gelu_f((float)(long long)a))",
         "lathe_mish_d(lathe_gelu_d((double)(long long)a))"},
        {"a + 1", "(long long)a + 1LL", "(long long)a + 1LL"},
        {"a / 2", "(float)(long long)a / 2.0f", "(double)(long long)a / 2.0"},
        {"ceil_div(a, 8)", "lathe_ceil_div_i((long long)a, 8LL)", "lathe_ceil_div_i((long long)a, 8LL)"},
        {"ceil_div(abs(a), 8)", "(lathe_abs((long long)a) + 7LL) / 8LL", "(lathe_abs((long long)a) + 7LL) / 8LL"},
        {"a // 2", "lathe_floor_div((long long)a, 2LL)", "lathe_floor_div((long long)a, 2LL)"},
        {"max(a, 0) // 16", "lathe_max_i((long long)a, 0LL) / 16LL", "lathe_max_i((long long)a, 0LL) / 16LL"},
        {"K // 3 * 2", "84LL", "84LL"},
        {"select(R == 'word', x, y)", "x", "(double)x"},
        {"K / 3 * 1e-4", "0.0042666667f", "0.004266666666666667"},
        {"max(x, y, 0)", "lathe_max_f(lathe_max_f(x, y), 0.0f)",
        "lathe_max_d(lathe_max_d((double)x, (double)y), 0.0)"},
        {"u[a + K]", "fu(((long long)a + 128LL))", "(double)du(((long long)a + 128LL))"},
        {"t and a < b", "t && (long long)a < (long long)b", "t && (long long)a < (long long)b"},
        {"x * 0.1", "x * 0.1f", "(double)x * 0.1"},
        {"-9223372036854775808", "(-9223372036854775807LL - 1LL)", "(-9223372036854775807LL - 1LL)"},
        {"a - -1", "(long long)a - -1LL", "(long long)a - -1LL"},
        {"floor(x) + 1", "(long long)floorf(x) + 1LL", "(long long)floor((double)x) + 1LL"},
        {"t and true", "t && 1", "t && 1"},
    };
    struct err e = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr *x = bound(cases[i].text);
        struct strbuf b = {0};
        assert_int_equal(print(&b, x, EXPR_C_FLOAT, known, &e), LATHE_OK);
        assert_string_equal(sb_str(&b), cases[i].in_float);
        sb_free(&b);
        assert_int_equal(print(&b, x, EXPR_C_DOUBLE, known, &e), LATHE_OK);
        assert_string_equal(sb_str(&b), cases[i].in_double);
        sb_free(&b);
        expr_free(x);
    }
}

static void plain_names(void **state)
{
    struct expr *x = bound("a * K + x");
    struct expr_c how = {.precision = EXPR_C_FLOAT};
    struct strbuf b = {0};
    struct err e = {0};
    sb_add(&b, "y = ");
    assert_int_equal(expr_print_c(&b, x, &how, &e), LATHE_OK);
    assert_string_equal(sb_str(&b), "y = (float)((long long)a * (long long)K) + x");
    expr_free(x);
    x = bound("u[1] + x");
    assert_int_equal(expr_print_c(&b, x, &how, &e), LATHE_SPEC);
    assert_non_null(strstr(e.text, "an element of a tensor cannot be printed here\n  u[1] + x\n  ^"));
    assert_string_equal(sb_str(&b), "y = (float)((long long)a * (long long)K) + x");    /* nothing was added */
    expr_free(x);
    sb_free(&b);
}

static void refusals(void **state)
{
    static const struct {
        const char *text, *wanted;
        bool with_known;
    } cases[] = {
        {"R == 'word'", "a string has no form in C", false}, {"R", "a string has no form in C", false}, {"R",
        "a string has no form in C", true},
        {"select(t, 'a', 'b') == R", "a string has no form in C", true}, {"'word'",
        "a string has no form in C", false},
        {"1 + K // (K - 128)", "this cannot be computed: division by zero", true}, {"x + 1 / 0",
        "cannot be computed: division by zero", false},
        {"a + log2(K - 1)", "log2 takes a power of two", true}, {"K * 9223372036854775807",
        "does not fit in a 64-bit integer", true},
        {"x + 1e100", "the constant 1e+100 is too large for a float", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr *x = bound(cases[i].text);
        struct strbuf b = {0};
        struct err e = {0};
        assert_int_equal(print(&b, x, EXPR_C_FLOAT, cases[i].with_known ? known : NULL, &e), LATHE_SPEC);
        if (!strstr(e.text, cases[i].wanted))
            fail_msg("%s: %s", cases[i].text, e.text);
        assert_int_equal(b.len, 0);
        expr_free(x);
    }
    struct expr *x = NULL;
    struct err e = {0};
    struct strbuf b = {0};
    assert_int_equal(expr_parse("a", &x, &e), LATHE_OK);
    assert_int_equal(print(&b, x, EXPR_C_FLOAT, NULL, &e), LATHE_INTERNAL);
    expr_free(x);
}

/* A known value of the wrong type, an infinity, or none at all is left as a name. */
static void odd_known(void **state)
{
    struct value odd[NSLOTS] = {[A] = {.type = VALUE_BOOL}};
    odd[X] = value_float(INFINITY);
    odd[Y] = value_int(2);
    struct expr *x = bound("a + 1 + x * y");
    struct strbuf b = {0};
    struct err e = {0};
    assert_int_equal(print(&b, x, EXPR_C_FLOAT, odd, &e), LATHE_OK);
    assert_string_equal(sb_str(&b), "(float)((long long)a + 1LL) + x * 2.0f");
    sb_free(&b);
    expr_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(plain_names),
        cmocka_unit_test(refusals),
        cmocka_unit_test(odd_known),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
