/* test_spark.c: bars and lines of bars, in UTF-8 and without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "console/spark.h"
#include "console/table.h"

#include <math.h>
#include <stdlib.h>

#define FULL "\xe2\x96\x88"
#define LOWEST "\xe2\x96\x81"
#define HALF "\xe2\x96\x8c"
#define EIGHTH "\xe2\x96\x8f"

static void bar(double share, int width, bool utf8, const char *wanted)
{
    struct strbuf b = {0};
    spark_bar(&b, share, width, ".", utf8);
    assert_string_equal(sb_str(&b), wanted);
    assert_int_equal(text_width(sb_str(&b)), width);
    sb_free(&b);
}

static void bars(void **state)
{
    bar(0.5, 4, true, FULL FULL "..");
    bar(0.625, 4, true, FULL FULL HALF ".");
    bar(0.03, 4, true, EIGHTH "...");
    bar(1, 3, true, FULL FULL FULL);
    bar(7, 3, true, FULL FULL FULL);
    bar(-1, 3, true, "...");
    bar(NAN, 3, true, "...");
    bar(0.625, 4, false, "###.");
    bar(INFINITY, 2, false, "##");
}

static void line(const double *values, int n, bool utf8, const char *wanted)
{
    struct strbuf b = {0};
    sb_add(&b, "");
    spark_line(&b, values, n, utf8);
    assert_string_equal(sb_str(&b), wanted);
    sb_free(&b);
}

static void lines(void **state)
{
    line((double[]){8, NAN, 1}, 3, true, FULL " " LOWEST);
    line((double[]){1, 10, 100}, 3, true, LOWEST "\xe2\x96\x85" FULL);     /* on a scale of logarithms */
    line((double[]){0, 50, 100}, 3, true, LOWEST "\xe2\x96\x85" FULL);
    line((double[]){8, 1}, 2, false, "");
    line((double[]){3, 3}, 2, true, "");
    line((double[]){NAN, NAN}, 2, true, "");
    line(NULL, 0, true, "");
}

static void locales(void **state)
{
    static const struct {
        const char *all, *ctype, *lang;
        bool utf8;
    } cases[] = {{NULL, NULL, NULL, false},         {NULL, NULL, "C.UTF-8", true},
                 {NULL, NULL, "de_DE.utf8", true},  {NULL, NULL, "C", false},
                 {"C", NULL, "de_DE.UTF-8", false}, {"", "", "en_US.UTF-8@euro", true},
                 {NULL, "en_US.UTF-8", "C", true},  {NULL, NULL, "de_DE.ISO-8859-1", false}};
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const values[] = {cases[i].all, cases[i].ctype, cases[i].lang};
        for (int v = 0; v < 3; v++)
            if (values[v])
                setenv(names[v], values[v], 1);
            else
                unsetenv(names[v]);
        assert_int_equal(spark_utf8(), cases[i].utf8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bars), cmocka_unit_test(lines), cmocka_unit_test(locales)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
