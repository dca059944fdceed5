/* test_query.c: trials, best, campaigns, provenance: the answers, their keys and their order. */
#include "filled.h"

static const char TRIAL_KEYS[] =
    "id campaign number kernel configuration text outcome reason role eligible time_ms cold_ms "
    "sustained_ms rank error max_abs mismatches speedup tflops gbps registers local_bytes "
    "shared_bytes occupancy seconds problem operator size device device_kind tolerance inputs started energy_mj "
    "objective ran_on finals";
static const char CAMPAIGN_KEYS[] = "id problem size device device_kind strategy options seed tolerance inputs "
                                    "restrictions state note created objective recorded_seconds seconds trials ok "
                                    "devices best_ms baseline_ms speedup";

static void assert_number(const json_t *object, const char *key, double wanted)
{
    const json_t *v = json_object_get(object, key);
    if (!json_is_number(v) || !(fabs(json_number_value(v) - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%s is %g, wanted %g", key, json_number_value(v), wanted);
}

static void test_trial_object(void **state)
{
    struct query *q = open_query(db);
    json_t *list;
    assert_ok(query_best(q, &(struct query_filter){.trial = 3}, &list, e));
    assert_ids(list, "3");
    const json_t *t = json_array_get(list, 0);
    assert_keys(t, TRIAL_KEYS);
    assert_json(json_object_get(t, "configuration"), "{'BM': 128, 'ALPHA': 2.0, 'TRANSPOSED': true, 'MODE': 'safe'}");
    assert_keys(json_object_get(t, "configuration"), "BM ALPHA TRANSPOSED MODE");
    assert_json(json_object_get(t, "text"), "'BM=128 ALPHA=2.0 TRANSPOSED=true MODE=safe'");
    assert_json(json_object_get(t, "outcome"), "'ok'");
    assert_json(json_object_get(t, "reason"), "''");
    assert_json(json_object_get(t, "role"), "'candidate'");
    assert_json(json_object_get(t, "eligible"), "true");
    assert_number(t, "time_ms", 2);
    assert_number(t, "cold_ms", 3);
    assert_number(t, "sustained_ms", 3.3);
    assert_json(json_object_get(t, "rank"), "2");
    assert_number(t, "error", 3e-6);
    assert_number(t, "speedup", 3); /* 9 / 3: cold against cold, over the first baseline that is checked */
    assert_number(t, "tflops", 1024 / 3e9);
    assert_number(t, "gbps", 896 / 3e6);
    assert_json(json_object_get(t, "shared_bytes"), "3072");
    assert_json(json_object_get(t, "seconds"),
                "{'compile': 0.5, 'load': 0.01, 'verify': 0.1, 'measure': 0.2, 'strategy': 0.03, "
                "'store': 0.02, 'device': 0.35}");
    assert_json(json_object_get(t, "size"), "{'M': 4, 'N': 8, 'K': 16}");
    assert_json(json_object_get(t, "device"), "'Toy GPU'");
    assert_json(json_object_get(t, "problem"), "'toy'");
    json_decref(list);

    assert_ok(query_best(q, &(struct query_filter){.trial = 5}, &list, e)); /* verified again in the final */
    assert_number(json_array_get(list, 0), "error", 1e-6);
    assert_number(json_array_get(list, 0), "max_abs", 0.5);
    json_decref(list);
    assert_ok(
        query_best(q, &(struct query_filter){.trial = 4}, &list, e)); /* not in the final: its own time, no cold */
    assert_json(json_object_get(json_array_get(list, 0), "cold_ms"), "null");
    assert_json(json_object_get(json_array_get(list, 0), "rank"), "null");
    assert_number(json_array_get(list, 0), "speedup", 2.5);
    json_decref(list);
    query_close(q);
}

/* Trial 13 is the same configuration as 5, slower, so it is not there again; 6 is only shown. */
static void test_best_order(void **state)
{
    const struct {
        struct query_filter filter;
        const char *ids;
    } cases[] = {
        {{0}, "5 3 12 4 10"},
        {{.top = 2}, "5 3"},
        {{.top = 100}, "5 3 12 4 10"},
        {{.problem = "toy"}, "5 3 12 4 10"},
        {{.problem = "toys"}, ""},
        {{.kernel = "tile", .top = 1}, "5"},
        {{.kernel = "shown"}, ""},
        {{.kernel = "library"}, ""},
        {{.device = "Toy GPU"}, "5 3 12 4"},
        {{.device = "toy gpu"}, "5 3 12 4"},
        {{.device = "cuda"}, "5 3 12 4"},
        {{.device = "cuda:0"}, "5 3 12 4"},
        {{.device = "cuda:1"}, ""},
        {{.device = "host"}, "10"},
        {{.dims = (const char *[]){"M=5"}, .ndims = 1}, "10"},
        {{.dims = (const char *[]){"M=4", "K=16"}, .ndims = 2, .top = 1}, "5"},
        {{.dims = (const char *[]){"M=4", "K=17"}, .ndims = 2}, ""},
        {{.dims = (const char *[]){"Q=4"}, .ndims = 1}, ""},
        {{.campaign = 1}, "5 3 4"},
        {{.campaign = 3}, "11 12"},
        {{.campaign = 3, .dims = (const char *[]){"M=5"}, .ndims = 1}, ""},
        {{.campaign = 9}, ""},
        {{.trial = 12}, "12"},
        {{.trial = 6}, ""},
        {{.trial = 2}, ""},
        {{.problem = "toy", .device = "host", .kernel = "tile", .campaign = 2, .trial = 10}, "10"},
    };
    struct query *q = open_query(db);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *list;
        assert_ok(query_best(q, &cases[i].filter, &list, e));
        assert_ids(list, cases[i].ids);
        json_decref(list);
    }
    query_close(q);
}

static void test_bad_dims(void **state)
{
    static const char *const bad[] = {"M", "=4", "M=", "M=x", "M=4x", "M=0", "M=-3", "M=99999999999999999999", ""};
    struct query *q = open_query(db);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *list;
        char words[80];
        snprintf(words, sizeof words, "--size %s: expected DIM=VALUE", bad[i]);
        assert_fails(LATHE_USAGE, words, query_best(q, &(struct query_filter){.dims = &bad[i], .ndims = 1}, &list, e));
        assert_null(list);
    }
    query_close(q);
}

/* Equal scores stand in the order of time, then id: always the same. */
static void test_ties(void **state)
{
    const char *path = in_folder("ties.db");
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t campaign, winner;
    assert_ok(store_open(path, 1, &s, e));
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    winner = put_trial(s, problem, &target, campaign, 1, TILE, (config_choice[]){0, 0, 0, 0}, 2);
    put_trial(s, problem, &target, campaign, 2, TILE, (config_choice[]){1, 0, 0, 0}, 1.5);
    put_trial(s, problem, &target, campaign, 3, TILE, (config_choice[]){2, 0, 0, 0}, 1.25);
    put_trial(s, problem, &target, campaign, 4, TILE, (config_choice[]){3, 0, 0, 0}, 1.5);
    put_cold(s, winner, REGIME_COLD, 2.5);
    assert_ok(store_final_rank(s, campaign, winner, 1, e));
    store_close(s);
    struct query *q = open_query(path);
    json_t *list;
    assert_ok(query_best(q, &(struct query_filter){0}, &list, e));
    assert_ids(list, "1 3 2 4"); /* nobody stands before the winner of the final */
    json_decref(list);
    query_close(q);
}

/* What was recorded elsewhere is faster, newer, and left out where only what was measured here is asked for. */
static void test_measured(void **state)
{
    static const char *const kinds[] = {"imported", "replay"};
    const char *path = in_folder("measured.db");
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    struct target elsewhere = target;
    int64_t campaign, newest;
    assert_ok(store_open(path, 1, &s, e));
    for (int i = 0; i < 3; i++) {
        snprintf(elsewhere.device, sizeof elsewhere.device, "%s", i ? kinds[i - 1] : "cuda:0");
        snprintf(elsewhere.name, sizeof elsewhere.name, "Toy GPU%s", i ? " elsewhere" : "");
        c.target = &elsewhere;
        assert_ok(store_campaign_begin(s, &c, &campaign, e));
        put_trial(s, problem, &elsewhere, campaign, 1, TILE, (config_choice[]){0, 0, 0, 0}, 3 - i);
        if (!i) {
            struct query *empty = open_query(path);
            assert_ok(query_newest(empty, &newest, e));
            query_close(empty);
        }
    }
    store_close(s);
    struct query *q = open_query(path);
    json_t *list;
    assert_ok(query_best(q, &(struct query_filter){.measured = true}, &list, e));
    assert_ids(list, "1");
    json_decref(list);
    assert_ok(query_front(q, &(struct query_filter){.measured = true, .axes = 1u << QUERY_AXIS_time}, &list, e));
    assert_ids(list, "1");
    json_decref(list);
    assert_ok(query_best(q, &(struct query_filter){0}, &list, e));
    assert_ids(list, "3 2 1");
    json_decref(list);
    assert_ok(query_newest(q, &newest, e));
    assert_int_equal(newest, 1);
    query_close(q);
}

static void test_campaigns(void **state)
{
    struct query *q = open_query(db);
    json_t *list;
    assert_ok(query_campaigns(q, &list, e));
    assert_ids(list, "1 2 3");
    const json_t *c = json_array_get(list, 0);
    assert_keys(c, CAMPAIGN_KEYS);
    assert_json(json_object_get(c, "problem"), "'toy'");
    assert_json(json_object_get(c, "size"), "{'M': 4, 'N': 8, 'K': 16}");
    assert_json(json_object_get(c, "device"), "'Toy GPU'");
    assert_json(json_object_get(c, "strategy"), "'random'");
    assert_json(json_object_get(c, "options"), "'batch=16'");
    assert_json(json_object_get(c, "seed"), "7");
    assert_json(json_object_get(c, "state"), "'finished'");
    assert_json(json_object_get(c, "trials"), "7");
    assert_json(json_object_get(c, "ok"), "4");
    assert_number(c, "best_ms", 1.5);
    assert_number(c, "baseline_ms", 9);
    assert_number(c, "speedup", 6);
    assert_true(json_number_value(json_object_get(c, "seconds")) >= 0);
    c = json_array_get(list, 1); /* no baseline, a large seed */
    assert_json(json_object_get(c, "seed"), "'18446744073709551615'");
    assert_json(json_object_get(c, "state"), "'interrupted'");
    assert_json(json_object_get(c, "baseline_ms"), "null");
    assert_json(json_object_get(c, "speedup"), "null");
    assert_number(c, "best_ms", 8);
    c = json_array_get(list, 2); /* not ended: lasted until its last trial */
    assert_json(json_object_get(c, "state"), "'running'");
    assert_true(json_is_real(json_object_get(c, "seconds")));
    json_decref(list);
    query_close(q);
}

static void test_campaign(void **state)
{
    struct query *q = open_query(db);
    json_t *c;
    assert_ok(query_campaign(q, 1, &c, e));
    assert_keys(c, "id problem size device device_kind strategy options seed tolerance inputs restrictions state note "
                   "created objective recorded_seconds seconds trials ok devices best_ms baseline_ms speedup "
                   "baselines outcomes reasons pace drift");
    assert_ids(json_object_get(c, "trials"), "3 4 5 6 7 8 9");
    assert_ids(json_object_get(c, "baselines"), "1 2");
    assert_keys(json_array_get(json_object_get(c, "trials"), 4), TRIAL_KEYS);
    assert_json(json_object_get(c, "outcomes"), "{'ok': 4, 'constraint': 0, 'compile': 2, 'resources': 0, 'launch': 0, "
                                                "'timeout': 1, 'crash': 0, 'wrong': 0, 'inaccurate': 0, 'unstable': 0, "
                                                "'missing': 0, 'skipped': 0, 'in_flight': 0}");
    assert_json(json_object_get(c, "reasons"), "[{'outcome': 'compile', 'reason': 'expected a ;', 'count': 2}, "
                                               "{'outcome': 'timeout', 'reason': 'over 1 s', 'count': 1}]");
    const json_t *failed = json_array_get(json_object_get(c, "trials"), 4);
    static const char *const unknown[] = {"time_ms", "cold_ms", "rank",      "error",    "mismatches",
                                          "speedup", "tflops",  "registers", "occupancy"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_json(json_object_get(failed, unknown[i]), "null");
    const json_t *baseline = json_array_get(json_object_get(c, "baselines"), 1);
    assert_json(json_object_get(baseline, "role"), "'baseline'");
    assert_json(json_object_get(baseline, "eligible"), "false");
    assert_json(json_object_get(baseline, "number"), "-1");
    assert_number(baseline, "speedup", 1);
    json_decref(c);

    assert_ok(query_campaign(q, 0, &c, e)); /* the newest */
    assert_json(json_object_get(c, "id"), "3");
    assert_json(json_object_get(json_object_get(c, "outcomes"), "in_flight"), "1");
    assert_json(json_object_get(json_array_get(json_object_get(c, "trials"), 2), "outcome"), "'in_flight'");
    assert_json(json_object_get(c, "baselines"), "[]");
    assert_json(json_object_get(c, "reasons"), "[]");
    json_decref(c);
    assert_fails(LATHE_NOTHING, "there is no campaign 44", query_campaign(q, 44, &c, e));
    assert_null(c);
    query_close(q);
}

static void test_no_campaign_yet(void **state)
{
    const char *path = in_folder("fresh.db");
    struct store *s = NULL;
    json_t *j;
    assert_ok(store_open(path, 1, &s, e));
    store_close(s);
    struct query *q = open_query(path);
    assert_fails(LATHE_NOTHING, "run `lathe tune --db ", query_campaign(q, 0, &j, e));
    assert_ok(query_campaigns(q, &j, e));
    assert_json(j, "[]");
    json_decref(j);
    assert_ok(query_best(q, &(struct query_filter){0}, &j, e));
    assert_json(j, "[]");
    json_decref(j);
    query_close(q);
}

/* From the stored facts alone the problem, the kernel, the configuration and the device can be had again. */
static void test_provenance(void **state)
{
    struct query *q = open_query(db);
    json_t *j;
    struct problem *p = NULL;
    struct target t;
    config_choice choice[8] = {0};
    assert_ok(query_provenance(q, 3, &j, e));
    assert_keys(j, "trial spec target driver toolchain tool_version baselines samples");
    assert_json(json_object_get(j, "driver"), "'580'");
    assert_json(json_object_get(j, "toolchain"), "'NVRTC 13.0'");
    assert_json(json_object_get(j, "tool_version"), "'v1.2-3'");
    assert_ids(json_object_get(j, "baselines"), "1 2");
    assert_ok(problem_from_json(json_object_get(j, "spec"), "stored", NULL, &p, e));
    assert_string_equal(p->kernels[TILE].source, "__global__ void tile() {}");
    assert_ok(
        config_from_json(&p->kernels[TILE], json_object_get(json_object_get(j, "trial"), "configuration"), choice, e));
    assert_memory_equal(choice, ((config_choice[]){3, 1, 1, 1}), 4 * sizeof *choice);
    assert_ok(target_from_json(json_object_get(j, "target"), &t, e));
    assert_string_equal(t.name, "Toy GPU");
    assert_int_equal(t.limit[LIMIT_sm_count], 132);
    const json_t *samples = json_object_get(j, "samples");
    assert_int_equal(json_array_size(samples), 3);
    assert_keys(json_array_get(samples, 0), "regime median_ms low_ms high_ms count ms");
    assert_json(json_object_get(json_array_get(samples, 0), "regime"), "'trial'");
    assert_int_equal(json_array_size(json_object_get(json_array_get(samples, 0), "ms")), 3);
    assert_json(json_object_get(json_array_get(samples, 2), "ms"), "[3.3]");
    json_decref(j);
    problem_free(p);
    assert_fails(LATHE_NOTHING, "there is no trial 99", query_provenance(q, 99, &j, e));
    query_close(q);
}

static void test_damaged_facts(void **state)
{
    const char *path = in_folder("changed.db");
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t campaign;
    json_t *j;
    assert_ok(store_open(path, 1, &s, e));
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    put_trial(s, problem, &target, campaign, 1, TILE, NULL, 1);
    store_close(s);
    meddle(path, "PRAGMA ignore_check_constraints = 1; UPDATE problem SET specification = '{\"a\":'");
    struct query *q = open_query(path);
    assert_fails(LATHE_STORE, "the stored specification is not JSON", query_provenance(q, 1, &j, e));
    assert_null(j);
    query_close(q);
}

/* `best` over many trials walks an index: neither the answer nor the time may depend on sorting all of them. */
static void test_many_trials(void **state)
{
    const char *path = in_folder("many.db");
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t campaign;
    assert_ok(store_open(path, 1, &s, e));
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    put_trial(s, problem, &target, campaign, 1, TILE, NULL, 1);
    store_close(s);
    meddle(path,
           "PRAGMA synchronous = OFF; WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
           "INSERT INTO trial (campaign_id, number, role, eligible, checked, kernel, configuration, outcome, time_ms, "
           "score_ms, image_key, started) SELECT 1, i, 'candidate', 1, 1, 'tile', 'BM=' || (i % 9000), 'ok', "
           "1 + (i * 7919) % 30011, 1 + (i * 7919) % 30011, '', '' FROM n");
    struct query *q = open_query(path);
    json_t *best, *all;
    assert_ok(query_best(q, &(struct query_filter){.problem = "toy", .device = "cuda", .top = 20}, &best, e));
    assert_ok(
        query_sql(q, "SELECT trial_id FROM leaderboard WHERE place <= 20 ORDER BY place", &all, e)); /* by sorting */
    assert_int_equal(json_array_size(best), 20);
    for (size_t i = 0; i < 20; i++)
        assert_true(json_equal(json_object_get(json_array_get(best, i), "id"),
                               json_array_get(json_array_get(json_object_get(all, "rows"), i), 0)));
    json_decref(best);
    json_decref(all);
    query_close(q);
}

/* Two sizes of a problem, each with its own front; ids are the order of the list. */
static void test_front(void **state)
{
    static const struct {
        int size, kernel;
        int64_t number;
        enum outcome outcome;
        double ms, error;
        const char *why;
    } trials[] = {
        {4, TILE, 1, OUTCOME_inaccurate, 1.0, 1e-3, "on it: the fastest"},
        {4, TILE, 2, OUTCOME_ok, 2.0, 1e-6, "as fast as the fourth, which is more accurate"},
        {4, TILE, 3, OUTCOME_ok, 3.0, 1e-7, "as accurate as the fourth, which is faster"},
        {4, TILE, 4, OUTCOME_ok, 2.0, 1e-7, "on it"},
        {4, SHOWN, 5, OUTCOME_ok, 2.5, 1e-8, "on it, though it may not win"},
        {4, TILE, 6, OUTCOME_wrong, 0.5, 1e-9, "wrong"},
        {4, TILE, 7, OUTCOME_ok, 9.0, 1e-9, "on it: the most accurate"},
        {4, LIBRARY, -1, OUTCOME_ok, 0.1, 1e-9, "a baseline"},
        {4, TILE, 8, OUTCOME_ok, 0.9, 2e-9, "refused by the final"},
        {4, TILE, 9, OUTCOME_ok, 0.8, NAN, "its error is not known"},
        {4, TILE, 10, OUTCOME_ok, 11.0, 1e-10, "the configuration of the seventh once more"},
        {5, TILE, 1, OUTCOME_ok, 5.0, 1e-6, "on it: of another size"},
    };
    const char *path = in_folder("front.db");
    struct store *s = NULL;
    struct problem *larger = toy_problem("__global__ void tile() {}");
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t campaign = 0, id;
    assert_ok(problem_set_dim(larger, "M", 5, e));
    assert_ok(store_open(path, 1, &s, e));
    for (int i = 0; i < (int)(sizeof trials / sizeof *trials); i++) {
        const struct problem *p = trials[i].size == 5 ? larger : problem;
        struct result r = good_result(trials[i].ms);
        int n = (int)trials[i].number;
        c.problem = p;
        if (i == 0 || trials[i].size != trials[i - 1].size)
            assert_ok(store_campaign_begin(s, &c, &campaign, e));
        r.outcome = trials[i].outcome;
        r.verification.frobenius = trials[i].error;
        int m = n == 10 ? 7 : n;
        config_choice choice[] = {(config_choice)(m % 4), m == 7, m > 3 && m < 7, m > 7};
        assert_ok(begin_trial(s, p, &target, campaign, n, trials[i].kernel, n > 0 ? choice : NULL, &id, e));
        assert_int_equal(id, i + 1);
        assert_ok(store_trial_end(s, id, &r, e));
        if (n == 8) {
            r.verification.mismatches = 3;
            assert_ok(store_verification(s, id, &r.verification, e));
        }
        result_free(&r);
    }
    store_close(s);
    struct query *q = open_query(path);
    const struct {
        struct query_filter filter;
        const char *ids;
    } cases[] = {
        {{0}, "1 4 5 7 12"},
        {{.dims = (const char *[]){"M=4"}, .ndims = 1}, "1 4 5 7"},
        {{.dims = (const char *[]){"M=5"}, .ndims = 1}, "12"},
        {{.top = 2}, "1 4"},
        {{.kernel = "shown"}, "5"},
        {{.problem = "toys"}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *list;
        assert_ok(query_front(q, &cases[i].filter, &list, e));
        assert_ids(list, cases[i].ids);
        if (json_array_size(list))
            assert_keys(json_array_get(list, 0), TRIAL_KEYS);
        json_decref(list);
    }
    query_close(q);
    problem_free(larger);
}

/* The last trials, how the best fell, and lookups by configuration: what a campaign of any size is shown by. */
static void test_parts_of_a_campaign(void **state)
{
    struct query *q = open_query(db);
    json_t *c, *texts;
    assert_ok(query_campaign_last(q, 1, 2, &c, e));
    assert_int_equal(json_array_size(json_object_get(c, "last")), 2);
    assert_json(json_object_get(json_array_get(json_object_get(c, "last"), 1), "number"), "7");
    assert_json(json_object_get(json_array_get(json_object_get(c, "last"), 0), "number"), "6");
    assert_json(json_object_get(c, "trials"), "7");
    assert_json(json_object_get(c, "falls"), "[[1, 2.0]]");    /* 3 is slower, 4 may not win */
    json_decref(c);
    texts = json_pack("[s, s]", "BM=128 ALPHA=2.0 TRANSPOSED=true MODE=safe", "BM=7");
    struct query_neighbours asked = {.campaign = 1, .kernel = "tile", .configurations = texts};
    assert_ok(query_neighbours(q, &asked, &c, e));
    assert_int_equal(json_array_size(json_object_get(c, "trials")), 1);
    assert_json(json_object_get(json_array_get(json_object_get(c, "trials"), 0), "trial"), "3");
    assert_json(json_object_get(c, "flops"), "1024.0");
    json_decref(c);
    json_decref(texts);
    int64_t id;
    assert_ok(query_newest(q, &id, e));
    assert_int_equal(id, 3);
    query_close(q);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_a_campaign),
        cmocka_unit_test(test_trial_object),
        cmocka_unit_test(test_best_order),
        cmocka_unit_test(test_bad_dims),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_front),
        cmocka_unit_test(test_campaigns),
        cmocka_unit_test(test_campaign),
        cmocka_unit_test(test_no_campaign_yet),
        cmocka_unit_test(test_provenance),
        cmocka_unit_test(test_damaged_facts),
        cmocka_unit_test(test_many_trials),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
