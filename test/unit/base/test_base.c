/* test_base.c: err, mem, strbuf, hash, rng, clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/strbuf.h"

#include <math.h>
#include <string.h>

static void err_texts(void **state)
{
    struct err e = {0};
    assert_int_equal(err_set(&e, LATHE_IO, "%s: line %d", "a.lua", 3), LATHE_IO);
    assert_int_equal(e.code, LATHE_IO);
    assert_string_equal(e.text, "a.lua: line 3");
    assert_int_equal(err_prefix(&e, "kernels.%s", "simt"), LATHE_IO);
    assert_string_equal(e.text, "kernels.simt: a.lua: line 3");
    assert_int_equal(err_set(&e, LATHE_SPEC, "(%s)", e.text), LATHE_SPEC);  /* its own text as an argument */
    assert_string_equal(e.text, "(kernels.simt: a.lua: line 3)");
    assert_int_equal(err_set(NULL, LATHE_STORE, "x"), LATHE_STORE);
}

static void err_cut(void **state)
{
    struct err e = {0};
    char lots[5001];
    memset(lots, 'x', 5000);
    lots[5000] = 0;
    err_set(&e, LATHE_IO, "%s", lots);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    assert_string_equal(e.text + sizeof e.text - 4, "...");
    for (int i = 0; i < 5000; i += 2)
        memcpy(lots + i, "\xC3\xA9", 2);            /* two-byte characters, cut at either parity */
    for (int shift = 0; shift < 2; shift++) {
        err_set(&e, LATHE_IO, "%s%s", shift ? "y" : "", lots);
        size_t n = strlen(e.text);
        assert_string_equal(e.text + n - 3, "...");
        assert_int_equal((unsigned char)e.text[n - 4], 0xA9);
    }
    for (int i = 0; i < 50; i++)
        err_prefix(&e, "a prefix");
    assert_true(strlen(e.text) < sizeof e.text);
}

static void status_table(void **state)
{
    assert_string_equal(status_name(LATHE_OK), "OK");
    assert_int_equal(status_exit_code(LATHE_OK), 0);
    assert_int_equal(status_exit_code(LATHE_NOTHING), 1);
    assert_int_equal(status_exit_code(LATHE_USAGE), 2);
    assert_int_equal(status_exit_code(LATHE_SPEC), 2);
    assert_int_equal(status_exit_code(LATHE_INTERRUPTED), 130);
    assert_string_equal(status_text(LATHE_NOMEM), "out of memory");
    assert_int_equal(status_exit_code((status)9999), 70);
    assert_string_equal(status_name((status)9999), "UNKNOWN");
}

static jmp_buf escape;
static size_t failed_bytes;
static void escape_handler(size_t bytes)
{
    failed_bytes = bytes;
    longjmp(escape, 1);
}

static void mem_failures(void **state)
{
    mem_on_failure(escape_handler);
    mem_fail_after(2);
    void *first = mem_alloc(7);
    assert_non_null(first);
    if (setjmp(escape) == 0) {
        mem_alloc(77);
        fail();
    }
    assert_int_equal(failed_bytes, 77);
    void *third = mem_alloc(0);                     /* once only */
    assert_non_null(third);
    mem_free(third);
    mem_fail_after(1);
    if (setjmp(escape) == 0) {
        mem_resize(first, 3, 5);
        fail();
    }
    assert_int_equal(failed_bytes, 15);
    mem_free(first);                                /* a failed resize leaves it alone */
    if (setjmp(escape) == 0) {
        mem_zalloc(SIZE_MAX / 2, 3);
        fail();
    }
    if (setjmp(escape) == 0) {
        mem_resize(NULL, SIZE_MAX / 2, 3);
        fail();
    }
    mem_fail_after(-1);
    mem_on_failure(NULL);
}

static void mem_uses(void **state)
{
    assert_null(mem_strdup(NULL));
    char *s = mem_strdup("abc"), *t = mem_printf("%s-%d", s, 12);
    assert_string_equal(t, "abc-12");
    int *v = NULL, n = 0, cap = 0;
    for (int i = 0; i < 1000; i++) {
        MEM_GROW(v, n, cap);
        v[n++] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v[i], i);
    int *z = mem_zalloc(100, sizeof *z);
    for (int i = 0; i < 100; i++)
        assert_int_equal(z[i], 0);
    mem_free(mem_zalloc(0, 8));
    mem_free(z);
    mem_free(v);
    mem_free(t);
    mem_free(s);
}

static void utf8(void **state)
{
    static const struct {
        const char *text, *clean;
    } cases[] = {{"", ""},
                 {"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
                 {"a\xff" "b", "a\xef\xbf\xbd" "b"},
                 {"\xc3", "\xef\xbf\xbd"},
                 {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\xed\xa0\x80!", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf b = {0};
        utf8_clean(&b, cases[i].text, strlen(cases[i].text));
        assert_string_equal(sb_str(&b), cases[i].clean);
        char *copy = utf8_copy(cases[i].text);
        assert_string_equal(copy, cases[i].clean);
        mem_free(copy);
        sb_free(&b);
    }
}

static void strings(void **state)
{
    struct strbuf b = {0};
    assert_string_equal(sb_str(&b), "");
    char *empty = sb_take(&b);
    assert_string_equal(empty, "");
    mem_free(empty);
    sb_addn(&b, "", 0);
    assert_string_equal(b.s, "");
    for (int i = 0; i < 500; i++)
        sb_addf(&b, "%d,", i);
    assert_int_equal(b.len, strlen(b.s));
    assert_int_equal(b.len, 10 * 2 + 90 * 3 + 400 * 4);
    sb_addn(&b, "a\0b", 3);
    assert_memory_equal(b.s + b.len - 3, "a\0b", 4);
    sb_free(&b);
    assert_null(b.s);
    sb_add(&b, "again");
    char *s = sb_take(&b);
    assert_null(b.s);
    assert_string_equal(s, "again");
    mem_free(s);
}

static void nearest(void **state)
{
    static const char *const names[] = {"max_shared_per_block", "max_shared_per_sm", "BM", "SPLIT_K", NULL, "threads"};
    assert_string_equal(nearest_word("thread", names, 6), "threads");
    assert_string_equal(nearest_word("tHreads", names, 6), "threads");
    assert_string_equal(nearest_word("SLPIT_K", names, 6), "SPLIT_K");
    assert_string_equal(nearest_word("max_shared_mem_block", names, 6), "max_shared_per_block");
    assert_string_equal(nearest_word("BN", names, 6), "BM");
    assert_null(nearest_word("QX", names, 6));      /* two edits, but nothing in common */
    assert_null(nearest_word("frobnicate", names, 6));
    assert_null(nearest_word("", names, 6));
    assert_null(nearest_word("x", NULL, 0));
    /* one letter is too little, but for its case */
    assert_string_equal(nearest_word("m", (const char *const[]){"N", "M"}, 2), "M");
    assert_string_equal(nearest_word("sm_9", (const char *const[]){"sm_89", "sm_90", "sm_90a"}, 3), "sm_90");
    char lots[3000];
    memset(lots, 'q', sizeof lots - 1);
    lots[sizeof lots - 1] = 0;
    assert_null(nearest_word(lots, names, 6));
}

static void hashes(void **state)
{
    char a[HASH_HEX], b[HASH_HEX];
    hash_hex("", 0, a);
    assert_string_equal(a, "99aa06d3014798d86001c324468d497f");     /* XXH3's published value of nothing */
    struct hasher *h = hasher_new();
    hasher_add_str(h, "ab");
    hasher_add(h, "c", 1);
    hasher_end(h, a);
    h = hasher_new();
    hasher_add_str(h, "a");
    hasher_add_str(h, "bc");
    hasher_end(h, b);
    assert_string_not_equal(a, b);
    h = hasher_new();
    hasher_add_str(h, "ab");
    hasher_add_str(h, "c");
    hasher_end(h, b);
    assert_string_equal(a, b);
    hash_hex("\2\0\0\0\0\0\0\0ab\1\0\0\0\0\0\0\0c", 19, b);     /* the framing is part of every stored identity */
    assert_string_equal(a, b);
    h = hasher_new();
    hasher_end(h, b);
    assert_string_equal(b, "99aa06d3014798d86001c324468d497f");
}

static void random_numbers(void **state)
{
    assert_true(splitmix64(0) == 0xE220A8397B1DCDAFu);              /* the published first output for state 0 */
    struct rng r = {{1, 2, 3, 4}};
    assert_true(rng_next(&r) == 11520);                             /* the published sequence from this state */
    assert_true(rng_next(&r) == 0);
    assert_true(rng_next(&r) == 1509978240);
    assert_true(rng_next(&r) == 1215971899390074240);
    rng_seed(&r, 42);
    int counts[6] = {0};
    for (int i = 0; i < 60000; i++) {
        uint64_t x = rng_below(&r, 6);
        assert_true(x < 6);
        counts[x]++;
    }
    for (int i = 0; i < 6; i++)
        assert_true(counts[i] > 9600 && counts[i] < 10400);
    assert_true(rng_below(&r, 1) == 0);
    uint64_t large = (UINT64_C(1) << 63) + 1;
    for (int i = 0; i < 1000; i++)
        assert_true(rng_below(&r, large) < large);
    double sum = 0, square = 0;
    for (int i = 0; i < 100000; i++) {
        double x = rng_unit(&r);
        assert_true(x >= 0 && x < 1);
        sum += x;
    }
    assert_true(fabs(sum / 100000 - 0.5) < 0.01);
    sum = 0;
    double beyond = 0;
    for (int i = 0; i < 100000; i++) {
        double x = rng_normal(&r);
        assert_true(isfinite(x));
        sum += x;
        square += x * x;
        beyond += fabs(x) > 2;
    }
    assert_true(fabs(sum / 100000) < 0.02);
    assert_true(fabs(square / 100000 - 1) < 0.02);
    assert_true(fabs(beyond / 100000 - 0.0455) < 0.004);
}

/* rng_normal has a logarithm of its own; its numbers are those of the textbook formula. */
static void normal_formula(void **state)
{
    struct rng r, q;
    rng_seed(&r, 7);
    q = r;
    for (int i = 0; i < 10000; i++) {
        double u, v, s;
        do {
            u = 2 * rng_unit(&q) - 1;
            v = 2 * rng_unit(&q) - 1;
            s = u * u + v * v;
        } while (s >= 1 || s == 0);
        double wanted = u * sqrt(-2 * log(s) / s), got = rng_normal(&r);
        assert_true(fabs(got - wanted) <= 1e-13 * fabs(wanted));
    }
    assert_memory_equal(&r, &q, sizeof r);
}

static void clocks(void **state)
{
    double start = clock_seconds();
    clock_sleep(0.02);
    double took = clock_seconds() - start;
    assert_true(took >= 0.02 && took < 5);
    clock_sleep(-1);
    clock_sleep(NAN);
    char now[32];
    clock_iso8601(now);
    assert_int_equal(strlen(now), 24);
    static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    for (int i = 0; i < 24; i++)
        assert_true(shape[i] == 'd' ? now[i] >= '0' && now[i] <= '9' : now[i] == shape[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(err_texts), cmocka_unit_test(err_cut), cmocka_unit_test(status_table),
        cmocka_unit_test(mem_failures), cmocka_unit_test(mem_uses), cmocka_unit_test(strings),
        cmocka_unit_test(utf8),
        cmocka_unit_test(nearest), cmocka_unit_test(hashes), cmocka_unit_test(random_numbers),
        cmocka_unit_test(normal_formula), cmocka_unit_test(clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
