/* test_bundle.c: what is exported into a database for liblathe: kept byte for byte, one a problem; none in a file
 * before version 4. */
#include "older.h"
#include "writing.h"

static void keeps(struct store *s, const char *of, const char *data, size_t len)
{
    assert_ok(store_bundle(s, of, data, len, "v9", e));
}

/* The bundle of the problem is that text. */
static void has(const char *path, const char *of, const char *data, size_t len)
{
    struct query *q;
    char *got;
    size_t n;
    assert_ok(query_open(path, &q, e));
    assert_ok(query_bundle(q, of, &got, &n, e));
    query_close(q);
    assert_int_equal(n, len);
    assert_memory_equal(got, data, len);
    assert_int_equal((uintptr_t)got % 16, 0);
    mem_free(got);
}

static void has_none(const char *path, const char *of, const char *why)
{
    struct query *q;
    char *got = (char *)&q;
    size_t n = 1;
    assert_ok(query_open(path, &q, e));
    assert_fails(LATHE_NOTHING, why, query_bundle(q, of, &got, &n, e));
    assert_null(got);
    assert_int_equal(n, 0);
    query_close(q);
}

static void test_kept(void **state)
{
    const char *path = in_folder("bundle.db");
    struct store *s = open_store(path);
    has_none(path, NULL, "nothing was exported into it");
    has_none(path, "linear", "nothing was exported into it");
    keeps(s, "linear", "a\0b\xff", 4);
    has(path, NULL, "a\0b\xff", 4);
    has(path, "linear", "a\0b\xff", 4);
    has_none(path, "softmax", "no bundle of softmax; of those there are: linear");
    keeps(s, "linear", "later", 5);
    has(path, "linear", "later", 5);
    keeps(s, "softmax", "other", 5);
    has_none(path, NULL, "linear, softmax: say which");
    has(path, "softmax", "other", 5);
    store_close(s);
    has(path, "linear", "later", 5);
    assert_answer(path, "SELECT count(*) || min(tool_version) || (min(made) LIKE '20__-__-__T%') FROM bundle", "2v91");
}

static void test_older_file(void **state)
{
    const char *path = in_folder("newest.db");
    store_close(open_store(path));
    path = as_version(3, path, "older.db");
    has_none(path, NULL, "nothing was exported into it");
    assert_answer(path, "PRAGMA user_version", "3"); /* read as it is */
    struct store *s = open_store(path);
    keeps(s, "linear", "x", 1);
    store_close(s);
    assert_answer(path, "PRAGMA user_version", "6");
    has(path, "linear", "x", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_older_file)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
