/* test_store_leaders.c: which trials are marked as behind, and that what asks for the best gets what sorting all trials
 * gives, however a campaign's scores came to be. */
#include "writing.h"

#include "db/sqlite_util.h"

enum { VALUES = 500 };

static void replace(char **text, const char *from, const char *to)
{
    char *at = strstr(*text, from);
    assert_non_null(at);
    char *all = mem_printf("%.*s%s%s", (int)(at - *text), *text, to, at + strlen(from));
    mem_free(*text);
    *text = all;
}

/* As toy_problem, but with two kernels that may win, each of as many configurations as BM has values. */
static struct problem *wide_problem(void)
{
    struct err wrong = {0};
    struct problem *p = NULL;
    struct strbuf values = {0};
    for (int i = 0; i < VALUES; i++)
        sb_addf(&values, "%s%d", i ? "," : "", i);
    char *text = mem_strdup(TOY), *one = mem_printf("'BM',[%s]", sb_str(&values));
    char *other = mem_printf("'params':[{'#':['BM',[%s]]}],", sb_str(&values));
    replace(&text, "'BM',[16,32,64,128]", one);
    replace(&text, "'eligible':false,", other);
    for (int kernel = 0; kernel < 2; kernel++)
        replace(&text, "SOURCE", "__global__ void tile() {}");
    char *json = quoted(text);
    json_t *j = json_loads(json, 0, NULL);
    assert_non_null(j);
    if (problem_from_json(j, "wide.lua", NULL, &p, &wrong))
        fail_msg("%s", wrong.text);
    json_decref(j);
    mem_free(json);
    mem_free(text);
    mem_free(one);
    mem_free(other);
    sb_free(&values);
    return p;
}

static struct problem *wide;

static int set_up_wide(void **state)
{
    wide = wide_problem();
    return set_up(state);
}

static int tear_down_wide(void **state)
{
    problem_free(wide);
    return tear_down(state);
}

static int64_t begin_wide(struct store *s)
{
    struct campaign_record c = toy_campaign(wide, &target);
    int64_t id = 0;
    c.kernels = "tile shown";
    assert_ok(store_campaign_begin(s, &c, &id, e));
    return id;
}

/* Trials number first to last: their times come in no order, some are equal, each third is of the other, slower kernel,
 * and configurations repeat. */
static void put_trials(struct store *s, int64_t campaign, int first, int last)
{
    for (int i = first; i <= last; i++) {
        bool other = i % 3 == 0;
        config_choice choice[4] = {(config_choice)(i * 271 % VALUES)};
        put_trial(s, wide, &target, campaign, i, other ? SHOWN : TILE, choice, 1 + i * 7919 % 401 * 0.01 + other * 3);
    }
}

static char *ids_by_query(const char *path, const struct query_filter *f)
{
    struct query *q;
    json_t *list;
    struct strbuf b = {0};
    assert_ok(query_open(path, &q, e));
    assert_ok(query_best(q, f, &list, e));
    sb_add(&b, "");
    for (size_t i = 0; i < json_array_size(list); i++)
        sb_addf(&b, "%lld ", (long long)json_integer_value(json_object_get(json_array_get(list, i), "id")));
    json_decref(list);
    query_close(q);
    return sb_take(&b);
}

static char *ids_by_sorting(const char *path, const struct query_filter *f)
{
    char *kernel = f->kernel ? mem_printf("kernel = '%s'", f->kernel) : mem_strdup("true");
    char *campaign = f->campaign ? mem_printf("campaign_id = %lld", (long long)f->campaign) : mem_strdup("true");
    char *sql = mem_printf("SELECT coalesce(group_concat(id, ' ') || ' ', '') FROM (SELECT id FROM (SELECT *, "
                           "row_number() OVER (PARTITION BY "
                           "kernel, configuration ORDER BY score_ms, time_ms, id) AS r FROM trial WHERE score_ms IS "
                           "NOT NULL AND %s AND %s) "
                           "WHERE r = 1 ORDER BY score_ms, time_ms, id LIMIT %d)",
                           kernel, campaign, f->top ? f->top : -1);
    char *answer = mem_strdup(ask(path, sql));
    mem_free(sql);
    mem_free(kernel);
    mem_free(campaign);
    return answer;
}

/* `best` of every length, kernel and campaign; earlier results; the view; the best of a campaign; what was verified. */
static void assert_best(const char *path)
{
    static const int tops[] = {1, 10, STORE_LEADERS - 1, STORE_LEADERS, STORE_LEADERS + 1, 150, 0};
    static const char *const kernels[] = {NULL, "tile", "shown", "none"};
    for (size_t t = 0; t < sizeof tops / sizeof *tops; t++)
        for (int k = 0; k < 4; k++)
            for (int campaign = 0; campaign < 3; campaign++) {
                struct query_filter f = {.kernel = kernels[k], .campaign = campaign, .top = tops[t]};
                char *got = ids_by_query(path, &f), *wanted = ids_by_sorting(path, &f);
                assert_string_equal(got, wanted);
                mem_free(got);
                mem_free(wanted);
            }
    assert_answer(path, "SELECT count(*) FROM best b, (SELECT id, min(score_ms) FROM trial) t WHERE b.trial_id <> t.id",
                  "0");
    struct query *q;
    json_t *list;
    struct query_earlier asked = {(const char *[]){"shown"}, 1, .campaigns = 1};
    assert_ok(query_open(path, &q, e));
    for (asked.top = 5; asked.top <= 500; asked.top += 85) {
        assert_ok(query_earlier(q, &asked, &list, e));
        char *sql = mem_printf(
            "SELECT coalesce(group_concat(score_ms, ' '), '') FROM (SELECT score_ms FROM trial WHERE kernel = 'shown' "
            "AND "
            "score_ms IS NOT NULL AND campaign_id = (SELECT max(id) FROM campaign) ORDER BY score_ms LIMIT %d)",
            asked.top);
        const char *text = ask(path, sql);
        for (size_t i = 0; i < json_array_size(list); i++) {
            double score = strtod(text, (char **)&text);
            assert_true(fabs(score - json_number_value(json_object_get(json_array_get(list, i), "score_ms"))) < 1e-12);
        }
        assert_string_equal(text, "");
        mem_free(sql);
        json_decref(list);
    }
    assert_ok(query_conditions(q, &(struct query_filter){.kernel = "shown"}, &list, e));
    assert_int_equal(json_array_size(list),
                     atoi(ask(path, "SELECT count(score_ms) > 0 FROM trial WHERE kernel = 'shown'")));
    json_decref(list);
    /* no campaign is left out, whichever of its trials are among the leaders */
    assert_ok(query_places(q, &(struct query_filter){.kernel = "shown"}, &list, e));
    char *campaigns = mem_strdup("");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *place = json_array_get(list, i);
        char *longer = mem_printf("%s%s%lld", campaigns, i ? " " : "",
                                  (long long)json_integer_value(json_object_get(place, "campaign")));
        mem_free(campaigns);
        campaigns = longer;
        assert_string_equal(json_string_value(json_object_get(place, "problem")),
                            ask(path, "SELECT name FROM problem LIMIT 1"));
    }
    assert_string_equal(campaigns,
                        ask(path, "SELECT coalesce(group_concat(campaign_id, ' '), '') FROM (SELECT DISTINCT "
                                  "campaign_id FROM trial WHERE kernel = 'shown' AND score_ms IS NOT NULL "
                                  "ORDER BY campaign_id DESC)"));
    mem_free(campaigns);
    json_decref(list);
    query_close(q);
}

static const char MISSED[] = /* of the best of each campaign and kernel, and of the final: those that are marked */
    "SELECT count(*) FROM (SELECT *, row_number() OVER (PARTITION BY campaign_id, kernel ORDER BY score_ms, time_ms, "
    "id) AS p "
    "FROM trial WHERE score_ms IS NOT NULL) WHERE behind AND (p <= 64 OR final_rank)";

static void test_marks(void **state)
{
    const char *path = in_folder("marks.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_wide(s);
    put_trials(s, campaign, 1, STORE_LEADERS);
    assert_answer(path, "SELECT count(behind) FROM trial", "0");
    assert_ok(store_together_begin(s, e));
    put_trials(s, campaign, STORE_LEADERS + 1, 900);
    assert_ok(store_together_end(s, LATHE_OK, e));
    assert_answer(path, MISSED, "0");
    /* k (1 + ln(n / k)) in the mean, 233 of 600 and 164 of 300: what comes in no order makes few entries */
    assert_answer(path, "SELECT count(*) BETWEEN 350 AND 450 FROM trial WHERE behind IS NULL", "1");
    int64_t second = begin_wide(s);
    put_trials(s, second, 1, 30);
    assert_best(path);
    store_close(s);
    s = open_store(path);   /* what is in memory is read again */
    put_trials(s, second, 31, 400);
    assert_answer(path, MISSED, "0");
    assert_best(path);
    store_close(s);
}

/* A campaign that only finds better ones, and one that only finds worse. */
static void test_in_order(void **state)
{
    const char *path = in_folder("order.db");
    struct store *s = open_store(path);
    int64_t better = begin_wide(s), worse = begin_wide(s);
    for (int i = 1; i <= 200; i++) {
        config_choice choice[4] = {(config_choice)i};
        put_trial(s, wide, &target, better, i, TILE, choice, 1000 - i);
        put_trial(s, wide, &target, worse, i, TILE, choice, i);
    }
    store_close(s);
    assert_answer(path, "SELECT group_concat(n) FROM (SELECT count(behind) AS n FROM trial GROUP BY campaign_id)",
                  "0,136");
    assert_answer(path, MISSED, "0");
    assert_best(path);
}

/* One configuration again and again: the second best is further behind than is looked at first. */
static void test_repeated(void **state)
{
    const char *path = in_folder("repeated.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_wide(s);
    assert_ok(store_together_begin(s, e));
    for (int i = 1; i <= 1500; i++)
        put_trial(s, wide, &target, campaign, i, TILE, (config_choice[4]){i == 1500}, 1 + i * 0.001);
    assert_ok(store_together_end(s, LATHE_OK, e));
    store_close(s);
    assert_best(path);
}

/* What the final refuses makes room for others; what it ranks is no longer behind; and resuming undoes both. */
static void test_final(void **state)
{
    const char *path = in_folder("final.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_wide(s);
    put_trials(s, campaign, 1, 700);
    struct verification bad = {.done = true, .mismatches = 1, .detail = "wrong"};
    for (int i = 0; i < 20; i++) {
        int64_t id = strtoll(
            ask(path, "SELECT id FROM trial WHERE score_ms IS NOT NULL ORDER BY score_ms, time_ms, id"), NULL, 10);
        assert_ok(store_verification(s, id, &bad, e));
        assert_answer(path, MISSED, "0");
    }
    assert_best(path);
    /* two finalists, one of them from far behind, the other slower when cold than many that were not in the final */
    int64_t far = strtoll(ask(path, "SELECT id FROM trial WHERE behind ORDER BY score_ms DESC"), NULL, 10);
    int64_t first = strtoll(ask(path, "SELECT id FROM trial WHERE score_ms IS NOT NULL ORDER BY score_ms"), NULL, 10);
    put_cold(s, far, REGIME_COLD, 2);
    put_cold(s, first, REGIME_COLD, 4.5);
    assert_ok(store_final_rank(s, campaign, far, 1, e));
    assert_ok(store_final_rank(s, campaign, first, 2, e));
    assert_answer(path, MISSED, "0");
    assert_best(path);
    assert_ok(store_final_rank(s, campaign, far, 0, e));
    assert_answer(path, MISSED, "0");
    assert_ok(store_final_rank(s, campaign, far, 1, e));
    assert_ok(store_campaign_end(s, campaign, "finished", NULL, e));
    assert_ok(
        store_campaign_resume(s, campaign, &(struct campaign_resumption){.budget_trials = 9, .request = "{}"}, e));
    assert_answer(path, "SELECT count(*) FROM trial WHERE score_ms <> time_ms OR final_rank", "0");
    put_trials(s, campaign, 701, 900);
    assert_answer(path, MISSED, "0");
    assert_best(path);
    store_close(s);
}

/* What was taken back is not remembered: those that come after it are not behind it. */
static void test_rolled_back(void **state)
{
    const char *path = in_folder("back.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_wide(s);
    config_choice choice[4] = {0};
    assert_ok(store_together_begin(s, e));
    for (int i = 1; i <= 100; i++)
        put_trial(s, wide, &target, campaign, i, TILE, choice, 1);
    assert_int_equal(store_together_end(s, LATHE_STORE, &(struct err){0}), LATHE_STORE);
    for (int i = 1; i <= 100; i++)
        put_trial(s, wide, &target, campaign, i, TILE, choice, 2);
    /* as good as the last is let in */
    assert_answer(path, "SELECT count(*) || ' ' || count(behind) FROM trial", "100 0");
    put_trial(s, wide, &target, campaign, 101, TILE, choice, 2.5);
    assert_answer(path, "SELECT count(behind) FROM trial", "1");
    store_close(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_final),
        cmocka_unit_test(test_rolled_back),
    };
    return cmocka_run_group_tests(tests, set_up_wide, tear_down_wide);
}
