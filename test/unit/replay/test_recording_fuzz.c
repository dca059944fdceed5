/* test_recording_fuzz.c: changed recordings through the fuzz target, the same ones each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "test/fuzz/fuzz_recording.c"

static const char *const seeds[] = {"test/data/recorded/small/cache.json", "test/data/recorded/small/t4.json",
                                    "test/data/recorded/small/ktt.json", "test/data/recorded/small/table.csv"};
enum { SEEDS = 4 };

static char *seed_text(int i, size_t *len)
{
    char *text = NULL;
    struct err e = {0};
    if (file_read(seeds[i], &text, len, &e))
        fail_msg("%s", e.text);
    return text;
}

static void feed(const char *text, size_t len)
{
    (void)LLVMFuzzerTestOneInput((const uint8_t *)text, len);
}

/* As they are, all of them are read; and cut off at every byte. */
static void cut_off(void **state)
{
    for (int i = 0; i < SEEDS; i++) {
        size_t len;
        struct recording *r = NULL;
        struct err e = {0};
        char *text = seed_text(i, &len);
        assert_int_equal(recording_read_text(text, len, "r", &r, &e), LATHE_OK);
        recording_free(r);
        for (size_t n = 0; n <= len; n++)
            feed(text, n);
        mem_free(text);
    }
}

/* A piece removed, doubled, replaced by one of another place, or by what a reader may trip over. */
static void mutations(void **state)
{
    static const char *const pieces[] = {"NaN",
                                         "-1",
                                         "1e999",
                                         "1e308",
                                         "null",
                                         "[]",
                                         "{}",
                                         "\"",
                                         "\\u0000",
                                         "}",
                                         "]",
                                         ",",
                                         "true",
                                         "\"x\"",
                                         "99999999999999999999",
                                         "0",
                                         "\"metadata\": {}, "};
    struct rng r;
    rng_seed(&r, 1);
    for (int i = 0; i < 20000; i++) {
        size_t len;
        char *text = seed_text((int)rng_below(&r, SEEDS), &len);
        struct strbuf b = {0};
        size_t at = rng_below(&r, len), n = rng_below(&r, 40), from = rng_below(&r, len), m = rng_below(&r, 60);
        n = at + n > len ? len - at : n;
        m = from + m > len ? len - from : m;
        uint64_t kind = rng_below(&r, 4);
        sb_addn(&b, text, at);
        if (kind == 1)
            sb_addn(&b, text + at, n);
        if (kind == 2)
            sb_addn(&b, text + from, m);
        if (kind == 3)
            sb_add(&b, pieces[rng_below(&r, sizeof pieces / sizeof *pieces)]);
        size_t on = kind == 1 ? at : at + n;
        sb_addn(&b, text + on, len - on);
        feed(sb_str(&b), b.len);
        sb_free(&b);
        mem_free(text);
    }
}

/* Values swapped for others: most of these are still recordings. */
static void values(void **state)
{
    static const char *const others[] = {"NaN",  "-1",  "0", "1e20", "null", "\"time\"",
                                         "true", "[1]", "7", "2.0",  "\"x\""};
    struct rng r;
    rng_seed(&r, 2);
    for (int i = 0; i < 20000; i++) {
        size_t len;
        char *text = seed_text((int)rng_below(&r, SEEDS), &len), *at = text + rng_below(&r, len),
             *colon = strchr(at, ':');
        struct strbuf b = {0};
        if (colon) {
            size_t value = strcspn(colon + 2, ",}]") + 2;
            sb_addn(&b, text, (size_t)(colon - text) + 2);
            sb_add(&b, others[rng_below(&r, sizeof others / sizeof *others)]);
            sb_add(&b, colon + value);
            feed(sb_str(&b), b.len);
        }
        sb_free(&b);
        mem_free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_off),
        cmocka_unit_test(mutations),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
