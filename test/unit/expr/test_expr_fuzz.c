/* test_expr_fuzz.c: random texts through the fuzz target, the same ones each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "test/fuzz/fuzz_expr.c"

static void feed(const char *text, size_t len)
{
    (void)LLVMFuzzerTestOneInput((const uint8_t *)text, len);
}

static void random_bytes(void **state)
{
    struct rng r;
    char text[64];
    rng_seed(&r, 1);
    for (int i = 0; i < 20000; i++) {
        size_t len = rng_below(&r, sizeof text);
        for (size_t j = 0; j < len; j++)
            text[j] = (char)rng_next(&r);
        feed(text, len);
    }
}

/* Most of these get past the parser's first tokens, many past binding. */
static void random_tokens(void **state)
{
    static const char *const tokens[] = {
        "a", "b", "N", "x", "y", "t", "w", "T[", "T[a, b]", "0", "1", "-", "2.5", "1e-4", "0x10",
        "9223372036854775807",
        "'word'", "\"q\"", "true", "false", "+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", "and", "or",
        "not", "(",
        ")", "]", ",", "min(", "max(", "select(", "clamp(", "floor(", "log2(", "is_pow2(", "ceil_div(", "exp(",
        "abs(",
        "sigmoid(", "pow(", "=", "&&", "?", "zz", "#", "\n", ".5", "1..", "'",
    };
    struct rng r;
    rng_seed(&r, 2);
    for (int i = 0; i < 30000; i++) {
        struct strbuf b = {0};
        for (uint64_t n = rng_below(&r, 16); n > 0; n--)
            sb_addf(&b, "%s ", tokens[rng_below(&r, sizeof tokens / sizeof *tokens)]);
        feed(sb_str(&b), b.len);
        sb_free(&b);
    }
}

/* Small damage to expressions that are right. */
static void mutations(void **state)
{
    static const char *const seeds[] = {
        "select(a > 0 and t, min(a, b, 3), clamp(x, -1, y)) / (T[a, b + 1] - 0.5)",
        "STAGES * (BM + BN) * BK * 4 <= max_shared_per_block", "a // b % 3 == ceil_div(a * 2, 4) or w == 'word'",
        "sigmoid(x) * x * erf(y) + pow(x, 2) - log1p(rsqrt(x))", "not (log2(8) != floor(x)) or is_pow2(a) and not t",
    };
    struct rng r;
    rng_seed(&r, 3);
    for (int i = 0; i < 30000; i++) {
        char text[128];
        const char *seed = seeds[rng_below(&r, sizeof seeds / sizeof *seeds)];
        size_t len = strlen(seed);
        memcpy(text, seed, len);
        for (uint64_t n = rng_below(&r, 3); n > 0 && len > 1; n--) {
            size_t at = rng_below(&r, len - 1);
            if (rng_below(&r, 2))
                text[at] = seed[rng_below(&r, strlen(seed))];
            else
                memmove(text + at, text + at + 1, --len - at);
        }
        feed(text, len);
    }
}

/* Long and deep texts: a refusal, never an overflow of the stack. */
static void extremes(void **state)
{
    static const char *const pieces[] = {
        "(", "((", "-", "not ", "min(1,", "T[", "1+", "1 - (", "a and ", "t or (", "x*", "select(t,1,", "a < ", "-(",
        "'", "1", "a", "1,", "\xC3\xA9", "exp(",
    };
    static const int counts[] = {1, 150, 199, 200, 201, 900, 1001, 10000, 30000, 70000};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
            struct strbuf b = {0};
            for (int k = 0; k < counts[j]; k++)
                sb_add(&b, pieces[i]);
            feed(sb_str(&b), b.len);
            sb_add(&b, "1");
            for (int k = 0; k < counts[j] && strchr(pieces[i], '('); k++)
                sb_add(&b, ")");
            feed(sb_str(&b), b.len);
            sb_free(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bytes), cmocka_unit_test(random_tokens), cmocka_unit_test(mutations),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
