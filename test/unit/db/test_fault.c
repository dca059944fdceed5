/* test_fault.c: the Nth operation on the file fails, for N = 1, 2, ... until the whole sequence succeeds.
 *
 * A VFS that wraps the default one counts writes, syncs, truncations and growths of shared memory, and fails one of
 * them (once, or every one from there on: a full disk stays full). After each run a clean connection must find the file
 * whole, every trial that was told recorded, and nothing in part. */
#include "writing.h"

enum fault { FAULT_ONCE, FAULT_FROM_THEN_ON };

/* NOTE: global because SQLite's callbacks carry no context of ours; reset by each run. */
static struct {
    long until; /* operations before the fault; < 0: never */
    enum fault kind;
    int code; /* what the operation then returns */
    long hits;
} plan;

static sqlite3_vfs *real_vfs, shim_vfs;
static sqlite3_io_methods shim_methods;

struct shim_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static int fault(void)
{
    if (plan.until < 0)
        return SQLITE_OK;
    if (plan.until > 0) {
        plan.until--;
        return SQLITE_OK;
    }
    plan.hits++;
    if (plan.kind == FAULT_ONCE)
        plan.until = -1;
    return plan.code;
}

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((struct shim_file *)f)->real;
}

#define FORWARD(f, method, ...) real_of(f)->pMethods->method(real_of(f), ##__VA_ARGS__)

static int shim_close(sqlite3_file *f)
{
    return FORWARD(f, xClose);
}
static int shim_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return FORWARD(f, xRead, p, n, at);
}
static int shim_size(sqlite3_file *f, sqlite3_int64 *n)
{
    return FORWARD(f, xFileSize, n);
}
static int shim_lock(sqlite3_file *f, int kind)
{
    return FORWARD(f, xLock, kind);
}
static int shim_unlock(sqlite3_file *f, int kind)
{
    return FORWARD(f, xUnlock, kind);
}
static int shim_reserved(sqlite3_file *f, int *out)
{
    return FORWARD(f, xCheckReservedLock, out);
}
static int shim_control(sqlite3_file *f, int op, void *p)
{
    return FORWARD(f, xFileControl, op, p);
}
static int shim_sector(sqlite3_file *f)
{
    return FORWARD(f, xSectorSize);
}
static int shim_kind(sqlite3_file *f)
{
    return FORWARD(f, xDeviceCharacteristics);
}
static int shim_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return FORWARD(f, xShmLock, at, n, flags);
}
static void shim_barrier(sqlite3_file *f)
{
    FORWARD(f, xShmBarrier);
}
static int shim_shm_unmap(sqlite3_file *f, int del)
{
    return FORWARD(f, xShmUnmap, del);
}
static int shim_fetch(sqlite3_file *f, sqlite3_int64 at, int n, void **p)
{
    return FORWARD(f, xFetch, at, n, p);
}
static int shim_unfetch(sqlite3_file *f, sqlite3_int64 at, void *p)
{
    return FORWARD(f, xUnfetch, at, p);
}

static int shim_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    int rc = fault();
    if (rc && n > 1)
        FORWARD(f, xWrite, p, n / 2, at); /* half of it gets there */
    return rc ? rc : FORWARD(f, xWrite, p, n, at);
}

static int shim_truncate(sqlite3_file *f, sqlite3_int64 n)
{
    int rc = fault();
    return rc ? rc : FORWARD(f, xTruncate, n);
}

static int shim_sync(sqlite3_file *f, int flags)
{
    int rc = fault();
    return rc ? rc : FORWARD(f, xSync, flags);
}

static int shim_map(sqlite3_file *f, int page, int size, int extend, void volatile **p)
{
    int rc = extend ? fault() : SQLITE_OK;
    return rc ? rc : FORWARD(f, xShmMap, page, size, extend, p);
}

static int shim_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out)
{
    struct shim_file *f = (struct shim_file *)file;
    f->real = (sqlite3_file *)(f + 1);
    int rc = real_vfs->xOpen(real_vfs, name, f->real, flags, out);
    f->base.pMethods = rc ? NULL : &shim_methods;
    return rc;
}

static void install_shim(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    shim_vfs = *real_vfs;
    shim_vfs.zName = "shim";
    shim_vfs.szOsFile = (int)sizeof(struct shim_file) + real_vfs->szOsFile;
    shim_vfs.xOpen = shim_open;
    shim_vfs.pNext = NULL;
    shim_methods =
        (sqlite3_io_methods){3,           shim_close, shim_read,     shim_write,    shim_truncate,  shim_sync,
                             shim_size,   shim_lock,  shim_unlock,   shim_reserved, shim_control,   shim_sector,
                             shim_kind,   shim_map,   shim_shm_lock, shim_barrier,  shim_shm_unmap, shim_fetch,
                             shim_unfetch};
    sqlite3_vfs_register(&shim_vfs, 1);
}

static int set_up_shim(void **state)
{
    plan.until = -1;
    install_shim();
    return set_up(state);
}

struct told { /* what the store said is recorded */
    int campaigns, ended, trials, measurements;
};

/* A short campaign; stops at the first error. */
static status short_campaign(const char *path, struct told *told, struct err *e)
{
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    struct result r = good_result(1);
    int64_t campaign = 0, id = 0;
    status st = store_open(path, 0, &s, e);
    if (!st && !(st = store_campaign_begin(s, &c, &campaign, e)))
        told->campaigns++;
    else
        assert_int_equal(campaign, 0);  /* what is not recorded has no number */
    for (int n = 1; !st && n <= 2; n++) {
        int64_t before = id;
        st = begin_trial(s, problem, &target, campaign, n, TILE, NULL, &id, e);
        if (st)
            assert_int_equal(id, before);
        if (!st && !(st = store_trial_end(s, id, &r, e)))
            told->trials++;
    }
    struct samples cold = {.regime = REGIME_COLD, .ms = r.samples.ms, .count = 3, .median = 1, .low = 1, .high = 1};
    if (!st && !(st = store_measurement(s, id, 0, &cold, &r.telemetry, e)))
        told->measurements++;
    if (!st)
        st = store_final_rank(s, campaign, id, 1, e);
    if (!st && !(st = store_campaign_end(s, campaign, "finished", NULL, e)))
        told->ended++;
    result_free(&r);
    store_close(s);
    return st;
}

static long long count(const char *path, const char *sql)
{
    return atoll(ask(path, sql));
}

/* Everything that must hold of the file, over one connection: rows of (what, value, least, most). */
static void check_file(const char *path, const struct told *told)
{
    long long version = count(path, "PRAGMA user_version");
    assert_true(version == 0 || version == 6);
    assert_true(version || !told->campaigns);
    char *sql =
        version
            ? mem_printf(
                  /* one more may have reached the disk although its commit then failed to say so; never one less */
                  "WITH fact (what, value, least, most) AS (VALUES "
                  "('integrity', (SELECT integrity_check <> 'ok' FROM pragma_integrity_check), 0, 0),"
                  "('schema', (SELECT count(*) FROM sqlite_schema WHERE name = 'verification_trial'), 1, 1),"
                  "('foreign keys', (SELECT count(*) FROM pragma_foreign_key_check), 0, 0),"
                  "('campaigns', (SELECT count(*) FROM campaign), %d, %d),"
                  "('trials', (SELECT count(*) FROM trial WHERE outcome = 'ok'), %d, %d),"
                  "('cold', (SELECT count(*) FROM measurement WHERE regime = 'cold'), %d, %d),"
                  "('ended', (SELECT count(*) FROM campaign WHERE state = 'finished'), %d, %d),"
                  "('samples', (SELECT count(*) FROM measurement m WHERE (SELECT count(*) FROM sample s "
                  "WHERE s.measurement_id = m.id) <> 3), 0, 0),"
                  "('verifications', (SELECT count(*) FROM trial t WHERE outcome = 'ok' AND (SELECT count(*) FROM "
                  "verification v "
                  "WHERE v.trial_id = t.id) <> 1), 0, 0),"
                  "('parameters', (SELECT count(*) FROM trial t WHERE (SELECT count(*) FROM parameter_value v "
                  "WHERE v.trial_id = t.id) <> 3), 0, 0)) "
                  "SELECT coalesce(group_concat(what || ' ' || value), 'right') FROM fact WHERE value NOT BETWEEN "
                  "least AND most",
                  told->campaigns, told->campaigns + 1, told->trials, told->trials + 1, told->measurements,
                  told->measurements + 1, told->ended, told->ended + 1)
            : mem_printf(
                  "SELECT CASE WHEN (SELECT count(*) FROM sqlite_schema) = 0 THEN 'right' ELSE 'half a schema' END");
    assert_answer(path, sql, "right");
    mem_free(sql);
}

/* Fails operation 0, stride, 2 stride, ... of a short campaign until one runs through; returns how many it has. */
static int sweep(const char *name, int stride, enum fault kind, int code, const char *words)
{
    for (int n = 0; n < 2000; n += stride) {
        struct told told = {0};
        struct err e = {0};
        const char *path = in_folder(name);
        char *wal = mem_printf("%s-wal", path), *shm = mem_printf("%s-shm", path);
        unlink(path);
        unlink(wal);
        unlink(shm);
        mem_free(wal);
        mem_free(shm);
        plan.until = n;
        plan.kind = kind;
        plan.code = code;
        plan.hits = 0;
        status st = short_campaign(path, &told, &e);
        plan.until = -1;
        check_file(path, &told);
        if (st && plan.hits == 0)
            fail_msg("%s", e.text);
        if (st && (!strstr(e.text, words) || !strstr(e.text, path) || st != LATHE_STORE))
            fail_msg("operation %d: %s", n, e.text);
        if (st && n % 8 == 0)
            assert_int_equal(short_campaign(path, &told, &e), LATHE_OK); /* the file can be used again */
        if (!st && plan.hits == 0)
            return n;
    }
    fail_msg("it never came to an end");
    return 0;
}

static void test_disk_full(void **state)
{
    assert_true(sweep("full.db", 1, FAULT_FROM_THEN_ON, SQLITE_FULL, "the disk is full") > 100);
}

static void test_disk_full_for_a_moment(void **state)
{
    assert_true(sweep("moment.db", 5, FAULT_ONCE, SQLITE_FULL, "the disk is full") > 100);
}

static void test_write_error(void **state)
{
    assert_true(sweep("write.db", 7, FAULT_FROM_THEN_ON, SQLITE_IOERR_WRITE, "cannot be read or written") > 100);
}

static void test_sync_error(void **state)
{
    assert_true(sweep("sync.db", 7, FAULT_ONCE, SQLITE_IOERR_FSYNC, "cannot be read or written") > 100);
}

/* A failed call leaves the store usable: the next one succeeds. */
static void test_the_store_goes_on(void **state)
{
    const char *path = in_folder("on.db");
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t campaign, id;
    assert_ok(store_open(path, 0, &s, e));
    assert_ok(store_campaign_begin(s, &c, &campaign, e));
    struct result r = good_result(1);
    for (int n = 0; n < 12; n++) {
        assert_ok(begin_trial(s, problem, &target, campaign, n + 1, TILE, NULL, &id, e));
        plan.until = n;
        plan.kind = FAULT_ONCE;
        plan.code = SQLITE_FULL;
        struct err failure = {0};
        status st = store_trial_end(s, id, &r, &failure);
        plan.until = -1;
        if (st)
            assert_non_null(strstr(failure.text, "everything recorded before it is kept"));
        if (st && count(path, "SELECT outcome = 'in_flight' FROM trial ORDER BY id DESC LIMIT 1"))
            assert_ok(store_trial_end(s, id, &r, e));
    }
    assert_answer(path, "SELECT count(*) FROM trial WHERE outcome = 'ok'", "12");
    result_free(&r);
    store_close(s);
    assert_answer(path, "PRAGMA integrity_check", "ok");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_full),         cmocka_unit_test(test_disk_full_for_a_moment),
        cmocka_unit_test(test_write_error),       cmocka_unit_test(test_sync_error),
        cmocka_unit_test(test_the_store_goes_on),
    };
    return cmocka_run_group_tests(tests, set_up_shim, tear_down);
}
