/* test_query_earlier.c: what campaigns found for kernels: which rows, their keys, their order, and how many. */
#include "filled.h"

static json_t *earlier(const char *path, const char *const *kernels, int nkernels, int campaigns, int top)
{
    struct query *q = open_query(path);
    json_t *list = NULL;
    assert_ok(query_earlier(q, &(struct query_earlier){kernels, nkernels, campaigns, top, false, 0}, &list, e));
    query_close(q);
    return list;
}

/* "campaign kernel score" of each, by semicolons */
static void assert_rows(json_t *list, const char *wanted)
{
    struct strbuf b = {0};
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row)
        sb_addf(&b, "%s%lld %s %g", i ? "; " : "", (long long)json_integer_value(json_object_get(row, "campaign")),
                json_string_value(json_object_get(row, "kernel")), json_number_value(json_object_get(row, "score_ms")));
    assert_string_equal(sb_str(&b), wanted);
    sb_free(&b);
    json_decref(list);
}

static const char *const tile[] = {"tile"};

static void test_rows(void **state)
{
    json_t *list = earlier(db, tile, 1, 10, 10);
    const json_t *first = json_array_get(list, 0), *host = json_array_get(list, 2);
    assert_keys(first, "campaign problem size device kernel configuration score_ms");
    assert_json(json_object_get(first, "problem"), "'toy'");
    assert_json(json_object_get(first, "device"), "'Toy GPU'");
    assert_json(json_object_get(first, "size"), "{'M': 4, 'N': 8, 'K': 16}");
    assert_json(json_object_get(first, "configuration"), "{'BM': 32, 'ALPHA': 0.5, 'TRANSPOSED': false}");
    assert_json(json_object_get(host, "size"), "{'M': 5, 'N': 8, 'K': 16}");
    assert_json(json_object_get(host, "device"), "'Some CPU'");
    assert_json(json_object_get(json_array_get(list, 4), "configuration"),
                "{'BM': 128, 'ALPHA': 2.0, 'TRANSPOSED': true, 'MODE': 'safe'}");
    /* as `best` ranks them: finalists at their cold time; failures, and what is only shown, not at all */
    assert_rows(list, "3 tile 1.75; 3 tile 3; 2 tile 8; 1 tile 1.5; 1 tile 3; 1 tile 4");
}

static void test_how_many(void **state)
{
    assert_rows(earlier(db, tile, 1, 10, 1), "3 tile 1.75; 2 tile 8; 1 tile 1.5");
    assert_rows(earlier(db, tile, 1, 2, 1), "3 tile 1.75; 2 tile 8");
    assert_rows(earlier(db, tile, 1, 0, 1), "");
    assert_rows(earlier(db, tile, 1, 10, 0), "");
    assert_rows(earlier(db, tile, 0, 10, 10), "");
}

/* A campaign's kernels are words in a list; only those that have a result count as campaigns. */
static void test_kernels(void **state)
{
    static const char *const names[] = {"til", "shown", "library", "tile", "les"};
    const char *path = in_folder("kernels.db");
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t campaign;
    assert_ok(store_open(path, 1, &s, e));
    assert_rows(earlier(path, tile, 1, 10, 10), "");
    static const char *const lists[] = {"tile", "tiles", "shown tile", "shown"};
    for (int i = 0; i < 4; i++) {
        c.kernels = lists[i];
        assert_ok(store_campaign_begin(s, &c, &campaign, e));
        put_trial(s, problem, &target, campaign, 1, TILE, NULL, 2 + i);
        put_trial(s, problem, &target, campaign, 2, SHOWN, NULL, 1);
    }
    store_close(s);
    assert_rows(earlier(path, names, 5, 10, 10), "3 tile 4; 1 tile 2");
    assert_rows(earlier(path, names, 5, 1, 10), "3 tile 4");
}

/* Damage is an error with a message and no list; parameters that are gone leave an empty configuration. */
static void test_damage(void **state)
{
    const char *path = in_folder("damaged.db");
    struct query *q;
    json_t *list;
    struct strbuf copy = {0};
    sb_addf(&copy, "VACUUM INTO '%s'", path);
    meddle(db, sb_str(&copy));
    sb_free(&copy);
    meddle(path, "DELETE FROM parameter_value WHERE trial_id = 11");
    list = earlier(path, tile, 1, 1, 1);
    assert_json(json_object_get(json_array_get(list, 0), "configuration"), "{}");
    json_decref(list);
    meddle(path, "DROP TABLE parameter_value");
    q = open_query(path);
    assert_fails(LATHE_STORE, "parameter_value",
                 query_earlier(q, &(struct query_earlier){tile, 1, 1, 1, false, 0}, &list, e));
    assert_null(list);
    query_close(q);
}

/* Of what was imported nothing was verified; what was replayed is told to replays. */
static void test_recorded(void **state)
{
    static const char *const kinds[] = {"cuda:0", "imported", "replay"};
    const char *path = in_folder("recorded.db");
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    struct target device = target;
    int64_t campaign;
    assert_ok(store_open(path, 1, &s, e));
    for (int i = 0; i < 3; i++) {
        snprintf(device.device, sizeof device.device, "%s", kinds[i]);
        snprintf(device.name, sizeof device.name, "Toy GPU (%s)", kinds[i]);
        c.target = &device;
        assert_ok(store_campaign_begin(s, &c, &campaign, e));
        put_trial(s, problem, &device, campaign, 1, TILE, NULL, 8 >> i);
    }
    store_close(s);
    assert_rows(earlier(path, tile, 1, 10, 10), "1 tile 8");
    struct query *q = open_query(path);
    json_t *list = NULL;
    assert_ok(query_earlier(q, &(struct query_earlier){tile, 1, 10, 10, .replayed = true}, &list, e));
    assert_rows(list, "3 tile 2; 1 tile 8");
    assert_ok(query_earlier(q, &(struct query_earlier){tile, 1, 10, 10, .replayed = true, .before = 3}, &list, e));
    assert_rows(list, "1 tile 8");
    assert_ok(query_earlier(q, &(struct query_earlier){tile, 1, 10, 10, .before = 1}, &list, e));
    assert_rows(list, "");
    query_close(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_recorded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
