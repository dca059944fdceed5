/* An ensemble of trees: known functions, constants, one row, categories, failures; rows and candidates that come
 * late. */
#include "search/surrogates/forest.h"

#include "base/mem.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 9, POINTS = SIDE * SIDE * SIDE };

/* Candidate i of a grid of three coordinates. */
static void point(int i, float at[3])
{
    for (int c = 0; c < 3; c++, i /= SIDE)
        at[c] = (float)(i % SIDE) / (SIDE - 1);
}

/* Smooth in the first coordinate, a step in the second, nothing in the third. */
static double known(int i)
{
    float at[3];
    point(i, at);
    return 2 * (at[0] - 0.4) * (at[0] - 0.4) + (at[1] > 0.45f);
}

static struct forest *grid(void)
{
    struct forest *f = forest_new(3);
    float at[3];
    for (int i = 0; i < POINTS; i++) {
        point(i, at);
        assert_int_equal(forest_add_candidate(f, at), i);
    }
    return f;
}

static void set(struct forest *f, int row, double value, double right, double cost)
{
    forest_set_row(f, row, (const double[]){[FOREST_VALUE] = value, [FOREST_RIGHT] = right, [FOREST_COST] = cost});
}

static int add(struct forest *f, int i, double value, double right, double cost)
{
    float at[3];
    point(i, at);
    int row = forest_add_row(f, at);
    set(f, row, value, right, cost);
    return row;
}

static double value_at(const struct forest *f, int i)
{
    struct forest_guess g;
    forest_predict(f, i, &g);
    assert_true(g.variance >= 0 && isfinite(g.variance) && isfinite(g.side[FOREST_VALUE]));
    return g.side[FOREST_VALUE];
}

/* Rows come one by one: through each of them, and near the others. */
static void test_a_known_function(void **state)
{
    struct rng r;
    struct forest *f = grid();
    bool has[POINTS] = {0};
    double wrong = 0, variance[2] = {0}, mean = 0, by_mean = 0;
    int count[2] = {0};
    rng_seed(&r, 1);
    for (int n = 0; n < 150; n++) {
        int i = (int)rng_below(&r, POINTS);
        if (has[i])
            continue;
        has[i] = true;
        add(f, i, known(i), 1, 3 * known(i));
        forest_update(f, &r);
    }
    for (int i = 0; i < POINTS; i++)
        mean += known(i) / POINTS;
    for (int i = 0; i < POINTS; i++) {
        struct forest_guess g;
        forest_predict(f, i, &g);
        variance[has[i]] += g.variance;
        count[has[i]]++;
        if (has[i]) {
            assert_true(fabs(g.side[FOREST_VALUE] - known(i)) < 1e-5);
            assert_true(fabs(g.side[FOREST_COST] - 3 * known(i)) < 1e-5);
        } else {
            wrong += fabs(g.side[FOREST_VALUE] - known(i));
            by_mean += fabs(mean - known(i));
        }
        assert_true(fabs(g.side[FOREST_RIGHT] - 1) < 1e-6);
    }
    assert_true(wrong < 0.2 * by_mean);
    assert_true(variance[true] / count[true] < 0.01 * variance[false] / count[false]);
    forest_free(f);
}

static void test_constants_and_one_row(void **state)
{
    for (int rows = 1; rows <= 30; rows += 29) {
        struct rng r;
        struct forest *f = grid();
        rng_seed(&r, 2);
        for (int n = 0; n < rows; n++) {
            add(f, n * 20, -3.5, 1, 2);
            forest_update(f, &r);
        }
        for (int i = 0; i < POINTS; i++) {
            struct forest_guess g;
            forest_predict(f, i, &g);
            assert_true(fabs(g.side[FOREST_VALUE] + 3.5) < 1e-6 && fabs(g.side[FOREST_COST] - 2) < 1e-6);
            assert_true(g.variance < 1e-10);
        }
        forest_free(f);
    }
}

/* No coordinate, and equal rows: the mean. */
static void test_rows_that_nothing_tells_apart(void **state)
{
    struct rng r;
    struct forest *f = forest_new(0);
    rng_seed(&r, 3);
    forest_add_candidate(f, NULL);
    for (int n = 0; n < 4; n++)
        set(f, forest_add_row(f, NULL), n, n % 2, 1);
    forest_update(f, &r);
    struct forest_guess g;
    forest_predict(f, 0, &g);
    assert_true(fabs(g.side[FOREST_VALUE] - 1.5) < 1e-6 && fabs(g.side[FOREST_RIGHT] - 0.5) < 1e-6);
    forest_free(f);
}

/* A text of four values, a coordinate each: what one says of its rows holds for the others with it. */
static void test_categories(void **state)
{
    static const double means[4] = {1, 5, 2, 9};
    struct rng r;
    struct forest *f = forest_new(5);
    rng_seed(&r, 4);
    for (int i = 0; i < 40; i++) {
        float at[5] = {[4] = (float)(i / 4) / 9};
        at[i % 4] = 0.70710678f;
        forest_add_candidate(f, at);
        if (i / 4 % 2 == 0)
            set(f, forest_add_row(f, at), means[i % 4], 1, 0);
    }
    forest_update(f, &r);
    for (int i = 0; i < 40; i++)
        assert_true(fabs(value_at(f, i) - means[i % 4]) < 0.2);
    forest_free(f);
}

/* The value says nothing of what is right; the rows do. */
static void test_failures(void **state)
{
    struct rng r;
    struct forest *f = grid();
    rng_seed(&r, 5);
    float at[3];
    for (int n = 0; n < 120; n++) {
        int i = (int)rng_below(&r, POINTS);
        point(i, at);
        add(f, i, 1, at[2] < 0.5f, 0);
    }
    forest_update(f, &r);
    for (int i = 0; i < POINTS; i++) {
        struct forest_guess g;
        point(i, at);
        forest_predict(f, i, &g);
        assert_true(g.side[FOREST_RIGHT] >= 0 && g.side[FOREST_RIGHT] <= 1 + 1e-9);
        if (fabsf(at[2] - 0.45f) > 0.15f)
            assert_true(at[2] < 0.5f ? g.side[FOREST_RIGHT] > 0.6 : g.side[FOREST_RIGHT] < 0.4);
    }
    forest_free(f);
}

/* Trees are changed row by row and sums with them: candidates that come at the end, which are led through the trees,
 * are predicted like the same ones that were there from the start. */
static void test_late_candidates_and_rows_set_again(void **state)
{
    struct rng r;
    struct forest *f = grid();
    float at[3];
    rng_seed(&r, 6);
    for (int n = 0; n < 200; n++) {
        int i = (n * 37) % POINTS, row = add(f, i, 100, 0, 1);
        if (n % 3 == 0)
            forest_update(f, &r);
        set(f, row, known(i), 1, 2);
        forest_update(f, &r);
        assert_true(fabs(value_at(f, i) - known(i)) < 1e-4);
    }
    assert_int_equal(forest_rows(f), 200);
    for (int i = 0; i < POINTS; i++) {
        point(i, at);
        forest_add_candidate(f, at);
    }
    forest_update(f, &r);
    for (int i = 0; i < POINTS; i++) {
        struct forest_guess a, b;
        forest_predict(f, i, &a);
        forest_predict(f, POINTS + i, &b);
        for (int s = 0; s < FOREST_SIDES; s++)
            assert_true(fabs(a.side[s] - b.side[s]) < 1e-5);
        assert_true(fabs(a.variance - b.variance) < 1e-4);
    }
    forest_forget_candidates(f);
    point(5, at);
    assert_int_equal(forest_add_candidate(f, at), 0);
    forest_update(f, &r);
    assert_true(fabs(value_at(f, 0) - known(5)) < 0.5);
    forest_free(f);
}

static void test_the_seed_decides(void **state)
{
    struct forest *f[3] = {grid(), grid(), grid()};
    bool differs = false;
    for (int k = 0; k < 3; k++) {
        struct rng r;
        rng_seed(&r, k == 2 ? 8 : 7);
        for (int n = 0; n < 60; n++) {
            add(f[k], (n * 101) % POINTS, known((n * 101) % POINTS), 1, 1);
            forest_update(f[k], &r);
        }
    }
    for (int i = 0; i < POINTS; i++) {
        assert_true(value_at(f[0], i) == value_at(f[1], i));
        differs = differs || value_at(f[0], i) != value_at(f[2], i);
    }
    assert_true(differs);
    for (int k = 0; k < 3; k++)
        forest_free(f[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_known_function),
        cmocka_unit_test(test_constants_and_one_row),
        cmocka_unit_test(test_rows_that_nothing_tells_apart),
        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_late_candidates_and_rows_set_again),
        cmocka_unit_test(test_the_seed_decides),
    };
    return cmocka_run_group_tests_name("search/forest", tests, NULL, NULL);
}
