/* test_expr.c: what expressions evaluate to, failures of evaluation, explanations. Refusals: test_expr_errors.c;
 * printing as C: test_expr_c.c. */
#include "test/unit/expr/expr_fixture.h"

#include <math.h>

/* "7", "0.5", "true", "word"; or the end of the failure's message after "! " */
static void check(const char *text, const char *wanted)
{
    struct expr *x = bound(text);
    struct value v;
    struct err e = {0};
    struct strbuf b = {0};
    if (expr_eval(x, slots, &v, &e)) {
        assert_int_equal(e.code, LATHE_SPEC);
        sb_addf(&b, "! %s", e.text);
        if (wanted[0] != '!' || !strstr(e.text, wanted + 2))
            fail_msg("%s: got %s, wanted %s", text, sb_str(&b), wanted);
        assert_int_equal(expr_eval(x, slots, &v, NULL), LATHE_SPEC);
    } else {
        value_print(&b, v);
        assert_int_equal(v.type, expr_type(x));
        if (strcmp(sb_str(&b), wanted))
            fail_msg("%s: got %s, wanted %s", text, sb_str(&b), wanted);
    }
    sb_free(&b);
    expr_free(x);
}

static void check_all(const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(pairs[i].text, pairs[i].wanted);
}
#define CHECK_ALL(pairs) check_all(pairs, sizeof(pairs) / sizeof *(pairs))

static void literals(void **state)
{
    static const struct pair cases[] = {
        {"42", "42"}, {"0x1F", "31"}, {"0X7fffffffffffffff", "9223372036854775807"}, {"007", "7"},
        {"9223372036854775807", "9223372036854775807"}, {"-9223372036854775808", "-9223372036854775808"},
        {"1e-4", "0.0001"}, {"2.", "2.0"}, {".5", "0.5"}, {"1E+2", "100.0"}, {"true", "true"}, {"false", "false"},
        {"'a b'", "a b"}, {"\"it's\"", "it's"}, {"''", ""}, {" \t\r\n 1 \n", "1"}, {"((((1))))", "1"}, {"-0.0",
        "-0.0"},
    };
    CHECK_ALL(cases);
}

static void precedence(void **state)
{
    static const struct pair cases[] = {
        {"1 + 2 * 3", "7"}, {"(1 + 2) * 3", "9"}, {"10 - 3 - 2", "5"}, {"100 // 5 // 2", "10"}, {"100 // (5 // 2)",
        "50"},
        {"2 * 7 % 4", "2"}, {"-BM + 1", "-63"}, {"-2 * 3", "-6"}, {"2 * -3", "-6"}, {"2 - -3", "5"}, {"- - 3", "3"},
        {"-7 // 2", "-4"}, {"-(7 // 2)", "-3"}, {"1 < 2 and 2 < 3", "true"}, {"true or false and false", "true"},
        {"(true or false) and false", "false"}, {"not true or true", "true"}, {"not (true or true)", "false"},
        {"not 1 == 2", "true"}, {"not not flag", "true"}, {"1 + 1 == 2", "true"}, {"(1 < 2) == (2 < 3)", "true"},
        {"true == (1 < 2)", "true"}, {"1 == 1 and not flag or zero != 0", "false"},
    };
    CHECK_ALL(cases);
}

static void integers(void **state)
{
    static const struct pair cases[] = {
        {"7 // 2", "3"}, {"-7 // 2", "-4"}, {"7 // -2", "-4"}, {"-7 // -2", "3"}, {"-8 // 2", "-4"}, {"0 // -5", "0"},
        {"7 % 3", "1"}, {"-7 % 3", "2"}, {"7 % -3", "-2"}, {"-7 % -3", "-1"}, {"6 % -3", "0"}, {"neg % BM", "57"},
        {"(-9223372036854775807 - 1) % -1", "0"}, {"8589934592 // 3", "2863311530"}, {"8589934592 % 3", "2"},
        {"4294967295 // 2", "2147483647"}, {"4294967296 // 2", "2147483648"}, {"ceil_div(4294967295, 4294967295)",
        "1"},
        {"4294967295 % 4294967296", "4294967295"},
        {"ceil_div(7, 2)", "4"}, {"ceil_div(8, 2)", "4"}, {"ceil_div(-7, 2)", "-3"}, {"ceil_div(0, 3)", "0"},
        {"ceil_div(4294967295, 2)", "2147483648"}, {"ceil_div(9223372036854775807, 2)", "4611686018427387904"},
        {"min(3, 1, 2)", "1"}, {"max(3, 1, 2, neg)", "3"}, {"abs(neg)", "7"}, {"clamp(BM, 1, 32)", "32"},
        {"clamp(neg, 1, 32)", "1"}, {"clamp(5, 1, 32)", "5"}, {"floor(5)", "5"}, {"is_pow2(64)", "true"},
        {"is_pow2(0)", "false"}, {"is_pow2(-8)", "false"}, {"is_pow2(96)", "false"},
        {"is_pow2(4611686018427387904)", "true"},
        {"log2(1)", "0"}, {"log2(BN)", "7"}, {"log2(4611686018427387904)", "62"}, {"(BM/8) * 2 == 16", "true"},
    };
    CHECK_ALL(cases);
}

static void floats(void **state)
{
    static const struct pair cases[] = {
        {"7 / 2", "3.5"}, {"8 / 2", "4.0"}, {"7.5 // 2", "3.0"}, {"-7.5 // 2", "-4.0"}, {"-7.5 % 2", "0.5"},
        {"7.5 % -2", "-0.5"},
        {"1 + 0.5", "1.5"}, {"s * BM", "160.0"}, {"whole", "3.0"}, {"whole / 2", "1.5"}, {"floor(2.7)", "2"},
        {"floor(-2.5)", "-3"}, {"ceil(2.1)", "3"}, {"round(2.5)", "3"}, {"round(-2.5)", "-3"}, {"min(1, 0.5)", "0.5"},
        {"min(1, 2.5)", "1.0"}, {"max(1, 2, 0.5)", "2.0"}, {"abs(-2.5)", "2.5"}, {"clamp(s, 0, 1)", "1.0"},
        {"pow(2, 10)", "1024.0"}, {"sqrt(16)", "4.0"}, {"rsqrt(16)", "0.25"}, {"exp(0)", "1.0"}, {"expm1(0)", "0.0"},
        {"log(1)", "0.0"}, {"log1p(0)", "0.0"}, {"tanh(0)", "0.0"}, {"erf(0)", "0.0"}, {"sigmoid(0)", "0.5"},
        {"gelu(0)", "0.0"}, {"gelu(40)", "40.0"}, {"mish(0)", "0.0"}, {"mish(1e9)", "1000000000.0"}, {"sin(0)", "0.0"},
        {"cos(0)", "1.0"}, {"1 == 1.0", "true"}, {"2 < 2.5", "true"}, {"exp(1000)", "inf"}, {"log(0)", "-inf"},
        {"sqrt(-1)", "nan"}, {"max(sqrt(-1), 0)", "nan"}, {"max(0, sqrt(-1))", "nan"}, {"min(sqrt(-1), 0.0)", "nan"},
        {"clamp(sqrt(-1), 0, 1)", "nan"}, {"sqrt(-1) == sqrt(-1)", "false"}, {"2.0*9223372036854775807",
        "1.8446744073709552e+19"},
    };
    CHECK_ALL(cases);
}

static void choices(void **state)
{
    static const struct pair cases[] = {
        {"select(flag, 1, 2)", "1"}, {"select(not flag, 1, 2)", "2"}, {"select(flag, 1, 2.5)", "1.0"},
        {"select(BM > 1, 'a', 'b')", "a"}, {"select(flag, true, false)", "true"}, {"select(true, zero, BM)", "0"},
        {"select(BM == 64, select(BN == 1, 1, 2), 3) + 10", "12"}, {"10 - select(flag, BM, BN)", "-54"},
        {"REDUCE == 'last_block'", "true"}, {"REDUCE != 'last_block'", "false"}, {"'x' == REDUCE", "false"},
        {"REDUCE == \"last_block\" and BM > 1", "true"}, {"flag == true", "true"}, {"flag != (BM > 100)", "true"},
        /* only what is needed is evaluated */
        {"zero != 0 and BM // zero > 1", "false"}, {"zero == 0 or BM // zero > 1", "true"},
        {"select(flag, 1, 1 // 0)", "1"},
        {"select(zero == 0, 5, BM % zero)", "5"}, {"false and 1 // 0 == 1", "false"}, {"true or unset == 1", "true"},
        {"flag or unset == 1", "true"}, {"true and flag", "true"}, {"false or not flag", "false"},
    };
    CHECK_ALL(cases);
}

static void failures(void **state)
{
    static const struct pair cases[] = {
        {"BM // zero", "! BM // zero: 64 // 0: division by zero"}, {"BM % zero", "! division by zero"},
        {"BM / zero", "! division by zero"}, {"1 / 0.0", "! division by zero"}, {"1.5 // (BM - 64)",
        "! 1.5 // (64 - 64): division"},
        {"s % 0", "! division by zero"}, {"1 // 0", "! 1 // 0: division by zero"},
        {"9223372036854775807 + BM", "! does not fit in a 64-bit integer"}, {"BM * 9223372036854775807", "! 64-bit"},
        {"-9223372036854775807 - BM", "! 64-bit"}, {"-(-9223372036854775807 - 1)", "! 64-bit"},
        {"abs(-9223372036854775808)", "! 64-bit"}, {"-9223372036854775808 // -1", "! 64-bit"}, {"floor(1e30)",
        "! 64-bit"},
        {"round(exp(1000))", "! 64-bit"}, {"ceil(sqrt(-1))", "! 64-bit"}, {"floor(9223372036854775808.0)",
        "! 64-bit"},
        {"log2(BM - 1)", "! log2(BM - 1): log2(64 - 1): log2 takes a power of two"}, {"log2(zero)", "! power of two"},
        {"log2(neg)", "! power of two"}, {"ceil_div(1, zero)", "! ceil_div takes a divisor above 0"},
        {"ceil_div(1, neg)", "! above 0"}, {"unset + 1", "! `unset` holds nothing, expected a value of type integer"},
        {"unset", "! `unset` holds nothing"}, {"X[1, 2] + 1", "! the elements of tensors have no value here"},
        {"BM - neg // zero", "! 64 - (-7) // 0"},
    };
    CHECK_ALL(cases);
}

static double element(void *ctx, int slot, const int64_t *index, int rank)
{
    int *calls = ctx;
    ++*calls;
    assert_string_equal(scope.names[slot].name, rank == 2 ? "X" : "b");
    return rank == 2 ? 10.0 * (double)index[0] + (double)index[1] : -(double)index[0];
}

static void element_values(void **state)
{
    static const struct pair cases[] = {
        {"X[1, 2]", "12.0"}, {"X[BM // 32, 1 + 2] + b[4]", "19.0"}, {"b[floor(b[floor(X[0, 3])]) + 4] * 2", "-2.0"},
        {"select(flag, b[1], b[2])", "-1.0"}, {"max(X[0, 1], X[1, 0], b[5])", "10.0"},
        /* floats divide as IEEE 754 says here */
        {"1 / b[0]", "-inf"}, {"1.0 / zero", "inf"}, {"0 / zero", "nan"}, {"0.0 / 0", "nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        struct value v;
        int calls = 0;
        struct expr *x = bound(cases[i].text);
        if (expr_eval_with(x, slots, element, &calls, &v, &e))
            fail_msg("%s: %s", cases[i].text, e.text);
        struct strbuf b = {0};
        value_print(&b, v);
        assert_string_equal(sb_str(&b), cases[i].wanted);
        sb_free(&b);
        expr_free(x);
    }
    struct err e = {0};
    struct value v;
    int calls = 0;
    struct expr *x = bound("select(flag, b[1], b[2])");
    assert_int_equal(expr_eval_with(x, slots, element, &calls, &v, &e), LATHE_OK);
    assert_int_equal(calls, 1);
    expr_free(x);
    x = bound("X[1, 2 // zero]");
    assert_int_equal(expr_eval_with(x, slots, element, &calls, &v, &e), LATHE_SPEC);
    assert_string_equal(e.text, "X[1, 2 // zero]: X[1, 2 // 0]: division by zero");
    expr_free(x);
}

static void wanted_types(void **state)
{
    struct err e = {0};
    int64_t i = 0;
    double f = 0;
    bool t = false;
    struct expr *x = bound("BM / 2");
    assert_int_equal(expr_eval_int(x, slots, &i, &e), LATHE_OK);
    assert_int_equal(i, 32);
    assert_int_equal(expr_eval_double(x, slots, &f, &e), LATHE_OK);
    assert_true(f == 32);
    assert_int_equal(expr_eval_bool(x, slots, &t, &e), LATHE_SPEC);
    assert_string_equal(e.text, "BM / 2: 64 / 2: expected true or false, got float 32.0");
    expr_free(x);
    x = bound("BM / 3");
    assert_int_equal(expr_eval_int(x, slots, &i, &e), LATHE_SPEC);
    assert_non_null(strstr(e.text, "expected an integer, got float 21.333333333333332: use `//`, floor, ceil"));
    assert_int_equal(expr_eval_int(x, slots, &i, NULL), LATHE_SPEC);
    expr_free(x);
    x = bound("BM + 1");
    assert_int_equal(expr_eval_bool(x, slots, &t, &e), LATHE_SPEC);
    assert_string_equal(e.text, "BM + 1: 64 + 1: expected true or false, got integer 65: write `x != 0`");
    expr_free(x);
    x = bound("log(zero)");
    assert_int_equal(expr_eval_double(x, slots, &f, &e), LATHE_SPEC);
    assert_string_equal(e.text, "log(zero): log(0): expected a finite number, got float -inf");
    expr_free(x);
    x = bound("REDUCE");
    assert_int_equal(expr_eval_double(x, slots, &f, &e), LATHE_SPEC);
    assert_int_equal(expr_eval_int(x, slots, &i, &e), LATHE_SPEC);
    assert_string_equal(e.text, "REDUCE: 'last_block': expected an integer, got string last_block");
    expr_free(x);
    x = bound("BM > 1 and flag");
    assert_int_equal(expr_eval_bool(x, slots, &t, &e), LATHE_OK);
    assert_true(t);
    expr_free(x);
}

/* Slots are filled by others: a wrong type in one is a failure, never a wrong result. */
static void wrong_slots(void **state)
{
    struct value wrong[16];
    struct value v;
    struct err e = {0};
    static const char *const texts[] = {
        "BM", "BM + 1", "BM > 1", "flag", "not flag", "flag and true", "select(flag, 1, 2)", "REDUCE == 'x'", "REDUCE",
        "s", "s + 1", "exp(s)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct expr *x = bound(texts[i]);
        for (int j = 0; j < 16; j++)
            wrong[j] = (struct value){0};
        assert_int_equal(expr_eval(x, wrong, &v, &e), LATHE_SPEC);
        assert_non_null(strstr(e.text, "holds nothing, expected a value of type"));
        for (int j = 0; j < 16; j++)
            wrong[j] = slots[j].type == VALUE_BOOL ? value_int(1) : value_bool(true);
        assert_int_equal(expr_eval(x, wrong, &v, &e), LATHE_SPEC);
        expr_free(x);
    }
}

static void explanations(void **state)
{
    static const struct pair cases[] = {
        {"4 * (BM + BN) <= max_shared", "4 * (BM + BN) <= max_shared: 4 * (64 + 128) <= 232448"},
        {"1 + 1", "1 + 1"}, {"BM", "BM: 64"}, {"BM - neg", "BM - neg: 64 - (-7)"}, {"neg", "neg: -7"},
        {"min(neg,1)", "min(neg,1): min(-7,1)"},
        {"REDUCE == 'x' and flag", "REDUCE == 'x' and flag: 'last_block' == 'x' and true"}, {"unset + BM",
        "unset + BM: unset + 64"},
        {"X[BM, 1] * s", "X[BM, 1] * s: X[64, 1] * 2.5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr *x = bound(cases[i].text);
        struct strbuf b = {0};
        expr_explain(&b, x, slots);
        assert_string_equal(sb_str(&b), cases[i].wanted);
        assert_string_equal(expr_text(x), cases[i].text);
        sb_free(&b);
        expr_free(x);
    }
}

static void literal_expressions(void **state)
{
    struct value v;
    struct err e = {0};
    char word[] = "a'b";
    struct expr *x = expr_literal(value_string(word));
    word[0] = 'z';                                  /* it has its own copy */
    assert_int_equal(expr_eval(x, NULL, &v, &e), LATHE_OK);
    assert_string_equal(v.s, "a'b");
    assert_string_equal(expr_text(x), "\"a'b\"");
    assert_int_equal(expr_type(x), VALUE_STRING);
    expr_free(x);
    x = expr_literal(value_int(INT64_MIN));
    assert_int_equal(expr_bind(x, &scope, &e), LATHE_OK);
    assert_int_equal(expr_eval(x, NULL, &v, &e), LATHE_OK);
    assert_true(v.i == INT64_MIN);
    struct expr *again = bound(expr_text(x));       /* its text reads back */
    assert_int_equal(expr_eval(again, NULL, &v, &e), LATHE_OK);
    assert_true(v.i == INT64_MIN);
    expr_free(again);
    expr_free(x);
    expr_free(NULL);
}

static void uses_and_rebinding(void **state)
{
    struct err e = {0};
    struct value v;
    struct expr *x = NULL;
    assert_int_equal(expr_parse("BM * 2 + X[BN, 0]", &x, &e), LATHE_OK);
    assert_int_equal(expr_type(x), VALUE_NONE);
    assert_false(expr_uses(x, 0));
    assert_int_equal(expr_eval(x, slots, &v, &e), LATHE_INTERNAL);
    assert_int_equal(expr_bind(x, &scope, &e), LATHE_OK);
    assert_int_equal(expr_type(x), VALUE_FLOAT);
    assert_true(expr_uses(x, scope_find(&scope, "BM")));
    assert_true(expr_uses(x, scope_find(&scope, "BN")));
    assert_true(expr_uses(x, scope_find(&scope, "X")));
    assert_false(expr_uses(x, scope_find(&scope, "s")));
    expr_free(x);
    assert_int_equal(scope_find(&scope, "nothing"), -1);
    struct scope other = {0};
    scope_add(&other, "unused", VALUE_INT, 0);
    scope_add(&other, "BM", VALUE_FLOAT, 0);
    x = bound("BM + 1");
    assert_int_equal(expr_bind(x, &other, &e), LATHE_OK);
    assert_int_equal(expr_type(x), VALUE_FLOAT);
    struct value values[] = {value_int(0), value_float(0.5)};
    assert_int_equal(expr_eval(x, values, &v, &e), LATHE_OK);
    assert_true(v.f == 1.5);
    scope_free(&other);
    struct scope none = {0};
    assert_int_equal(expr_bind(x, &none, &e), LATHE_SPEC);
    assert_non_null(strstr(e.text, "unknown name `BM`: no names may be used here"));
    expr_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals), cmocka_unit_test(precedence), cmocka_unit_test(integers), cmocka_unit_test(floats),
        cmocka_unit_test(choices), cmocka_unit_test(failures), cmocka_unit_test(element_values),
        cmocka_unit_test(wanted_types), cmocka_unit_test(wrong_slots), cmocka_unit_test(explanations),
        cmocka_unit_test(literal_expressions), cmocka_unit_test(uses_and_rebinding),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
