/* test_outcome.c: names of outcomes go both ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "model/outcome.h"
#include <cmocka.h>
#include <string.h>

static void names_go_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        assert_int_equal(outcome_parse(outcome_name((enum outcome)i)), i);
        assert_true(strlen(outcome_text((enum outcome)i)) > 10);
    }
    assert_string_equal(outcome_name(OUTCOME_wrong), "wrong");
}

static void unknown_names_are_refused(void **state)
{
    (void)state;
    assert_int_equal(outcome_parse("fine"), -1);
    assert_int_equal(outcome_parse(""), -1);
    assert_int_equal(outcome_parse("OK"), -1);
    assert_int_equal(outcome_parse(NULL), -1);
    assert_string_equal(outcome_name((enum outcome)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(unknown_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
