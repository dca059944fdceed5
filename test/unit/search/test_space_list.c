/* test_space_list.c: a space made of a list has exactly the list's members, and answers as any space does. */
#include "fixture.h"

static const char *const KERNEL[] = {"params = { { 'a', { 4, 1, 2 } }, { 'b', { 'x', 'y' } }, { 'c', { 1, 2, 3 } } }, "
                                     "constraints = { 'a > 100' }"};
static const config_choice LIST[] = {0, 0, 1, 0, 1, 0, 0, 1, 2, 2, 0, 1, 2, 1, 2};
enum { MEMBERS = 5 };

static struct space *listed(const struct problem *p, const config_choice *choices, uint64_t n)
{
    struct space *s = NULL;
    struct target t = fixture_target();
    if (space_of_list(p, &p->kernels[0], &t, choices, n, &s, &fixture_err))
        fail_msg("%s", fixture_err.text);
    return s;
}

static void members(void **state)
{
    struct problem *p = fixture_problem(KERNEL, 1);
    struct space *s = listed(p, LIST, MEMBERS);
    bool drawn[MEMBERS] = {false};
    struct rng r;
    config_choice c[3];
    assert_int_equal(space_size(s), MEMBERS);
    assert_true(space_cartesian(s) == 18);
    for (uint64_t i = 0; i < MEMBERS; i++) {
        space_at(s, i, c);
        assert_memory_equal(c, LIST + 3 * i, sizeof c);
        assert_int_equal(space_index(s, c), (int64_t)i);
    }
    rng_seed(&r, 1);
    for (int i = 0; i < 200; i++)
        drawn[space_random(s, &r)] = true;
    for (int i = 0; i < MEMBERS; i++)
        assert_true(drawn[i]);
    struct strbuf why = {0};
    const config_choice other[] = {1, 0, 1};
    assert_int_equal(space_index(s, other), -1);
    assert_false(space_explain(s, other, &why));
    assert_true(why.len > 0);
    sb_free(&why);
    space_close(s);
    problem_free(p);
}

/* As many neighbours as comparing all pairs gives. */
static void neighbours(void **state)
{
    struct problem *p = fixture_problem(KERNEL, 1);
    struct space *s = listed(p, LIST, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        uint64_t *list;
        int n = space_neighbours(s, LIST + 3 * i, NEIGHBOURS_HAMMING, &list), wanted = 0;
        for (int j = 0; j < MEMBERS; j++) {
            int differ = 0;
            for (int k = 0; k < 3; k++)
                differ += LIST[3 * i + k] != LIST[3 * j + k];
            wanted += differ == 1;
        }
        assert_int_equal(n, wanted);
        mem_free(list);
    }
    space_close(s);
    problem_free(p);
}

static void refused(void **state)
{
    static const config_choice twice[] = {0, 0, 1, 0, 0, 1}, backwards[] = {0, 1, 0, 0, 0, 1}, beyond[] = {0, 0, 3};
    struct problem *p = fixture_problem(KERNEL, 1);
    struct target t = fixture_target();
    struct space *s = NULL;
    struct err e;
    assert_int_equal(space_of_list(p, &p->kernels[0], &t, twice, 2, &s, &e), LATHE_SPEC);
    assert_int_equal(space_of_list(p, &p->kernels[0], &t, backwards, 2, &s, &e), LATHE_SPEC);
    assert_int_equal(space_of_list(p, &p->kernels[0], &t, beyond, 1, &s, &e), LATHE_SPEC);
    assert_int_equal(space_of_list(p, &p->kernels[0], &t, beyond, 0, &s, &e), LATHE_NOTHING);
    assert_null(s);
    s = listed(p, LIST, 1);                             /* one point */
    uint64_t *list;
    assert_int_equal(space_neighbours(s, LIST, NEIGHBOURS_HAMMING, &list), 0);
    mem_free(list);
    space_close(s);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
