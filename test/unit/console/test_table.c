/* test_table.c: alignment, widths, cutting, fitting a terminal, CSV. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
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
    table_print(t, 0, &b);
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
    table_print(t, 0, &b);
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
    table_print(t, 0, &b);
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
    table_print(t, 0, &b);
    assert_string_equal(b.s, "r         n\n01234...  1\n");
    sb_free(&b);
    table_csv(t, &b);           /* CSV is never cut */
    assert_string_equal(b.s, "r,n\n0123456789,1\n");
    sb_free(&b);
    table_free(t);
}

/* What is printed of three trials on a terminal of that width. */
static char *trials(int width, const char *const (*rows)[5], int n, bool bars)
{
    struct table *t = table_new();
    table_column(t, "rank", TABLE_RIGHT, 0);
    table_column(t, "kernel", TABLE_LEFT, 0);
    table_column(t, "time ms", TABLE_RIGHT, 0);
    if (bars) {
        table_column(t, "", TABLE_LEFT, 0);
        table_spare(t);
    }
    table_column(t, "configuration", TABLE_LEFT, 0);
    table_pairs(t);
    table_column(t, "reason", TABLE_LEFT, 0);
    table_optional(t);
    for (int r = 0; r < n; r++)
        for (int c = 0; c < 5; c++) {
            if (c == 3 && bars)
                table_cell(t, "##########");
            table_cell(t, rows[r][c]);
        }
    struct strbuf b = {0};
    table_print(t, width, &b);
    table_free(t);
    return sb_take(&b);
}

#define PRINTS(width, rows, bars, text)                                                                                \
    do {                                                                                                               \
        char *printed = trials(width, rows, sizeof(rows) / sizeof *(rows), bars);                                      \
        assert_string_equal(printed, text);                                                                            \
        mem_free(printed);                                                                                             \
    } while (0)

static const char *const three[][5] = {{"1", "simt", "1.25", "A=1 BLOCK=128 C=x", ""},
                                       {"2", "simt", "1.5", "A=1 BLOCK=64 C=x", ""},
                                       {"base", "simt", "", "(wrong)", ""}};

static void what_fits_is_as_it_was(void **state)
{
    static const char whole[] = "rank  kernel  time ms  configuration\n"
                                "   1  simt       1.25  A=1 BLOCK=128 C=x\n"
                                "   2  simt        1.5  A=1 BLOCK=64 C=x\n"
                                "base  simt          -  (wrong)\n";
    PRINTS(0, three, false, whole);
    PRINTS(40, three, false, whole);
    PRINTS(51, three, true, whole);  /* a bar is left out first */
    PRINTS(52, three, true,
           "rank  kernel  time ms              configuration\n"
           "   1  simt       1.25  ##########  A=1 BLOCK=128 C=x\n"
           "   2  simt        1.5  ##########  A=1 BLOCK=64 C=x\n"
           "base  simt          -  ##########  (wrong)\n");
}

static void what_all_share_is_told_once(void **state)
{
    static const char *const same[][5] = {{"1", "a", "1", "A=1 B=2", ""}, {"2", "b", "2", "A=1 B=2", ""}};
    PRINTS(39, three, false,
           "in all rows: kernel simt\n"
           "\n"
           "rank  time ms  configuration\n"
           "   1     1.25  A=1 BLOCK=128 C=x\n"
           "   2      1.5  A=1 BLOCK=64 C=x\n"
           "base        -  (wrong)\n");
    PRINTS(30, three, false,
           "in all rows: kernel simt\n"
           "in every configuration: A=1\n"
           "  C=x\n"
           "\n"
           "rank  time ms  configuration\n"
           "   1     1.25  BLOCK=128\n"
           "   2      1.5  BLOCK=64\n"
           "base        -  (wrong)\n");
    PRINTS(34, same, false, /* nothing would be left */
           "rank  kernel  time ms\n"
           "      configuration\n"
           "   1  a             1\n"
           "      A=1 B=2\n"
           "   2  b             2\n"
           "      A=1 B=2\n");
}

static void the_last_column_goes_on(void **state)
{
    static const char *const rows[][5] = {{"1", "simt", "1.25", "AB=1 CD=22 EF=333 GH=4444 IJ=5", ""},
                                          {"2", "mma", "1.5", "KL=6", ""}};
    PRINTS(47, rows, false, /* under itself, where that takes no more lines */
           "rank  kernel  time ms  configuration\n"
           "   1  simt       1.25  AB=1 CD=22 EF=333\n"
           "                       GH=4444 IJ=5\n"
           "   2  mma         1.5  KL=6\n");
    PRINTS(40, rows, false,
           "rank  kernel  time ms\n"
           "      configuration\n"
           "   1  simt       1.25\n"
           "      AB=1 CD=22 EF=333 GH=4444 IJ=5\n"
           "   2  mma         1.5\n"
           "      KL=6\n");
    PRINTS(20, rows, false, /* never inside a pair */
           "rank  time ms\n"
           "      kernel\n"
           "      configuration\n"
           "   1     1.25\n"
           "      simt\n"
           "      AB=1 CD=22\n"
           "      EF=333 GH=4444\n"
           "      IJ=5\n"
           "   2      1.5\n"
           "      mma\n"
           "      KL=6\n");
}

static void texts_go_under_the_row(void **state)
{
    static const char *const rows[][5] = {
        {"1", "simt", "", "AB=1 CD=22 EF=333 GH=4444 IJ=5", "it took longer than it may, so it was ended"},
        {"2", "mma", "1.5", "KL=6", ""}};
    PRINTS(40, rows, false,
           "rank  kernel  time ms\n"
           "      configuration\n"
           "      reason\n"
           "   1  simt          -\n"
           "      AB=1 CD=22 EF=333 GH=4444 IJ=5\n"
           "      it took longer than it may, so it\n"
           "      was ended\n"
           "   2  mma         1.5\n"
           "      KL=6\n");
}

/* Where there is no text to move, the last numbers stand under the others; a name's own width is not the indent. */
static void numbers_go_under_the_row(void **state)
{
    struct table *t = table_new();
    struct strbuf b = {0};
    table_column(t, "strategy", TABLE_LEFT, 0);
    for (int i = 0; i < 4; i++)
        table_column(t, "evaluations", TABLE_RIGHT, 0);
    for (int r = 0; r < 2; r++) {
        table_cell(t, r ? "basin_hopping" : "random");
        for (int i = 0; i < 4; i++)
            table_cellf(t, "%d", r + i);
    }
    table_print(t, 42, &b);
    assert_string_equal(b.s, "strategy       evaluations  evaluations\n"
                             "    evaluations  evaluations\n"
                             "random                   0            1\n"
                             "              2            3\n"
                             "basin_hopping            1            2\n"
                             "              3            4\n");
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
        cmocka_unit_test(escaping), cmocka_unit_test(what_fits_is_as_it_was),
        cmocka_unit_test(what_all_share_is_told_once), cmocka_unit_test(the_last_column_goes_on),
        cmocka_unit_test(texts_go_under_the_row), cmocka_unit_test(numbers_go_under_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
