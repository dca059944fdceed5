/* The strategies that come with lathe, in small spaces: all members, each once; the seed decides; kernels are weighed.
 * On a large space, and what they cost: test_strategies.c. */
#include "strategy_fixture.h"

#include <time.h>

static void check_each_once(const char *name, const char *options, uint64_t seed)
{
    struct trace t;
    struct world w = open_world(2);
    int64_t size = (int64_t)(space_size(w.spaces[0]) + space_size(w.spaces[1]));
    bool *seen = mem_zalloc((size_t)size, sizeof *seen);
    close_world(&w);
    if (run_named(2, name, options, seed, 0, &t) != LATHE_OK)
        fail_msg("%s: %s", name, err.text);
    assert_int_equal(t.n, size);
    for (int i = 0; i < t.n; i++) {
        assert_true(t.places[i] >= 0 && t.places[i] < size);
        assert_false(seen[t.places[i]]);
        seen[t.places[i]] = true;
    }
    mem_free(seen);
    mem_free(t.places);
}

static void test_every_member_is_visited_once(void **state)
{
    check_each_once("exhaustive", NULL, 1);
    check_each_once("exhaustive", "batch=1", 1);
    check_each_once("exhaustive", "batch=5", 1);
    for (uint64_t seed = 1; seed < 6; seed++) {
        check_each_once("random", NULL, seed);
        check_each_once("random", "batch=7", seed);
        check_each_once("local", NULL, seed);
        check_each_once("local", "kind=adjacent", seed);
        check_each_once("local", "first=false batch=1", seed);
        check_each_once("local", "first=false kind=adjacent batch=1000", seed);
        check_each_once("portfolio", NULL, seed);
        check_each_once("portfolio", "batch=7 patience=0", seed);
        for (int i = 0; i < 2; i++) {
            const char *guided = i ? "forest" : "gp";
            check_each_once(guided, NULL, seed);
            check_each_once(guided, "batch=7 starts=1 candidates=16", seed);
            check_each_once(guided, "batch=1000", seed);
        }
    }
}

static void test_exhaustive_goes_in_order(void **state)
{
    struct trace t;
    assert_int_equal(run_named(2, "exhaustive", "batch=10", 1, 0, &t), LATHE_OK);
    for (int i = 0; i < t.n; i++)
        assert_int_equal(t.places[i], i);
    assert_int_equal(t.largest, 10);
    mem_free(t.places);
}

static void test_the_seed_decides(void **state)
{
    static const char *const names[] = {"random", "local", "gp", "forest", "portfolio"};
    for (int i = 0; i < 5; i++) {
        struct trace a, b, c;
        assert_int_equal(run_named(2, names[i], NULL, 5, 60, &a), LATHE_OK);
        assert_int_equal(run_named(2, names[i], NULL, 5, 60, &b), LATHE_OK);
        assert_int_equal(run_named(2, names[i], NULL, 6, 60, &c), LATHE_OK);
        assert_int_equal(a.n, b.n);
        assert_memory_equal(a.places, b.places, (size_t)a.n * sizeof *a.places);
        assert_true(a.n != c.n || memcmp(a.places, c.places, (size_t)a.n * sizeof *a.places) != 0);
        mem_free(a.places);
        mem_free(b.places);
        mem_free(c.places);
    }
}

/* Compilers and devices end in any order; what is proposed follows from the results alone. */
static void test_the_order_of_answers_does_not_matter(void **state)
{
    for (int i = 0; i < strategy_count(); i++) {
        struct trace order[3];
        for (int k = 0; k < 3; k++) {
            answer_order = (enum answer_order[]){LAST_FIRST, FIRST_FIRST, MIXED}[k];
            assert_int_equal(run_named(2, strategy_name_at(i), NULL, 5, 120, &order[k]), LATHE_OK);
            if (order[k].n != order[0].n ||
                memcmp(order[k].places, order[0].places, (size_t)order[0].n * sizeof *order[0].places) != 0)
                fail_msg("%s proposes other things when answers come in another order", strategy_name_at(i));
        }
        for (int k = 0; k < 3; k++)
            mem_free(order[k].places);
    }
    answer_order = LAST_FIRST;
}

/* Wherever it starts, a descent over all neighbours ends at a minimum; so the best is found soon. */
static void test_local_finds_the_minimum(void **state)
{
    struct world w = open_world(1);
    double best = INFINITY;
    struct trace t;
    for (uint64_t i = 0; i < space_size(w.spaces[0]); i++) {
        config_choice c[8];
        space_at(w.spaces[0], i, c);
        struct answer a = judge(&w, &(struct proposal){.choice = c, .index = (int64_t)i});
        best = a.outcome == OUTCOME_ok && a.value < best ? a.value : best;
    }
    assert_int_equal(run_named(1, "local", "batch=4", 3, 70, &t), LATHE_OK);
    double found = INFINITY;
    for (int i = 0; i < t.n; i++) {
        config_choice c[8];
        space_at(w.spaces[0], (uint64_t)t.places[i], c);
        struct answer a = judge(&w, &(struct proposal){.choice = c, .index = t.places[i]});
        found = a.outcome == OUTCOME_ok && a.value < found ? a.value : found;
    }
    assert_true(found == best);
    mem_free(t.places);
    close_world(&w);
}

/* Its memory and start do not depend on the size of the space. */
static void test_random_on_a_huge_space(void **state)
{
    struct strbuf b = {0};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 12; i++)
        sb_addf(&b, "{ 'P%d', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, ", i);
    sb_add(&b, "}");
    char *text = sb_take(&b);
    struct problem *p = fixture_problem((const char *const *)&text, 1);
    struct space *space = fixture_space(p, 0);
    static const char *const names[] = {"random", "local", "gp", "forest"};
    for (int i = 0; i < 4; i++) {
        struct strategy *s;
        const struct proposal *batch;
        int n;
        clock_t start = clock();        /* of the processor, which may be busy otherwise */
        assert_int_equal(strategy_open_limited(names[i], NULL, 0, &space, 1, 1, (size_t)32 << 20, 2, &s, &err),
                         LATHE_OK);
        for (int total = 0; total < (i < 2 ? 2000 : 120); total += n) {
            assert_int_equal(strategy_ask(s, &batch, &n, &err), LATHE_OK);
            assert_true(n > 0);
            for (int j = 0; j < n; j++)
                strategy_tell(
                    s, batch[j].number,
                    &(struct answer){.outcome = OUTCOME_ok, .value = (double)(batch[j].index % 9973), .seconds = 0.1});
        }
        assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 4);
        strategy_close(s);
    }
    space_close(space);
    problem_free(p);
    mem_free(text);
}

/* How many of 80 trials a strategy gives to k2, which takes `times` as long as k1; none, or all, of it is wrong but
 * timed. */
static int trials_of_slower(const char *name, double times, bool wrong)
{
    static const char *const twins[] = {
        "params = { { 'A', { 1, 2, 3, 4, 5, 6, 7, 8 } }, { 'B', { 1, 2, 3, 4, 5, 6, 7, 8 } }, { 'C', { 1, 2, 3, 4 } } "
        "}",
        "params = { { 'D', { 1, 2, 3, 4, 5, 6, 7, 8 } }, { 'E', { 1, 2, 3, 4, 5, 6, 7, 8 } }, { 'F', { 1, 2, 3, 4 } } "
        "}",
    };
    struct problem *p = fixture_problem(twins, 2);
    struct space *spaces[2] = {fixture_space(p, 0), fixture_space(p, 1)};
    struct strategy *s;
    char *options[] = {"batch=4"};
    const struct proposal *batch;
    int n, count = 0;
    assert_int_equal(strategy_open(name, options, 1, spaces, 2, 1, &s, &err), LATHE_OK);
    for (int total = 0; total < 80; total += n) {
        assert_int_equal(strategy_ask(s, &batch, &n, &err), LATHE_OK);
        assert_in_range(n, 4, 5);
        for (int i = 0; i < n; i++) {
            const config_choice *c = batch[i].choice;
            double value = 5 + abs(c[0] - 5) + abs(c[1] - 2) + c[2];
            struct answer a = {.outcome = OUTCOME_ok, .value = value, .measured = value, .seconds = 1};
            if (batch[i].space == 1) {
                a.value = a.measured = times * value;
                a.outcome = wrong ? OUTCOME_inaccurate : OUTCOME_ok;
                count++;
            }
            strategy_tell(s, batch[i].number, &a);
        }
    }
    strategy_close(s);
    space_close(spaces[0]);
    space_close(spaces[1]);
    problem_free(p);
    return count;
}

static void test_models_weigh_kernels(void **state)
{
    static const char *const names[] = {"gp", "portfolio"};
    for (int i = 0; i < 2; i++) {
        int same = trials_of_slower(names[i], 1, false), slower = trials_of_slower(names[i], 3, false);
        int wrong = trials_of_slower(names[i], 0.5, true);
        assert_true(same >= 20 && same <= 60);
        assert_true(slower >= 4 && slower <= 25);
        assert_true(wrong >= 4 && wrong <= 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_member_is_visited_once),
        cmocka_unit_test(test_exhaustive_goes_in_order),
        cmocka_unit_test(test_the_seed_decides),
        cmocka_unit_test(test_the_order_of_answers_does_not_matter),
        cmocka_unit_test(test_local_finds_the_minimum),
        cmocka_unit_test(test_random_on_a_huge_space),
        cmocka_unit_test(test_models_weigh_kernels),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
