/* query.c: the read-only connection, snapshots, and values as JSON.
 *
 * A database that nobody has open (no -wal or -journal file with anything in it) is read as immutable: that needs no
 * lock files, so it works in a read-only directory and leaves nothing behind. A writer may begin meanwhile; therefore
 * the file is looked at again after each question, and if anything has moved the question is asked once more over
 * an ordinary connection, with locks. Invariant: an answer that is returned comes from one state of the database. */
#include "db/query.h"
#include "base/mem.h"
#include "base/quote.h"
#include "db/query_private.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double query_busy_seconds = 5;

static const char *const QUESTIONS[QUESTION_COUNT] = {
#define X(name, text) text,
    QUESTION_TABLE(X)
#undef X
};

/* path: where the file itself is: SQLite keeps what belongs to it there. */
static bool has_content(const char *path, const char *suffix)
{
    struct stat st;
    char *name = mem_printf("%s%s", path, suffix);
    bool yes = stat(name, &st) == 0 && st.st_size > 0;
    mem_free(name);
    return yes;
}

static bool at_rest(const char *path)
{
    char *real = realpath(path, NULL);
    bool rests = !has_content(real ? real : path, "-wal") && !has_content(real ? real : path, "-journal");
    free(real);
    return rests;
}

static bool untouched(const struct query *q)
{
    struct stat now;
    return stat(q->sql.path, &now) == 0 && now.st_ino == q->seen.st_ino && now.st_size == q->seen.st_size &&
           now.st_mtim.tv_sec == q->seen.st_mtim.tv_sec && now.st_mtim.tv_nsec == q->seen.st_mtim.tv_nsec &&
           at_rest(q->sql.path);
}

static void disconnect(struct query *q)
{
    for (int i = 0; i < QUESTION_COUNT; i++)
        sqlite3_finalize(q->questions[i]);
    memset(q->questions, 0, sizeof q->questions);
    sql_close(&q->sql);
    json_decref(q->operators);
    q->operators = NULL;
}

static status connect_file(struct query *q, const char *path, bool immutable, struct err *e)
{
    int version = 0;
    q->immutable = immutable;
    q->version = 0;
    status st = sql_open(&q->sql, path, SQLITE_OPEN_READONLY, immutable, query_busy_seconds, e);
    if (st)
        return st;
    sqlite3_db_config(q->sql.db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(q->sql.db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    st = sql_exec(&q->sql, "PRAGMA query_only = ON", "opening the database", e);
    if (!st)
        st = sql_identify(&q->sql, &version, e);
    q->version = version;
    if (!st && version < 1)
        st = err_set(e, LATHE_STORE,
                     "%s: nothing of lathe's is in it yet (schema %d, this lathe reads %d): run `lathe tune` "
                     "with --db %s first",
                     path, version, SCHEMA_VERSION, path);
    return st ? st : query_add_operator(q, e);
}

/* As connect_file, over locks if the file moves while it is opened without. */
static status connect_at_best(struct query *q, const char *path, struct err *e)
{
    bool immutable = at_rest(path);
    status st = connect_file(q, path, immutable, e);
    if (!immutable || (q->sql.db && untouched(q)) || (st && !q->sql.db))
        return st;
    disconnect(q);
    return connect_file(q, path, false, e);
}

const char *query_path(const struct query *q) { return q->sql.path; }

void query_db_option(struct strbuf *b, const char *db)
{
    if (!strcmp(db, DEFAULT_DB))
        return;
    sb_add(b, " --db ");
    quote_word(b, db);
}

status query_missing(const char *path, status code, struct err *e, const char *what, const char *command,
                     const char *after)
{
    struct strbuf db = {0};
    query_db_option(&db, path);
    err_set(e, code, "%s: %s`lathe %s%.600s`%s", path, what, command, sb_str(&db), after);
    sb_free(&db);
    return code;
}

status query_no_campaign(const struct query *q, int64_t id, struct err *e)
{
    char what[60];
    snprintf(what, sizeof what, "there is no campaign %lld: ", (long long)id);
    return query_missing(q->sql.path, LATHE_NOTHING, e, what, "show", " lists them");
}

status query_open(const char *path, struct query **out, struct err *e)
{
    *out = NULL;
    struct query *q = mem_zalloc(1, sizeof *q);
    status st;
    if (path && *path && stat(path, &q->seen) != 0 && errno == ENOENT)
        st = query_missing(path, LATHE_STORE, e, "there is no such database: run ", "tune",
                           " first, or give --db its file");
    else
        st = connect_at_best(q, path, e);
    if (st) {
        query_close(q);
        return st;
    }
    *out = q;
    return LATHE_OK;
}

bool query_is_newer(const char *path)
{
    struct query *q = mem_zalloc(1, sizeof *q);
    struct err ignored;
    bool newer = stat(path, &q->seen) == 0 && connect_at_best(q, path, &ignored) && q->version > SCHEMA_VERSION;
    query_close(q);
    return newer;
}

void query_close(struct query *q)
{
    if (!q)
        return;
    disconnect(q);
    mem_free(q);
}

static status run_body(struct query *q, query_body body, const void *args, json_t **out, struct err *e)
{
    *out = NULL;
    status st = sql_exec(&q->sql, "BEGIN", "reading the database", e);
    if (st)
        return st;
    st = body(q, args, out, e);
    sql_rollback(&q->sql);
    return st;
}

status query_in_snapshot(struct query *q, query_body body, const void *args, json_t **out, struct err *e)
{
    status st = run_body(q, body, args, out, e);
    if (!q->immutable || untouched(q))
        return st;
    json_decref(*out);
    *out = NULL;
    char *path = mem_strdup(q->sql.path);
    disconnect(q);
    st = connect_file(q, path, false, e);
    mem_free(path);
    return st ? st : run_body(q, body, args, out, e);
}

status query_ask(struct query *q, enum question which, const char *text, int64_t id, sqlite3_stmt **out, struct err *e)
{
    status st = LATHE_OK;
    if (!q->questions[which])
        st = sql_prepare(&q->sql, text ? text : QUESTIONS[which], &q->questions[which], e);
    *out = q->questions[which];
    if (!st && sqlite3_bind_parameter_count(*out) > 0)
        st = sql_bind(&q->sql, *out, SQL_VALUES(sql_int(id)), e);
    return st;
}

status query_step(struct query *q, sqlite3_stmt *st, bool *row, struct err *e)
{
    return sql_step(&q->sql, st, "reading the database", row, e);
}

static json_t *text_json(const char *text, size_t n)
{
    json_t *j = json_stringn(text, n);
    if (j)
        return j;
    struct strbuf clean = {0};
    utf8_clean(&clean, text, n);
    j = json_stringn(sb_str(&clean), clean.len);
    sb_free(&clean);
    return j;
}

static json_t *blob_json(const unsigned char *data, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char *hex = mem_alloc(2 * n + 1);
    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = digits[data[i] >> 4];
        hex[2 * i + 1] = digits[data[i] & 15];
    }
    json_t *j = json_stringn_nocheck(hex, 2 * n);
    mem_free(hex);
    return j;
}

json_t *query_column(sqlite3_stmt *st, int i)
{
    switch (sqlite3_column_type(st, i)) {
    case SQLITE_INTEGER: return json_integer(sqlite3_column_int64(st, i));
    case SQLITE_FLOAT:
        return isfinite(sqlite3_column_double(st, i)) ? json_real(sqlite3_column_double(st, i)) : json_null();
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(st, i);
        return text_json(text ? text : "", text ? (size_t)sqlite3_column_bytes(st, i) : 0);
    }
    case SQLITE_BLOB: {
        const void *data = sqlite3_column_blob(st, i);
        return blob_json(data, data ? (size_t)sqlite3_column_bytes(st, i) : 0);
    }
    default: return json_null();
    }
}
