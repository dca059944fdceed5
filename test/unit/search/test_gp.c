/* The Gaussian process: its predictions against a dense solution, in whatever order rows and candidates came; the
 * parameters that it learns; the covariance. */
#include "base/mem.h"
#include "base/rng.h"
#include "search/surrogates/gp_impl.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { COORDS = 4, GROUPS = 3, ROWS = 23, CANDIDATES = 600 };
static const int group[COORDS] = {0, 1, 1, 2};
static double weight[GROUPS] = {0.7, 2.5, 0.1};
static const struct gp_hyper hyper = {.weight = weight, .noise = 0.02};

static double exact_kernel(double r2)
{
    double q = sqrt(5 * r2);
    return (1 + q + q * q / 3) * exp(-q);
}

static double exact_covariance(const float *a, const float *b)
{
    double r2 = 0;
    for (int c = 0; c < COORDS; c++)
        r2 += weight[group[c]] * ((double)a[c] - b[c]) * ((double)a[c] - b[c]);
    return exact_kernel(r2);
}

static void test_the_covariance(void **state)
{
    float many[16];
    for (double r2 = 1e-8; r2 < 1e4; r2 *= 1.3) {
        double expected = exact_kernel(r2);
        for (int i = 0; i < 16; i++)
            many[i] = (float)r2;
        gp_kernel_many(many, 16);
        assert_true(fabs(gp_kernel((float)r2) - expected) < (2e-6 + 2e-7 * sqrt(5 * r2)) * expected + 1e-30);
        assert_memory_equal(&many[5], &many[11], sizeof many[0]);
        assert_true(many[3] == gp_kernel((float)r2));
    }
    assert_true(gp_kernel(0) == 1);
    assert_true(gp_kernel(1e30f) >= 0 && gp_kernel(1e30f) < 1e-30f);
}

struct data {
    float rows[ROWS][COORDS], candidates[CANDIDATES][COORDS];
    double side[GP_SIDES][ROWS];
};

static void make_data(struct data *d)
{
    struct rng r;
    rng_seed(&r, 3);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < COORDS; c++)
            d->rows[i][c] = (float)rng_unit(&r);
    for (int i = 0; i < CANDIDATES; i++)
        for (int c = 0; c < COORDS; c++)
            d->candidates[i][c] = (float)rng_unit(&r);
    for (int i = 0; i < ROWS; i++) {
        bool failed = i % 5 == 2;
        d->side[GP_VALUE][i] = failed ? 0 : rng_normal(&r) + 3;
        d->side[GP_FAILED][i] = failed;
        d->side[GP_COST][i] = rng_normal(&r);
        d->side[GP_ONE][i] = 1;
    }
}

/* Solves K x = b by elimination; K is destroyed. */
static void solve(int n, double K[ROWS][ROWS], double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            double f = K[j][i] / K[i][i];
            for (int c = i; c < n; c++)
                K[j][c] -= f * K[i][c];
            b[j] -= f * b[i];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= K[i][j] * b[j];
        b[i] /= K[i][i];
    }
}

static void fill_covariance(const struct data *d, int n, double K[ROWS][ROWS])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            K[i][j] = i == j ? 1 + hyper.noise : exact_covariance(d->rows[i], d->rows[j]);
}

static void check_predictions(const struct gp *g, const struct data *d, int n, const struct gp_target *t)
{
    double K[ROWS][ROWS], alpha[ROWS], beta[ROWS], variance, power = 0;
    for (int i = 0; i < n; i++) {
        alpha[i] = 0;
        for (int s = 0; s < GP_SIDES; s++)
            alpha[i] += t->side[s] * d->side[s][i];
        beta[i] = alpha[i];
    }
    fill_covariance(d, n, K);
    solve(n, K, alpha);
    for (int i = 0; i < n; i++)
        power += beta[i] * alpha[i];
    assert_true(fabs(gp_variance(g, t) - power / (n - 2)) < 1e-4 * power / n);
    for (int c = 0; c < CANDIDATES; c += 7) {
        double k[ROWS], mean = 0, left = 1;
        for (int i = 0; i < n; i++) {
            k[i] = beta[i] = exact_covariance(d->rows[i], d->candidates[c]);
            mean += k[i] * alpha[i];
        }
        fill_covariance(d, n, K);
        solve(n, K, beta);
        for (int i = 0; i < n; i++)
            left -= k[i] * beta[i];
        assert_true(fabs(gp_predict(g, c, t, &variance) - mean) < 2e-4);
        assert_true(fabs(variance - left) < 2e-5);
    }
}

static void test_predictions(void **state)
{
    static struct data d;
    static const struct gp_target targets[] = {
        {{[GP_VALUE] = 1, [GP_FAILED] = 4.5, [GP_ONE] = -2.9}},
        {{[GP_COST] = 1}},
    };
    make_data(&d);
    struct gp *g = gp_new(COORDS, group, GROUPS, ROWS);
    for (int round = 0; round < 3; round++) { /* the second time in what the first left; then with its candidates */
        gp_reset(g, &hyper);
        if (round < 2)
            gp_forget_candidates(g);
        for (int c = gp_candidates(g); c < CANDIDATES / 2; c++)
            assert_int_equal(gp_add_candidate(g, d.candidates[c]), c);
        for (int i = 0; i < ROWS; i++) {
            assert_int_equal(gp_add_row(g, d.rows[i]), i);
            for (int s = 0; s < GP_SIDES; s++)
                gp_set_side(g, i, (enum gp_side)s, round ? d.side[s][i] : 7);
            if (i == 11)
                gp_update(g);
            if (i == 13) /* between two updates */
                for (int c = gp_candidates(g); c < CANDIDATES; c++)
                    gp_add_candidate(g, d.candidates[c]);
        }
        if (round == 0) { /* what was said first is taken back */
            gp_update(g);
            for (int i = ROWS - 1; i >= 0; i--)
                for (int s = 0; s < GP_SIDES; s++)
                    gp_set_side(g, i, (enum gp_side)s, d.side[s][i]);
        }
        gp_update(g);
        for (int t = 0; t < 2; t++)
            check_predictions(g, &d, ROWS, &targets[t]);
    }
    assert_int_equal(gp_rows(g), ROWS);
    assert_int_equal(gp_candidates(g), CANDIDATES);
    gp_free(g);
}

/* A point twice, and a process with no noise to speak of: nothing infinite. */
static void test_equal_rows(void **state)
{
    double none[GROUPS] = {0.5, 0.5, 0.5}, variance;
    float point[COORDS] = {0.5f, 0.5f, 0.5f, 0.5f};
    struct gp *g = gp_new(COORDS, group, GROUPS, 10);
    gp_reset(g, &(struct gp_hyper){.weight = none, .noise = 1e-9});
    gp_add_candidate(g, point);
    for (int i = 0; i < 10; i++)
        gp_set_side(g, gp_add_row(g, point), GP_VALUE, i);
    gp_update(g);
    double mean = gp_predict(g, 0, &(struct gp_target){{[GP_VALUE] = 1}}, &variance);
    assert_true(isfinite(mean) && variance > 0 && variance < 1e-3);
    gp_free(g);
}

static void test_a_process_without_coordinates(void **state)
{
    double variance;
    struct gp *g = gp_new(0, NULL, 0, 2);
    gp_reset(g, &(struct gp_hyper){.noise = 0.01});
    gp_add_candidate(g, NULL);
    gp_set_side(g, gp_add_row(g, NULL), GP_VALUE, 1);
    gp_update(g);
    assert_true(fabs(gp_predict(g, 0, &(struct gp_target){{[GP_VALUE] = 1}}, &variance) - 1 / 1.01) < 1e-5);
    gp_free(g);
}

/* Of three groups one decides, one hardly does, one does not: their weights come out in this order. */
static void test_learning_tells_groups_apart(void **state)
{
    enum { N = 60 };
    static float coords[N][COORDS];
    static double target[N];
    static const double before[GROUPS] = {0.5, 0.5, 0.5};
    static const struct gp_prior prior = {.weight = before, .noise = 0.01, .weight_deviation = 2, .noise_deviation = 2};
    struct rng r;
    rng_seed(&r, 9);
    for (int i = 0; i < N; i++) {
        for (int c = 0; c < COORDS; c++)
            coords[i][c] = (float)rng_unit(&r);
        target[i] = sin(6 * coords[i][3]) + 0.3 * coords[i][1];
    }
    double w[GROUPS] = {0.5, 0.5, 0.5};
    struct gp_hyper h = {.weight = w, .noise = 0.01};
    struct gp_sample s = {N, COORDS, GROUPS, group, coords[0], target};
    for (int i = 0; i < 3; i++)
        gp_fit(&s, &prior, &h);
    assert_true(w[2] > 4 * w[1] && w[1] > w[0]);
    assert_true(h.noise < 0.01);
    for (int i = 0; i < N; i++) { /* each point twice, with noise */
        memcpy(coords[i], coords[i % (N / 2)], sizeof coords[i]);
        target[i] = sin(6 * coords[i][3]) + 0.5 * rng_normal(&r);
    }
    for (int i = 0; i < 3; i++)
        gp_fit(&s, &prior, &h);
    assert_true(h.noise > 0.05);
    for (int i = 0; i < N; i++)
        target[i] = 4;
    gp_fit(&s, &prior, &h);
    for (int d = 0; d < GROUPS; d++)
        assert_true(isfinite(w[d]) && w[d] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_covariance),
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_equal_rows),
        cmocka_unit_test(test_a_process_without_coordinates),
        cmocka_unit_test(test_learning_tells_groups_apart),
    };
    return cmocka_run_group_tests_name("search/gp", tests, NULL, NULL);
}
