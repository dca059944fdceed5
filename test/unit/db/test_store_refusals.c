/* test_store_refusals.c: what a final refused wins in no campaign: earlier, later, in a file of an older version; what
 * is not the same is not touched; the newest final decides. */
#include "filled.h"
#include "older.h"

#include "db/sqlite_util.h"

static const config_choice A[] = {0, 0, 0, 0}, B[] = {1, 0, 0, 0};

/* What differs from the first campaign of a test. */
struct place {
    const char *from, *to;              /* in the specification; NULL: nothing */
    const char *source;                 /* NULL: the usual */
    const char *driver, *name;
    enum inputs inputs;
    int size;                           /* 0: the usual */
    bool looser;
};

/* `text` with the first (or every) `from` as `to`; `text` is freed. */
static char *replaced(char *text, const char *from, const char *to, bool every)
{
    struct strbuf b = {0};
    char *at = strstr(text, from), *rest = text;
    assert_non_null(at);
    for (; at && (every || rest == text); at = strstr(rest, from)) {
        sb_addn(&b, rest, (size_t)(at - rest));
        sb_add(&b, to);
        rest = at + strlen(from);
    }
    sb_add(&b, rest);
    mem_free(text);
    return sb_take(&b);
}

static struct problem *problem_at(const struct place *at)
{
    struct err wrong = {0};
    struct problem *p = NULL;
    char *text = replaced(mem_strdup(TOY), "SOURCE", at->source ? at->source : "__global__ void tile() {}", true);
    if (at->from)
        text = replaced(text, at->from, at->to, false);
    char *json = quoted(text);
    json_t *j = json_loads(json, 0, NULL);
    assert_non_null(j);
    if (problem_from_json(j, "toy.lua", NULL, &p, &wrong))
        fail_msg("%s", wrong.text);
    json_decref(j);
    mem_free(json);
    mem_free(text);
    if (at->size)
        assert_ok(problem_set_dim(p, "M", at->size, e));
    if (at->looser)
        assert_ok(problem_set_tolerance(p, "rtol=1e-2", e));
    return p;
}

/* A campaign of A, faster, and B; *a is A's trial. */
static int64_t run_at(struct store *s, const struct place *at, int64_t *a)
{
    struct problem *p = problem_at(at);
    struct target t = toy_target();
    int64_t campaign;
    snprintf(t.driver, sizeof t.driver, "%s", at->driver ? at->driver : "580");
    snprintf(t.name, sizeof t.name, "%s", at->name ? at->name : "Toy GPU");
    struct campaign_record c = toy_campaign(p, &t);
    c.inputs = at->inputs;
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    *a = put_trial(s, p, &t, campaign, 1, TILE, A, 1);
    put_trial(s, p, &t, campaign, 2, TILE, B, 2);
    problem_free(p);
    return campaign;
}

static void refuse(struct store *s, int64_t trial)
{
    struct verification v = {.done = true, .reference = "fp64", .mismatches = 3, .detail = "3 differ", .elements = 32};
    assert_ok(store_verification(s, trial, &v, e));
}

/* The best trials of the file by `lathe best`, and by the view. */
static void assert_best(const char *path, const struct query_filter *f, const char *ids)
{
    struct query *q = open_query(path);
    json_t *best = NULL;
    assert_ok(query_best(q, f, &best, e));
    assert_ids(best, ids);
    json_decref(best);
    query_close(q);
}

static const char SCORED[] = "SELECT coalesce(group_concat(id, ' '), '') FROM "
                             "(SELECT id FROM trial WHERE score_ms IS NOT NULL ORDER BY id)";

static void test_later_and_earlier(void **state)
{
    const char *path = in_folder("refused.db");
    struct store *s = NULL;
    int64_t first, second, third;
    assert_ok(store_open(path, 1, &s, e));
    run_at(s, &(struct place){0}, &first);      /* trials 1 and 2: before */
    run_at(s, &(struct place){0}, &second);     /* 3 and 4: its final refuses A */
    assert_answer(path, SCORED, "1 2 3 4");
    refuse(s, second);
    assert_answer(path, SCORED, "2 4");
    run_at(s, &(struct place){0}, &third);      /* 5 and 6: after */
    store_close(s);
    assert_answer(path, SCORED, "2 4 6");
    assert_best(path, &(struct query_filter){.top = 5}, "2");
    assert_best(path, &(struct query_filter){.campaign = 3, .top = 5}, "6");
    assert_best(path, &(struct query_filter){0}, "2");
    assert_answer(path, "SELECT group_concat(trial_id, ' ') FROM best", "2");
    assert_answer(path, "SELECT group_concat(trial_id, ' ') FROM leaderboard", "2");
    assert_answer(path, "SELECT group_concat(id || ' ' || refused_by, ', ') FROM trial WHERE refused_by", "1 3, 5 3");
    assert_answer(path, "SELECT reason || ' ' || may_win FROM trial_report WHERE trial_id = 5",
                  "refused by the final of campaign 2 (trial 3): 3 differ 0");
    assert_answer(path, "SELECT reason FROM trial_report WHERE trial_id = 3", "refused by the final: 3 differ");
    struct query *q = open_query(path);
    json_t *j = NULL;
    assert_ok(query_campaign_summary(q, 3, &j, e));
    assert_json(json_object_get(j, "reasons"),
                "[{'outcome':'ok','reason':'refused by the final of campaign 2 (trial 3): 3 differ','count':1}]");
    json_decref(j);
    assert_ok(query_earlier(q, &(struct query_earlier){(const char *[]){"tile"}, 1, 9, 9, false, 0}, &j, e));
    assert_int_equal(json_array_size(j), 3);
    json_decref(j);
    assert_ok(query_report(q, &(struct query_report){.campaign = 3, .samples = 9}, &j, e));
    char *text = json_dumps(j, 0);
    assert_non_null(strstr(text, "refused by the final of campaign 2 (trial 3): 3 differ"));
    free(text);
    json_decref(j);
    query_close(q);
}

static void test_what_is_the_same(void **state)
{
    static const struct {
        struct place at;
        const char *what;
        bool same;
    } cases[] = {
        {{0}, "all", true},
        {{.driver = "590"}, "another driver", true},
        {{.from = "Y = s z", .to = "said otherwise"}, "another summary", true},
        {{.from = "[16,32,64,128]", .to = "[16,32,64,128,256]"}, "one value more", true},
        {{.source = "__global__ void tile() { }"}, "the source", false},
        {{.from = "'block':32", .to = "'block':64"}, "its launch", false},
        {{.from = "'s * z'", .to = "'s + z'"}, "what is computed", false},
        {{.size = 5}, "the size", false},
        {{.name = "Other GPU"}, "the device", false},
        {{.inputs = INPUTS_wide}, "the inputs", false},
        {{.looser = true}, "the tolerance", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int after = 0; after < 2; after++) {
            char *name = mem_printf("same%zu-%d.db", i, after);
            const char *path = in_folder(name);
            struct store *s = NULL;
            int64_t refused, other;
            assert_ok(store_open(path, 1, &s, e));
            if (!after)
                run_at(s, &cases[i].at, &other);
            run_at(s, &(struct place){0}, &refused);
            refuse(s, refused);
            if (after)
                run_at(s, &cases[i].at, &other);
            store_close(s);
            char *sql = mem_printf("SELECT score_ms IS NULL FROM trial WHERE id = %d", (int)other);
            if (atoi(ask(path, sql)) != cases[i].same)
                fail_msg("%s, %s: %s", cases[i].what, after ? "after" : "before", cases[i].same ? "wins" : "is out");
            mem_free(sql);
            mem_free(name);
        }
}

static void test_the_newest_final_decides(void **state)
{
    const char *path = in_folder("newest.db");
    struct store *s = NULL;
    int64_t first, second, third, fourth;
    assert_ok(store_open(path, 1, &s, e));
    run_at(s, &(struct place){0}, &first);
    refuse(s, first);
    run_at(s, &(struct place){0}, &second);
    int64_t campaign = run_at(s, &(struct place){0}, &third);
    assert_answer(path, SCORED, "2 4 6");
    struct stored_trial found;
    bool there;
    assert_ok(store_trial_find(s, campaign, 1, &found, &there, e));
    assert_true(there && !found.refused);       /* a campaign that goes on may have it in its final */
    sb_free(&found.configuration);
    put_cold(s, third, REGIME_COLD, 1.5);
    put_cold(s, third + 1, REGIME_COLD, 2.5);
    assert_ok(store_final_rank(s, campaign, third, 1, e));
    assert_ok(store_final_rank(s, campaign, third + 1, 2, e));
    assert_answer(path, SCORED, "2 3 4 5 6");   /* its own final refused the first */
    assert_answer(path, "SELECT score_ms FROM trial WHERE id = 5", "1.5");
    assert_answer(path, "SELECT count(refused_by) + (SELECT count(*) FROM refusal) FROM trial", "0");
    run_at(s, &(struct place){0}, &fourth);
    assert_answer(path, SCORED, "2 3 4 5 6 7 8");
    refuse(s, fourth);
    store_close(s);
    assert_answer(path, SCORED, "2 4 6 8");
    assert_best(path, &(struct query_filter){.campaign = campaign, .top = 3}, "6");
}

/* What the machine may have done at that moment refuses it in its own campaign only: in an older file, too. */
static void test_what_says_nothing_of_the_configuration(void **state)
{
    static const struct {
        const char *detail;
        bool everywhere;
    } cases[] = {{"y[0] got 1, wanted 2", true},          {"wrong: with warps that pause at random", true},
                 {"crash: illegal address", true},        {"timeout: no result within 60 s", true},
                 {"inaccurate: error 3.1e-04", true},     {"unstable: the times vary", false},
                 {"launch: out of memory", false},        {"resources: too much memory", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = mem_printf("detail%zu.db", i), *older = mem_printf("older%zu.db", i);
        const char *path = in_folder(name), *wanted = cases[i].everywhere ? "2 4 6" : "1 2 4 5 6";
        struct store *s = NULL;
        int64_t id;
        struct verification v = {.reference = "fp64"};
        snprintf(v.detail, sizeof v.detail, "%s", cases[i].detail);
        assert_ok(store_open(path, 1, &s, e));
        run_at(s, &(struct place){0}, &id);
        run_at(s, &(struct place){0}, &id);
        assert_ok(store_verification(s, id, &v, e));
        run_at(s, &(struct place){0}, &id);
        store_close(s);
        assert_answer(path, SCORED, wanted);
        path = as_version(5, path, older);
        meddle(path, "UPDATE trial SET score_ms = time_ms WHERE id IN (1, 5)");
        assert_ok(store_open(path, 1, &s, e));
        store_close(s);
        assert_answer(path, SCORED, wanted);
        mem_free(name);
        mem_free(older);
    }
}

/* As version 5 left it: there a later trial has its score. */
static void test_from_the_fifth_version(void **state)
{
    const char *path = in_folder("sixth.db");
    struct store *s = NULL;
    int64_t first, second, third, fourth;
    assert_ok(store_open(path, 1, &s, e));
    run_at(s, &(struct place){0}, &first);              /* 1, 2 */
    refuse(s, first);
    run_at(s, &(struct place){0}, &second);             /* 3, 4 */
    run_at(s, &(struct place){.size = 5}, &third);      /* 5, 6: refused, and then not */
    refuse(s, third);
    int64_t campaign = run_at(s, &(struct place){.size = 5}, &fourth);  /* 7, 8 */
    put_cold(s, fourth, REGIME_COLD, 1.5);
    assert_ok(store_final_rank(s, campaign, fourth, 1, e));
    store_close(s);
    assert_answer(path, SCORED, "2 4 6 7 8");
    path = as_version(5, path, "fifth.db");
    meddle(path, "UPDATE trial SET score_ms = time_ms WHERE id = 3; UPDATE trial SET behind = 1 WHERE id = 4");
    assert_best(path, &(struct query_filter){.dims = (const char *[]){"M=4"}, .ndims = 1}, "3 2");
    assert_ok(store_open(path, 1, &s, e));
    store_close(s);
    assert_answer(path, SCORED, "2 4 6 7 8");
    assert_answer(path, "SELECT count(*) FROM trial WHERE behind", "0");
    assert_answer(path, "SELECT group_concat(trial_id) FROM refusal", "1");
    assert_answer(path, "SELECT group_concat(id || ' ' || refused_by) FROM trial WHERE refused_by", "3 1");
    assert_best(path, &(struct query_filter){.dims = (const char *[]){"M=4"}, .ndims = 1, .top = 3}, "2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_and_earlier),
        cmocka_unit_test(test_what_is_the_same),
        cmocka_unit_test(test_the_newest_final_decides),
        cmocka_unit_test(test_what_says_nothing_of_the_configuration),
        cmocka_unit_test(test_from_the_fifth_version),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
