/* test_page.c: JSON that may stand in a page, packed columns, and a page of hostile data. */
#include "base/mem.h"
#include "report/json_text.h"
#include "report/pack.h"
#include "report/page.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void assert_text(json_t *j, const char *wanted)
{
    struct strbuf b = {0};
    json_text(&b, j);
    assert_string_equal(sb_str(&b), wanted);
    sb_free(&b);
    json_decref(j);
}

static void test_text(void **state)
{
    assert_text(json_pack("{s:i, s:[n,b,b], s:{}, s:[]}", "a", -3, "b", 1, 0, "c", "d"),
                "{\"a\":-3,\"b\":[null,true,false],\"c\":{},\"d\":[]}");
    assert_text(json_string("</script><!-- & \"q\" \\ \n"),
                "\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u0022q\\u0022 \\u005c \\u000a\"");
    assert_text(json_string("\xe2\x80\xa8\xe2\x80\xa9\xe2\x82\xac\xe2\x80\xa6"),
                "\"\\u2028\\u2029\xe2\x82\xac\xe2\x80\xa6\"");
    assert_text(json_stringn("a\0b", 3), "\"a\\u0000b\"");
    assert_text(json_real(0.1), "0.1");
    assert_text(json_real(5.25091218948364), "5.25091218948364");
    assert_text(json_integer(INT64_MAX), "9223372036854775807");
}

/* Every real reads back as itself. */
static void test_reals(void **state)
{
    static const double hard[] = {0.1 + 0.2, 1.0 / 3, DBL_MAX, DBL_MIN, DBL_MIN / 3, -0.0, 1e22, 123456789012345680.0,
                                  5e-324};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        struct strbuf b = {0};
        json_t *j = json_real(hard[i]);
        json_text(&b, j);
        double back = strtod(sb_str(&b), NULL);
        assert_memory_equal(&back, &hard[i], sizeof back);
        sb_free(&b);
        json_decref(j);
    }
}

static json_t *column(int n, double first, double step, int none)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, i == none ? json_null()
                                    : step == floor(step) && first == floor(first)
                                        ? json_integer((json_int_t)(first + i * step))
                                        : json_real(first + i * step));
    return list;
}

static void assert_packed(json_t *list, const char *as, const char *start)
{
    json_t *p = pack_columns(list);
    assert_string_equal(json_string_value(json_object_get(p, "as")), as);
    assert_int_equal(json_integer_value(json_object_get(p, "n")), json_array_size(list));
    const char *data = json_string_value(json_object_get(p, "data"));
    if (strncmp(data, start, strlen(start)) != 0)
        fail_msg("data begins with %.12s, not %s", data, start);
    json_decref(p);
    json_decref(list);
}

static void test_pack(void **state)
{
    assert_packed(column(100, 0, 1, -1), "i1", "AAEC");         /* 0 1 2 */
    assert_packed(column(100, 0, 1, 1), "i1", "AIAC");          /* 0 none 2: none is -128 */
    assert_packed(column(100, -127, 1, -1), "i1", "gYKD");      /* -127 -126 -125 */
    assert_packed(column(100, -128, 1, -1), "i2", "gP+B/4L/");  /* -128 is for none, so 16 bits */
    assert_packed(column(200, 0, 1, -1), "i2", "AAABAAIA");
    assert_packed(column(100, 0, 100000, -1), "i4", "AAAAAKCGAQBA");
    assert_packed(column(101, 0.5, 1.25, -1), "f8", "AAAAAAAA4D8"); /* 0.5 */
    json_t *big = json_array();
    for (int i = 0; i < 100; i++) /* beyond what a double holds */
        json_array_append_new(big, json_integer(INT64_MAX - i));
    json_t *p = pack_columns(big);
    assert_int_equal(json_array_size(p), 100);
    assert_string_equal(json_string_value(json_array_get(p, 1)), "9223372036854775806");
    json_decref(p);
    json_decref(big);
}

/* A script has doubles alone: what none holds is text, wherever it stands. */
static void test_pack_large(void **state)
{
    const json_int_t exact = (json_int_t)1 << 53;
    json_t *seeds = json_pack("{s:I, s:I, s:[I, I], s:{s:I}}", "a", exact, "b", -exact - 1, "c", (json_int_t)INT64_MIN,
                              -exact, "d", "e", exact + 1);
    json_t *p = pack_columns(seeds);
    json_t *wanted = json_pack("{s:I, s:s, s:[s, I], s:{s:s}}", "a", exact, "b", "-9007199254740993", "c",
                               "-9223372036854775808", -exact, "d", "e", "9007199254740993");
    assert_true(json_equal(p, wanted));
    json_decref(wanted);
    json_decref(p);
    json_decref(seeds);
}

static void test_pack_few(void **state)
{
    json_t *same = column(100, 2.5, 0, -1), *p = pack_columns(same);
    assert_string_equal(json_string_value(json_object_get(p, "as")), "all");
    assert_true(json_real_value(json_object_get(p, "data")) == 2.5);
    json_decref(p);
    json_decref(same);
    json_t *few = json_array(), *wanted = json_pack("[f,f]", 0.25, 0.5);
    for (int i = 0; i < 100; i++)
        json_array_append_new(few, i == 2 ? json_null() : json_real(i % 2 ? 0.5 : 0.25));
    p = pack_columns(few);
    assert_string_equal(json_string_value(json_object_get(p, "as")), "i1");
    assert_true(json_equal(json_object_get(p, "of"), wanted));
    assert_memory_equal(json_string_value(json_object_get(p, "data")), "AAGAAQAB", 8); /* 0 1 none 1 0 1 */
    json_decref(wanted);
    json_decref(p);
    json_decref(few);
    json_t *mixed = json_pack("{s:[s,i], s:[i,i]}", "a", "x", 1, "b", 1, 2); /* short, or no numbers: as it is */
    p = pack_columns(mixed);
    assert_true(json_equal(p, mixed));
    json_decref(p);
    json_decref(mixed);
}

static int occurrences(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

/* What is in the data neither ends an element nor begins one, nor is it taken for a part of the template. */
static void test_page(void **state)
{
    struct strbuf plain = {0}, hostile = {0};
    json_t *a = json_pack("{s:[{s:s, s:s}]}", "campaigns", "problem", "linear", "device", "host");
    json_t *b = json_pack("{s:[{s:s, s:s}]}", "campaigns", "problem", "</title><script>alert(1)</script>{{data}}",
                          "device", "</script><img src=x onerror=alert(1)>\"&");
    page_make(a, NULL, &plain);
    page_make(b, "data.json", &hostile);
    const char *const marks[] = {"<script", "</script", "<title", "</title", "<img", "<!--", "onerror=", "{{"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        int extra = strcmp(marks[i], "onerror=") == 0 ? 2 : strcmp(marks[i], "{{") == 0 ? 2 : 0; /* in text, harmless */
        assert_int_equal(occurrences(sb_str(&hostile), marks[i]), occurrences(sb_str(&plain), marks[i]) + extra);
    }
    assert_non_null(strstr(sb_str(&plain), "<title>lathe: linear on host</title>"));
    assert_non_null(strstr(sb_str(&hostile), "data-live=\"data.json\""));
    assert_non_null(strstr(sb_str(&hostile), "&lt;/title&gt;&lt;script&gt;"));
    sb_free(&plain);
    sb_free(&hostile);
    json_decref(a);
    json_decref(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),     cmocka_unit_test(test_reals), cmocka_unit_test(test_pack),
        cmocka_unit_test(test_pack_large),
        cmocka_unit_test(test_pack_few), cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
