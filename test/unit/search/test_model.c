/* Models of a space: what is proposed is free; encodings; predictions; spaces that end, fail, or are huge. */
#include "fixture.h"

#include "search/surrogates/encoding.h"
#include "search/surrogates/model.h"
#include <math.h>

static const char *const kernels[] = {
    "params = { { 'A', { 1, 2, 4, 8, 16, 32 } }, { 'B', { 64, 16, 4, 1 } }, { 'C', { 0, 3, 4 } }, "
    "{ 'S', { 'x', 'y', 'z' } }, { 'R', { 'two', 'last' }, when = 'A > 4' }, { 'T', { false, true } }, "
    "{ 'ONE', { 7 } }, { 'D', { 12, 6, 8 } } }, constraints = { 'A * B <= 512' }",
    "params = { { 'V', { 5 } } }",
    "params = { { 'P0', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, { 'P1', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, "
    "{ 'P2', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, { 'P3', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, "
    "{ 'P4', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, { 'P5', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, "
    "{ 'P6', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, { 'P7', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, "
    "{ 'P8', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, { 'P9', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } } }",
};

struct world {
    struct problem *p;
    struct space *space;
    struct model *model;
    struct rng rng;
};

static struct world open_world(int kernel)
{
    struct world w = {.p = fixture_problem(kernels, 3)};
    w.space = fixture_space(w.p, kernel);
    rng_seed(&w.rng, 1);
    return w;
}

static enum model_kind kind;     /* of the models that are tested */

/* The model borrows the world's generator, so it is made when the world has its place. */
static void start(struct world *w, int candidates)
{
    w->model = model_new(kind, w->space, &w->rng, candidates);
}

static void close_world(struct world *w)
{
    model_free(w->model);
    space_close(w->space);
    problem_free(w->p);
}

static const struct acquire ways[] = {
    {.kind = ACQUIRE_EI, .best = 2, .cost = 0.5},
    {.kind = ACQUIRE_LCB, .kappa = 2, .cost = 0.5},
    {.kind = ACQUIRE_MEAN},
};

/* Smooth; the best is the largest choice of every parameter. */
static double bowl(const struct space *s, uint64_t index)
{
    config_choice c[16];
    double sum = 1;
    space_at(s, index, c);
    for (int i = 0; i < space_kernel(s)->nparams; i++)
        sum += (space_kernel(s)->params[i].nvalues - 1 - c[i]) * 0.3;
    return sum;
}

static void test_points(void **state)
{
    struct world w = open_world(0);
    struct encoding *e = encoding_new(w.space);
    float a[12], b[12];
    config_choice c[8] = {0}, d[8] = {0};
    assert_int_equal(encoding_groups(e), 6 + 2); /* ONE has nothing to say, D something more */
    assert_int_equal(encoding_coords(e), 3 + 3 + 2 + 1 + 2);
    for (int i = 0; i < 8; i++)
        assert_int_equal(encoding_of_group(e, i), i == 7 ? ENCODED_DIVISOR : ENCODED_VALUE);
    c[0] = 2, c[1] = 3, c[2] = 1, c[3] = 1, c[5] = 1; /* A=4 B=1 C=3 S=y T=true D=12, R is inactive */
    d[0] = 5, d[1] = 3, d[2] = 2, d[3] = 2, d[4] = 1, d[7] = 2; /* A=32 B=1 C=4 S=z R=last T=false D=8 */
    assert_true(space_index(w.space, c) >= 0 && space_index(w.space, d) >= 0);
    encoding_point(e, (uint64_t)space_index(w.space, c), a);
    encoding_point(e, (uint64_t)space_index(w.space, d), b);
    assert_true(fabsf(a[0] - 0.4f) < 1e-6f && b[0] == 1);  /* evenly spaced logarithms */
    assert_true(a[1] == 0 && b[1] == 0);                   /* the smallest, though written last */
    assert_true(a[2] == 0.5f && b[2] == 1);                /* 0 has no logarithm: the rank */
    float apart = 0;
    for (int i = 3; i < 6; i++)
        apart += (a[i] - b[i]) * (a[i] - b[i]);
    assert_true(fabsf(apart - 1) < 1e-6f);
    assert_true(a[6] == 0.5f && a[7] == 0 && b[6] == 1 && b[7] == 0.5f); /* R */
    assert_true(a[8] == 1 && b[8] == 0);
    assert_true(a[9] == 1 && a[10] == 0.5f && b[9] > 0 && b[9] < 1 && b[10] == 1); /* 4 divides 12, 8 divides 8 */
    encoding_free(e);
    close_world(&w);
}

static void test_products(void **state)
{
    static const char *const text = "params = { { 'BN', { 1, 2, 4 } }, { 'TX', { 1, 8 } }, { 'BM', { 16, 64 } }, { "
                                    "'BK', { 3, 5 }, when = 'BN > 1' },"
                                    "{ 'TY', { 0, 8 } }, { 'block_size_x', { 4, 1 } }, { 'block_size_y', { 1, 4 } }, { "
                                    "'block_size_w', { 1, 4 } } }";
    struct problem *p = fixture_problem(&text, 1);
    struct space *s = fixture_space(p, 0);
    struct encoding *e = encoding_new(s);
    float at[16];
    config_choice c[8] = {1, 0, 1, 0, 0, 0, 0, 0}; /* BN=2 BM=64 block_size_x=4 block_size_y=1 */
    int n = encoding_groups(e);
    assert_int_equal(n, 8 + 2); /* BN * BM, not BK; not TX * TY, which may be 0; block_size_x * block_size_y */
    for (int i = 0; i < n; i++)
        assert_int_equal(encoding_of_group(e, i), i < 8 ? ENCODED_VALUE : ENCODED_PRODUCT);
    encoding_point(e, (uint64_t)space_index(s, c), at);
    n = encoding_coords(e);
    assert_true(fabsf(at[n - 2] - 0.75f) < 1e-6f && fabsf(at[n - 1] - 0.5f) < 1e-6f);
    c[2] = 0, c[6] = 1;
    encoding_point(e, (uint64_t)space_index(s, c), at);
    assert_true(fabsf(at[n - 2] - 0.25f) < 1e-6f && fabsf(at[n - 1] - 1) < 1e-6f);
    encoding_free(e);
    space_close(s);
    problem_free(p);
}

/* Whatever is asked, each configuration comes once, and then none. */
static void check_exhausts(int kernel, int candidates, int fails)
{
    struct world w = open_world(kernel);
    start(&w, candidates);
    uint64_t size = space_size(w.space), index, pending[3];
    int npending = 0;
    double score;
    bool *seen = mem_zalloc(size, sizeof *seen);
    for (uint64_t n = 0; n < size; n++) {
        bool found = n < 3 ? model_spread(w.model, 10, &index) : model_propose(w.model, &ways[n % 3], &index, &score);
        assert_true(found && index < size && !seen[index] && model_is_free(w.model, index));
        seen[index] = true;
        model_assume(w.model, index);
        assert_false(model_is_free(w.model, index));
        pending[npending++] = index;
        for (; npending == 3 || (n + 1 == size && npending); npending--) {
            uint64_t done = pending[npending - 1];
            bool ok = fails == 0 || (fails == 1 && done % 3 != 1);
            model_tell(w.model, done, ok, ok ? bowl(w.space, done) : NAN, 0.1);
            model_tell(w.model, done, true, 1e-9, 0.1); /* heard already */
        }
    }
    assert_int_equal(model_free_count(w.model), 0);
    assert_false(model_spread(w.model, 10, &index));
    for (int i = 0; i < 3; i++)
        assert_false(model_propose(w.model, &ways[i], &index, &score));
    mem_free(seen);
    close_world(&w);
}

static void test_every_configuration_comes_once(void **state)
{
    for (int fails = 0; fails < 3; fails++) {
        check_exhausts(0, 20000, fails);    /* all are candidates; more trials than the process has rows */
        check_exhausts(0, 16, fails);       /* a sample */
        check_exhausts(1, 20000, fails);    /* one configuration */
    }
}

static void test_constant_times_and_odd_answers(void **state)
{
    struct world w = open_world(0);
    start(&w, 1000);
    uint64_t index;
    double score;
    struct prediction p;
    assert_false(model_predict(w.model, 3, &p));
    model_tell(w.model, 0, true, NAN, 0.1);     /* no time: a failure */
    model_tell(w.model, 1, true, -1, -5);
    model_tell(w.model, 2, true, 0, INFINITY);
    assert_false(model_predict(w.model, 3, &p));
    for (int n = 0; n < 60; n++) {
        assert_true(model_propose(w.model, &ways[n % 3], &index, &score));
        model_tell(w.model, index, true, 3, 0.25);
        assert_true(n == 0 || isfinite(score));
    }
    assert_true(model_predict(w.model, index, &p));
    assert_true(fabs(p.value - 3) < 0.01 && p.deviation >= 0 && p.deviation < 0.1);
    close_world(&w);
}

/* After eighty times the others are known well, and the costs too; assumed results change no prediction. */
static void test_predictions(void **state)
{
    struct world w = open_world(0);
    start(&w, 20000);
    struct prediction p, q;
    uint64_t size = space_size(w.space), index;
    double wrong = 0, by_mean = 0;
    for (int i = 0; i < 80; i++) {
        assert_true(model_spread(w.model, 5, &index));
        model_tell(w.model, index, true, bowl(w.space, index), 2 * bowl(w.space, index));
    }
    for (uint64_t i = 0; i < size; i += 3) {
        assert_true(model_predict(w.model, i, &p));
        wrong += fabs(log(p.value / bowl(w.space, i)));
        by_mean += fabs(log(3.5 / bowl(w.space, i)));
        assert_true(fabs(log(p.seconds / p.value / 2)) < 0.4);
    }
    assert_true(wrong < 0.25 * by_mean);
    assert_true(model_spread(w.model, 5, &index));
    uint64_t at = kind == MODEL_GP ? 100 : index; /* of trees that are grown anew only itself is the same */
    assert_true(model_predict(w.model, at, &p));
    model_assume(w.model, index);
    assert_true(model_predict(w.model, at, &q));
    assert_true(fabs(p.value - q.value) < 1e-3 * p.value && q.deviation <= p.deviation * 1.001);
    close_world(&w);
}

/* The fast half (T = true) is wrong, and timed: the model learns both, and finds the best of the other half at once. */
static void test_what_is_fast_but_wrong(void **state)
{
    struct world w = open_world(0);
    start(&w, 20000);
    struct prediction p;
    uint64_t index;
    double score, best = INFINITY;
    int wrong = 0, n;
    config_choice c[8];
    for (n = 0; n < 60 && best > 1.31; n++) { /* 1.3 is the least */
        struct acquire a = ways[n % 3];
        a.best = isfinite(best) ? best : 0;
        assert_true(n < 6 ? model_spread(w.model, 10, &index) : model_propose(w.model, &a, &index, &score));
        space_at(w.space, index, c);
        double value = bowl(w.space, index) * (c[5] ? 0.5 : 1);
        model_assume(w.model, index);
        model_tell(w.model, index, !c[5], value, 0.1);
        wrong += n >= 6 && c[5];
        best = !c[5] && value < best ? value : best;
    }
    assert_true(n < 40 && wrong <= 5);
    for (uint64_t i = 0; i < space_size(w.space); i += 5) {
        space_at(w.space, i, c);
        assert_true(model_predict(w.model, i, &p));
        assert_true(c[5] ? p.chance < 0.5 : p.chance > 0.5);
    }
    close_world(&w);
}

/* 10^10 configurations: the best that forty proposals find is far better than random ones. */
static void test_a_huge_space(void **state)
{
    struct world w = open_world(2);
    start(&w, 2000);
    uint64_t index;
    double score, first = INFINITY, best = INFINITY;
    for (int n = 0; n < 60; n++) {
        struct acquire a = ways[n % 3];
        a.best = best;
        assert_true(n < 20 ? model_spread(w.model, 5, &index) : model_propose(w.model, &a, &index, &score));
        double value = bowl(w.space, index);
        best = value < best ? value : best;
        first = n < 20 ? best : first;
        model_assume(w.model, index);
        model_tell(w.model, index, true, value, 0.1);
    }
    assert_true(best < 1 + 0.4 * (first - 1)); /* 1 is the least there is */
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest points[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_products),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_configuration_comes_once),
        cmocka_unit_test(test_constant_times_and_odd_answers),
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_what_is_fast_but_wrong),
        cmocka_unit_test(test_a_huge_space),
    };
    int failed = cmocka_run_group_tests_name("search/encoding", points, NULL, NULL);
    kind = MODEL_GP;
    failed += cmocka_run_group_tests_name("search/model, gp", tests, NULL, NULL);
    kind = MODEL_FOREST;
    return failed + cmocka_run_group_tests_name("search/model, forest", tests, NULL, NULL);
}
