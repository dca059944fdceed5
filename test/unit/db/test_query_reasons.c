/* test_query_reasons.c: why a campaign's trials are not ok: reasons that differ in numbers alone are one. */
#include "filled.h"

/* A campaign whose trials fail so, one after another: its reasons, to be json_decref'd. */
static json_t *reasons_of(const char *file, const enum outcome *outcomes, const char *const *texts, int n)
{
    char path[300];
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t campaign, id;
    json_t *j;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    assert_ok(store_open(path, 1, &s, e));
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    for (int i = 0; i < n; i++) {
        struct result r;
        result_init(&r);
        r.outcome = outcomes[i];
        snprintf(r.reason, sizeof r.reason, "%s", texts[i]);
        assert_ok(begin_trial(s, problem, &target, campaign, i + 1, TILE, NULL, &id, e));
        assert_ok(store_trial_end(s, id, &r, e));
    }
    store_close(s);
    struct query *q = open_query(path);
    assert_ok(query_campaign(q, campaign, &j, e));
    json_t *reasons = json_incref(json_object_get(j, "reasons"));
    json_decref(j);
    query_close(q);
    return reasons;
}

static void numbers_alone(void **state)
{
    static const enum outcome outcomes[] = {OUTCOME_compile, OUTCOME_wrong,   OUTCOME_wrong, OUTCOME_crash,
                                            OUTCOME_wrong,   OUTCOME_compile, OUTCOME_wrong, OUTCOME_compile};
    static const char *const texts[] = {"x.cu(3): no y for sm_80", "Y[1,2]: got -1.5e-07, wanted 3",
                                        "Y[7,12]: got nan, wanted 3", "Y[1,2]: got 1, wanted 3",
                                        "Y[44,9]: got 2, wanted -0.25", "x.cu(31): no y for sm_90",
                                        "Y[44,9]: got +2.E+2, wanted 1e5", "x.cu(12): no y for sm_80"};
    json_t *reasons = reasons_of("numbers.db", outcomes, texts, 8);
    assert_json(reasons, "[{'outcome': 'wrong', 'reason': 'Y[1,2]: got -1.5e-07, wanted 3', 'count': 3}, "
                         "{'outcome': 'compile', 'reason': 'x.cu(3): no y for sm_80', 'count': 2}, "
                         "{'outcome': 'wrong', 'reason': 'Y[7,12]: got nan, wanted 3', 'count': 1}, "
                         "{'outcome': 'crash', 'reason': 'Y[1,2]: got 1, wanted 3', 'count': 1}, "
                         "{'outcome': 'compile', 'reason': 'x.cu(31): no y for sm_90', 'count': 1}]");
    json_decref(reasons);
}

/* What is nearly a number, and what ends within one. */
static void ends(void **state)
{
    static const enum outcome outcomes[] = {OUTCOME_crash, OUTCOME_crash, OUTCOME_crash, OUTCOME_crash,
                                            OUTCOME_crash, OUTCOME_crash, OUTCOME_crash};
    static const char *const texts[] = {"1e", "5e", "-", "7", "-8.5.5", "1e+", "\xc3\xa9 9"};
    json_t *reasons = reasons_of("ends.db", outcomes, texts, 7);
    assert_json(reasons, "[{'outcome': 'crash', 'reason': '1e', 'count': 2}, "
                         "{'outcome': 'crash', 'reason': '7', 'count': 2}, "
                         "{'outcome': 'crash', 'reason': '-', 'count': 1}, "
                         "{'outcome': 'crash', 'reason': '1e+', 'count': 1}, "
                         "{'outcome': 'crash', 'reason': '\xc3\xa9 9', 'count': 1}]");
    json_decref(reasons);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_alone), cmocka_unit_test(ends)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
