/* store.c: opening and creating the database, transactions. Campaigns are in store_campaign.c, trials in store_write.c.
 *
 * Invariants: (1) nothing is written to a file before it is known to be lathe's or empty; (2) creation and migration
 * are one transaction, so a file has a whole schema or none; (3) every public call is one transaction with
 * synchronous=FULL: what it recorded survives a power cut. That costs one fsync of the log, 0.3 ms on an SSD, twice a
 * trial: nothing beside a compile. Between store_together_begin and _end calls are parts of one. (4) After a failure
 * the transaction is rolled back and the store is usable. (5) What a call recorded is in the file that has the name
 * then, or the call says where it is (store_place.c). */
#include "base/clock.h"
#include "base/mem.h"
#include "db/store_private.h"

#include <math.h>

static const char SCHEMA[] = {
#include "db/schema.sql.inc"
    , 0};
static const char SCHEMA_2[] = {
#include "db/schema_2.sql.inc"
    , 0};
static const char SCHEMA_3[] = {
#include "db/schema_3.sql.inc"
    , 0};
static const char SCHEMA_4[] = {
#include "db/schema_4.sql.inc"
    , 0};
static const char SCHEMA_5[] = {
#include "db/schema_5.sql.inc"
    , 0};
static const char SCHEMA_6[] = {
#include "db/schema_6.sql.inc"
    , 0};

/* What takes a file from version i to i + 1; never edited once released. Version 0 is an empty file. */
static const char *const MIGRATIONS[SCHEMA_VERSION] = {SCHEMA, SCHEMA_2, SCHEMA_3, SCHEMA_4, SCHEMA_5, SCHEMA_6};

static const char *const STATEMENTS[STATEMENT_COUNT] = {
#define X(name, text) text,
    STATEMENT_TABLE(X)
#undef X
};

static status statement(struct store *s, enum statement which, struct err *e)
{
    return s->statements[which] ? LATHE_OK : sql_prepare(&s->sql, STATEMENTS[which], &s->statements[which], e);
}

status store_statement(struct store *s, enum statement which, sqlite3_stmt **out, struct err *e)
{
    status st = statement(s, which, e);
    *out = st ? NULL : s->statements[which];
    return st;
}

double store_elapsed(const struct store *s)
{
    return !s->campaign ? NAN : s->told_elapsed ? s->elapsed : clock_seconds() - s->campaign_began;
}

status store_run(struct store *s, enum statement which, const char *doing, const struct sql_value *v, int n,
                 struct err *e)
{
    status st = statement(s, which, e);
    return st ? st : sql_run(&s->sql, s->statements[which], doing, v, n, e);
}

status store_lookup(struct store *s, enum statement which, const char *doing, const struct sql_value *v, int n,
                    int64_t *out, bool *found, struct err *e)
{
    status st = statement(s, which, e);
    return st ? st : sql_lookup(&s->sql, s->statements[which], doing, v, n, out, found, e);
}

status store_intern(struct store *s, enum statement find, enum statement add, const char *doing,
                    const struct sql_value *v, int n, int nkey, int64_t *id, struct err *e)
{
    bool found;
    status st = store_lookup(s, find, doing, v, nkey, id, &found, e);
    if (st || found)
        return st;
    st = store_run(s, add, doing, v, n, e);
    if (!st)
        *id = sqlite3_last_insert_rowid(s->sql.db);
    return st;
}

status store_begin(struct store *s, const char *doing, struct err *e)
{
    if (s->lost)
        return err_set(e, LATHE_STORE, "%s: the file is gone (%s)", s->sql.path, doing);
    if (s->together)
        return LATHE_OK;
    status st = store_check_place(s, e);
    return st ? st : store_run(s, STATEMENT_begin, doing, NULL, 0, e);
}

status store_finish(struct store *s, status st, const char *doing, struct err *e)
{
    if (s->together)
        return st;
    if (!st)
        st = store_run(s, STATEMENT_commit, doing, NULL, 0, e);
    if (st) {
        sql_rollback(&s->sql);
        s->sourced = NULL;              /* its row may be gone */
        store_leaders_forget(s);
    }
    return st ? st : store_check_place(s, e);
}

static const char TOGETHER[] = "recording a whole campaign";

status store_together_begin(struct store *s, struct err *e)
{
    status st = store_begin(s, TOGETHER, e);
    s->together = !st;
    return st;
}

status store_together_end(struct store *s, status so_far, struct err *e)
{
    s->together = false;
    return store_finish(s, so_far, TOGETHER, e);
}

static status migrate(const struct sql *c, int version, struct err *e)
{
    static const char doing[] = "writing the schema";
    status st = LATHE_OK;
    for (int v = version; !st && v < SCHEMA_VERSION; v++)
        st = sql_exec(c, MIGRATIONS[v], doing, e);
    if (st == LATHE_INTERNAL && version > 0) /* a statement that does not fit: the file is not what its version says */
        return sql_damaged(c->path, sqlite3_errmsg(c->db), "bringing it up to date", e);
    if (st || version == SCHEMA_VERSION)
        return st;
    char *text = mem_printf("PRAGMA application_id = %d; PRAGMA user_version = %d;"
                            "INSERT OR IGNORE INTO meta VALUES ('created', strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ'))",
                            APPLICATION_ID, SCHEMA_VERSION);
    st = sql_exec(c, text, doing, e);
    mem_free(text);
    return st;
}

/* Two connections that change a new file's mode at once would each wait for the other, so SQLite refuses one of them at
 * once, without its busy handler (https://sqlite.org/c3ref/busy_handler.html): that one tries again here. */
static status use_wal(const struct sql *c, const char *doing, struct err *e)
{
    const double PAUSE = 0.01;
    double end = clock_seconds() + c->busy_seconds;
    for (;;) {
        status st = sql_exec(c, "PRAGMA journal_mode = WAL", doing, e);
        if (!st || (sqlite3_errcode(c->db) & 0xff) != SQLITE_BUSY || clock_seconds() >= end)
            return st;
        clock_sleep(PAUSE);
    }
}

/* From a connection to a database of this schema. The write lock is taken even when there is nothing to do: a file or
 * directory that cannot be written to, or one that is locked, is found here and not after the first trial. */
static status prepare_file(struct store *s, struct err *e)
{
    static const char doing[] = "opening the database for writing";
    const struct sql *c = &s->sql;
    int version;
    status st = sql_identify(c, &version, e);
    if (st)
        return st;
    if (sqlite3_db_readonly(c->db, "main"))
        return err_set(e, LATHE_STORE, "%s: the file is read-only: make it writable, or give --db another file",
                       c->path);
    /* NOTE: a file system without shared memory maps keeps the mode it has. That is as durable; readers then wait for
     * the writer. */
    st = use_wal(c, doing, e);
    if (!st)
        st = sql_exec(c, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536; "
                         "PRAGMA wal_autocheckpoint = 8000", doing, e);
    if (!st)
        st = store_begin(s, doing, e);
    if (st)
        return st;
    st = sql_identify(c, &version, e);
    if (!st)
        st = migrate(c, version, e);
    for (int i = 0; !st && i < STATEMENT_COUNT; i++) /* all that a campaign will need is there */
        st = statement(s, i, e);
    return store_finish(s, st, doing, e);
}

status store_open(const char *path, double busy_seconds, struct store **out, struct err *e)
{
    struct store *s = mem_zalloc(1, sizeof *s);
    *out = NULL;
    status st = sql_open(&s->sql, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, false, busy_seconds, e);
    if (!st)
        st = prepare_file(s, e);
    if (st) {
        store_close(s);
        return st;
    }
    *out = s;
    return LATHE_OK;
}

void store_patience(struct store *s, double seconds, bool (*stop)(void))
{
    s->sql.busy_seconds = seconds;
    s->sql.stop = stop;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(s->statements[i]);
    store_leaders_forget(s);
    sql_close(&s->sql);
    mem_free(s);
}

status store_bundle(struct store *s, const char *problem, const char *data, size_t len, const char *tool_version,
                    struct err *e)
{
    static const char doing[] = "keeping a bundle";
    char now[32];
    clock_iso8601(now);
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    st = store_run(s, STATEMENT_bundle_set, doing,
                   SQL_VALUES(sql_text(problem), sql_blob(data, len), sql_text(tool_version), sql_text(now)), e);
    return store_finish(s, st, doing, e);
}
