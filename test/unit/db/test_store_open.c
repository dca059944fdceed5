/* test_store_open.c: files that cannot be used say why and stay whole; writers that die or meet. */
#include "writing.h"

#include "base/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void write_file(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
}

#define assert_refused(path, words)                                                                                    \
    do {                                                                                                               \
        struct store *store_ = NULL;                                                                                   \
        assert_fails(LATHE_STORE, words, store_open(path, 0, &store_, e));                                             \
        assert_fails(LATHE_STORE, path, store_open(path, 0, &store_, e));                                              \
        assert_null(store_);                                                                                           \
    } while (0)

static void test_not_sqlite(void **state)
{
    static const char text[] = "this is no database";
    const char *path = in_folder("text.db");
    char *got;
    size_t n;
    write_file(path, text, sizeof text - 1);
    assert_refused(path, "not a SQLite database");
    assert_ok(file_read(path, &got, &n, e)); /* left as it is */
    assert_int_equal(n, sizeof text - 1);
    mem_free(got);
    char *large = mem_zalloc(1, 100000);
    memset(large, 'x', 100000);
    write_file(path, large, 100000);
    mem_free(large);
    assert_refused(path, "not a SQLite database");
    assert_refused(folder, "is a directory");
}

static void test_other_programs_database(void **state)
{
    const char *path = in_folder("other.db");
    char *before, *after;
    size_t n, m;
    meddle(path, "CREATE TABLE theirs (x)");
    assert_ok(file_read(path, &before, &n, e));
    assert_refused(path, "another program (application_id 0x00000000, 1 tables");
    assert_ok(file_read(path, &after, &m, e));
    assert_int_equal(n, m);
    assert_memory_equal(before, after, n);
    mem_free(before);
    mem_free(after);
    path = in_folder("theirs.db");
    meddle(path, "PRAGMA application_id = 0x12345678");
    assert_refused(path, "another program (application_id 0x12345678");
    path = in_folder("versioned.db");
    meddle(path, "PRAGMA user_version = 4");
    assert_refused(path, "another program");
}

static void test_newer_schema(void **state)
{
    const char *path = in_folder("newer.db");
    struct store *s = open_store(path);
    begin_campaign(s);
    store_close(s);
    meddle(path, "PRAGMA user_version = 9");
    assert_refused(path, "written by a newer lathe (v1.2-3; schema 9, this lathe knows 6)");
    meddle(path, "DROP TABLE meta");
    assert_refused(path, "written by a newer lathe (an unknown version; schema 9");
    assert_answer(path, "PRAGMA user_version", "9");
}

static void test_places(void **state)
{
    struct store *s = NULL;
    assert_refused(in_folder("no/such/place.db"), "does not exist");
    fclose(fopen(in_folder("file"), "w"));
    assert_refused(in_folder("file/x.db"), "is not a directory");
    assert_fails(LATHE_STORE, "no database file is named", store_open("", 0, &s, e));
    assert_fails(LATHE_STORE, "no database file is named", store_open(NULL, 0, &s, e));
    /* names that SQLite would take for something else are files like any other */
    static const char *const odd[] = {":memory:", "file:x?mode=memory", "a b%20c#d.db"};
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        store_close(open_store(odd[i]));
        assert_int_equal(access(odd[i], R_OK), 0);
    }
    assert_int_equal(chdir("/"), 0);
}

static void test_locked(void **state)
{
    const char *path = in_folder("locked.db");
    struct store *s = open_store(path), *second = NULL;
    int64_t campaign = begin_campaign(s), id = 0;
    sqlite3 *other;
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    double began = clock_seconds();
    assert_fails(LATHE_STORE, "another process holds the database locked; waited 0.2 s",
                 store_open(path, 0.2, &second, e));
    assert_true(clock_seconds() - began >= 0.19);
    assert_null(second);
    assert_fails(LATHE_STORE, "another process holds",
                 begin_trial(s, problem, &target, campaign, 1, TILE, NULL, &id, e));
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    put_trial(s, problem, &target, campaign, 1, TILE, NULL, 1); /* and goes on */
    store_close(s);
}

static bool stopped(void)
{
    return true;
}

/* Who is to end waits for another campaign's lock all the same, and not long for one that stays. */
static void test_stopped(void **state)
{
    const char *path = in_folder("stopped.db");
    struct store *s = open_store(path);
    int64_t campaign = begin_campaign(s), id = 0;
    int ready[2], ended;
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sqlite3 *other;
        int bad = sqlite3_open(path, &other) || sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL) ||
                  write(ready[1], "x", 1) != 1;
        clock_sleep(0.3);
        _exit(bad || sqlite3_exec(other, "COMMIT", NULL, NULL, NULL));
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    store_patience(s, 60, stopped);
    put_trial(s, problem, &target, campaign, 1, TILE, NULL, 1);
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_int_equal(ended, 0);
    close(ready[0]);
    close(ready[1]);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    double began = clock_seconds();
    assert_fails(LATHE_STORE, "another process holds",
                 begin_trial(s, problem, &target, campaign, 2, TILE, NULL, &id, e));
    assert_true(clock_seconds() - began < 30);
    sqlite3_close(other);
    store_close(s);
}

/* Runs `check` in a child that may not write where it does not own: root may write everywhere. */
static void as_nobody(int (*check)(const char *path), const char *path)
{
    int ended;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(99);
        _exit(check(path));
    }
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
}

static int refused_with(const char *path, const char *words)
{
    struct store *s = NULL;
    struct err e = {0};
    if (store_open(path, 0, &s, &e) == LATHE_STORE && strstr(e.text, words) && strstr(e.text, path))
        return 0;
    fprintf(stderr, "got: %s\n", e.text);
    return 1;
}

static int expect_read_only_file(const char *path)
{
    return refused_with(path, "the file is read-only");
}
static int expect_unreadable(const char *path)
{
    return refused_with(path, "no permission to read it");
}
static int expect_read_only_directory(const char *path)
{
    return refused_with(path, "is read-only");
}

static void test_permissions(void **state)
{
    char place[100];
    snprintf(place, sizeof place, "%s/closed", folder);
    assert_int_equal(mkdir(place, 0755), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    char *path = path_join(place, "x.db"), *absent = path_join(place, "absent.db");
    store_close(open_store(path));
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(place, 0777), 0);
    as_nobody(expect_read_only_file, path);
    assert_int_equal(chmod(path, 0), 0);
    as_nobody(expect_unreadable, path);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chmod(place, 0555), 0);
    as_nobody(expect_read_only_directory, path);
    as_nobody(expect_read_only_directory, absent);
    assert_int_equal(chmod(place, 0755), 0);
    store_close(open_store(path)); /* it was not harmed */
    mem_free(path);
    mem_free(absent);
}

/* Writes trials for ever, telling each over the pipe once the store has it. */
static void write_and_tell(const char *path, int out)
{
    struct store *s = NULL;
    struct err e;
    int64_t campaign, id;
    struct campaign_record c = toy_campaign(problem, &target);
    struct result r = good_result(1);
    if (store_open(path, 5, &s, &e) || store_campaign_begin(s, &c, &campaign, &e))
        _exit(1);
    for (int64_t n = 1;; n++) {
        if (begin_trial(s, problem, &target, campaign, n, TILE, NULL, &id, &e) || store_trial_end(s, id, &r, &e))
            _exit(2);
        if (write(out, &id, sizeof id) != sizeof id)
            _exit(3);
    }
}

/* A writer is killed at no moment of its choosing; what it told is there, and the file is whole. */
static void test_killed_writer(void **state)
{
    enum { ROUNDS = 5 };
    const char *path = in_folder("killed.db");
    int64_t told = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int fd[2];
        int64_t id;
        assert_int_equal(pipe(fd), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            close(fd[0]);
            write_and_tell(path, fd[1]);
        }
        close(fd[1]);
        for (int n = 0; n < 10 + 7 * round && read(fd[0], &id, sizeof id) == sizeof id; n++)
            told++;
        kill(pid, SIGKILL);
        while (read(fd[0], &id, sizeof id) == sizeof id)
            told++;
        close(fd[0]);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_answer(path, "PRAGMA integrity_check", "ok");
        /* the last one of each round may be stored and not told, or begun and not ended */
        int64_t ok = atoll(ask(path, "SELECT count(*) FROM trial WHERE outcome = 'ok'"));
        assert_in_range(ok, told, told + round + 1);
        assert_in_range(atoll(ask(path, "SELECT count(*) FROM trial WHERE outcome <> 'ok'")), 0, round + 1);
        assert_answer(path,
                      "SELECT count(*) FROM trial t WHERE outcome = 'ok' AND (SELECT count(*) FROM sample s JOIN "
                      "measurement m ON m.id = s.measurement_id WHERE m.trial_id = t.id) <> 3",
                      "0");
    }
    assert_true(told >= 10 * ROUNDS);
}

/* Two campaigns at once into one file. */
static void test_two_writers(void **state)
{
    enum { EACH = 40 };
    const char *path = in_folder("two.db");
    pid_t pid[2];
    for (int i = 0; i < 2; i++) {
        pid[i] = fork();
        assert_true(pid[i] >= 0);
        if (pid[i] > 0)
            continue;
        struct store *s = NULL;
        struct err e = {0};
        int64_t campaign, id;
        struct campaign_record c = toy_campaign(problem, &target);
        struct result r = good_result(1);
        status st = store_open(path, 10, &s, &e); /* both may create it */
        if (!st)
            st = store_campaign_begin(s, &c, &campaign, &e);
        for (int n = 1; !st && n <= EACH; n++) {
            st = begin_trial(s, problem, &target, campaign, n, TILE, NULL, &id, &e);
            if (!st)
                st = store_trial_end(s, id, &r, &e);
        }
        if (st)
            fprintf(stderr, "%s\n", e.text);
        store_close(s);
        _exit(st != LATHE_OK);
    }
    for (int i = 0; i < 2; i++) {
        int ended;
        assert_int_equal(waitpid(pid[i], &ended, 0), pid[i]);
        assert_int_equal(ended, 0);
    }
    assert_answer(path, "SELECT count(*) || ' ' || count(DISTINCT campaign_id) FROM trial WHERE outcome = 'ok'",
                  "80 2");
    assert_answer(path, "SELECT (SELECT count(*) FROM problem) || (SELECT count(*) FROM device)", "11");
}

/* Many that create one file in the same moment: each of them gets it. */
static void test_creating_at_once(void **state)
{
    (void)state;
    enum { ROUNDS = 25, OPENERS = 6 };
    for (int round = 0; round < ROUNDS; round++) {
        char path[320];
        int gate[2];
        pid_t pid[OPENERS];
        snprintf(path, sizeof path, "%s/at-once-%d.db", folder, round);
        assert_int_equal(pipe(gate), 0);
        for (int i = 0; i < OPENERS; i++) {
            pid[i] = fork();
            assert_true(pid[i] >= 0);
            if (pid[i] > 0)
                continue;
            struct err e = {0};
            struct store *s = NULL;
            char byte;
            close(gate[1]);
            if (read(gate[0], &byte, 1) != 0) /* the gate opens when the parent closes it */
                _exit(2);
            status st = store_open(path, 20, &s, &e);
            if (st)
                fprintf(stderr, "%s\n", e.text);
            store_close(s);
            _exit(st != LATHE_OK);
        }
        close(gate[0]);
        close(gate[1]);
        for (int i = 0; i < OPENERS; i++) {
            int ended;
            assert_int_equal(waitpid(pid[i], &ended, 0), pid[i]);
            assert_int_equal(ended, 0);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_sqlite),
        cmocka_unit_test(test_other_programs_database),
        cmocka_unit_test(test_newer_schema),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_locked),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_killed_writer),
        cmocka_unit_test(test_two_writers),
        cmocka_unit_test(test_creating_at_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
