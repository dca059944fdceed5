/* test_store_resume.c: who has a campaign, its trials as they stand, and trials that are begun again. */
#include "writing.h"

static int64_t cut_off(const char *path, struct store **out)
{
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), id;
    put_trial(s, problem, &target, campaign, 1, TILE, NULL, 1.5);
    assert_ok(begin_trial(s, problem, &target, campaign, 2, TILE, NULL, &id, e));
    assert_ok(store_trial_runs(s, id, e));
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
    assert_fails(LATHE_INTERNAL, "has ended", store_trial_runs(s, t.id, e));
    assert_ok(store_trial_find(s, campaign, 2, &t, &found, e));
    assert_int_equal(t.outcome, -1);
    assert_int_equal(t.attempts, 1);
    assert_string_equal(sb_str(&t.configuration), "BM=16 ALPHA=0.5 TRANSPOSED=false");
    sb_free(&t.configuration);
    assert_ok(store_trial_again(s, t.id, 1, e));
    assert_ok(store_trial_runs(s, t.id, e));
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

/* A file as version 1 left it: its schema, and what was running then. */
static void test_from_the_first_version(void **state)
{
    const char *path = in_folder("first.db");
    struct store *s;
    int64_t campaign = cut_off(path, &s);
    store_close(s);
    meddle(path, "ALTER TABLE campaign DROP COLUMN request; ALTER TABLE campaign DROP COLUMN coordinator;"
                 "ALTER TABLE campaign DROP COLUMN resumed; ALTER TABLE trial DROP COLUMN total_seconds;"
                 "ALTER TABLE trial DROP COLUMN campaign_seconds; ALTER TABLE trial DROP COLUMN attempts;"
                 "PRAGMA user_version = 1");
    struct query *q;
    json_t *j;
    assert_ok(query_open(path, &q, e)); /* it is read as it is */
    assert_ok(query_campaigns(q, &j, e));
    assert_string_equal(json_string_value(json_object_get(json_array_get(j, 0), "state")), "running");
    json_decref(j);
    query_close(q);
    assert_answer(path, "PRAGMA user_version", "1");
    s = open_store(path);
    assert_answer(path, "PRAGMA user_version", "2");
    assert_answer(path, "SELECT count(*) || (SELECT count(*) FROM campaign) FROM trial", "21");
    assert_answer(path, "SELECT coordinator LIKE '% - - ' || json_extract(environment, '$.pid') || ' -' FROM campaign", "1");
    /* its process lives, or another with its number: nobody can tell */
    assert_fails(LATHE_USAGE, "cannot be told from here", store_campaign_resume(s, campaign, &plain, e));
    struct stored_trial t;
    bool found;
    assert_ok(store_trial_find(s, campaign, 1, &t, &found, e));
    assert_true(found && t.seconds > 0); /* the sum of its stages */
    sb_free(&t.configuration);
    store_close(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_owner),
        cmocka_unit_test(test_trials_as_they_stand),
        cmocka_unit_test(test_the_final_is_undone),
        cmocka_unit_test(test_from_the_first_version),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
