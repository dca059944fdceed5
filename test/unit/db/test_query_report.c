/* test_query_report.c: a campaign by columns says the same as its trials one by one (query_campaign). */
#include "filled.h"

static json_t *report_of(int64_t campaign, int64_t samples)
{
    struct query *q = open_query(db);
    struct query_report wanted = {campaign, samples};
    json_t *out = NULL;
    assert_ok(query_report(q, &wanted, &out, e));
    query_close(q);
    return out;
}

static json_t *cell(const json_t *report, const char *key, size_t row)
{
    json_t *column = json_object_get(json_object_get(report, "columns"), key);
    if (!column)
        fail_msg("no column %s", key);
    return json_array_get(column, row);
}

static const char *text_cell(const json_t *report, const char *key, size_t row)
{
    json_t *list = json_object_get(json_object_get(report, "texts"), key);
    return json_string_value(json_array_get(list, (size_t)json_integer_value(cell(report, key, row))));
}

static void same_trial(const json_t *report, size_t row, const json_t *trial)
{
    static const char *const numbers[] = {"id",    "number",  "time_ms",    "cold_ms",   "sustained_ms", "rank",
                                          "error", "max_abs", "mismatches", "registers", "local_bytes",  "occupancy"};
    static const char *const texts[] = {"kernel", "outcome", "reason", "role"};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (!json_equal(cell(report, numbers[k], row), json_object_get(trial, numbers[k])))
            fail_msg("row %zu: %s differs", row, numbers[k]);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        assert_string_equal(text_cell(report, texts[k], row), json_string_value(json_object_get(trial, texts[k])));
    assert_int_equal(json_integer_value(cell(report, "eligible", row)),
                     json_is_true(json_object_get(trial, "eligible")));
    /* its parameters */
    json_t *parameter, *configuration = json_object_get(trial, "configuration");
    size_t i, active = 0;
    json_array_foreach(json_object_get(report, "parameters"), i, parameter)
    {
        json_int_t at = json_integer_value(json_array_get(json_object_get(parameter, "column"), row));
        const json_t *want = json_object_get(configuration, json_string_value(json_object_get(parameter, "name")));
        const json_t *got = at < 0 ? NULL : json_array_get(json_object_get(parameter, "values"), (size_t)at);
        active += want != NULL;
        assert_true((want == NULL) == (got == NULL));
        if (json_is_boolean(want))
            assert_int_equal(json_integer_value(got), json_is_true(want));
        else if (want)
            assert_true(json_equal(got, want));
    }
    assert_int_equal(active, json_object_size(configuration));
}

static void test_same(void **state)
{
    for (int64_t id = 1; id <= 3; id++) {
        struct query *q = open_query(db);
        json_t *campaign = NULL, *report = report_of(id, 1000);
        assert_ok(query_campaign(q, id, &campaign, e));
        json_t *candidates = json_object_get(campaign, "trials"), *baselines = json_object_get(campaign, "baselines");
        size_t n = json_array_size(baselines), i;
        json_t *trial;
        assert_int_equal(json_array_size(json_object_get(json_object_get(report, "columns"), "id")),
                         n + json_array_size(candidates));
        json_array_foreach(baselines, i, trial) /* the first baseline has the largest number */
            same_trial(report, n - 1 - i, trial);
        json_array_foreach(candidates, i, trial)
            same_trial(report, n + i, trial);
        static const char *const keys[] = {"id",    "problem", "size",    "device", "strategy",
                                           "state", "note",    "best_ms", "speedup"};
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            assert_true(json_equal(json_object_get(report, keys[k]), json_object_get(campaign, keys[k])));
        json_decref(campaign);
        json_decref(report);
        query_close(q);
    }
}

/* The samples lie one measurement after the other; what a measurement has none of here takes no place. */
static void test_samples(void **state)
{
    json_t *all = report_of(1, 1000), *some = report_of(1, 1), *none = report_of(1, 0), *m, *value;
    size_t i, sum = 0;
    m = json_object_get(all, "measurements");
    json_array_foreach(json_object_get(m, "samples"), i, value)
    {
        assert_int_equal(json_integer_value(value), json_integer_value(json_array_get(json_object_get(m, "count"), i)));
        sum += (size_t)json_integer_value(value);
    }
    assert_true(sum > 0);
    assert_int_equal(json_array_size(json_object_get(all, "samples")), sum);
    assert_int_equal(json_array_size(json_object_get(none, "samples")), 0);
    size_t here = json_array_size(json_object_get(some, "samples"));
    assert_true(here > 0 && here < sum); /* a baseline's */
    m = json_object_get(some, "measurements");
    json_array_foreach(json_object_get(m, "samples"), i, value)
        if (json_integer_value(value) > 0) {
            size_t row = (size_t)json_integer_value(json_array_get(json_object_get(m, "trial"), i));
            assert_string_equal(text_cell(some, "role", row), "baseline");
        }
    json_decref(all);
    json_decref(some);
    json_decref(none);
}

static void test_newest_and_absent(void **state)
{
    json_t *newest = report_of(0, 0), *out = NULL;
    struct query *q = open_query(db);
    struct query_report absent = {99, 0};
    struct err why = {0};
    assert_int_equal(json_integer_value(json_object_get(newest, "id")), 3);
    assert_int_equal(query_report(q, &absent, &out, &why), LATHE_NOTHING);
    assert_null(out);
    query_close(q);
    json_decref(newest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_newest_and_absent),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
