/* test_strategy_grid.c: the values of a strategy's options that are worth trying. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "search/strategy/strategy_grid.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct strategy_option option(const char *type, const char *initial, const char *range)
{
    struct strategy_option o = {.name = "o"};
    snprintf(o.type, sizeof o.type, "%s", type);
    snprintf(o.text_default, sizeof o.text_default, "%s", initial);
    snprintf(o.range, sizeof o.range, "%s", range);
    return o;
}

static void is_text(json_t *values, const char *want)
{
    char *text = json_dumps(values, JSON_COMPACT | JSON_REAL_PRECISION(6));
    assert_string_equal(text, want);
    free(text);
    json_decref(values);
}

static void grid(const char *type, const char *initial, const char *range, const char *want)
{
    struct strategy_option o = option(type, initial, range);
    is_text(strategy_grid(&o), want);
}

static void grids(void **state)
{
    grid("boolean", "true", "true|false", "[false,true]");
    grid("choice", "b", "b|a|longer word", "[\"b\",\"a\",\"longer word\"]");
    grid("choice", "only", "only", "[\"only\"]");
    grid("integer", "2", "1..8", "[1,2,3,4,5,6,7,8]");
    grid("integer", "-3", "-5..-1", "[-5,-4,-3,-2,-1]");
    grid("integer", "32", "1..100000", "[4,8,16,32,64,128,256]");
    grid("integer", "1", "1..1000", "[1,2,4,8]");
    grid("integer", "2", "0..", "[0,1,2,4,8,16]");         /* 1/4 and 1/2 of it are 0, halves go to the even one */
    grid("integer", "20", "2..30", "[2,7,11,16,20,21,25,30]");    /* 4 x the default is beyond the range */
    grid("integer", "0", "", "[-4,-2,-1,0,1,2,4]");
    grid("number", "0.5", "0..10", "[0.0,0.0625,0.125,0.25,0.5,1.0,2.0,4.0]");
    grid("number", "0.5", "0..1", "[0.0,0.166667,0.333333,0.5,0.666667,0.833333,1.0]");
    grid("number", "0.25", "0..0.75", "[0.0,0.125,0.25,0.375,0.5,0.625,0.75]");
    grid("number", "0", "-3..3", "[-3.0,-2.0,-1.0,0.0,1.0,2.0,3.0]");
    grid("number", "2", "", "[0.25,0.5,1.0,2.0,4.0,8.0,16.0]");
    grid("number", "-2", "..0", "[-16.0,-8.0,-4.0,-2.0,-1.0,-0.5,-0.25]");
}

static void given(void **state)
{
    struct strategy_option i = option("integer", "1", "1.."), n = option("number", "1", "");
    struct strategy_option b = option("boolean", "true", ""), c = option("choice", "x", "x|y");
    json_t *values;
    struct err e;
    assert_int_equal(strategy_grid_given(&i, "1,20,3", &values, &e), LATHE_OK);
    is_text(values, "[1,20,3]");
    assert_int_equal(strategy_grid_given(&n, "1,2.5,-3e2", &values, &e), LATHE_OK);
    is_text(values, "[1.0,2.5,-300.0]");
    assert_int_equal(strategy_grid_given(&b, "false", &values, &e), LATHE_OK);
    is_text(values, "[false]");
    assert_int_equal(strategy_grid_given(&c, "y,x", &values, &e), LATHE_OK);
    is_text(values, "[\"y\",\"x\"]");
    static const struct {
        int which;
        const char *text, *fragment;
    } wrong[] = {{0, "1.5", "'1.5' is no integer"}, {0, "", "'' is no integer"},     {0, "1,", "'' is no integer"},
                 {0, "1,2,1", "there twice"},       {1, "1,x", "'x' is no number"},  {1, "inf", "'inf' is no number"},
                 {2, "yes", "'yes' is no boolean"}, {0, "99999999999999999999", "is no integer"},
                 {0, " 4", "' 4' is no integer"},   {1, "0x1p2", "is no number"},     {1, " 1", "is no number"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const struct strategy_option *o = wrong[k].which == 0 ? &i : wrong[k].which == 1 ? &n : &b;
        assert_int_equal(strategy_grid_given(o, wrong[k].text, &values, &e), LATHE_USAGE);
        assert_null(values);
        assert_non_null(strstr(e.text, wrong[k].fragment));
    }
}

/* Every value of every embedded strategy's grid is one that the strategy takes, and the default is among them. */
static void embedded(void **state)
{
    enum { MAX = 32 };
    struct strategy_option o[MAX];
    for (int k = 0; k < strategy_count(); k++) {
        int n = strategy_declared_options(strategy_name_at(k), o, MAX);
        assert_in_range(n, 0, MAX);
        for (int i = 0; i < n; i++) {
            json_t *values = strategy_grid(&o[i]), *v;
            bool found = false;
            size_t at;
            assert_in_range(json_array_size(values), 1, strcmp(o[i].type, "choice") ? 12 : STRATEGY_GRID_MAX);
            json_array_foreach(values, at, v) {
                const char *range = o[i].range, *dots = strstr(range, "..");
                if (json_is_string(v))
                    found = found || !strcmp(json_string_value(v), o[i].text_default);
                else if (json_is_boolean(v))
                    found = found || json_is_true(v) == !strcmp(o[i].text_default, "true");
                else {
                    double x = json_number_value(v);
                    found = found || x == strtod(o[i].text_default, NULL);
                    assert_true(!dots || dots == range || x >= strtod(range, NULL));
                    assert_true(!dots || !dots[2] || x <= strtod(dots + 2, NULL));
                }
            }
            assert_true(found);
            json_decref(values);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grids), cmocka_unit_test(given), cmocka_unit_test(embedded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
