/* test_store.c: what is written is there, exactly; what may not be written leaves nothing. */
#include "writing.h"

static void test_creation(void **state)
{
    const char *path = in_folder("created.db");
    store_close(open_store(path));
    assert_answer(path, "PRAGMA application_id", "1281455208"); /* "Lath" */
    assert_answer(path, "PRAGMA user_version", "6");
    assert_answer(path, "PRAGMA journal_mode", "wal");
    assert_answer(path, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%STRICT%'", "0");
    assert_answer(path,
                  "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE type = 'table' "
                  "AND name NOT LIKE 'sqlite_%' ORDER BY name)",
                  "bundle campaign campaign_dim campaign_worker device drift measurement meta parameter_value problem "
                  "refusal sample source strategy trial "
                  "verification");
    assert_answer(path,
                  "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE type = 'view' "
                  "ORDER BY name)",
                  "best failure leaderboard pace trial_identity trial_report");
    assert_answer(path, "SELECT value LIKE '20__-__-__T__:__:__.___Z' FROM meta WHERE name = 'created'", "1");
    char *wal = mem_printf("%s-wal", path);
    assert_int_equal(access(wal, F_OK), -1); /* nothing is left beside the file */
    mem_free(wal);
    store_close(open_store(path)); /* opening again changes nothing */
    assert_answer(path, "SELECT count(*) FROM meta", "1");
}

static void test_empty_file_becomes_a_database(void **state)
{
    const char *path = in_folder("empty.db");
    fclose(fopen(path, "w"));
    store_close(open_store(path));
    assert_answer(path, "PRAGMA user_version", "6");
}

static void test_campaign_columns(void **state)
{
    const char *path = in_folder("campaign.db");
    struct store *s = open_store(path);
    struct campaign_record c = toy_campaign(problem, &target);
    c.seed = UINT64_MAX;
    c.space_size = UINT64_MAX;
    c.budget_trials = 0;
    c.budget_seconds = 1.5;
    int64_t id, other;
    assert_ok(store_campaign_begin(s, &c, &id, e));
    assert_answer(path, "SELECT seed FROM campaign", "18446744073709551615");
    assert_answer(path, "SELECT space_size FROM campaign", "9223372036854775807");
    assert_answer(path, "SELECT budget_trials FROM campaign", "NULL");
    assert_answer(path, "SELECT budget_seconds FROM campaign", "1.5");
    assert_answer(path, "SELECT size FROM campaign", "M=4 N=8 K=16");
    assert_answer(path, "SELECT group_concat(name || value, ' ') FROM (SELECT * FROM campaign_dim ORDER BY position)",
                  "M4 N8 K16");
    assert_answer(path, "SELECT flops || ' ' || bytes FROM campaign", "1024.0 896.0");
    assert_answer(path, "SELECT state FROM campaign", "running");
    assert_answer(path, "SELECT json_extract(environment, '$.pid') FROM campaign",
                  ask(path, "SELECT json_extract("
                            "environment, '$.pid') FROM campaign"));
    assert_answer(path, "SELECT value FROM meta WHERE name = 'written_by'", "v1.2-3");
    assert_answer(path, "SELECT kind || ' ' || handle || ' ' || name FROM device", "cuda cuda:0 Toy GPU");
    assert_answer(path, "SELECT json_extract(target, '$.limits.sm_count') FROM device", "132");
    assert_answer(path, "SELECT json_extract(specification, '$.name') FROM problem", "toy");

    assert_ok(store_campaign_begin(s, &c, &other, e)); /* the same things are not stored twice */
    assert_answer(path,
                  "SELECT (SELECT count(*) FROM problem) || (SELECT count(*) FROM device) || "
                  "(SELECT count(*) FROM strategy) || (SELECT count(*) FROM campaign)",
                  "1112");
    assert_ok(store_campaign_note(s, id, "mind the gap", e));
    assert_ok(store_campaign_note(s, other, "mind the gap", e));
    assert_ok(store_campaign_end(s, id, "finished", NULL, e));
    assert_answer(path, "SELECT state || ' ' || note FROM campaign WHERE id = 1", "finished mind the gap");
    assert_answer(path, "SELECT state FROM campaign WHERE id = 2", "running");
    assert_ok(store_campaign_end(s, other, "interrupted", "by Ctrl-C", e));
    assert_answer(path, "SELECT state || ' ' || note FROM campaign WHERE id = 2", "interrupted by Ctrl-C");
    assert_answer(path, "SELECT seconds BETWEEN 0 AND 10 FROM campaign WHERE id = 2", "1");
    assert_answer(path, "SELECT ended >= created FROM campaign WHERE id = 2", "1");
    assert_fails(LATHE_INTERNAL, "campaign 2 is not running", store_campaign_end(s, other, "finished", NULL, e));
    store_close(s);
}

static void test_identity(void **state)
{
    const char *path = in_folder("identity.db");
    struct store *s = open_store(path);
    struct problem *edited = toy_problem("__global__ void tile() { /* edited */ }");
    struct target driver = target, limits = target;
    snprintf(driver.driver, sizeof driver.driver, "581");
    limits.limit[LIMIT_sm_count] = 66;
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t id;
    assert_ok(store_campaign_begin(s, &c, &id, e));
    put_trial(s, problem, &target, id, 1, TILE, NULL, 1);
    c.problem = edited;
    c.target = &driver;
    c.strategy_text = "return strategy { name = 'other' }";
    assert_ok(store_campaign_begin(s, &c, &id, e));
    put_trial(s, edited, &driver, id, 1, TILE, NULL, 1);
    c.target = &limits;
    assert_ok(store_campaign_begin(s, &c, &id, e));
    assert_answer(path,
                  "SELECT (SELECT count(*) FROM problem) || (SELECT count(*) FROM device) || "
                  "(SELECT count(*) FROM strategy) || (SELECT count(*) FROM source)",
                  "2322");
    assert_answer(path, "SELECT count(DISTINCT source_id) FROM trial", "2");
    assert_answer(path, "SELECT min(name) || ' ' || min(text) FROM source",
                  "toy/tile.cu __global__ void tile() { /* edited */ }");
    assert_ok(problem_set_dim(edited, "M", 5, e));
    assert_ok(store_campaign_begin(s, &c, &id, e)); /* another size is another size, not another problem */
    assert_answer(path, "SELECT count(*) FROM problem", "2");
    assert_answer(path, "SELECT value FROM campaign_dim WHERE campaign_id = 4 AND name = 'M'", "5");
    store_close(s);
    problem_free(edited);
}

static void test_trial_columns(void **state)
{
    const char *path = in_folder("trial.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), id;
    const config_choice choice[] = {3, 1, 1, 1};
    assert_ok(begin_trial(s, problem, &target, campaign, 1, TILE, choice, &id, e));
    assert_answer(
        path, "SELECT outcome || ' ' || role || eligible || checked || ' ' || kernel || ' ' || image_key FROM trial",
        "in_flight candidate11 tile image-1");
    assert_answer(path, "SELECT configuration FROM trial", "BM=128 ALPHA=2.0 TRANSPOSED=true MODE=safe");
    assert_answer(path,
                  "SELECT group_concat(name || ':' || type || ':' || typeof(value) || ':' || value, ' ') "
                  "FROM (SELECT * FROM parameter_value ORDER BY position)",
                  "BM:integer:integer:128 ALPHA:float:real:2.0 TRANSPOSED:boolean:integer:1 MODE:string:text:safe");
    assert_answer(
        path, "SELECT ended IS NULL AND time_ms IS NULL AND score_ms IS NULL AND registers IS NULL FROM trial", "1");

    struct result r = good_result(1.25);
    assert_ok(store_trial_end(s, id, &r, e));
    assert_answer(path, "SELECT outcome || ' ' || time_ms || ' ' || score_ms FROM trial", "ok 1.25 1.25");
    assert_answer(path,
                  "SELECT registers || ' ' || local_bytes || ' ' || shared_static || ' ' || shared_dynamic || ' ' || "
                  "occupancy || ' ' || compile_cached FROM trial",
                  "64 8 1024 2048 0.5 1");
    assert_answer(path,
                  "SELECT compile_seconds || ' ' || load_seconds || ' ' || verify_seconds || ' ' || measure_seconds "
                  "FROM trial",
                  "0.5 0.01 0.1 0.2");
    assert_answer(path, "SELECT regime || ' ' || count || ' ' || sm_mhz FROM measurement", "trial 3 1980.0");
    assert_answer(path, "SELECT mem_mhz IS NULL AND power_w IS NULL AND temperature_c IS NULL FROM measurement", "1");
    assert_answer(path, "SELECT printf('%x', throttle_reasons) FROM measurement", "8000000000000004");
    assert_answer(path, "SELECT group_concat(number || ':' || round(ms, 6), ' ') FROM sample",
                  "1:1.2375 2:1.25 3:1.2625");
    assert_answer(
        path,
        "SELECT phase || ' ' || reference || ' ' || seed || ' ' || frobenius || ' ' || frobenius_limit || ' ' "
        "|| elements || mismatches || deterministic || passed FROM verification",
        "trial fp64 18446744073709551615 3.0e-06 6.0e-06 32011");
    assert_answer(path, "SELECT count(*) FROM pragma_foreign_key_check", "0");

    assert_fails(LATHE_INTERNAL, "trial 1 is not in flight", store_trial_end(s, id, &r, e)); /* ends once */
    assert_fails(LATHE_INTERNAL, "trial 99 is not in flight", store_trial_end(s, 99, &r, e));
    assert_fails(LATHE_INTERNAL, path, begin_trial(s, problem, &target, campaign, 1, TILE, choice, &id, e));
    assert_fails(LATHE_INTERNAL, "FOREIGN KEY", begin_trial(s, problem, &target, 99, 1, TILE, choice, &id, e));
    assert_fails(LATHE_INTERNAL, "CHECK", begin_trial(s, problem, &target, campaign, 0, TILE, choice, &id, e));
    assert_answer(path, "SELECT count(*) FROM measurement", "1"); /* the failures left nothing */
    put_trial(s, problem, &target, campaign, 2, TILE, NULL, 2);
    assert_answer(path, "SELECT configuration FROM trial WHERE number = 2", "BM=16 ALPHA=0.5 TRANSPOSED=false");
    result_free(&r);
    store_close(s);
}

static void test_failed_trials(void **state)
{
    const char *path = in_folder("failed.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), id;
    for (int o = 0, number = 1; o < OUTCOME_COUNT; o++) {
        struct result r;
        result_init(&r);
        r.outcome = (enum outcome)o;
        r.time_ms = NAN;
        snprintf(r.reason, sizeof r.reason, "because \"%s\"; \xff\xc3", outcome_name(r.outcome));
        assert_ok(begin_trial(s, problem, &target, campaign, number++, TILE, NULL, &id, e));
        assert_ok(store_trial_end(s, id, &r, e));
    }
    /* not a number is NULL; bytes that are no text are replaced */
    assert_answer(path,
                  "SELECT count(*) FROM trial WHERE time_ms IS NULL AND time_low_ms IS NULL AND score_ms IS NULL "
                  "AND occupancy IS NULL AND registers IS NULL",
                  "12");                          /* the outcomes */
    assert_answer(path, "SELECT reason FROM trial WHERE outcome = 'wrong'",
                  "because \"wrong\"; \xef\xbf\xbd\xef\xbf\xbd");
    assert_answer(path, "SELECT count(*) FROM measurement", "0");
    assert_answer(path, "SELECT count(*) FROM verification", "0");
    assert_answer(path,
                  "SELECT group_concat(outcome, ' ') FROM (SELECT outcome FROM failure ORDER BY example_trial_id)",
                  "constraint compile resources launch timeout crash wrong inaccurate unstable missing");
    store_close(s);
}

static void test_wrong_results_and_infinities(void **state)
{
    const char *path = in_folder("wrong.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), id;
    struct result r = good_result(1);
    r.outcome = OUTCOME_wrong;
    r.verification.max_abs = INFINITY;
    r.verification.frobenius = NAN;
    r.verification.mismatches = 3;
    r.samples.ms[1] = NAN;
    snprintf(r.verification.detail, sizeof r.verification.detail, "Y[0,1] got nan, wanted 1");
    assert_ok(begin_trial(s, problem, &target, campaign, 1, TILE, NULL, &id, e));
    assert_ok(store_trial_end(s, id, &r, e));
    assert_answer(path, "SELECT max_abs IS NULL AND frobenius IS NULL AND passed = 0 FROM verification", "1");
    assert_answer(path, "SELECT detail FROM verification", "Y[0,1] got nan, wanted 1");
    assert_answer(path, "SELECT time_ms IS NULL AND score_ms IS NULL FROM trial", "1");
    assert_answer(path, "SELECT ms IS NULL FROM sample WHERE number = 2", "1");
    result_free(&r);
    store_close(s);
}

/* What rounds too much is timed, and never a candidate for the best. */
static void test_inaccurate_results(void **state)
{
    const char *path = in_folder("inaccurate.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), id;
    struct result r = good_result(1);
    r.outcome = OUTCOME_inaccurate;
    r.verification.frobenius = 3e-4;
    r.verification.frobenius_limit = 1e-6;
    assert_ok(begin_trial(s, problem, &target, campaign, 1, TILE, NULL, &id, e));
    assert_ok(store_trial_end(s, id, &r, e));
    assert_answer(path, "SELECT time_ms > 0 AND score_ms IS NULL FROM trial", "1");
    assert_answer(path, "SELECT passed FROM verification", "0");
    assert_answer(path, "SELECT time_ms > 0 AND error = 3e-4 AND may_win = 0 FROM trial_report", "1");
    assert_answer(path, "SELECT (SELECT count(*) FROM leaderboard) + (SELECT count(*) FROM best)", "0");
    result_free(&r);
    store_close(s);
}

/* Only what may win has a score: no baseline, nothing that is not eligible. */
static void test_scores(void **state)
{
    const char *path = in_folder("scores.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s);
    put_trial(s, problem, &target, campaign, 0, LIBRARY, NULL, 9);
    put_trial(s, problem, &target, campaign, -1, ALONE, NULL, 8);
    put_trial(s, problem, &target, campaign, 1, SHOWN, NULL, 1);
    assert_answer(path, "SELECT count(score_ms) FROM trial", "0");
    assert_answer(path, "SELECT group_concat(role || eligible || checked, ' ') FROM trial",
                  "baseline01 baseline00 candidate01");
    store_close(s);
}

static void test_final(void **state)
{
    const char *path = in_folder("final.db"), *scores = "SELECT group_concat(round(score_ms, 9), ' ') FROM trial";
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), t[5];
    for (int i = 0; i < 4; i++)
        t[i] =
            put_trial(s, problem, &target, campaign, i + 1, TILE, (config_choice[]){(config_choice)i, 0, 0, 0}, 1 + i);
    /* the final: 2 beats 1 at its cold times; 3 is not in it, 4 neither */
    put_cold(s, t[0], REGIME_COLD, 3.5);
    put_cold(s, t[1], REGIME_COLD, 3.2);
    put_cold(s, t[1], REGIME_SUSTAINED, 3.9);
    assert_answer(path, scores, "1.0 2.0 3.0 4.0"); /* no places yet */
    assert_ok(store_final_rank(s, campaign, t[1], 1, e));
    assert_ok(store_final_rank(s, campaign, t[0], 2, e));
    assert_answer(path, scores, "3.5 3.2 3.5 4.0");
    assert_answer(path, "SELECT group_concat(id, ' ') FROM (SELECT id FROM trial ORDER BY score_ms)", "2 1 3 4");
    assert_answer(path, "SELECT (SELECT score_ms FROM trial WHERE id = 3) > (SELECT score_ms FROM trial WHERE id = 1)",
                  "1");
    assert_answer(path, "SELECT trial_id || kernel || configuration FROM best",
                  "2tileBM=32 ALPHA=0.5 TRANSPOSED=false");
    assert_ok(store_final_rank(s, campaign, t[1], 1, e)); /* again: the same */
    assert_answer(path, scores, "3.5 3.2 3.5 4.0");
    put_cold(s, t[1], REGIME_COLD, 3.1); /* the latest measurement counts */
    assert_answer(path, scores, "3.5 3.1 3.5 4.0");

    /* placed the other way round, since cold medians so near do not decide: scores keep the places, by the least
     * amount */
    put_cold(s, t[0], REGIME_COLD, 3.11);
    assert_ok(store_final_rank(s, campaign, t[0], 1, e));
    assert_ok(store_final_rank(s, campaign, t[1], 2, e));
    assert_answer(path, scores, "3.11 3.11 3.11 4.0");
    assert_answer(path, "SELECT group_concat(id, ' ') FROM (SELECT id FROM trial ORDER BY score_ms)", "1 2 3 4");
    put_cold(s, t[0], REGIME_COLD, 3.5);
    assert_ok(store_final_rank(s, campaign, t[1], 1, e));
    assert_ok(store_final_rank(s, campaign, t[0], 2, e));
    assert_answer(path, scores, "3.5 3.1 3.5 4.0");

    /* the winner is refused on fresh inputs: it may not win any more */
    struct verification v = {
        .done = true, .reference = "fp64", .frobenius = 1e-3, .frobenius_limit = 6e-6, .elements = 32};
    assert_ok(store_verification(s, t[1], &v, e));
    assert_answer(path, "SELECT phase || passed FROM verification WHERE trial_id = 2 ORDER BY id DESC", "final0");
    assert_answer(path, scores, "3.5 3.5 4.0");
    assert_answer(path, "SELECT outcome FROM trial WHERE id = 2", "ok");
    v.frobenius = NAN;
    assert_ok(store_verification(s, t[2], &v, e));
    v = (struct verification){.done = true, .reference = "fp64", .detail = "guard of Y overwritten"};
    assert_ok(store_verification(s, t[3], &v, e));
    assert_answer(path, scores, "3.5");
    v = (struct verification){.done = true, .reference = "fp64", .elements = 32, .mismatches = 1};
    assert_ok(store_verification(s, t[0], &v, e));
    assert_answer(path, scores, "NULL");
    assert_answer(path, "SELECT frobenius_limit IS NULL FROM verification ORDER BY id DESC", "1"); /* 0 is none */

    assert_fails(LATHE_INTERNAL, "trial 77 is not one of campaign 1", store_final_rank(s, campaign, 77, 1, e));
    assert_fails(LATHE_INTERNAL, "FOREIGN KEY", store_verification(s, 77, &v, e));
    store_close(s);
}

/* Many calls as one transaction: another connection sees nothing before its end, and nothing of one that failed. */
static void test_together(void **state)
{
    const char *path = in_folder("together.db");
    struct store *s = open_store(path);
    assert_ok(store_together_begin(s, e));
    begin_campaign(s);
    begin_campaign(s);
    assert_answer(path, "SELECT count(*) FROM campaign", "0");
    assert_ok(store_together_end(s, LATHE_OK, e));
    assert_answer(path, "SELECT count(*) FROM campaign", "2");
    assert_ok(store_together_begin(s, e));
    begin_campaign(s);
    assert_int_equal(store_together_end(s, LATHE_STRATEGY, &(struct err){0}), LATHE_STRATEGY);
    assert_answer(path, "SELECT count(*) FROM campaign", "2");
    begin_campaign(s);
    assert_answer(path, "SELECT count(*) FROM campaign", "3");
    store_close(s);
}

static void test_end_settles_trials_in_flight(void **state)
{
    const char *path = in_folder("flight.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), id;
    put_trial(s, problem, &target, campaign, 1, TILE, NULL, 1);
    assert_ok(begin_trial(s, problem, &target, campaign, 2, TILE, NULL, &id, e));
    assert_fails(LATHE_INTERNAL, "CHECK", store_campaign_end(s, campaign, "exploded", NULL, e));
    assert_answer(path, "SELECT state FROM campaign", "running");
    assert_answer(path, "SELECT outcome FROM trial WHERE number = 2", "in_flight");
    assert_ok(store_campaign_end(s, campaign, "interrupted", "by the user", e));
    assert_answer(path, "SELECT group_concat(outcome || ':' || reason, ' ') FROM trial",
                  "ok: skipped:the campaign ended first");
    store_close(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_creation),
        cmocka_unit_test(test_empty_file_becomes_a_database),
        cmocka_unit_test(test_campaign_columns),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_trial_columns),
        cmocka_unit_test(test_failed_trials),
        cmocka_unit_test(test_wrong_results_and_infinities),
        cmocka_unit_test(test_inaccurate_results),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_final),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_end_settles_trials_in_flight),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
