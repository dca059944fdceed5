/* sqlite_util.c: connections, statements and text, for db/ only.
 *
 * Invariants: (1) a path is always a file: names that SQLite would take for a URI or for memory are given as "./name";
 * (2) whose file it is is read before anything is written; (3) a statement is reset on every way out of sql_run and
 * sql_lookup, so that nothing stays locked; (4) a file is opened with its own log beside it, or not at all. */
#include "db/sqlite_util.h"
#include "base/clock.h"
#include "base/mem.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The name SQLite opens: a URI when the file is taken as immutable, else a path it cannot take for anything else. */
static char *sqlite_name(const char *path, bool immutable)
{
    const char *here = path[0] == '/' ? "" : "./";
    if (!immutable)
        return mem_printf("%s%s", here, path);
    struct strbuf b = {0};
    sb_addf(&b, "file:%s", here);
    for (const char *p = path; *p; p++) {
        if (strchr("%?#", *p))
            sb_addf(&b, "%%%02x", (unsigned char)*p);
        else
            sb_addn(&b, p, 1);
    }
    sb_add(&b, "?immutable=1");
    return sb_take(&b);
}

/* Called by SQLite with the number of calls before, in one wait; 0: the lock is not waited for any longer. */
static int on_busy(void *ctx, int calls)
{
    const double LONGEST = 0.1;
    struct sql *c = ctx;
    double now = clock_seconds(), pause = 0.001 * (1 << (calls < 6 ? calls : 6));
    if (!calls)
        c->busy_since = now;
    double left = c->busy_since + c->busy_seconds - now;
    if (left > 0 && c->stop && c->stop())
        left = fmin(left, c->busy_since + SQL_STOP_SECONDS - now);
    if (left <= 0)
        return 0;
    pause = pause > LONGEST ? LONGEST : pause;
    clock_sleep(pause < left ? pause : left);
    return 1;
}

/* SQLite has read it, and so has the locks by which sql_log_of_another knows it. seen: what was at the path before;
 * NULL: nothing. *moved: it is another file now. What else keeps it from being read, sql_identify says. */
static status open_once(struct sql *c, const char *path, int flags, bool immutable, const struct stat *seen,
                        bool *moved, struct err *e)
{
    struct stat now;
    char *name = sqlite_name(path, immutable);
    int rc = sqlite3_open_v2(name, &c->db, flags, NULL), gone = 0;
    mem_free(name);
    *moved = false;
    if (!c->db)
        return err_set(e, LATHE_NOMEM, "%s: out of memory (opening the database)", path);
    if (rc)
        return sql_fail(c, "opening the database", e);
    sqlite3_busy_handler(c->db, on_busy, c);
    if (immutable)
        return LATHE_OK;
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);    /* its log may be another's */
    rc = sqlite3_exec(c->db, "PRAGMA schema_version", NULL, NULL, NULL);
    if ((rc & 0xff) == SQLITE_BUSY)
        return sql_fail(c, "reading the database's header", e);
    (void)sqlite3_file_control(c->db, "main", SQLITE_FCNTL_HAS_MOVED, &gone);
    *moved = gone || !seen || stat(path, &now) || now.st_ino != seen->st_ino || now.st_dev != seen->st_dev;
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, *moved, NULL);
    return LATHE_OK;
}

/* *stranger: it was not opened, since that process has another's log beside it. */
static status open_alone(struct sql *c, const char *path, int flags, bool immutable, pid_t *stranger, bool *moved,
                         struct err *e)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    char *file = immutable ? NULL : file_resolve(path);
    struct stat seen;
    bool there = file && stat(file, &seen) == 0;
    status st = LATHE_OK;
    pthread_mutex_lock(&one);
    *stranger = file ? sql_log_of_another(file) : 0;
    if (!*stranger)
        st = open_once(c, path, flags, immutable, there ? &seen : NULL, moved, e);
    pthread_mutex_unlock(&one);
    mem_free(file);
    return st;
}

status sql_open(struct sql *c, const char *path, int flags, bool immutable, double busy_seconds, struct err *e)
{
    const double PAUSE = 0.02, LONGEST = 10;    /* a campaign leaves its log when it next looks */
    *c = (struct sql){.busy_since = clock_seconds(), .busy_seconds = busy_seconds > 0 ? busy_seconds : 0};
    if (!path || !*path)
        return err_set(e, LATHE_STORE, "no database file is named: give --db a file name");
    status st = sql_check_file(path, e);
    if (st)
        return st;
    double began = c->busy_since, end = began + fmin(c->busy_seconds, LONGEST);
    pid_t stranger = 0;
    bool moved = false;
    c->path = mem_strdup(path);
    flags |= SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX | (immutable ? SQLITE_OPEN_URI : 0);
    for (int tries = 0;; tries++) {
        st = open_alone(c, path, flags, immutable, &stranger, &moved, e);
        if (st || (!stranger && !moved) || (tries && clock_seconds() >= end))
            break;
        sqlite3_close_v2(c->db);
        c->db = NULL;
        if (stranger)
            clock_sleep(PAUSE);
    }
    if (!st && stranger)
        st = sql_fail_stranger(c, stranger, clock_seconds() - began, e);
    else if (!st && moved)
        st = err_set(e, LATHE_STORE, "%s was deleted, moved or replaced while it was opened: run again", path);
    if (st)
        sql_close(c);
    return st;
}

void sql_close(struct sql *c)
{
    sqlite3_close_v2(c->db);
    mem_free(c->path);
    *c = (struct sql){0};
}

/* Who wrote the file last, as a newer schema's meta table still says. */
static void last_writer(const struct sql *c, char *out, size_t size)
{
    sqlite3_stmt *st = NULL;
    snprintf(out, size, "an unknown version");
    if (sqlite3_prepare_v2(c->db, "SELECT value FROM meta WHERE name = 'written_by'", -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0))
        snprintf(out, size, "%s", (const char *)sqlite3_column_text(st, 0));
    sqlite3_finalize(st);
}

status sql_identify(const struct sql *c, int *version, struct err *e)
{
    static const char question[] =
        "SELECT (SELECT application_id FROM pragma_application_id), "
        "(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
    sqlite3_stmt *st;
    bool row = false;
    status s = sql_prepare(c, question, &st, e);
    if (s)
        return s;
    s = sql_step(c, st, "reading the database's header", &row, e);
    uint32_t application = (uint32_t)sqlite3_column_int64(st, 0);
    int64_t found = sqlite3_column_int64(st, 1), objects = sqlite3_column_int64(st, 2);
    sqlite3_finalize(st);
    if (s)
        return s;
    if (application != APPLICATION_ID && (application || found || objects))
        return err_set(e, LATHE_STORE,
                       "%s: a SQLite database of another program (application_id 0x%08" PRIx32 ", %" PRId64
                       " tables and indexes), left as it is: give --db another file",
                       c->path, application, objects);
    if (application == APPLICATION_ID && found <= 0) {
        char how[80];
        snprintf(how, sizeof how, "its user_version is %" PRId64 ", expected 1 or more", found);
        return sql_damaged(c->path, how, "reading the database's header", e);
    }
    if (found > SCHEMA_VERSION) {
        char writer[200];
        *version = found < INT_MAX ? (int)found : INT_MAX;
        last_writer(c, writer, sizeof writer);
        return err_set(e, LATHE_STORE,
                       "%s: written by a newer lathe (%s; schema %" PRId64 ", this lathe knows %d), left as it is: use "
                       "that lathe, or give --db another file",
                       c->path, writer, found, SCHEMA_VERSION);
    }
    *version = (int)found;
    return LATHE_OK;
}

status sql_prepare(const struct sql *c, const char *text, sqlite3_stmt **out, struct err *e)
{
    *out = NULL;
    int rc = sqlite3_prepare_v3(c->db, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    if ((rc & 0xff) == SQLITE_ERROR)
        return sql_damaged(c->path, sqlite3_errmsg(c->db), "preparing a statement", e);
    return rc ? sql_fail(c, "preparing a statement", e) : LATHE_OK;
}

static int bind_text(sqlite3_stmt *st, int i, const char *s)
{
    struct strbuf clean = {0};
    utf8_clean(&clean, s, strlen(s));
    int rc = sqlite3_bind_text(st, i, sb_str(&clean), (int)clean.len, SQLITE_TRANSIENT);
    sb_free(&clean);
    return rc;
}

static int bind_one(sqlite3_stmt *st, int i, struct sql_value v)
{
    char digits[24];
    switch (v.kind) {
    case SQL_INT: return sqlite3_bind_int64(st, i, v.i);
    case SQL_REAL: return isfinite(v.f) ? sqlite3_bind_double(st, i, v.f) : sqlite3_bind_null(st, i);
    case SQL_TEXT: return v.s ? bind_text(st, i, v.s) : sqlite3_bind_null(st, i);
    case SQL_UNSIGNED:
        snprintf(digits, sizeof digits, "%" PRIu64, v.u);
        return sqlite3_bind_text(st, i, digits, -1, SQLITE_TRANSIENT);
    case SQL_BLOB: return sqlite3_bind_blob64(st, i, v.blob.data, v.blob.len, SQLITE_STATIC);
    case SQL_NULL: break;
    }
    return sqlite3_bind_null(st, i);
}

status sql_bind(const struct sql *c, sqlite3_stmt *st, const struct sql_value *v, int n, struct err *e)
{
    for (int i = 0; i < n; i++)
        if (bind_one(st, i + 1, v[i]))
            return sql_fail(c, "binding a value", e);
    return LATHE_OK;
}

status sql_step(const struct sql *c, sqlite3_stmt *st, const char *doing, bool *row, struct err *e)
{
    int rc = sqlite3_step(st);
    *row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? LATHE_OK : sql_fail(c, doing, e);
}

status sql_run(const struct sql *c, sqlite3_stmt *st, const char *doing, const struct sql_value *v, int n,
               struct err *e)
{
    bool row = true;
    status s = sql_bind(c, st, v, n, e);
    while (!s && row)
        s = sql_step(c, st, doing, &row, e);
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return s;
}

status sql_lookup(const struct sql *c, sqlite3_stmt *st, const char *doing, const struct sql_value *v, int n,
                  int64_t *out, bool *found, struct err *e)
{
    bool row = false;
    *out = 0;
    status s = sql_bind(c, st, v, n, e);
    if (!s)
        s = sql_step(c, st, doing, &row, e);
    if (row)
        *out = sqlite3_column_int64(st, 0);
    if (found)
        *found = row;
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return s;
}

status sql_exec(const struct sql *c, const char *text, const char *doing, struct err *e)
{
    return sqlite3_exec(c->db, text, NULL, NULL, NULL) ? sql_fail(c, doing, e) : LATHE_OK;
}

void sql_rollback(const struct sql *c)
{
    if (!sqlite3_get_autocommit(c->db))
        sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
}
