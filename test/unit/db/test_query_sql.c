/* test_query_sql.c: a user's SQL: what is answered, that nothing can be written; the documents' examples and keys. */
#include "filled.h"

static void test_sql_values(void **state)
{
    static const struct {
        const char *sql, *columns, *rows;
    } cases[] = {
        {"SELECT 1 AS a, 2.5, 'x' AS b, NULL AS c", "['a', '2.5', 'b', 'c']", "[[1, 2.5, 'x', null]]"},
        {"SELECT x'00ff10' AS blob, zeroblob(0) AS none", "['blob', 'none']", "[['00ff10', '']]"},
        {"SELECT 9e999 AS i, -9e999, CAST(x'61ff62c3' AS TEXT) AS t", "['i', '-9e999', 't']",
         "[[{'infinite': 1}, {'infinite': -1}, 'a\xef\xbf\xbd"
         "b\xef\xbf\xbd']]"},
        {"SELECT CAST(x'610062' AS TEXT) AS t", "['t']", "[['a\\u0000b']]"},
        {"SELECT 9223372036854775807 AS n, -9223372036854775807 - 1 AS m", "['n', 'm']",
         "[[9223372036854775807, -9223372036854775808]]"},
        {"SELECT id FROM campaign ORDER BY id;  -- a remark\n ; ", "['id']", "[[1], [2], [3]]"},
        {"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n", "['i']",
         "[[1], [2], [3]]"},
        {"SELECT id FROM trial WHERE id < 0", "['id']", "[]"},
        {"VALUES (1, 2)", "['column1', 'column2']", "[[1, 2]]"},
        {"SELECT count(*) AS n FROM best", "['n']", "[[2]]"},
        {"SELECT group_concat(trial_id, ' ') AS t FROM (SELECT trial_id FROM leaderboard WHERE device = 'Toy GPU' "
         "ORDER BY place)",
         "['t']", "[['5 3 12 4']]"},
        {"SELECT speedup FROM trial_report WHERE trial_id = 3", "['speedup']", "[[3.0]]"},
        {"PRAGMA user_version", "['user_version']", "[[6]]"},
        {"PRAGMA integrity_check", "['integrity_check']", "[['ok']]"},
        {"SELECT name FROM pragma_table_info('sample')", "['name']",
         "[['measurement_id'], ['number'], ['ms'], ['throttled']]"},
    };
    struct query *q = open_query(db);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *j;
        assert_ok(query_sql(q, cases[i].sql, &j, e));
        assert_keys(j, "columns rows");
        assert_json(json_object_get(j, "columns"), cases[i].columns);
        assert_json(json_object_get(j, "rows"), cases[i].rows);
        json_decref(j);
    }
    static const char *const answered[] = {"EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN SELECT * FROM trial",
                                           "PRAGMA table_info(trial)", "PRAGMA table_list",
                                           "pragma INDEX_LIST('trial')"};
    for (size_t i = 0; i < sizeof answered / sizeof *answered; i++) {
        json_t *j;
        assert_ok(query_sql(q, answered[i], &j, e));
        assert_true(json_array_size(json_object_get(j, "rows")) > 0);
        json_decref(j);
    }
    query_close(q);
}

static void test_sql_refused(void **state)
{
    static const struct {
        const char *sql, *words;
    } cases[] = {
        {"", "the query is empty"},
        {"  -- nothing\n", "the query is empty"},
        {"SELECT 1; SELECT 2", "several statements"},
        {"SELECT 1; nonsense", "several statements"},
        {"SELECT 1;; DELETE FROM trial", "several statements"},
        {"DELETE FROM trial", "would delete rows"},
        {"UPDATE trial SET time_ms = 0", "would change rows"},
        {"INSERT INTO meta VALUES ('a', 'b')", "would insert rows"},
        {"INSERT INTO meta VALUES ('a', 'b') RETURNING name", "would insert rows"},
        {"WITH x AS (SELECT 1) DELETE FROM trial", "would delete rows"},
        {"EXPLAIN DELETE FROM trial", "would delete rows"},
        {"DROP TABLE trial", "and `lathe query` only reads"},
        {"CREATE TABLE t (x)", "only reads"},
        {"CREATE TEMP TABLE t (x)", "only reads"},
        {"CREATE TEMP VIEW t AS SELECT 1", "only reads"},
        {"ALTER TABLE trial ADD COLUMN x", "only reads"},
        {"ATTACH '/tmp/x.db' AS x", "would attach another database"},
        {"DETACH main", "would detach a database"},
        {"VACUUM", "only reads"},
        {"VACUUM INTO '/tmp/lathe-must-not-exist.db'", "only reads"},
        {"UPDATE sqlite_master SET sql = ''", "table sqlite_master may not be modified"},
        {"DELETE FROM sqlite_master", "table sqlite_master may not be modified"},
        {"REINDEX", "only reads"},
        {"ANALYZE", "only reads"},
        {"BEGIN", "would begin or end a transaction"},
        {"COMMIT", "would begin or end a transaction"},
        {"SAVEPOINT a", "would begin or end a transaction"},
        {"PRAGMA user_version = 3", "pragma that sets or does something"},
        {"PRAGMA query_only = 0", "pragma that sets"},
        {"PRAGMA writable_schema = 1", "pragma that sets"},
        {"PRAGMA journal_mode = DELETE", "pragma that sets"},
        {"PRAGMA wal_checkpoint", "pragma that sets"},
        {"PRAGMA optimize", "pragma that sets"},
        {"SELECT load_extension('x')", "reaches outside the database"},
        {"SELECT LOAD_EXTENSION('x')", "reaches outside the database"},
        {"SELEC 1", "near \"SELEC\": syntax error (at character 1)"},
        {"SELECT * FROM trails", "no such table: trails"},
        {"SELECT * FROM trails", "there are: best, bundle, campaign,"},
        {"SELECT tme_ms FROM trial", "no such column: tme_ms (at character 8); PRAGMA table_info(TABLE)"},
        {"SELECT abs(-9223372036854775807 - 1)", "integer overflow"},
        {"SELECT 'open", "unrecognized token"},
    };
    struct query *q = open_query(db);
    char *before, *after;
    size_t n, m;
    assert_ok(file_read(db, &before, &n, e));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *j;
        assert_fails(LATHE_USAGE, cases[i].words, query_sql(q, cases[i].sql, &j, e));
        assert_null(j);
    }
    json_t *j;
    assert_ok(query_sql(q, "SELECT count(*) FROM trial", &j, e)); /* still answers */
    json_decref(j);
    query_close(q);
    assert_ok(file_read(db, &after, &m, e));
    assert_int_equal(n, m);
    assert_memory_equal(before, after, n);
    assert_int_equal(access("/tmp/lathe-must-not-exist.db", F_OK), -1);
    mem_free(before);
    mem_free(after);
}

/* `word` in back quotes. */
static bool documented(const char *text, const char *word)
{
    char *marked = mem_printf("`%s`", word);
    bool found = strstr(text, marked) != NULL;
    mem_free(marked);
    return found;
}

/* Between this table's heading and the next there is a row that names each column. */
static void check_table(const char *text, const char *table, struct query *q)
{
    char *heading = mem_printf("\n### %s\n", table),
         *sql = mem_printf("SELECT name FROM pragma_table_info('%s')", table);
    const char *begin = strstr(text, heading);
    if (!begin)
        fail_msg("docs/schema.md has no section %s", table);
    const char *end = strstr(begin + 1, "\n##");
    char *section = mem_strdup(begin);
    if (end)
        section[end - begin] = 0;
    json_t *j, *row;
    size_t i;
    assert_ok(query_sql(q, sql, &j, e));
    json_array_foreach(json_object_get(j, "rows"), i,
                       row) if (!documented(section, json_string_value(json_array_get(row, 0))))
        fail_msg("docs/schema.md, %s: `%s` is not described", table, json_string_value(json_array_get(row, 0)));
    json_decref(j);
    mem_free(section);
    mem_free(heading);
    mem_free(sql);
}

static void test_schema_document(void **state)
{
    char *text;
    assert_ok(file_read("docs/schema.md", &text, NULL, e)); /* NOTE: tests run in the root of the repository */
    struct query *q = open_query(db);
    json_t *j, *row;
    size_t i;
    int questions = 0;
    assert_ok(query_sql(q, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", &j, e));
    json_array_foreach(json_object_get(j, "rows"), i, row)
        check_table(text, json_string_value(json_array_get(row, 0)), q);
    json_decref(j);
    assert_ok(query_sql(q, "SELECT name FROM sqlite_schema WHERE type = 'view'", &j, e));
    json_array_foreach(json_object_get(j, "rows"), i, row)
        assert_true(documented(text, json_string_value(json_array_get(row, 0))));
    json_decref(j);
    for (char *at = text, *end; (at = strstr(at, "```sql\n")) != NULL; at = end + 3) {
        at += strlen("```sql\n");
        end = strstr(at, "```");
        assert_non_null(end);
        char *sql = mem_strdup(at);
        sql[end - at] = 0;
        assert_ok(query_sql(q, sql, &j, e));
        json_decref(j); /* what it answers: test/cli/docs.bats */
        mem_free(sql);
        questions++;
    }
    assert_int_equal(questions, 20);
    query_close(q);
    mem_free(text);
}

static void check_keys(const char *text, const json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
        if (!documented(text, key))
            fail_msg("docs/json.md: `%s` is not described", key);
}

static void test_json_document(void **state)
{
    char *text;
    assert_ok(file_read("docs/json.md", &text, NULL, e));
    struct query *q = open_query(db);
    json_t *j;
    assert_ok(query_campaign(q, 1, &j, e));
    check_keys(text, j);
    check_keys(text, json_array_get(json_object_get(j, "trials"), 0));
    check_keys(text, json_object_get(j, "outcomes"));
    check_keys(text, json_object_get(json_array_get(json_object_get(j, "trials"), 0), "seconds"));
    json_decref(j);
    query_close(q);
    mem_free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sql_values),
        cmocka_unit_test(test_sql_refused),
        cmocka_unit_test(test_schema_document),
        cmocka_unit_test(test_json_document),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
