/* test_store_resume.c: who has a campaign, its trials as they stand, and trials that are begun again. */
#include "older.h"
#include "writing.h"

static int64_t cut_off(const char *path, struct store **out)
{
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), id;
    put_trial(s, problem, &target, campaign, 1, TILE, NULL, 1.5);
    assert_ok(begin_trial(s, problem, &target, campaign, 2, TILE, NULL, &id, e));
    assert_ok(store_trial_runs(s, id, 0, e));
    *out = s;
    return campaign;
}

static const struct campaign_resumption plain = {.budget_trials = 9, .used = 5, .request = "{}"};

static void test_one_owner(void **state)
{
    const char *path = in_folder("owner.db");
    struct store *s;
    int64_t id = cut_off(path, &s);
    struct campaign_resumption forced = plain;
    forced.force = true;
    assert_fails(LATHE_USAGE, "is running, by process", store_campaign_resume(s, id, &plain, e));
    assert_fails(LATHE_USAGE, "is running, by process", store_campaign_resume(s, id, &forced, e));
    meddle(path, "UPDATE campaign SET coordinator = 'elsewhere - - 1 -'");
    assert_fails(LATHE_USAGE, "by process 1 on elsewhere", store_campaign_resume(s, id, &plain, e));
    assert_ok(store_campaign_resume(s, id, &forced, e));
    assert_fails(LATHE_USAGE, "is running, by process", store_campaign_resume(s, id, &plain, e)); /* by this one now */
    assert_ok(store_campaign_end(s, id, "interrupted", "why", e));
    assert_ok(store_campaign_resume(s, id, &plain, e));
    assert_answer(path, "SELECT state || resumed || budget_trials || (note IS NULL) || (ended IS NULL) FROM campaign",
                  "running2911");
    assert_ok(store_campaign_end(s, id, "finished", NULL, e));
    assert_answer(path, "SELECT seconds BETWEEN 5 AND 6 FROM campaign", "1");
    assert_fails(LATHE_NOTHING, "there is no campaign 77", store_campaign_resume(s, 77, &plain, e));
    store_close(s);
}

/* What its search took since it last said so is what is missing of the whole. */
static void test_a_sitting_that_was_killed(void **state)
{
    const char *path = in_folder("killed.db");
    struct store *s;
    int64_t id = cut_off(path, &s);
    assert_ok(store_campaign_end(s, id, "interrupted", NULL, e));
    assert_ok(store_campaign_resume(s, id, &plain, e));
    assert_answer(path, "SELECT search_seconds IS NULL FROM campaign", "1");    /* as a replay's */
    assert_ok(store_campaign_end(s, id, "interrupted", NULL, e));
    meddle(path, "UPDATE campaign SET setup_seconds = 1, baseline_seconds = 0.5, search_seconds = 2");
    assert_ok(store_campaign_resume(s, id, &plain, e));
    assert_answer(path, "SELECT search_seconds FROM campaign", "3.5");          /* of 5 */
    assert_ok(store_campaign_end(s, id, "interrupted", NULL, e));
    meddle(path, "UPDATE campaign SET search_seconds = 4");
    assert_ok(store_campaign_resume(s, id, &plain, e));
    assert_answer(path, "SELECT search_seconds FROM campaign", "4.0");
    store_close(s);
}

static void test_trials_as_they_stand(void **state)
{
    const char *path = in_folder("trials.db");
    struct store *s;
    int64_t campaign = cut_off(path, &s);
    struct stored_trial t;
    bool found;
    assert_ok(store_trial_find(s, campaign, 1, &t, &found, e));
    assert_true(found);
    assert_int_equal(t.outcome, OUTCOME_ok);
    assert_string_equal(t.kernel, "tile");
    assert_true(t.time_ms == 1.5 && !t.refused);
    sb_free(&t.configuration);
    assert_fails(LATHE_INTERNAL, "has ended", store_trial_again(s, t.id, 0, e));
    assert_fails(LATHE_INTERNAL, "has ended", store_trial_runs(s, t.id, 0, e));
    assert_ok(store_trial_find(s, campaign, 2, &t, &found, e));
    assert_int_equal(t.outcome, -1);
    assert_int_equal(t.attempts, 1);
    assert_string_equal(sb_str(&t.configuration), "BM=16 ALPHA=0.5 TRANSPOSED=false");
    sb_free(&t.configuration);
    assert_ok(store_trial_again(s, t.id, 1, e));
    assert_ok(store_trial_runs(s, t.id, 0, e));
    struct result r = good_result(2);
    r.stage.total = 0.1 + 0.2;
    assert_ok(store_trial_end(s, t.id, &r, e));
    result_free(&r);
    assert_ok(store_trial_find(s, campaign, 2, &t, &found, e));
    assert_true(t.seconds == 0.1 + 0.2 && t.attempts == 2); /* bit for bit: a strategy is told it again */
    sb_free(&t.configuration);
    assert_ok(store_trial_find(s, campaign, 3, &t, &found, e));
    assert_false(found);
    store_close(s);
}

static void test_the_final_is_undone(void **state)
{
    const char *path = in_folder("final.db");
    struct store *s;
    int64_t campaign = cut_off(path, &s);
    assert_ok(store_final_rank(s, campaign, 1, 1, e));
    assert_ok(store_campaign_end(s, campaign, "finished", NULL, e));
    assert_ok(store_campaign_resume(s, campaign, &plain, e));
    assert_answer(path, "SELECT count(*) FROM trial WHERE final_rank IS NOT NULL", "0");
    assert_answer(path, "SELECT score_ms = time_ms FROM trial WHERE number = 1", "1");
    struct stored_trial t;
    bool found;
    struct verification bad = {.done = true, .mismatches = 1, .detail = "wrong"};
    assert_ok(store_verification(s, 1, &bad, e));
    assert_ok(store_trial_find(s, campaign, 1, &t, &found, e));
    assert_true(t.refused);
    sb_free(&t.configuration);
    assert_answer(path, "SELECT outcome FROM trial WHERE number = 2", "skipped"); /* by the campaign's end */
    store_close(s);
}

#define DRIFT "SELECT group_concat(row, ' ') FROM (SELECT campaign_id || phase AS row FROM drift ORDER BY row)"

/* A baseline timed again in the search, 40 s before in each regime of the final. */
static void put_drift(struct store *s, int64_t campaign, int64_t trial)
{
    for (int r = 0; r < REGIME_COUNT; r++) {
        struct samples m = {.regime = (enum regime)r, .median = 1, .low = 1, .high = 1, .count = 5};
        struct telemetry t = {0};
        assert_ok(store_drift(s, campaign, trial, 0, &m, &t, r == REGIME_TRIAL ? 0 : 40, e));
    }
}

/* When a baseline was timed, not when that is recorded. */
static void test_moments_of_drift(void **state)
{
    const char *path = in_folder("moments.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s);
    put_drift(s, campaign, put_trial(s, problem, &target, campaign, 0, LIBRARY, NULL, 1));
    assert_answer(path, "SELECT group_concat(round(f.campaign_seconds - d.campaign_seconds) || ' ' || "
                        "round(86400 * (julianday(f.taken) - julianday(d.taken))), ', ') FROM drift d, drift f "
                        "WHERE d.phase = 'search' AND f.phase <> 'search'", "-40.0 -40.0, -40.0 -40.0");
    store_close(s);
}

/* A trial that is not in the next final has no times that would stand beside those of that one. */
static void test_times_of_an_earlier_final(void **state)
{
    const char *path = in_folder("times.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), id[3];
    for (int i = 0; i < 3; i++)
        id[i] = put_trial(s, problem, &target, campaign, i, i ? TILE : LIBRARY, NULL, 2 + i);
    int64_t other = begin_campaign(s), kept = put_trial(s, problem, &target, other, 1, TILE, NULL, 1);
    put_cold(s, kept, REGIME_COLD, 1);
    meddle(path, "UPDATE measurement SET energy_mj = 70 WHERE trial_id = 2; "
                 "UPDATE trial SET energy_mj = 70 WHERE id = 2");
    for (int i = 0; i < 2; i++) {
        double ms = 1 + i;
        struct samples m = {.regime = REGIME_SUSTAINED, .ms = &ms, .count = 1, .energy_mj = 50, .energy_launches = 9};
        samples_summarise(&m);
        put_cold(s, id[i], REGIME_COLD, ms);
        assert_ok(store_measurement(s, id[i], 0, &m, NULL, e));
    }
    put_drift(s, campaign, id[0]);
    put_drift(s, other, kept);
    assert_ok(store_final_rank(s, campaign, id[1], 1, e));
    assert_ok(store_campaign_end(s, campaign, "finished", NULL, e));
    assert_answer(path, "SELECT t.energy_mj || ' ' || speedup FROM trial_report JOIN trial t ON t.id = trial_id "
                        "WHERE trial_id = 2", "50.0 0.5");
    assert_ok(store_campaign_resume(s, campaign, &plain, e));
    assert_answer(path, "SELECT t.energy_mj || ' ' || speedup || coalesce(t.final_rank, ' none') FROM trial_report "
                        "JOIN trial t ON t.id = trial_id WHERE trial_id = 2",
                  "70.0 0.5 none");     /* nothing that was measured is lost yet */
    assert_ok(store_together_begin(s, e));
    assert_ok(store_final_forget(s, campaign, e));
    struct err full;
    assert_int_equal(store_together_end(s, err_set(&full, LATHE_STORE, "a disk is full"), &full), LATHE_STORE);
    assert_answer(path, "SELECT count(*) FROM trial_report WHERE cold_ms IS NOT NULL AND campaign_id = 1", "2");
    assert_answer(path, DRIFT, "1cold 1search 1sustained 2cold 2search 2sustained");
    assert_ok(store_together_begin(s, e));
    assert_ok(store_final_forget(s, campaign, e));
    assert_ok(store_together_end(s, LATHE_OK, e));
    assert_answer(path, "SELECT round(speedup, 3) || (cold_ms IS NULL) || (sustained_ms IS NULL) FROM trial_report "
                        "WHERE trial_id = 2", "0.66711");
    assert_answer(path, "SELECT count(*) FROM trial_report WHERE cold_ms IS NOT NULL AND campaign_id = 1", "0");
    assert_answer(path, "SELECT count(*) FROM measurement", "5"); /* those of the trials, and of the other campaign */
    assert_answer(path, "SELECT count(*) FROM sample WHERE measurement_id NOT IN (SELECT id FROM measurement)", "0");
    assert_answer(path, DRIFT, "1search 2cold 2search 2sustained");
    put_cold(s, id[2], REGIME_COLD, 3);
    assert_ok(store_final_rank(s, campaign, id[2], 1, e));
    assert_answer(path, "SELECT group_concat(trial_id, ' ') FROM trial_report WHERE cold_ms IS NOT NULL", "3 4");
    store_close(s);
}

/* A file as version 1 left it: its schema, and what was running then. */
static void test_from_the_first_version(void **state)
{
    const char *path = in_folder("newest.db");
    struct store *s;
    int64_t campaign = cut_off(path, &s);
    store_close(s);
    path = as_version(1, path, "first.db");
    struct query *q;
    json_t *j;
    assert_ok(query_open(path, &q, e)); /* it is read as it is */
    assert_ok(query_campaigns(q, &j, e));
    assert_string_equal(json_string_value(json_object_get(json_array_get(j, 0), "state")), "running");
    json_decref(j);
    query_close(q);
    assert_answer(path, "PRAGMA user_version", "1");
    s = open_store(path);
    assert_answer(path, "PRAGMA user_version", "6");
    assert_answer(path, "SELECT count(*) || (SELECT count(*) FROM campaign) FROM trial", "21");
    assert_answer(path, "SELECT coordinator LIKE '% - - ' || json_extract(environment, '$.pid') || ' -' FROM campaign",
                  "1");
    /* its process lives, or another with its number: nobody can tell */
    assert_fails(LATHE_USAGE, "cannot be told from here", store_campaign_resume(s, campaign, &plain, e));
    struct stored_trial t;
    bool found;
    assert_ok(store_trial_find(s, campaign, 1, &t, &found, e));
    assert_true(found && t.seconds > 0); /* the sum of its stages */
    sb_free(&t.configuration);
    store_close(s);
    assert_answer(path, "SELECT campaign_id || ' ' || position || name FROM campaign_worker", "1 0cuda:0");
}

/* As version 2 left it: what was on the one device still meets that device's baseline. */
static void test_from_the_second_version(void **state)
{
    const char *path = in_folder("second-newest.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), id = put_trial(s, problem, &target, campaign, 1, TILE, NULL, 2);
    int64_t baseline = put_trial(s, problem, &target, campaign, 0, LIBRARY, NULL, 3);
    put_cold(s, id, REGIME_COLD, 2);
    put_cold(s, baseline, REGIME_COLD, 5);
    store_close(s);
    path = as_version(2, path, "second.db");
    assert_answer(path, "SELECT speedup FROM trial_report WHERE number = 1", "2.5");
    struct query *q;
    json_t *j;
    assert_ok(query_open(path, &q, e)); /* it is read as it is; what was not kept then is not known */
    assert_ok(query_campaign(q, 1, &j, e));
    json_t *seconds = json_object_get(json_array_get(json_object_get(j, "trials"), 0), "seconds");
    assert_true(json_is_null(json_object_get(j, "pace")) && json_is_null(json_object_get(seconds, "store")));
    assert_true(json_number_value(json_object_get(seconds, "compile")) == 0.5);
    json_decref(j);
    query_close(q);
    s = open_store(path);
    assert_answer(path, "SELECT objective || (setup_seconds IS NULL) FROM campaign", "time1");
    assert_answer(path, "SELECT DISTINCT batch || graph || throttled FROM measurement", "100");
    assert_answer(path, "SELECT count(*) || sum(throttled) FROM sample", "80");
    assert_answer(path, "SELECT trials || (trials_per_minute IS NULL) FROM pace", "11");
    id = put_trial(s, problem, &target, campaign, 2, TILE, NULL, 1);
    store_close(s);
    assert_answer(path, "SELECT group_concat(speedup, ' ') FROM trial_report WHERE number > 0", "2.5 3.0");
}

static char *best_ids(const char *path, int64_t campaign, int top)
{
    struct query *q;
    json_t *list;
    struct strbuf b = {0};
    assert_ok(query_open(path, &q, e));
    assert_ok(query_best(q, &(struct query_filter){.campaign = campaign, .top = top}, &list, e));
    for (size_t i = 0; i < json_array_size(list); i++)
        sb_addf(&b, "%lld ", (long long)json_integer_value(json_object_get(json_array_get(list, i), "id")));
    json_decref(list);
    assert_ok(query_earlier(q, &(struct query_earlier){(const char *[]){"tile"}, 1, 9, top, false, 0}, &list, e));
    sb_addf(&b, "%d ", (int)json_array_size(list));
    json_decref(list);
    assert_ok(query_campaign_summary(q, campaign, &list, e));
    sb_addf(&b, "%g", json_number_value(json_object_get(list, "best_ms")));
    json_decref(list);
    query_close(q);
    return sb_take(&b);
}

/* As versions 3 and 4 left it: the indexes of scores have all trials; the answers are the same before and after. */
static void test_from_the_fourth_version(void **state)
{
    const char *path = in_folder("fourth-newest.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s);
    assert_ok(store_together_begin(s, e));
    for (int i = 1; i <= 300; i++)
        put_trial(s, problem, &target, campaign, i, TILE, (config_choice[]){i % 4, i % 2, 0, 0}, 1 + i * 79 % 301);
    assert_ok(store_final_rank(s, campaign, 299, 1, e)); /* from far behind */
    assert_ok(store_together_end(s, LATHE_OK, e));
    store_close(s);
    for (int version = 3; version <= 4; version++) {
        const char *old = as_version(version, path, version == 3 ? "third.db" : "fourth.db");
        char *before[2] = {best_ids(old, campaign, 3), best_ids(old, 0, 100)};
        assert_answer(old, "SELECT count(*) FROM pragma_table_info('trial') WHERE name = 'behind'", "0");
        s = open_store(old);
        assert_answer(old, "SELECT count(behind) FROM trial", "236"); /* 64 are not, of which the finalist is the
                                                                         first */
        assert_answer(old, "SELECT behind IS NULL FROM trial WHERE id = 299", "1");
        assert_answer(old, "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'index' AND name LIKE '%score%'",
                      "NULL");
        char *after[2] = {best_ids(old, campaign, 3), best_ids(old, 0, 100)};
        for (int i = 0; i < 2; i++) {
            assert_string_equal(before[i], after[i]);
            mem_free(before[i]);
            mem_free(after[i]);
        }
        put_trial(s, problem, &target, campaign, 301, TILE, NULL, 290);
        assert_answer(old, "SELECT count(behind) FROM trial", "237");
        store_close(s);
    }
}

/* Two devices: each trial, and each cold time, against the baseline of the device that it was taken on. */
static void test_two_devices(void **state)
{
    const char *path = in_folder("two-devices.db");
    struct store *s = open_store(path);
    struct target second = target;
    snprintf(second.device, sizeof second.device, "cuda:1");
    int64_t c = begin_campaign(s), id[4];
    assert_ok(store_campaign_device(s, c, 0, "cuda:0", &target, e));
    assert_ok(store_campaign_device(s, c, 1, "cuda:1", &second, e));
    static const int numbers[4] = {0, -1, 1, 2}, position[4] = {0, 1, 0, 1}, ms[4] = {10, 40, 5, 5};
    for (int i = 0; i < 4; i++) {
        struct result r = good_result(ms[i]);
        assert_ok(begin_trial(s, problem, &target, c, numbers[i], i < 2 ? LIBRARY : TILE, NULL, &id[i], e));
        assert_ok(store_trial_runs(s, id[i], position[i], e));
        assert_ok(store_trial_end(s, id[i], &r, e));
        result_free(&r);
    }
    const char *speedups = "SELECT group_concat(speedup, ' ') FROM trial_report WHERE number > 0";
    assert_answer(path, speedups, "2.0 8.0");
    assert_answer(path, "SELECT group_concat(ran_on, ' ') FROM trial_report", "cuda:0 cuda:1 cuda:0 cuda:1");
    static const struct { int trial, position, ms; } cold[] = {{1, 1, 60}, {0, 0, 12}, {3, 1, 5}, {3, 0, 6}};
    for (int i = 0; i < 4; i++) {
        double one = cold[i].ms;
        struct samples m = {.regime = REGIME_COLD, .ms = &one, .count = 1};
        samples_summarise(&m);
        assert_ok(store_measurement(s, id[cold[i].trial], cold[i].position, &m, NULL, e));
    }
    assert_answer(path, speedups, "2.0 2.0"); /* 12 / 6: what was written last, on the first device */
    assert_ok(store_device_gone(s, c, 1, "it is gone", e));
    store_close(s);
    struct query *q;
    json_t *j;
    assert_ok(query_open(path, &q, e));
    assert_ok(query_campaign(q, c, &j, e));
    char *text = json_dumps(json_object_get(j, "devices"), JSON_COMPACT);
    assert_string_equal(text, "[{\"name\":\"cuda:0\",\"device\":\"Toy GPU\",\"uuid\":\"GPU-1\",\"trials\":1,"
                              "\"taken_out\":null},{\"name\":\"cuda:1\",\"device\":\"Toy GPU\",\"uuid\":\"GPU-1\","
                              "\"trials\":1,\"taken_out\":\"it is gone\"}]");
    free(text);
    text = json_dumps(json_object_get(json_array_get(json_object_get(j, "trials"), 1), "finals"), JSON_COMPACT);
    assert_string_equal(text, "[{\"device\":\"cuda:0\",\"cold_ms\":6.0,\"sustained_ms\":null},"
                              "{\"device\":\"cuda:1\",\"cold_ms\":5.0,\"sustained_ms\":null}]");
    free(text);
    json_decref(j);
    query_close(q);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_owner),
        cmocka_unit_test(test_a_sitting_that_was_killed),
        cmocka_unit_test(test_trials_as_they_stand),
        cmocka_unit_test(test_the_final_is_undone),
        cmocka_unit_test(test_times_of_an_earlier_final),
        cmocka_unit_test(test_moments_of_drift),
        cmocka_unit_test(test_from_the_first_version),
        cmocka_unit_test(test_from_the_second_version),
        cmocka_unit_test(test_from_the_fourth_version),
        cmocka_unit_test(test_two_devices),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
