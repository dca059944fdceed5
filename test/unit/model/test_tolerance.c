/* test_tolerance.c: limits as users type them, and as the store keeps them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/tolerance.h"
#include <string.h>

static const struct tolerance START = {.atol = 1e-4, .rtol = 1e-3, .times_sgemm_error = 2, .frobenius = 0};

static void named_limits_are_replaced(void **state)
{
    struct tolerance t = START;
    struct err e = {0};
    unsigned named = 0;
    assert_int_equal(tolerance_parse("rtol=0.5,frobenius=1e-2", &t, &named, &e), LATHE_OK);
    assert_true(t.atol == 1e-4 && t.rtol == 0.5 && t.times_sgemm_error == 2 && t.frobenius == 1e-2);
    assert_int_equal(named, 1u << TOLERANCE_rtol | 1u << TOLERANCE_frobenius);
    assert_int_equal(tolerance_parse("times_sgemm_error=0", &t, NULL, &e), LATHE_OK);
    assert_true(t.times_sgemm_error == 0);
}

static void what_is_no_limit_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "not a limit and a value"},       {"rtol", "'rtol' is not a limit and a value"},
        {"=1", "not a limit and a value"},     {"rtol=", "rtol=: expected a number, 0 or more"},
        {"rtol=-1", "rtol=-1: expected"},      {"rtol=nan", "rtol=nan: expected"},
        {"rtol=1e999", "rtol=1e999: expected"}, {"rtol=1x", "rtol=1x: expected"},
        {"rtl=1", "did you mean 'rtol'?"},     {"rtol=1,rtol=2", "rtol is given twice"},
        {"rtol=1,", "not a limit and a value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tolerance t = START;
        struct err e = {0};
        assert_int_equal(tolerance_parse(cases[i].text, &t, NULL, &e), LATHE_USAGE);
        if (!strstr(e.text, cases[i].says))
            fail_msg("%s: %s", cases[i].text, e.text);
    }
}

static void json_goes_both_ways(void **state)
{
    struct strbuf b = {0};
    struct tolerance back = {0};
    struct err e = {0};
    tolerance_json(&START, &b);
    assert_string_equal(b.s, "{\"atol\": 0.0001, \"rtol\": 0.001, \"times_sgemm_error\": 2.0, \"frobenius\": 0.0}");
    json_t *j = json_loads(b.s, 0, NULL);
    assert_int_equal(tolerance_from_json(j, &back, &e), LATHE_OK);
    assert_memory_equal(&back, &START, sizeof back);
    json_object_del(j, "frobenius");
    assert_int_equal(tolerance_from_json(j, &back, &e), LATHE_SPEC);
    assert_non_null(strstr(e.text, "tolerance.frobenius"));
    json_decref(j);
    sb_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_limits_are_replaced),
        cmocka_unit_test(what_is_no_limit_is_refused),
        cmocka_unit_test(json_goes_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
