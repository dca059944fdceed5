/* Members drawn at random: uniformly from a diagram, and by rejection where a space is not built. */
#include "random_kernel.h"

#include <math.h>

static void test_random_members_are_uniform(void **state)
{
    const char *text = "params = { { 'A', { 1, 2, 3 } }, { 'B', { 1, 2, 3 } } }, constraints = { 'A <= B' }";
    struct problem *p = fixture_problem(&text, 1);
    struct space *s = fixture_space(p, 0);
    struct rng r;
    int counts[6] = {0};
    rng_seed(&r, 7);
    for (int i = 0; i < 6000; i++) {
        uint64_t drawn = space_random(s, &r);
        assert_true(drawn < 6);
        counts[drawn]++;
    }
    for (int i = 0; i < 6; i++)
        assert_true(counts[i] > 850 && counts[i] < 1150);
    space_close(s);
    problem_free(p);
}

/* Members drawn by rejection: all of a small space, none but its members, at about its share of all combinations. */
static void test_members_drawn_by_rejection(void **state)
{
    struct target t = fixture_target();
    int some = 0;
    for (unsigned seed = 500; seed < 520; seed++) {
        draw_state = seed;
        char *text = random_kernel();
        struct problem *p = fixture_problem((const char *const *)&text, 1);
        struct space *whole = NULL, *drawn = NULL;
        struct space_draw d;
        config_choice a[16], b[16];
        if (space_open(p, &p->kernels[0], &t, &whole, &fixture_err) == LATHE_OK) {
            assert_int_equal(space_sample(p, &p->kernels[0], &t, seed, NULL, &drawn, &d, &fixture_err), LATHE_OK);
            assert_int_equal(space_size(drawn), space_size(whole));
            for (uint64_t i = 0; i < space_size(whole); i++) {
                space_at(whole, i, a);
                space_at(drawn, i, b);
                assert_true(config_equal(&p->kernels[0], a, b));
            }
            double share = (double)space_size(whole) / space_cartesian(whole);
            assert_true(d.valid == 65536 && fabs(d.valid / d.tried - share) < 0.02);
            space_close(drawn);
            space_close(whole);
            some++;
        }
        problem_free(p);
        mem_free(text);
    }
    assert_true(some > 10);
    const char *impossible = "params = { { 'A', { 1, 2 } } }, constraints = { 'A * A == 3' }";
    struct problem *p = fixture_problem(&impossible, 1);
    struct space *none = NULL;
    struct space_draw d;
    assert_int_equal(space_sample(p, &p->kernels[0], &t, 1, NULL, &none, &d, &fixture_err), LATHE_SPEC);
    assert_contains(fixture_err.text, "none of 2e+07 combinations drawn at random is valid");
    problem_free(p);
}

/* A constraint that joins everything, and whose parts are all different: 10^9 combinations. */
static struct problem *too_large(void)
{
    struct strbuf b = {0};
    static const double factors[] = {1.13, 1.77, 1.999, 2.31, 2.77, 3.017, 3.7, 4.1, 4.77};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 9; i++)
        sb_addf(&b, "{ 'P%d', { 0.11, 0.37, 0.58, 0.93, 1.7, 2.9, 3.3, 4.1, 5.7, 6.61 } }, ", i);
    sb_add(&b, "}, constraints = { '(0");
    for (int i = 0; i < 9; i++)
        sb_addf(&b, " + P%d * %g", i, factors[i]);
    sb_add(&b, ") % 10 < 2' }");
    char *text = sb_take(&b);
    struct problem *p = fixture_problem((const char *const *)&text, 1);
    mem_free(text);
    return p;
}

static void test_a_space_too_large_is_sampled(void **state)
{
    struct problem *p = too_large();
    struct target t = fixture_target();
    struct space_limits limits = SPACE_LIMITS;
    struct space *s[3];
    struct space_draw d;
    config_choice c[2][9];
    limits.evaluations = 1e6;
    for (int i = 0; i < 3; i++) {
        uint64_t seed = i < 2 ? 7 : 8;
        status st = space_open_sampled_limited(p, &p->kernels[0], &t, &limits, seed, &s[i], &d, &fixture_err);
        assert_int_equal(st, LATHE_OK);
        assert_true(d.valid == 65536 && space_size(s[i]) <= 65536 && space_size(s[i]) > 65000);
        assert_true(fabs(d.valid / d.tried - 0.2) < 0.01);
        assert_contains(d.why, "the space is too large to build: given up after");
        assert_contains(d.why, "% 10 < 2, depends on 9 parameters");
    }
    assert_int_equal(space_size(s[0]), space_size(s[1]));
    int same = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        space_at(s[0], i, c[0]);
        space_at(s[1], i, c[1]);
        assert_true(config_equal(&p->kernels[0], c[0], c[1]));
        space_at(s[2], i, c[1]);
        same += config_equal(&p->kernels[0], c[0], c[1]);
    }
    assert_true(same < 100);
    for (int i = 0; i < 3; i++)
        space_close(s[i]);
    problem_free(p);
}

static bool later(void *ctx)
{
    int *left = ctx;
    return --*left < 0;
}

/* Stopped after some looks: while it is built (1e6 evaluations are 15), and while members are drawn. */
static void test_opening_is_stopped(void **state)
{
    struct problem *p = too_large();
    struct target t = fixture_target();
    int left;
    struct space_watch watch = {later, &left};
    struct space_limits limits = SPACE_LIMITS;
    struct space *s = NULL;
    struct space_draw d;
    limits.watch = &watch;
    limits.evaluations = 1e6;
    for (int looks = 0; looks <= 18; looks += 18) {
        left = looks;
        status st = space_open_sampled_limited(p, &p->kernels[0], &t, &limits, 7, &s, &d, &fixture_err);
        assert_int_equal(st, LATHE_INTERRUPTED);
        assert_true(left == -1 && !s && (looks == 0) == (d.tried == 0));
        assert_string_equal(fixture_err.text, "interrupted while the space of kernel k1 was built");
    }
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_members_are_uniform),
        cmocka_unit_test(test_members_drawn_by_rejection),
        cmocka_unit_test(test_a_space_too_large_is_sampled),
        cmocka_unit_test(test_opening_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
