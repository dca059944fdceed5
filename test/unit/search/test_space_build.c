/* Building spaces: large ones with structure, what bounds it, empty ones and formulas that fail, explanations. */
#include "fixture.h"

#include "base/clock.h"
#include <stdio.h>

/* Twelve pairs, written all firsts and then all seconds: 10^24 combinations, too many states in that order. */
static void test_groups_far_apart(void **state)
{
    struct strbuf b = {0};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 24; i++)
        sb_addf(&b, "{ '%c%d', { 1, 2, 3, 5, 8, 13, 21, 34, 55, 89 } }, ", i < 12 ? 'A' : 'B', i % 12);
    sb_add(&b, "}, constraints = { ");
    for (int i = 0; i < 12; i++)
        sb_addf(&b, "'A%d * 2 + B%d == 11 or A%d == B%d', ", i, i, i, i);
    sb_add(&b, "}");
    char *text = sb_take(&b);
    struct problem *p = fixture_problem((const char *const *)&text, 1);
    struct space *s = fixture_space(p, 0);
    uint64_t wanted = 1; /* (3, 5), (5, 1) and the ten equal ones */
    for (int i = 0; i < 12; i++)
        wanted *= 12;
    assert_int_equal(space_size(s), wanted);
    struct rng r;
    config_choice c[24];
    rng_seed(&r, 1);
    for (int n = 0; n < 100; n++) {
        uint64_t at = space_random(s, &r);
        space_at(s, at, c);
        assert_int_equal(space_index(s, c), at);
        for (int i = 0; i < 12; i++)
            assert_true(c[i] == c[12 + i] || (c[i] == 2 && c[12 + i] == 3) || (c[i] == 3 && c[12 + i] == 0));
    }
    space_close(s);
    problem_free(p);
    mem_free(text);
}

/* 10^14 combinations in independent groups, interleaved. */
static void test_huge_spaces_with_structure(void **state)
{
    struct strbuf b = {0};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 14; i++)
        sb_addf(&b, "{ 'P%d', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, ", i);
    sb_add(&b, "}, constraints = { 'P0 <= P5', 'P3 + P9 < 12', 'P1 % P2 == 0', 'P12 * P13 <= 20' }");
    char *text = sb_take(&b);
    struct problem *p = fixture_problem((const char *const *)&text, 1);
    double start = clock_seconds();
    struct space *s = fixture_space(p, 0);
    config_choice c[14];
    struct rng r;
    assert_true(clock_seconds() - start < 5);
    /* 55 pairs, 55 pairs, 27 pairs, 46 pairs (counted by hand), and six free parameters */
    assert_true(space_cartesian(s) == 1e14);
    assert_int_equal(space_size(s), 55ull * 55 * 27 * 46 * 1000000);
    rng_seed(&r, 1);
    for (int i = 0; i < 2000; i++) {
        uint64_t at = space_random(s, &r);
        space_at(s, at, c);
        assert_int_equal(space_index(s, c), at);
    }
    assert_true(space_bytes(s) < 20000000);
    space_at(s, space_size(s) - 1, c);
    assert_int_equal(c[0], 9);
    assert_int_equal(c[5], 9);
    space_close(s);
    problem_free(p);
    mem_free(text);
}

static status open_text(const char *text, const struct space_limits *limits, char *message)
{
    struct problem *p = fixture_problem(&text, 1);
    struct target t = fixture_target();
    struct space *s = NULL;
    struct err e = {0};
    status st = space_open_limited(p, &p->kernels[0], &t, limits ? limits : &SPACE_LIMITS, &s, &e);
    strcpy(message, e.text);
    space_close(s);
    problem_free(p);
    return st;
}

static void test_empty_spaces_say_why(void **state)
{
    char m[2000];
    assert_int_equal(open_text("params = { { 'A', { 1, 2, 3 } }, { 'B', { 1, 2 } } }, "
                               "constraints = { { 'A > 2', 'A is large' }, 'B * A < 3' }",
                               NULL, m),
                     LATHE_NOTHING);
    assert_string_equal(m, "kernel k1 has no valid configuration among 6 combinations; refused by\n"
                           "  A > 2 (A is large): 4 combinations (66.7 %)\n"
                           "  B * A < 3: 2 combinations (33.3 %)");
    assert_int_equal(open_text("params = { { 'A', { 1, 2, 3 } } }, constraints = { 'M % 7 == 0' }", NULL, m),
                     LATHE_NOTHING);
    assert_contains(m, "M % 7 == 0: 3 combinations (100 %): M % 7 == 0: 64 % 7 == 0");
    assert_int_equal(
        open_text("params = { { 'A', { 1 } } }, requires = { { 'sm >= 100', 'it needs tcgen05' } }", NULL, m),
        LATHE_NOTHING);
    assert_contains(m, "kernel k1 cannot run on ");
    assert_contains(m, "it requires sm >= 100: 90 >= 100 (it needs tcgen05)");
}

static void test_formulas_that_fail(void **state)
{
    char m[2000];
    assert_int_equal(
        open_text("params = { { 'A', { 2, 1 } }, { 'B', { 0 } } }, constraints = { 'A // B > 0' }", NULL, m),
        LATHE_NOTHING); /* it refuses, as kernel_slots_config and the documents have it */
    assert_contains(m, "A // B > 0: 2 combinations (100 %)");
    assert_int_equal(
        open_text("params = { { 'A', { 2, 1 } }, { 'B', { 1, 0 } } }, constraints = { 'A // B > 0' }", NULL, m),
        LATHE_OK);
    assert_int_equal(
        open_text("params = { { 'A', { 2, 0 } } }, let = { { 'q', '8 // A' } }, constraints = { 'q > 0' }", NULL, m),
        LATHE_SPEC);
    assert_contains(m, "kernel k1: let q cannot be evaluated at A=0: ");
    assert_int_equal(open_text("params = { { 'A', { 2, 0 } }, { 'B', { 1, 2 }, when = '8 // A > 0' } }", NULL, m),
                     LATHE_SPEC);
    assert_contains(m, "the condition of parameter B cannot be evaluated at A=0: ");
    assert_int_equal(
        open_text("params = { { 'A', { 2, 0 } } }, let = { { 'q', '8 // A' } }, constraints = { 'A > 0', 'q > 0' }",
                  NULL, m),
        LATHE_OK); /* the first constraint keeps A = 0 away from q */
}

static void test_building_is_bounded(void **state)
{
    char m[2000];
    struct strbuf b = {0};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 12; i++)
        sb_addf(&b, "{ 'P%d', { 1, 2, 3, 5, 7, 11, 13, 17, 19, 23 } }, ", i);
    sb_add(&b, "}, constraints = { 'P0*P1*P2*P3*P4*P5*P6*P7*P8*P9*P10*P11 == 4' }");
    char *text = sb_take(&b);
    struct space_limits limits = SPACE_LIMITS;
    limits.seconds = 0.005;
    double start = clock_seconds();
    assert_int_equal(open_text(text, &limits, m), LATHE_SPEC);
    assert_true(clock_seconds() - start < 3);
    assert_contains(m, "kernel k1: the space is too large to build: given up after 0.005 s, with ");
    assert_contains(m, "of 1e+12 combinations looked at and ");
    assert_contains(m, "P11 == 4, depends on 12 parameters");
    limits = SPACE_LIMITS;
    limits.evaluations = 1e5;
    assert_int_equal(open_text(text, &limits, m), LATHE_SPEC);
    assert_contains(m, "given up after 1.31e+05 evaluations");
    mem_free(text);
    sb_add(&b, "params = { ");
    for (int i = 0; i < 8; i++)
        sb_addf(&b, "{ 'P%d', { 1, 2, 3, 5, 7, 11, 13, 17, 19, 23 } }, ", i);
    sb_add(&b, "}, constraints = { '(P0 * 101 + P1 * 3001 + P2 * 701 + P3 * 97 + P4 * 17011 + P5 * 5003 + P6 * 70001 + "
               "P7 * 900007) % 99991 < 50000' }");
    text = sb_take(&b);
    limits = SPACE_LIMITS;
    limits.edges = 20000;
    assert_int_equal(open_text(text, &limits, m), LATHE_SPEC);
    assert_contains(m, "MiB of memory");
    assert_contains(m, " valid configurations found so far");
    mem_free(text);
}

static void test_more_than_an_index_can_count(void **state)
{
    char m[2000];
    struct strbuf b = {0};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 20; i++)
        sb_addf(&b, "{ 'P%d', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, ", i);
    sb_add(&b, "}");
    assert_int_equal(open_text(sb_str(&b), NULL, m), LATHE_SPEC);
    assert_contains(m, "kernel k1: more than 2^63 valid configurations (1e+20 combinations)");
    sb_free(&b);
}

static void test_explanations(void **state)
{
    const char *text = "params = { { 'A', { 1, 2, 4 } }, { 'B', { 1, 2, 4 } }, { 'C', { 1, 2 }, when = 'A > 1' } },"
                       "let = { { 'ab', 'A * B' } }, constraints = { { 'ab <= 4', 'a reason' }, 'A != B' }";
    struct problem *p = fixture_problem(&text, 1);
    struct space *s = fixture_space(p, 0);
    struct strbuf why = {0};
    assert_true(space_explain(s, (config_choice[]){0, 1, 0}, &why));
    assert_false(space_explain(s, (config_choice[]){2, 2, 0}, &why));
    assert_contains(sb_str(&why), "ab <= 4: 16 <= 4 (a reason)");
    sb_free(&why);
    assert_false(space_explain(s, (config_choice[]){0, 1, 1}, &why));
    assert_string_equal(sb_str(&why), "C does not apply here and must be left out: A > 1: 1 > 1");
    sb_free(&why);
    space_refusals(s, &why);
    assert_string_equal(sb_str(&why),
                        "  A != B: 6 combinations (33.3 %)\n  ab <= 4 (a reason): 4 combinations (22.2 %)\n");
    sb_free(&why);
    space_close(s);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_far_apart),
        cmocka_unit_test(test_huge_spaces_with_structure),
        cmocka_unit_test(test_empty_spaces_say_why),
        cmocka_unit_test(test_formulas_that_fail),
        cmocka_unit_test(test_building_is_bounded),
        cmocka_unit_test(test_more_than_an_index_can_count),
        cmocka_unit_test(test_explanations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
