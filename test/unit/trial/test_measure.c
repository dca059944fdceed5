/* test_measure.c: when sampling stops, what counts, and which times are refused: on a device whose clock the test
 * sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trial/evaluate.h"
#include <math.h>
#include <string.h>

/* Every launch takes the next of these (the last one for ever). */
static const double *script;
static int script_len, launches, fills;
static double at_mark[DEV_MARKS], now_ms;

static status fake_fill(struct dev *d, dev_ptr p, uint32_t word, uint64_t bytes, struct err *e)
{
    fills++;
    return LATHE_OK;
}

static status fake_launch(struct dev *d, struct dev_function *f, const struct dev_launch *how, void **args,
                          struct err *e)
{
    now_ms += script[launches < script_len ? launches : script_len - 1];
    launches++;
    return LATHE_OK;
}

static status fake_sync(struct dev *d, struct err *e) { return LATHE_OK; }
static void fake_mark(struct dev *d, int slot) { at_mark[slot] = now_ms; }
static double fake_elapsed(struct dev *d, int from, int to) { return at_mark[to] - at_mark[from]; }
static void fake_telemetry(struct dev *d, struct telemetry *out) { out->sm_mhz = 1980; }

static const struct dev_ops fake = {.kind = "fake", .fill = fake_fill, .launch = fake_launch, .sync = fake_sync,
                                    .mark = fake_mark, .elapsed_ms = fake_elapsed, .telemetry = fake_telemetry};

static struct plan_step step = {.kind = STEP_LAUNCH};
static struct plan plan = {.steps = &step, .nsteps = 1};

/* On a pipeline of one launch without arguments. */
static struct result measure(const double *times, int n, const struct measure_options *o)
{
    static struct pipeline_step steps[1];
    struct bench bench = {.ops = &fake};
    struct pipeline p = {.ops = &fake, .plan = &plan, .steps = steps};
    struct result r;
    struct err e = {0};
    result_init(&r);
    r.outcome = OUTCOME_ok;
    script = times;
    script_len = n;
    launches = fills = 0;
    now_ms = 0;
    assert_int_equal(measure_pipeline(&bench, &p, o, &r, &e), LATHE_OK);
    return r;
}

static const struct measure_options TRIAL = {.regime = REGIME_TRIAL,
                                             .min_samples = 5,
                                             .max_samples = 20,
                                             .max_seconds = 5,
                                             .interval = 0.01,
                                             .unstable_above = 0.25,
                                             .incumbent_ms = NAN,
                                             .hopeless = 2};

static void test_a_steady_kernel_stops_early(void **state)
{
    struct result r = measure((double[]){2.0}, 1, &TRIAL);
    assert_int_equal(r.outcome, OUTCOME_ok);
    assert_int_equal(r.samples.count, 5);
    assert_int_equal(fills, 5);                         /* the L2 is flushed before each */
    assert_float_equal(r.time_ms, 2.0, 1e-12);
    assert_float_equal(r.telemetry.sm_mhz, 1980, 0);
    result_free(&r);
}

static void test_a_noisy_kernel_goes_on_to_the_ceiling(void **state)
{
    double times[20];
    for (int i = 0; i < 20; i++) times[i] = 1.0 + 0.1 * (i % 3);
    struct result r = measure(times, 20, &TRIAL);
    assert_int_equal(r.outcome, OUTCOME_ok);
    assert_int_equal(r.samples.count, 20);
    assert_float_equal(r.time_ms, 1.1, 1e-9);
    result_free(&r);
}

static void test_a_wild_kernel_is_unstable(void **state)
{
    double times[20];
    for (int i = 0; i < 20; i++) times[i] = i % 2 ? 1.0 : 9.0;
    struct result r = measure(times, 20, &TRIAL);
    assert_int_equal(r.outcome, OUTCOME_unstable);
    assert_non_null(strstr(r.reason, "interval"));
    result_free(&r);
}

/* lathe doctor --selftest plants it: the first of two may be either, before or after what is ok, at any clock. */
static void test_the_self_tests_kernel_is_unstable(void **state)
{
    struct measure_options o = TRIAL;
    o.max_samples = 40;
    o.interval = 0.005;
    o.hopeless = 1.25;
    o.batch_below_ms = 0.02;
    static const double incumbents[] = {NAN, 0.07, 0.1, 0.5};
    for (int i = 0; i < 8; i++) {
        double times[400];
        o.incumbent_ms = incumbents[i / 2];
        for (int k = 0; k < 400; k++) times[k] = (k + i) % 2 ? 0.6 : 0.05;
        struct result r = measure(times, 400, &o);
        assert_int_equal(r.outcome, OUTCOME_unstable);
        result_free(&r);
    }
}

static void test_what_cannot_win_is_sampled_twice(void **state)
{
    struct measure_options o = TRIAL;
    o.incumbent_ms = 1.0;
    struct result r = measure((double[]){2.1}, 1, &o);
    assert_int_equal(r.samples.count, 2);
    assert_int_equal(r.outcome, OUTCOME_ok);
    result_free(&r);
    r = measure((double[]){1.9}, 1, &o);                /* close enough to be worth knowing */
    assert_int_equal(r.samples.count, 5);
    result_free(&r);
    r = measure((double[]){50.0, 0.9}, 2, &o);          /* one disturbed sample hides nobody */
    assert_true(r.samples.count > 2);
    assert_float_equal(r.time_ms, 0.9, 1e-9);
    result_free(&r);
}

static void test_impossible_times_are_refused(void **state)
{
    const double bad[] = {0.0, -1.0, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct result r = measure(&bad[i], 1, &TRIAL);
        assert_int_equal(r.outcome, OUTCOME_unstable);
        assert_int_equal(r.samples.count, 0);
        assert_true(isnan(r.time_ms));
        result_free(&r);
    }
}

static void test_cold_leaves_out_the_first_launches(void **state)
{
    double times[25];
    for (int i = 0; i < 25; i++) times[i] = i < 5 ? 100.0 : 3.0;
    struct measure_options o = {.regime = REGIME_COLD, .launches = 25, .skip = 5, .incumbent_ms = NAN};
    struct result r = measure(times, 25, &o);
    assert_int_equal(r.samples.count, 20);
    assert_int_equal(r.samples.regime, REGIME_COLD);
    assert_float_equal(r.samples.high, 3.0, 1e-9);
    assert_int_equal(fills, 0);
    result_free(&r);
}

static void test_sustained_keeps_the_end(void **state)
{
    double times[2000];
    for (int i = 0; i < 2000; i++) times[i] = i < 1000 ? 1.0 : 2.0;
    struct measure_options o = {.regime = REGIME_SUSTAINED, .run_seconds = 0.05, .incumbent_ms = NAN};
    struct result r = measure(times, 2000, &o);
    assert_true(launches > 3000);                       /* the fake clock costs nothing: thousands fit into 50 ms */
    assert_float_equal(r.samples.low, 2.0, 1e-9);
    assert_true(r.samples.count <= 4001);
    result_free(&r);
}

/* Everything but the runs, which take no time here, is the method's own: no candidate is killed for it. */
static void test_the_method_s_own_time_is_known(void **state)
{
    const struct measure_options all[] = {
        {.regime = REGIME_COLD, .launches = 5, .idle_seconds = 0.02, .cool_seconds = 0.01, .retakes = 2},
        {.regime = REGIME_SUSTAINED, .run_seconds = 0.06},
        {.regime = REGIME_TRIAL, .min_samples = 3, .max_samples = 5, .max_seconds = 1, .interval = 0.1,
         .cool_seconds = 0.02, .retakes = 3},
    };
    const double own[] = {0.08, 0.06, 2.12};            /* as for every one taken again, and batches after it */
    const double times[] = {1.0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct evaluation v = {.measure = true, .options = all[i]};
        v.options.incumbent_ms = NAN;
        double start = clock_seconds();
        struct result r = measure(times, 1, &v.options);
        double took = clock_seconds() - start;
        result_free(&r);
        assert_float_equal(evaluation_own_seconds(&v), own[i], 1e-9);
        if (all[i].regime != REGIME_TRIAL) assert_true(took >= own[i] / 4 && took < own[i] + 1);
        v.measure = false;
        v.verify = true;
        assert_float_equal(evaluation_own_seconds(&v), 0, 0);
        v.endure_seconds = 0.5;
        assert_float_equal(evaluation_own_seconds(&v), 1, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_steady_kernel_stops_early),
        cmocka_unit_test(test_a_noisy_kernel_goes_on_to_the_ceiling),
        cmocka_unit_test(test_a_wild_kernel_is_unstable),
        cmocka_unit_test(test_the_self_tests_kernel_is_unstable),
        cmocka_unit_test(test_what_cannot_win_is_sampled_twice),
        cmocka_unit_test(test_impossible_times_are_refused),
        cmocka_unit_test(test_cold_leaves_out_the_first_launches),
        cmocka_unit_test(test_sustained_keeps_the_end),
        cmocka_unit_test(test_the_method_s_own_time_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
