/* test_importance.c: functional analysis of variance on functions whose shares are known by arithmetic. */
#include "base/mem.h"
#include "base/rng.h"
#include "report/importance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 1200, PARAMETERS = 5 };
static const int levels[PARAMETERS] = {4, 4, 2, 2, 3};

typedef double (*known)(const uint8_t *level, struct rng *r);

/* Rows at random levels, each as likely. */
static struct importance estimate(known f, int rows, uint64_t seed)
{
    struct importance out;
    struct rng r;
    uint8_t *level = mem_alloc((size_t)rows * PARAMETERS);
    double *value = mem_zalloc((size_t)rows, sizeof *value);
    rng_seed(&r, seed);
    for (int i = 0; i < rows; i++) {
        for (int p = 0; p < PARAMETERS; p++)
            level[i * PARAMETERS + p] = (uint8_t)rng_below(&r, (uint64_t)levels[p]);
        value[i] = f(level + i * PARAMETERS, &r);
    }
    struct importance_data d = {
        .rows = rows, .parameters = PARAMETERS, .levels = levels, .level = level, .value = value};
    assert_true(importance_of(&d, 7, &out));
    mem_free(level);
    mem_free(value);
    return out;
}

static void near(double got, double wanted, double within)
{
    if (!(fabs(got - wanted) <= within))
        fail_msg("got %g, wanted %g within %g", got, wanted, within);
}

/* Variances of 2 a and of b, both uniform on 0 .. 3, are as 4 to 1. */
static double additive(const uint8_t *l, struct rng *r) { return 2.0 * l[0] + l[1]; }

static void test_additive(void **state)
{
    struct importance m = estimate(additive, ROWS, 1);
    near(m.alone[0], 0.8, 0.03);
    near(m.alone[1], 0.2, 0.03);
    for (int p = 2; p < PARAMETERS; p++)
        near(m.alone[p], 0, 0.005);
    for (int i = 0; i < PARAMETERS * PARAMETERS; i++)
        near(m.pair[i], 0, 0.03);
    assert_true(m.fit > 0.97 && m.fit <= 1);
    importance_free(&m);
}

/* The order of levels is of no matter: 0 and 2 are fast, 1 and 3 slow. */
static double unordered(const uint8_t *l, struct rng *r) { return l[0] % 2; }

static void test_unordered(void **state)
{
    struct importance m = estimate(unordered, ROWS, 2);
    near(m.alone[0], 1, 0.01);
    importance_free(&m);
}

/* Neither says anything alone, both say everything. */
static double exclusive(const uint8_t *l, struct rng *r) { return l[2] ^ l[3]; }

static void test_pair(void **state)
{
    struct importance m = estimate(exclusive, ROWS, 3);
    near(m.alone[2], 0, 0.03);
    near(m.alone[3], 0, 0.03);
    near(m.pair[2 * PARAMETERS + 3], 1, 0.06);
    assert_true(m.pair[2 * PARAMETERS + 3] == m.pair[3 * PARAMETERS + 2]);
    assert_true(m.fit > 0.95);
    importance_free(&m);
}

/* a of 0, 1 times b of 0, 1, 2: the variance 7/12 is 1/4 of a, 1/6 of b, 1/6 of both. */
static double product(const uint8_t *l, struct rng *r) { return l[2] * l[4]; }

static void test_product(void **state)
{
    struct importance m = estimate(product, ROWS, 4);
    near(m.alone[2], 3.0 / 7, 0.05);
    near(m.alone[4], 2.0 / 7, 0.05);
    near(m.pair[2 * PARAMETERS + 4], 2.0 / 7, 0.05);
    importance_free(&m);
}

static double noise(const uint8_t *l, struct rng *r) { return rng_normal(r); }

/* The forest says of noise that it knows nothing. */
static void test_noise(void **state)
{
    struct importance m = estimate(noise, ROWS, 5);
    assert_true(m.fit < 0.1);
    importance_free(&m);
}

/* Half of the variance is noise: the fit tells, the shares are those of the rest. */
static double noisy(const uint8_t *l, struct rng *r) { return 2.0 * l[0] + rng_normal(r) * sqrt(5); }

static void test_noisy(void **state)
{
    struct importance m = estimate(noisy, 3000, 6);
    assert_true(m.fit > 0.3 && m.fit < 0.6);
    for (int p = 1; p < PARAMETERS; p++)
        assert_true(m.alone[0] > 4 * m.alone[p]);
    importance_free(&m);
}

static void test_same_again(void **state)
{
    struct importance a = estimate(noisy, 300, 8), b = estimate(noisy, 300, 8);
    assert_memory_equal(a.alone, b.alone, sizeof(double) * PARAMETERS);
    assert_memory_equal(a.pair, b.pair, sizeof(double) * PARAMETERS * PARAMETERS);
    assert_true(a.fit == b.fit);
    importance_free(&a);
    importance_free(&b);
}

static void test_constant(void **state)
{
    uint8_t level[4] = {0, 1, 0, 1};
    double value[4] = {3, 3, 3, 3};
    int two = 2;
    struct importance_data d = {.rows = 4, .parameters = 1, .levels = &two, .level = level, .value = value};
    struct importance m;
    assert_false(importance_of(&d, 1, &m));
    assert_null(m.alone);
}

/* As many levels as there may be: masks of 64 bits. */
static void test_most_levels(void **state)
{
    enum { N = 640 };
    uint8_t level[N];
    double value[N];
    int most = IMPORTANCE_LEVELS_MAX;
    for (int i = 0; i < N; i++) {
        level[i] = (uint8_t)(i % most);
        value[i] = level[i];
    }
    struct importance_data d = {.rows = N, .parameters = 1, .levels = &most, .level = level, .value = value};
    struct importance m;
    assert_true(importance_of(&d, 1, &m));
    near(m.alone[0], 1, 1e-9);
    importance_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_additive),   cmocka_unit_test(test_unordered),  cmocka_unit_test(test_pair),
        cmocka_unit_test(test_product),    cmocka_unit_test(test_noise),      cmocka_unit_test(test_noisy),
        cmocka_unit_test(test_same_again), cmocka_unit_test(test_constant),   cmocka_unit_test(test_most_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
