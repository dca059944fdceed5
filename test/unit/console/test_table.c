/* test_table.c: alignment, widths, cutting, CSV. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "console/table.h"

#include <string.h>

static void aligned(void **state)
{
    struct table *t = table_new();
    table_column(t, "name", TABLE_LEFT, 0);
    table_column(t, "ms", TABLE_RIGHT, 0);
    table_column(t, "empty", TABLE_LEFT, 0);
    table_optional(t);
    table_column(t, "text", TABLE_LEFT, 0);
    table_cell(t, "a");
    table_cellf(t, "%.1f", 12.25);
    table_cell(t, "");
    table_cell(t, "x");
    table_cell(t, "longer\n");
    table_cell(t, NULL);
    table_cell(t, NULL);
    table_cell(t, "");
    table_cell(t, "b");
    assert_int_equal(table_rows(t), 3);
    struct strbuf b = {0};
    table_print(t, &b);
    assert_string_equal(b.s, "name      ms  text\n"
                             "a       12.2  x\n"
                             "longer     -\n"
                             "b          -\n");
    sb_free(&b);
    table_free(t);
}

/* A question in SQL has lines, and so has the name of a column that has no other. */
static void titles(void **state)
{
    struct table *t = table_new();
    table_column(t, "1 +\n2", TABLE_RIGHT, 0);
    table_column(t, "\033[31mred", TABLE_LEFT, 3);
    table_cell(t, "3");
    table_cell(t, "x");
    struct strbuf b = {0};
    table_print(t, &b);
    assert_string_equal(b.s, "1 + 2   [31mred\n"
                             "    3  x\n");
    sb_free(&b);
    table_csv(t, &b);
    assert_string_equal(b.s, "\"1 +\n2\",\033[31mred\n3,x\n");
    sb_free(&b);
    table_free(t);
}

static void no_rows(void **state)
{
    struct table *t = table_new();
    table_column(t, "a", TABLE_LEFT, 0);
    table_column(t, "b", TABLE_RIGHT, 0);
    table_optional(t);
    struct strbuf b = {0};
    table_print(t, &b);
    assert_string_equal(b.s, "a  b\n");
    sb_free(&b);
    table_csv(t, &b);
    assert_string_equal(b.s, "a,b\n");
    sb_free(&b);
    table_free(t);
}

static void widths(void **state)
{
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("abc"), 3);
    assert_int_equal(text_width("\xc3\xa9t\xc3\xa9"), 3);             /* two-byte letters */
    assert_int_equal(text_width("e\xcc\x81"), 1);                     /* a combining accent */
    assert_int_equal(text_width("\xe6\x97\xa5\xe6\x9c\xac"), 4);      /* wide */
    assert_int_equal(text_width("\xf0\x9f\x98\x80"), 2);              /* beyond 16 bits */
    assert_int_equal(text_width("\xff\xc3"), 2);                      /* no UTF-8: one column a byte */
    assert_int_equal(text_width("\xc0\xaf"), 2);                      /* an overlong form is none either */
    assert_int_equal(text_width("\xed\xa0\x80"), 3);                  /* nor a surrogate */
}

static void cutting(void **state)
{
    static const struct {
        const char *text, *cut;
        int limit;
    } cases[] = {
        {"abcdef", "abcdef", 0},
        {"abcdef", "abcdef", 6},
        {"abcdefg", "abc...", 6},
        {"a\nb\tc\x1b[31m", "a b c [31m", 0},
        {"\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5", "\xe6\x97\xa5...", 5},
        {"\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5", "...", 4},
        {"abcdef", "..", 2},
        {"a\xff", "a?", 0},
        {"a\xc2\x9b" "31m", "a 31m", 0},                              /* an 8-bit control sequence introducer */
        {"a\xe2\x80\xae" "b", "a b", 0},                              /* a change of writing direction */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf b = {0};
        text_cut(&b, cases[i].text, cases[i].limit);
        assert_string_equal(sb_str(&b), cases[i].cut);
        sb_free(&b);
    }
}

static void escaping(void **state)
{
    static const char *const cases[][2] = {
        {"plain \xc3\xa9 \xe6\x97\xa5\ta\nb", "plain \xc3\xa9 \xe6\x97\xa5\ta\nb"},
        {"a\x1b[31m\r\x7f", "a\\x1b[31m\\x0d\\x7f"},
        {"\xff" "a\xc3", "\\xffa\\xc3"},
        {"\xef\xbf\xbd", "\xef\xbf\xbd"},                        /* U+FFFD itself is a character */
        {"a\xc2\x9b" "31m", "a\\xc2\\x9b31m"},
        {"a\xe2\x80\xae" "b\xe2\x81\xa6", "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf b = {0};
        text_escape(&b, cases[i][0]);
        assert_string_equal(sb_str(&b), cases[i][1]);
        sb_free(&b);
    }
}

static void limited_column(void **state)
{
    struct table *t = table_new();
    table_column(t, "r", TABLE_LEFT, 8);
    table_column(t, "n", TABLE_RIGHT, 0);
    table_cell(t, "0123456789");
    table_cell(t, "1");
    struct strbuf b = {0};
    table_print(t, &b);
    assert_string_equal(b.s, "r         n\n01234...  1\n");
    sb_free(&b);
    table_csv(t, &b);           /* CSV is never cut */
    assert_string_equal(b.s, "r,n\n0123456789,1\n");
    sb_free(&b);
    table_free(t);
}

static void csv(void **state)
{
    struct table *t = table_new();
    table_column(t, "a,b", TABLE_LEFT, 0);
    table_column(t, "c", TABLE_RIGHT, 0);
    table_cell(t, "say \"x\"");
    table_cell(t, "two\nlines");
    table_cell(t, " lead");
    table_cell(t, "");
    struct strbuf b = {0};
    table_csv(t, &b);
    assert_string_equal(b.s, "\"a,b\",c\n\"say \"\"x\"\"\",\"two\nlines\"\n\" lead\",\n");
    sb_free(&b);
    table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligned), cmocka_unit_test(titles), cmocka_unit_test(no_rows),
        cmocka_unit_test(widths), cmocka_unit_test(cutting), cmocka_unit_test(limited_column), cmocka_unit_test(csv),
        cmocka_unit_test(escaping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
