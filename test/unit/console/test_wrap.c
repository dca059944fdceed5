/* test_wrap.c: text broken at blanks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "console/wrap.h"

#include <string.h>

static void lines(void **state)
{
    static const struct {
        int width;
        const char *text, *broken;
    } cases[] = {
        {0, "one two three\n", "one two three\n"},
        {13, "one two three\n", "one two three\n"},
        {12, "one two three\n", "one two\n  three\n"},
        {12, "one two three", "one two\n  three"},             /* no end that was none */
        {9, "  one two  three\n\nx\n", "  one two\n    three\n\nx\n"},
        {8, "a  b c   d\n", "a  b c\n  d\n"},                 /* blanks between words are kept */
        {8, "abcdefghijkl mn\n", "abcdefghijkl\n  mn\n"},      /* a word is never broken */
        {8, "A=1 BCDEFGH=23 I=4\n", "A=1\n  BCDEFGH=23\n  I=4\n"},
        {12, "then `lathe show 1` says\n", "then\n  `lathe show 1`\n  says\n"},       /* nor a command */
        {12, "an odd ` alone\n", "an odd `\n  alone\n"},
        {12, "next: lathe show 1 --db x\n", "next: lathe show 1 --db x\n"},
        {12, "it was 12.5 % of\n", "it was\n  12.5 % of\n"},
        {8, "\xc3\xa9\xc3\xa9 \xe6\x97\xa5 ab c\n", "\xc3\xa9\xc3\xa9 \xe6\x97\xa5 ab\n  c\n"},
        {1, "  \n", "  \n"},
        {5, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf b = {0};
        wrap_all(&b, cases[i].text, cases[i].width);
        assert_string_equal(sb_str(&b), cases[i].broken);
        sb_free(&b);
    }
}

static void counting(void **state)
{
    int widest = 0;
    assert_int_equal(wrap_lines("", 10, NULL), 1);
    assert_int_equal(wrap_lines("one two", 7, NULL), 1);
    assert_int_equal(wrap_lines("one three", 7, &widest), 2);
    assert_int_equal(widest, 5);
    assert_int_equal(wrap_bytes("one two three", 8), 7);
    assert_int_equal(wrap_bytes("three", 2), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(counting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
