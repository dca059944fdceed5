/* test_timing.c: batches, throttled samples and energy, on a device whose clock, throttle reasons and energy counter
 * the test sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trial/timing.h"
#include <math.h>
#include <string.h>

static struct {
    double run_ms, launch_ms;       /* a run alone takes launch_ms more than one in a batch */
    uint64_t reasons[64];           /* pulse by pulse; the last for ever */
    int nreasons;
    bool no_graphs, unrecordable;
    double watts;                   /* the energy counter, which moves every 20 ms, by the clock of the machine */
    int launches, fills, pulses, graphs, replays, recorded;
    bool recording, real;
    double busy_until;
    double now_ms, at_mark[DEV_MARKS];
} gpu;

static status fake_fill(struct dev *d, dev_ptr p, uint32_t word, uint64_t bytes, struct err *e)
{
    gpu.fills++;
    return LATHE_OK;
}

static status fake_launch(struct dev *d, struct dev_function *f, const struct dev_launch *how, void **args,
                          struct err *e)
{
    if (gpu.recording && gpu.unrecordable) return err_set(e, LATHE_DEVICE, "this may not be recorded");
    if (gpu.recording) {
        gpu.recorded++;
        return LATHE_OK;
    }
    gpu.launches++;
    gpu.busy_until = fmax(gpu.busy_until, clock_seconds()) + gpu.run_ms / 1000;
    gpu.now_ms += gpu.run_ms + gpu.launch_ms;
    return LATHE_OK;
}

/* real: the device works as long as its clock says, from the launch on. */
static status fake_sync(struct dev *d, struct err *e)
{
    while (gpu.real && clock_seconds() < gpu.busy_until) clock_sleep(0.0005);
    return LATHE_OK;
}

static void fake_mark(struct dev *d, int slot) { gpu.at_mark[slot] = gpu.now_ms; }
static double fake_elapsed(struct dev *d, int from, int to) { return gpu.at_mark[to] - gpu.at_mark[from]; }
static void fake_telemetry(struct dev *d, struct telemetry *out) { out->sm_mhz = out->sm_mhz_low = 1980; }

static bool fake_pulse(struct dev *d, double *mhz, uint64_t *reasons)
{
    int i = gpu.pulses++;
    *reasons = gpu.reasons[i < gpu.nreasons ? i : gpu.nreasons - 1];
    *mhz = *reasons & THROTTLE_REASONS ? 1500 : 1980;
    return true;
}

static status fake_graph_begin(struct dev *d, struct err *e)
{
    gpu.recording = true;
    gpu.recorded = 0;
    return LATHE_OK;
}

static status fake_graph_end(struct dev *d, struct dev_graph **out, struct err *e)
{
    static char graph;
    gpu.recording = false;
    *out = (struct dev_graph *)&graph;
    gpu.graphs++;
    return LATHE_OK;
}

static status fake_graph_launch(struct dev *d, struct dev_graph *g, struct err *e)
{
    gpu.replays++;
    gpu.now_ms += gpu.recorded * gpu.run_ms;
    return LATHE_OK;
}

static void fake_graph_free(struct dev *d, struct dev_graph *g) { gpu.graphs--; }

static double fake_energy(struct dev *d)
{
    const double STEP = 0.02;
    return gpu.watts * 1000 * STEP * floor(clock_seconds() / STEP);
}

static struct dev_ops ops = {.kind = "fake",
                             .fill = fake_fill,
                             .launch = fake_launch,
                             .sync = fake_sync,
                             .mark = fake_mark,
                             .elapsed_ms = fake_elapsed,
                             .telemetry = fake_telemetry,
                             .pulse = fake_pulse,
                             .graph_end = fake_graph_end,
                             .graph_launch = fake_graph_launch,
                             .graph_free = fake_graph_free};

static struct plan_step step = {.kind = STEP_LAUNCH};
static struct plan plan = {.steps = &step, .nsteps = 1};

static struct result measure(const struct measure_options *o)
{
    static struct pipeline_step steps[1];
    struct bench bench = {.ops = &ops};
    struct pipeline p = {.ops = &ops, .plan = &plan, .steps = steps};
    struct result r;
    struct err e = {0};
    result_init(&r);
    r.outcome = OUTCOME_ok;
    ops.graph_begin = gpu.no_graphs ? NULL : fake_graph_begin;
    ops.energy_mj = gpu.watts > 0 ? fake_energy : NULL;
    if (!gpu.nreasons) gpu.nreasons = 1;
    assert_int_equal(measure_pipeline(&bench, &p, o, &r, &e), LATHE_OK);
    assert_int_equal(gpu.graphs, 0);
    return r;
}

static const struct measure_options TRIAL = {.regime = REGIME_TRIAL,
                                             .min_samples = 5,
                                             .max_samples = 20,
                                             .max_seconds = 5,
                                             .interval = 0.01,
                                             .incumbent_ms = NAN,
                                             .hopeless = 2,
                                             .batch_below_ms = 0.02,
                                             .retakes = 4};

static int before_each(void **state)
{
    memset(&gpu, 0, sizeof gpu);
    gpu.run_ms = 1;
    return 0;
}

/* --- batches --- */

static void test_short_runs_are_timed_in_a_graph(void **state)
{
    gpu.run_ms = 0.005;
    gpu.launch_ms = 0.004;
    struct result r = measure(&TRIAL);
    assert_int_equal(r.outcome, OUTCOME_ok);
    assert_true(r.samples.graph);
    assert_int_equal(r.samples.batch, 56);              /* 0.5 ms of runs of 0.009 */
    assert_int_equal(r.samples.count, 5);
    assert_float_equal(r.time_ms, 0.005, 1e-9);         /* of one run, without its launch */
    assert_int_equal(gpu.replays, 1 + 5);               /* the first is not timed */
    assert_int_equal(gpu.launches, 5);                  /* the single runs that told how short it is */
    assert_int_equal(gpu.fills, 5);                     /* the L2 is flushed before those alone */
    result_free(&r);
}

static void test_long_runs_are_timed_one_by_one(void **state)
{
    gpu.run_ms = 0.021;
    struct result r = measure(&TRIAL);
    assert_int_equal(r.samples.batch, 0);
    assert_int_equal(gpu.replays, 0);
    assert_float_equal(r.time_ms, 0.021, 1e-9);
    result_free(&r);
}

/* Where the best was timed in batches, so is what is compared with it; but not what is far off. */
static void test_what_is_compared_is_timed_alike(void **state)
{
    struct measure_options o = TRIAL;
    o.incumbent_ms = 0.015;
    gpu.run_ms = 0.025;
    gpu.launch_ms = 0.02;       /* alone three times the best, in a batch less than twice */
    struct result r = measure(&o);
    assert_true(r.samples.graph);
    assert_float_equal(r.time_ms, 0.025, 1e-9);
    result_free(&r);
    before_each(NULL);
    gpu.run_ms = 0.06;
    r = measure(&o);
    assert_int_equal(r.samples.batch, 0);
    assert_int_equal(r.samples.count, 2);
    result_free(&r);
}

static void test_batches_without_graphs(void **state)
{
    gpu.run_ms = 0.005;
    gpu.no_graphs = true;
    struct result r = measure(&TRIAL);
    assert_false(r.samples.graph);
    assert_int_equal(r.samples.batch, 100);
    assert_int_equal(gpu.launches, 5 + 100 * 5);
    result_free(&r);
    before_each(NULL);
    gpu.run_ms = 0.005;
    gpu.unrecordable = true;    /* as a library call may be: queued run by run */
    r = measure(&TRIAL);
    assert_int_equal(r.outcome, OUTCOME_ok);
    assert_false(r.samples.graph);
    assert_int_equal(r.samples.batch, 100);
    assert_float_equal(r.time_ms, 0.005, 1e-9);
    result_free(&r);
}

static void test_the_final_times_all_in_one_way(void **state)
{
    struct measure_options o = {.regime = REGIME_COLD, .launches = 25, .skip = 5, .incumbent_ms = NAN, .batches = true};
    gpu.run_ms = 0.125;
    struct result r = measure(&o);
    assert_int_equal(r.samples.batch, 4);
    assert_int_equal(r.samples.count, 20);
    assert_float_equal(r.time_ms, 0.125, 1e-9);
    result_free(&r);
    o = (struct measure_options){.regime = REGIME_SUSTAINED, .run_seconds = 0.02, .incumbent_ms = NAN, .batches = true};
    r = measure(&o);
    assert_int_equal(r.samples.batch, 4);
    assert_float_equal(r.samples.low, 0.125, 1e-9);
    result_free(&r);
}

/* --- throttling --- */

enum { POWER_CAP = 0x4, IDLE = 0x1 };

static void test_throttled_samples_are_marked_and_taken_again(void **state)
{
    const uint64_t reasons[] = {0, POWER_CAP, IDLE, 0, POWER_CAP, 0, 0};
    memcpy(gpu.reasons, reasons, sizeof reasons);
    gpu.nreasons = 7;
    struct result r = measure(&TRIAL);
    assert_int_equal(r.samples.count, 7);               /* five that count, and two that do not */
    assert_int_equal(samples_throttled(&r.samples), 2);
    assert_true(r.samples.throttled[1] && r.samples.throttled[4] && !r.samples.throttled[2]);
    assert_true(r.telemetry.throttle_known && r.telemetry.throttle_reasons == (POWER_CAP | IDLE));
    assert_float_equal(r.telemetry.sm_mhz_low, 1500, 0);
    assert_float_equal(r.telemetry.sm_mhz, 1980, 0);
    result_free(&r);
}

/* A pipeline that always throttles the chip is timed all the same, and not for ever. */
static void test_what_always_throttles_is_timed(void **state)
{
    gpu.reasons[0] = POWER_CAP;
    struct result r = measure(&TRIAL);
    assert_int_equal(r.outcome, OUTCOME_ok);
    assert_int_equal(r.samples.count, 5);
    assert_int_equal(samples_throttled(&r.samples), 5);
    assert_float_equal(r.time_ms, 1, 1e-9);
    result_free(&r);
}

static void test_a_throttled_burst_is_taken_again(void **state)
{
    const uint64_t reasons[] = {0, POWER_CAP, 0};       /* the first pulse is of the run before the burst */
    memcpy(gpu.reasons, reasons, sizeof reasons);
    gpu.nreasons = 3;
    struct measure_options o = {.regime = REGIME_COLD, .launches = 25, .skip = 5, .incumbent_ms = NAN, .retakes = 1};
    struct result r = measure(&o);
    assert_int_equal(r.samples.count, 40);
    assert_int_equal(samples_throttled(&r.samples), 20);
    assert_true(r.samples.throttled[0] && !r.samples.throttled[20]);
    result_free(&r);
}

/* --- the median of samples that count --- */

static void test_throttled_samples_do_not_count(void **state)
{
    struct samples s = {0};
    for (int i = 0; i < 9; i++) samples_add(&s, i < 4 ? 5 : 2, i < 4);
    samples_summarise(&s);
    assert_float_equal(s.median, 2, 0);
    assert_float_equal(s.high, 2, 0);
    samples_free(&s);
    for (int i = 0; i < 8; i++) samples_add(&s, i < 5 ? 5 : 2, i < 5);      /* three that are not throttled are too
                                                                               few */
    samples_summarise(&s);
    assert_float_equal(s.median, 5, 0);
    struct samples copy = {0};
    samples_append(&copy, &s);
    assert_int_equal(samples_throttled(&copy), 5);
    assert_true(copy.throttled[4] && !copy.throttled[5] && copy.ms[5] == 2);
    samples_free(&s);
    samples_free(&copy);
}

/* --- energy --- */

static void test_energy_is_power_over_the_rate_of_runs(void **state)
{
    gpu.watts = 500;
    gpu.real = true;
    gpu.run_ms = 10;
    struct measure_options o = TRIAL;
    o.energy_seconds = 1;
    double start = clock_seconds();
    struct result r = measure(&o);
    double seconds = clock_seconds() - start;
    assert_true(r.samples.energy_launches > 10);
    /* 500 W for 10 ms; a machine that is busy makes runs end later, so more */
    double expected = 500 * 1000 * (seconds / gpu.launches);
    if (!(r.samples.energy_mj >= 4500 && r.samples.energy_mj <= 1.5 * expected))
        fail_msg("%g mJ, expected 5000 to about %g", r.samples.energy_mj, expected);
    assert_int_equal(r.samples.count, 5);
    assert_float_equal(r.time_ms, 10, 1e-9);
    result_free(&r);
}

static void test_no_energy_is_not_zero(void **state)
{
    struct measure_options o = TRIAL;
    o.energy_seconds = 0.05;
    struct result r = measure(&o);
    assert_true(isnan(r.samples.energy_mj) && r.samples.energy_launches == 0);
    result_free(&r);
    o.energy_seconds = 0;
    gpu.watts = 500;
    r = measure(&o);
    assert_true(isnan(r.samples.energy_mj));
    result_free(&r);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, before_each)
    const struct CMUnitTest tests[] = {
        TEST(test_short_runs_are_timed_in_a_graph),
        TEST(test_long_runs_are_timed_one_by_one),
        TEST(test_what_is_compared_is_timed_alike),
        TEST(test_batches_without_graphs),
        TEST(test_the_final_times_all_in_one_way),
        TEST(test_throttled_samples_are_marked_and_taken_again),
        TEST(test_what_always_throttles_is_timed),
        TEST(test_a_throttled_burst_is_taken_again),
        TEST(test_throttled_samples_do_not_count),
        TEST(test_energy_is_power_over_the_rate_of_runs),
        TEST(test_no_energy_is_not_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
