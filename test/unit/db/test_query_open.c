/* test_query_open.c: whose files are refused, and reading beside writers and without the right to write. */
#include "filled.h"

#include <sys/stat.h>
#include <sys/wait.h>

static void test_files_that_are_refused(void **state)
{
    struct query *q = NULL;
    assert_fails(LATHE_STORE, "` first, or give --db its file", query_open(in_folder("absent.db"), &q, e));
    assert_fails(LATHE_STORE, "absent.db", query_open(in_folder("absent.db"), &q, e));
    assert_int_equal(access(in_folder("absent.db"), F_OK), -1); /* and is not made */
    assert_fails(LATHE_STORE, "` first, or give --db its file", query_open(in_folder("no/such.db"), &q, e));
    assert_fails(LATHE_STORE, "no database file is named", query_open("", &q, e));
    assert_fails(LATHE_STORE, "no database file is named", query_open(NULL, &q, e));
    assert_fails(LATHE_STORE, "is a directory", query_open(folder, &q, e));
    FILE *f = fopen(in_folder("empty.db"), "w");
    fclose(f);
    assert_fails(LATHE_STORE, "nothing of lathe's is in it yet", query_open(in_folder("empty.db"), &q, e));
    f = fopen(in_folder("text.db"), "w");
    fputs("some text", f);
    fclose(f);
    assert_fails(LATHE_STORE, "not a SQLite database", query_open(in_folder("text.db"), &q, e));
    meddle(in_folder("other.db"), "CREATE TABLE theirs (x)");
    assert_fails(LATHE_STORE, "another program", query_open(in_folder("other.db"), &q, e));
    struct store *s = NULL;
    assert_ok(store_open(in_folder("newer.db"), 1, &s, e));
    store_close(s);
    meddle(in_folder("newer.db"), "PRAGMA user_version = 7; INSERT INTO meta VALUES ('written_by', 'v9')");
    assert_fails(LATHE_STORE, "newer lathe (v9; schema 7", query_open(in_folder("newer.db"), &q, e));
    assert_null(q);
}

/* What is no file is refused before it is opened: a pipe would wait for a writer. */
static void test_no_file(void **state)
{
    struct query *q = NULL;
    struct store *s = NULL;
    const char *pipe = in_folder("pipe.db");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    alarm(5);
    assert_fails(LATHE_STORE, "pipe.db: is a pipe, expected a database file", query_open(pipe, &q, e));
    assert_fails(LATHE_STORE, "pipe.db: is a pipe, expected a database file", store_open(pipe, 1, &s, e));
    assert_fails(LATHE_STORE, "/dev/null: is a device, expected a database file", query_open("/dev/null", &q, e));
    assert_fails(LATHE_STORE, "/dev/null: is a device, expected a database file", store_open("/dev/null", 1, &s, e));
    alarm(0);
    assert_int_equal(symlink("loop.db", in_folder("loop.db")), 0);
    const char *loop = in_folder("loop.db");
    assert_fails(LATHE_STORE, "loop.db: cannot open: Too many levels of symbolic links", query_open(loop, &q, e));
    assert_fails(LATHE_STORE, "loop.db: cannot open: Too many levels of symbolic links", store_open(loop, 1, &s, e));
    assert_null(q);
    assert_null(s);
}

static void check_damage(const char *name, const char *damage, const char *words)
{
    struct query *q = NULL;
    struct store *s = NULL;
    json_t *j = NULL;
    const char *path = in_folder(name);
    assert_ok(store_open(path, 1, &s, e));
    store_close(s);
    s = NULL;
    meddle(path, damage);
    assert_fails(LATHE_STORE, words, store_open(path, 1, &s, e));
    assert_fails(LATHE_STORE, ": the database is damaged (", store_open(path, 1, &s, e));
    assert_null(s);
    struct err e = {0};
    status st = query_open(path, &q, &e);
    if (!st)
        st = query_campaigns(q, &j, &e);
    assert_int_equal(st, LATHE_STORE);
    assert_non_null(strstr(e.text, ": the database is damaged ("));
    assert_non_null(strstr(e.text, words));
    query_close(q);
}

/* A file of lathe's that lacks something is told as that, not as a bug, and before a campaign has done anything. */
static void test_damaged(void **state)
{
    check_damage("zero.db", "PRAGMA user_version = 0", "its user_version is 0");
    check_damage("below.db", "PRAGMA user_version = -7", "its user_version is -7");
    check_damage("table.db", "PRAGMA foreign_keys = OFF; DROP TABLE campaign", "no such table: ");
    check_damage("column.db", "ALTER TABLE campaign RENAME COLUMN id TO number", "no such column: id");
}

static long long trials_seen(struct query *q)
{
    json_t *j;
    assert_ok(query_sql(q, "SELECT count(*) FROM trial", &j, e));
    long long n = json_integer_value(json_array_get(json_array_get(json_object_get(j, "rows"), 0), 0));
    json_decref(j);
    return n;
}

/* A question asked while a campaign writes sees what is recorded, whole; and one that was opened before sees it too. */
static void test_beside_a_writer(void **state)
{
    const char *path = in_folder("busy.db");
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t campaign, id;
    json_t *j;
    assert_ok(store_open(path, 1, &s, e));
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    put_trial(s, problem, &target, campaign, 1, TILE, NULL, 1);
    store_close(s);

    struct query *early = open_query(path); /* nobody has the file open: read without locks */
    assert_int_equal(trials_seen(early), 1);
    assert_ok(store_open(path, 1, &s, e));
    assert_ok(begin_trial(s, problem, &target, campaign, 2, TILE, NULL, &id, e));
    assert_int_equal(trials_seen(early), 2); /* noticed that a writer began */
    struct query *late = open_query(path);
    assert_int_equal(trials_seen(late), 2);

    sqlite3 *other; /* another writer in the middle of a transaction does not hold readers up */
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE; DELETE FROM sample", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(trials_seen(late), 2);
    assert_ok(query_campaign(late, campaign, &j, e));
    json_decref(j);
    sqlite3_close(other);

    assert_ok(store_campaign_end(s, campaign, "interrupted", NULL, e)); /* readers do not hold the writer up */
    assert_ok(query_campaign(early, 0, &j, e));
    assert_json(json_object_get(json_object_get(j, "outcomes"), "skipped"), "1");
    json_decref(j);
    store_close(s);
    query_close(early);
    query_close(late);
}

/* Asking leaves nothing beside a database at rest. */
static void test_leaves_nothing(void **state)
{
    struct query *q = open_query(db);
    assert_int_equal(trials_seen(q), 13);
    query_close(q);
    char *wal = mem_printf("%s-wal", db), *shm = mem_printf("%s-shm", db);
    assert_int_equal(access(wal, F_OK), -1);
    assert_int_equal(access(shm, F_OK), -1);
    mem_free(wal);
    mem_free(shm);
}

/* In a child without the rights to write: 0, or what went wrong. */
static int read_as_nobody(const char *path)
{
    int ended;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct query *q = NULL;
        struct err e = {0};
        json_t *j;
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(90);
        if (query_open(path, &q, &e) || query_sql(q, "SELECT 1 / (count(*) = 1) FROM trial", &j, &e)) {
            if (strstr(e.text, "the directory") && strstr(e.text, "is read-only"))
                _exit(2);
            fprintf(stderr, "%s\n", e.text);
            _exit(3);
        }
        int64_t right = json_integer_value(json_array_get(json_array_get(json_object_get(j, "rows"), 0), 0));
        json_decref(j);
        query_close(q);
        _exit(right == 1 ? 0 : 4);
    }
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_true(WIFEXITED(ended));
    return WEXITSTATUS(ended);
}

static void test_read_only_directory(void **state)
{
    char *place = path_join(folder, "closed"), *path = path_join(place, "a%b?.db");
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t campaign;
    assert_int_equal(mkdir(place, 0755), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_ok(store_open(path, 1, &s, e));
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    put_trial(s, problem, &target, campaign, 1, TILE, NULL, 1);
    assert_int_equal(chmod(place, 0555), 0);
    char *wal = mem_printf("%s-wal", path), *shm = mem_printf("%s-shm", path);
    assert_int_equal(chmod(path, 0444) | chmod(wal, 0444) | chmod(shm, 0444), 0);
    assert_int_equal(read_as_nobody(path), 0); /* beside a writer that is another user */
    assert_int_equal(chmod(place, 0755) | chmod(path, 0644), 0);
    char *copy = path_join(place, "copy.db"), *copied_wal = mem_printf("%s-wal", copy), *bytes;
    size_t n;
    assert_ok(file_read(wal, &bytes, &n, e));           /* first: what is beside a database is not written */
    assert_ok(file_write_atomic(copied_wal, bytes, n, e));
    mem_free(bytes);
    assert_ok(file_read(path, &bytes, &n, e));
    assert_ok(file_write_atomic(copy, bytes, n, e));
    mem_free(bytes);
    store_close(s);
    assert_int_equal(chmod(path, 0444) | chmod(copy, 0444) | chmod(copied_wal, 0444) | chmod(place, 0555), 0);
    assert_int_equal(read_as_nobody(path), 0); /* at rest */
    /* what a crash left cannot be put together here: it says so, rather than leave out the log */
    assert_int_equal(read_as_nobody(copy), 2);
    assert_int_equal(chmod(place, 0755), 0);
    mem_free(place);
    mem_free(path);
    mem_free(wal);
    mem_free(shm);
    mem_free(copy);
    mem_free(copied_wal);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_that_are_refused),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_beside_a_writer),
        cmocka_unit_test(test_leaves_nothing),
        cmocka_unit_test(test_read_only_directory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
