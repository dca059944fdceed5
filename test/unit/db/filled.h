/* filled.h: a database with three campaigns, and comparisons of JSON, for the tests of db/query.h. */
#ifndef LATHE_TEST_DB_FILLED_H
#define LATHE_TEST_DB_FILLED_H

#include "fixture.h"

static struct problem *problem;
static struct target target;
static char db[256];   /* the database that most tests ask */

/* Campaign 1: baselines, a final, failures. Campaign 2: size M=5 on another device. Campaign 3: as 1, without a
 * final, repeating a configuration; it does not end. */
static inline void fill(void)
{
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    struct problem *larger = toy_problem("__global__ void tile() {}");
    struct target host = {.device = "host", .name = "Some CPU", .arch = "host", .toolchain = "g++ 12"};
    int64_t campaign, id;
    assert_ok(problem_set_dim(larger, "M", 5, e));
    assert_ok(store_open(db, 1, &s, e));
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    put_trial(s, problem, &target, campaign, 0, ALONE, NULL, 7); /* id 1: not checked */
    int64_t library = put_trial(s, problem, &target, campaign, -1, LIBRARY, NULL, 10);
    int64_t first = put_trial(s, problem, &target, campaign, 1, TILE, (config_choice[]){3, 1, 1, 1}, 2);
    put_trial(s, problem, &target, campaign, 2, TILE, (config_choice[]){0, 0, 0, 0}, 4);
    int64_t third = put_trial(s, problem, &target, campaign, 3, TILE, (config_choice[]){1, 0, 0, 0}, 2.5);
    put_trial(s, problem, &target, campaign, 4, SHOWN, NULL, 1); /* fast, but only shown */
    for (int n = 5; n < 8; n++) {
        struct result r;
        result_init(&r);
        r.outcome = n == 7 ? OUTCOME_timeout : OUTCOME_compile;
        snprintf(r.reason, sizeof r.reason, n == 7 ? "over 1 s" : "expected a ;");
        assert_ok(begin_trial(s, problem, &target, campaign, n, TILE, NULL, &id, e));
        assert_ok(store_trial_end(s, id, &r, e));
    }
    put_cold(s, library, REGIME_COLD, 9);
    put_cold(s, first, REGIME_COLD, 3);
    put_cold(s, first, REGIME_SUSTAINED, 3.3);
    put_cold(s, third, REGIME_COLD, 1.5);
    assert_ok(store_final_rank(s, campaign, third, 1, e));
    assert_ok(store_final_rank(s, campaign, first, 2, e));
    struct verification v = {.done = true, .reference = "fp64", .frobenius = 1e-6, .max_abs = 0.5, .elements = 32};
    assert_ok(store_verification(s, third, &v, e));
    assert_ok(store_campaign_end(s, campaign, "finished", NULL, e));

    c.problem = larger;
    c.target = &host;
    c.seed = UINT64_MAX;
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    put_trial(s, larger, &host, campaign, 1, TILE, NULL, 8);
    assert_ok(store_campaign_end(s, campaign, "interrupted", "Ctrl-C", e));

    c.problem = problem;
    c.target = &target;
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    put_trial(s, problem, &target, campaign, 1, TILE, (config_choice[]){1, 0, 0, 0},
              1.75); /* as number 3 of campaign 1 */
    put_trial(s, problem, &target, campaign, 2, TILE, (config_choice[]){2, 0, 0, 0}, 3);
    assert_ok(begin_trial(s, problem, &target, campaign, 3, TILE, NULL, &id, e));
    store_close(s);
    problem_free(larger);
}

static inline int set_up(void **state)
{
    if (make_folder(state))
        return -1;
    problem = toy_problem("__global__ void tile() {}");
    target = toy_target();
    snprintf(db, sizeof db, "%s/lathe.db", folder);
    fill();
    return 0;
}

static inline int tear_down(void **state)
{
    problem_free(problem);
    return remove_folder(state);
}

static inline struct query *open_query(const char *path)
{
    struct query *q = NULL;
    assert_ok(query_open(path, &q, e));
    assert_non_null(q);
    return q;
}

/* Compares with JSON written with single quotes. */
static inline void assert_json(const json_t *got, const char *wanted)
{
    char *text = quoted(wanted);
    json_error_t error;
    json_t *want = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!want)
        fail_msg("%s: %s", text, error.text);
    if (!json_equal(got, want)) {
        char *dump = json_dumps(got, JSON_ENCODE_ANY);
        fail_msg("got %s\nwanted %s", dump, text);
    }
    json_decref(want);
    mem_free(text);
}

/* The keys in their order, by spaces. */
static inline void assert_keys(const json_t *object, const char *wanted)
{
    struct strbuf b = {0};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
        sb_addf(&b, "%s%s", b.len ? " " : "", key);
    assert_string_equal(sb_str(&b), wanted);
    sb_free(&b);
}

/* The trials' ids in their order. */
static inline void assert_ids(const json_t *trials, const char *wanted)
{
    struct strbuf b = {0};
    assert_true(json_is_array(trials));
    for (size_t i = 0; i < json_array_size(trials); i++)
        sb_addf(&b, "%s%lld", i ? " " : "",
                (long long)json_integer_value(json_object_get(json_array_get(trials, i), "id")));
    assert_string_equal(sb_str(&b), wanted);
    sb_free(&b);
}

#endif
