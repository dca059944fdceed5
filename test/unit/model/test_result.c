/* test_result.c: a result's JSON both ways, NaN and infinity included, and the median's interval. */
#include "spec_fixture.h"

#include "base/rng.h"
#include "model/result.h"
#include <math.h>
#include <stdio.h>

static struct result full_result(void)
{
    struct result r;
    result_init(&r);
    r.outcome = OUTCOME_wrong;
    strcpy(r.reason, "3 of 100 elements differ");
    r.samples.regime = REGIME_SUSTAINED;
    r.samples.count = 3;
    r.samples.ms = mem_zalloc(3, sizeof *r.samples.ms);
    r.samples.ms[0] = 1.25;
    r.samples.ms[1] = NAN;
    r.samples.ms[2] = 0.1;
    r.samples.median = 1.5;
    r.verification = (struct verification){.done = true, .reference = "fp64", .seed = UINT64_MAX - 5, .max_abs = 1e-30,
        .max_rel = INFINITY, .frobenius = 3.3e-6, .frobenius_limit = 6.6e-6, .scaled = 1e-7,
        .scaled_limit = NAN, .elements = INT64_C(1) << 40,
        .mismatches = 3, .deterministic = true, .detail = "Y[3,17] got 0.5, wanted 0.25"};
    r.resources = (struct resources){128, 16, 1024, 65536, 0.25};
    r.telemetry.sm_mhz = 1980;
    r.telemetry.throttle_reasons = UINT64_C(1) << 63;
    r.stage = (struct stage_seconds){0.5, 0.1, 0.2, 0.3, .compile_cached = true};
    return r;
}

static void json_both_ways(void **state)
{
    (void)state;
    struct result r = full_result(), back;
    struct err e = {0};
    json_t *j = result_to_json(&r);
    char *text = json_dumps(j, JSON_COMPACT);       /* as the protocol sends it */
    assert_non_null(strstr(text, "\"low\":null"));
    json_t *again = json_loads(text, 0, NULL);
    assert_int_equal(result_from_json(again, &back, &e), LATHE_OK);
    assert_int_equal(back.outcome, OUTCOME_wrong);
    assert_string_equal(back.reason, r.reason);
    assert_true(isnan(back.time_ms));
    assert_int_equal(back.samples.regime, REGIME_SUSTAINED);
    assert_int_equal(back.samples.count, 3);
    assert_true(back.samples.ms[0] == 1.25 && isnan(back.samples.ms[1]) && back.samples.ms[2] == 0.1);
    assert_true(back.samples.median == 1.5 && isnan(back.samples.low));
    assert_true(back.verification.seed == UINT64_MAX - 5);
    assert_true(back.verification.max_abs == 1e-30 && isinf(back.verification.max_rel));
    assert_true(back.verification.frobenius == 3.3e-6 && back.verification.frobenius_limit == 6.6e-6);
    assert_true(back.verification.scaled == 1e-7 && isnan(back.verification.scaled_limit));
    assert_true(back.verification.done && back.verification.deterministic);
    assert_true(back.verification.elements == INT64_C(1) << 40 && back.verification.mismatches == 3);
    assert_string_equal(back.verification.reference, "fp64");
    assert_string_equal(back.verification.detail, r.verification.detail);
    assert_memory_equal(&back.resources, &r.resources, sizeof r.resources);
    assert_true(back.telemetry.sm_mhz == 1980 && isnan(back.telemetry.power_w));
    assert_true(back.telemetry.throttle_reasons == UINT64_C(1) << 63);
    assert_true(back.stage.compile == 0.5 && back.stage.measure == 0.3 && back.stage.compile_cached);
    result_free(&r);
    result_free(&back);
    free(text);
    json_decref(j);
    json_decref(again);
}

static void fresh_result(void **state)
{
    (void)state;
    struct result r, back;
    result_init(&r);
    json_t *j = result_to_json(&r);
    assert_int_equal(result_from_json(j, &back, NULL), LATHE_OK);
    assert_int_equal(back.outcome, OUTCOME_skipped);
    assert_null(back.samples.ms);
    assert_true(isnan(back.time_ms) && isnan(back.verification.frobenius) && isnan(back.telemetry.sm_mhz));
    json_decref(j);
}

static void reasons_that_are_not_utf8(void **state)
{
    (void)state;
    struct result r, back;
    result_init(&r);
    strcpy(r.reason, "bad \xff byte");
    json_t *j = result_to_json(&r);
    assert_int_equal(result_from_json(j, &back, NULL), LATHE_OK);
    assert_string_equal(back.reason, "bad ? byte");
    json_decref(j);
}

static void bad_json(void **state)
{
    static const struct {
        const char *path, *value, *expected;
    } cases[] = {
        {"outcome", "\"fine\"", "result.outcome: expected a known name"},
        {"outcome", "1", "result.outcome: expected a known name"},
        {"reason", NULL, "result.reason: expected a value, but it is missing"},
        {"samples/regime", "\"warm\"", "result.samples.regime: expected a known name"},
        {"samples/ms", "3", "result.samples.ms: expected an array"},
        {"samples/ms", "[1, true]", "result.samples.ms: expected numbers"},
        {"verification/mismatches", "-1", "result.verification.mismatches: expected an integer from 0"},
        {"verification/done", "0", "result.verification.done: expected true or false"},
        {"verification/reference", "\"something long, too long\"", "result.verification.reference: expected a shorter"},
        {"resources/registers", "4294967296", "result.resources.registers: expected an integer from 0 to 2147483647"},
        {"telemetry", "null", "result.telemetry: expected an object"},
        {"stage/load", "[]", "result.stage.load: expected a number"},
        {"time_ms", "\"nan\"", "result.time_ms: expected a number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct result r = full_result(), back = {.time_ms = 77};
        struct err e;
        json_t *j = result_to_json(&r);
        fixture_set(j, cases[i].path, cases[i].value);
        assert_int_equal(result_from_json(j, &back, &e), LATHE_SPEC);
        assert_has(e.text, cases[i].expected);
        assert_true(back.time_ms == 77);
        json_decref(j);
        result_free(&r);
    }
}

static struct samples summary(int n, const double *ms)
{
    struct samples s = {.ms = (double *)ms, .count = n};
    samples_summarise(&s);
    return s;
}

static void medians(void **state)
{
    (void)state;
    const double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, bad[] = {1, NAN, 2};
    struct samples s = summary(0, odd);
    assert_true(isnan(s.median) && isnan(s.low) && isnan(s.high));
    s = summary(1, odd);
    assert_true(s.median == 3 && s.low == 3 && s.high == 3);
    s = summary(3, odd);
    assert_true(s.median == 2 && s.low == 1 && s.high == 3);
    assert_true(odd[0] == 3);                       /* sorts a copy */
    s = summary(4, even);
    assert_true(s.median == 2.5 && s.low == 1 && s.high == 4);
    s = summary(3, bad);
    assert_true(isnan(s.median) && isnan(s.low));
}

/* Ranks as printed tables of the sign test's interval give them: n, the rank of the lower end from below. */
static void interval_ranks(void **state)
{
    static const int table[][2] = {{5, 1}, {6, 1}, {8, 1}, {9, 2}, {10, 2}, {15, 4}, {20, 6}, {25, 8}, {30, 10},
                                   {50, 18}, {70, 27}, {100, 40}};
    (void)state;
    double ms[5000];
    for (int i = 0; i < 5000; i++)
        ms[i] = i + 1;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct samples s = summary(table[i][0], ms);
        assert_int_equal((int)s.low, table[i][1]);
        assert_int_equal((int)s.high, table[i][0] + 1 - table[i][1]);
    }
    /* where 2^-n underflows: the normal approximation, n/2 - 1.96 sqrt(n)/2 */
    struct samples s = summary(5000, ms);
    assert_true(fabs(s.low - (2500 - 0.98 * sqrt(5000))) < 2);
    assert_true(s.low + s.high == 5001);
}

/* The interval covers the true median at least 95 times in 100, whatever the distribution. */
static void coverage(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 7);
    int covered = 0, rounds = 4000;
    for (int i = 0; i < rounds; i++) {
        double ms[25];
        for (int k = 0; k < 25; k++)
            ms[k] = exp(rng_normal(&rng));          /* skewed; its median is 1 */
        struct samples s = summary(25, ms);
        covered += s.low <= 1 && 1 <= s.high;
    }
    assert_in_range(covered, rounds * 94 / 100, rounds * 98 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_both_ways),
        cmocka_unit_test(fresh_result),
        cmocka_unit_test(reasons_that_are_not_utf8),
        cmocka_unit_test(bad_json),
        cmocka_unit_test(medians),
        cmocka_unit_test(interval_ranks),
        cmocka_unit_test(coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
