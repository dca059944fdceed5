/* test_host_linear_mma.c: what kernels/linear/mma.cu notices by itself, and its fallback: inputs that fp16 cannot hold
 * raise the guard, and then the result is float32's; others don't. */
#define HOST_KERNELS "host_linear_mma.cu"
#include "host_fixture.h"
#include "base/rng.h"
#include <math.h>

enum { M = 20, N = 71, K = 70, WORDS = 96 };   /* WORDS: K in whole tiles */
static float X[M][K], W[N][K], Y[M][N];

static float uniform(struct rng *rng) { return (float)rng_below(rng, 20001) / 10000 - 1; }

/* Ordinary inputs, of magnitudes far from 1. */
static void ordinary(void)
{
    struct rng rng;
    rng_seed(&rng, 3);
    for (int i = 0; i < M * K; i++) X[i / K][i % K] = 3e5f * uniform(&rng);
    for (int i = 0; i < N * K; i++) W[i / K][i % K] = 2e-9f * uniform(&rng);
}

/* Runs the pipeline; Y is the result. Whether the guard was raised before its last step, which always lowers it. */
static bool raised(void)
{
    int m = M, n = N, k = K, x_matrix = 0;
    float scale = 0.5f;
    uint32_t words[2];
    void *none = NULL;
    dev_ptr x = buffer(sizeof X, 0), w = buffer(sizeof W, 0), y = buffer(sizeof Y, 0xffffffff);
    dev_ptr parts = buffer(M * WORDS * 4, 0xffffffff), exponents = buffer(8, 0xffffffff), guard = buffer(8, 0);
    OK(ops->copy_in(fx->dev, x, X, sizeof X, &e));
    OK(ops->copy_in(fx->dev, w, W, sizeof W, &e));
    run("linear_mma_scale", LINE(1, 64), ARGS(&x, &w, &exponents, &guard, &m, &n, &k));
    run("linear_mma_split", LINE((M + 7) / 8, 256), ARGS(&x, &parts, &exponents, &guard, &m, &k, &x_matrix));
    run("linear_mma", (struct shape){{2, 1, 1}, {128, 1, 1}, 3 * 4 * 32 * (32 + 64)},
        ARGS(&parts, &w, &y, &exponents, &guard, &none, &none, &none, &m, &n, &k, &scale));
    OK(ops->copy_out(fx->dev, words, guard, sizeof words, &e));
    run("linear_fallback", LINE(3, 256), ARGS(&x, &w, &y, &guard, &m, &n, &k, &scale));
    take(Y, y, sizeof Y);
    ops->release(fx->dev, x);
    ops->release(fx->dev, w);
    ops->release(fx->dev, parts);
    ops->release(fx->dev, exponents);
    bool yes = words[0] != 0;
    take(words, guard, sizeof words);
    assert_int_equal(words[0], 0);
    assert_int_equal(words[1], 0);
    return yes;
}

/* Y is what double arithmetic gives, to 2^-18 of the sum of magnitudes; NaN and infinity where that has them. */
static void is_right(void)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            double sum = 0, size = 0, got = (double)Y[m][n];
            for (int k = 0; k < K; k++) {
                sum += (double)X[m][k] * (double)W[n][k];
                size += fabs((double)X[m][k] * (double)W[n][k]);
            }
            sum *= 0.5;
            if (isnan(sum) ? !isnan(got) : isinf(sum) ? got != sum : !(fabs(got - sum) <= ldexp(size, -18)))
                fail_msg("Y[%d][%d] is %g, not %g", m, n, got, sum);
        }
}

static void test_ordinary(void **state)
{
    ordinary();
    assert_false(raised());
    is_right();
}

static void test_rows_of_zeros(void **state)
{
    ordinary();
    memset(W[70], 0, sizeof W[70]);
    memset(X[3], 0, sizeof X[3]);
    assert_false(raised());
    is_right();
}

static void small_row(float *row, float factor)
{
    ordinary();
    for (int k = 0; k < K; k++) row[k] *= factor;
    assert_true(raised());
    is_right();
}

static void test_small_rows(void **state)
{
    small_row(W[7], 1e-4f);     /* hi parts there are, lo parts not */
    small_row(W[70], 1e-9f);    /* neither */
    small_row(X[19], 1e-4f);
    small_row(X[3], 1e-9f);
}

/* One small element in a row of zeros: what is left of it is zero, but it was not. */
static void test_one_element(void **state)
{
    ordinary();
    memset(W[65], 0, sizeof W[65]);
    W[65][K - 1] = 1e-30f;
    assert_true(raised());
    is_right();
}

static void test_large(void **state)
{
    ordinary();
    X[2][5] = 1e9f;             /* over 16 times the others: beyond fp16 */
    assert_true(raised());
    is_right();
    ordinary();
    W[69][1] = 1;
    assert_true(raised());
    is_right();
}

static void test_not_finite(void **state)
{
    ordinary();
    X[2][5] = INFINITY;
    W[4][6] = NAN;
    assert_true(raised());
    is_right();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ordinary),    cmocka_unit_test(test_rows_of_zeros),
                                       cmocka_unit_test(test_small_rows),  cmocka_unit_test(test_one_element),
                                       cmocka_unit_test(test_large),       cmocka_unit_test(test_not_finite)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
