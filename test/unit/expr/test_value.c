/* test_value.c: values, their equality, conversions and texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "expr/value.h"

#include <math.h>
#include <string.h>

static void equality(void **state)
{
    assert_true(value_equal(value_int(1), value_float(1.0)));
    assert_true(value_equal(value_float(-3), value_int(-3)));
    assert_false(value_equal(value_int(1), value_bool(true)));
    assert_false(value_equal(value_float(1), value_bool(true)));
    assert_false(value_equal(value_int(1), value_float(1.5)));
    assert_false(value_equal(value_int(INT64_MAX), value_float(0x1p63)));   /* equal once rounded to double */
    assert_false(value_equal(value_int((INT64_C(1) << 53) + 1), value_float(0x1p53)));
    char copy[] = "last_block";
    assert_true(value_equal(value_string("last_block"), value_string(copy)));
    assert_false(value_equal(value_string("1"), value_int(1)));
    assert_true(value_equal((struct value){0}, (struct value){0}));
    assert_false(value_equal(value_float(NAN), value_float(NAN)));
}

static void conversions(void **state)
{
    double f = 0;
    int64_t i = 0;
    assert_true(value_as_double(value_int(7), &f) && f == 7);
    assert_true(value_as_double(value_float(0.5), &f) && f == 0.5);
    assert_false(value_as_double(value_bool(true), &f));
    assert_false(value_as_double(value_string("1"), &f));
    assert_true(value_as_int(value_float(-4), &i) && i == -4);
    assert_false(value_as_int(value_float(0.5), &i));
    assert_false(value_as_int(value_float(0x1p63), &i));
    assert_true(value_as_int(value_float(-0x1p63), &i) && i == INT64_MIN);
    assert_false(value_as_int(value_float(NAN), &i));
    assert_false(value_as_int(value_float(INFINITY), &i));
    assert_false(value_as_int(value_bool(true), &i));
}

static void texts(void **state)
{
    static const struct {
        struct value v;
        const char *text;
    } cases[] = {
        {{.type = VALUE_INT, .i = 32}, "32"}, {{.type = VALUE_INT, .i = INT64_MIN}, "-9223372036854775808"},
        {{.type = VALUE_FLOAT, .f = 0.5}, "0.5"}, {{.type = VALUE_FLOAT, .f = 2}, "2.0"},
        {{.type = VALUE_FLOAT, .f = 0.1}, "0.1"}, {{.type = VALUE_FLOAT, .f = 1e-4}, "0.0001"},
        {{.type = VALUE_FLOAT, .f = 1e-5}, "1e-05"}, {{.type = VALUE_FLOAT, .f = 1e22}, "1e+22"},
        {{.type = VALUE_FLOAT, .f = 100}, "100.0"}, {{.type = VALUE_FLOAT, .f = -0.0}, "-0.0"},
        {{.type = VALUE_FLOAT, .f = 1.0 / 3}, "0.3333333333333333"},
        {{.type = VALUE_FLOAT, .f = 0x1p53}, "9007199254740992.0"},
        {{.type = VALUE_BOOL, .b = true}, "true"}, {{.type = VALUE_BOOL}, "false"},
        {{.type = VALUE_STRING, .s = "last_block"}, "last_block"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf b = {0};
        value_print(&b, cases[i].v);
        assert_string_equal(sb_str(&b), cases[i].text);
        struct value back = value_read(sb_str(&b));
        assert_int_equal(back.type, cases[i].v.type);
        assert_true(value_equal(back, cases[i].v));
        sb_free(&b);
    }
    struct strbuf b = {0};
    value_print(&b, value_float(NAN));
    value_print(&b, value_float(-INFINITY));
    assert_string_equal(sb_str(&b), "nan-inf");
    sb_free(&b);
}

static void reading(void **state)
{
    assert_int_equal(value_read("+5").i, 5);
    assert_true(value_read(".5").f == 0.5);
    assert_true(value_read("1e3").f == 1000);
    assert_true(value_read("9223372036854775808").type == VALUE_FLOAT);
    static const char *const words[] = {"",    "-",   "0x10", "1e999", "inf", "nan",
                                        "12 ", "12a", "True", "e5",    "1p3", " 1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct value v = value_read(words[i]);
        assert_int_equal(v.type, VALUE_STRING);
        assert_ptr_equal(v.s, words[i]);
    }
}

static void names(void **state)
{
    assert_string_equal(value_type_name(VALUE_INT), "integer");
    assert_string_equal(value_type_name(VALUE_BOOL), "boolean");
    assert_string_equal(value_type_name(VALUE_NONE), "nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality), cmocka_unit_test(conversions), cmocka_unit_test(texts),
        cmocka_unit_test(reading), cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
