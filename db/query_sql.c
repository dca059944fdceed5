/* query_sql.c: a user's own question in SQL.
 *
 * Invariant: whatever the text, the database is not changed and no other file is touched. Four fences: the connection
 * is read-only, PRAGMA query_only, exactly one statement which SQLite calls read-only, and an authorizer that allows
 * reading and a list of harmless pragmas, and nothing else. */
#include "base/mem.h"
#include "db/query_private.h"

#include <math.h>
#include <string.h>
#include <strings.h>

struct refusal {
    char what[200]; /* "" as long as nothing was refused */
};

static bool listed(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcasecmp(word, *list) == 0)
            return true;
    return false;
}

/* Pragmas that answer; with an argument they still do, or (the second list) they would set something. */
static bool harmless_pragma(const char *name, const char *argument)
{
    static const char *const with_argument[] = {
        "table_info",       "table_xinfo",       "table_list",      "index_list",  "index_info", "index_xinfo",
        "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check", NULL};
    static const char *const plain[] = {"application_id", "user_version",    "schema_version", "journal_mode",
                                        "encoding",       "page_count",      "page_size",      "freelist_count",
                                        "database_list",  "compile_options", "collation_list", "function_list",
                                        "module_list",    "pragma_list",     "data_version",   NULL};
    return listed(name, with_argument) || (!argument && listed(name, plain));
}

static const char *action_name(int action)
{
    switch (action) {
    case SQLITE_INSERT: return "insert rows";
    case SQLITE_UPDATE: return "change rows";
    case SQLITE_DELETE: return "delete rows";
    case SQLITE_ATTACH: return "attach another database";
    case SQLITE_DETACH: return "detach a database";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT: return "begin or end a transaction";
    case SQLITE_PRAGMA: return "run a pragma that sets or does something";
    case SQLITE_FUNCTION: return "call a function that reaches outside the database";
    default: return "change the database";
    }
}

static int authorize(void *ctx, int action, const char *a, const char *b, const char *database, const char *trigger)
{
    static const char *const outside[] = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", NULL};
    struct refusal *r = ctx;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (!listed(b, outside))
            return SQLITE_OK;
        break;
    case SQLITE_PRAGMA:
        if (harmless_pragma(a, b))
            return SQLITE_OK;
        break;
    case SQLITE_UPDATE:
        /* NOTE: SQLite asks this when it declares a table-valued pragma for the first time. A user's own UPDATE of it
         * is refused by SQLite. */
        if (strcmp(a, "sqlite_master") == 0)
            return SQLITE_OK;
        break;
    default: break;
    }
    if (!r->what[0])
        strncat(r->what, action_name(action), sizeof r->what - 1);
    return SQLITE_DENY;
}

static status refuse(const char *why, struct err *e)
{
    return err_set(e, LATHE_USAGE,
                   "the query would %s, and `lathe query` only reads: give one SELECT, WITH, EXPLAIN or "
                   "PRAGMA table_info",
                   why);
}

/* Whether more than space, semicolons and comments follow. */
static bool more_follows(sqlite3 *db, const char *tail)
{
    sqlite3_stmt *st = NULL;
    while (*tail) {
        const char *next = tail;
        int rc = sqlite3_prepare_v2(db, tail, -1, &st, &next);
        sqlite3_finalize(st);
        if (rc || st)
            return true;
        if (next == tail)
            return false;
        tail = next;
    }
    return false;
}

/* The tables and views, for a name that is none of them, and which of them it may have been. */
static void add_names(struct query *q, const char *unknown, struct strbuf *b)
{
    enum { MANY = 64 };
    char *names[MANY];
    int n = 0;
    sqlite3_stmt *st = NULL;
    const char *comma = "";
    sqlite3_prepare_v2(q->sql.db, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name", -1,
                       &st, NULL);
    while (st && sqlite3_step(st) == SQLITE_ROW && n < MANY)
        names[n++] = mem_strdup((const char *)sqlite3_column_text(st, 0));
    sqlite3_finalize(st);
    const char *near = nearest_word(unknown, (const char *const *)names, n);
    if (near)
        sb_addf(b, " (did you mean %s?)", near);
    sb_add(b, "; there are: ");
    for (int i = 0; i < n; i++, comma = ", ") {
        sb_addf(b, "%s%s", comma, names[i]);
        mem_free(names[i]);
    }
}

/* The user's mistake with its place and a hint, or the file's failure. */
static status explain(struct query *q, const struct refusal *r, struct err *e)
{
    sqlite3 *db = q->sql.db;
    int rc = sqlite3_errcode(db) & 0xff, at = sqlite3_error_offset(db);
    if (r->what[0])
        return refuse(r->what, e);
    if (rc != SQLITE_ERROR && rc != SQLITE_TOOBIG && rc != SQLITE_MISMATCH && rc != SQLITE_RANGE)
        return sql_fail(&q->sql, "answering the query", e);
    struct strbuf b = {0};
    sb_add(&b, sqlite3_errmsg(db));
    if (at >= 0)
        sb_addf(&b, " (at character %d)", at + 1);
    const char *table = strstr(sb_str(&b), "no such table: ");
    if (table) {
        char unknown[64];
        snprintf(unknown, sizeof unknown, "%s", table + strlen("no such table: "));
        unknown[strcspn(unknown, " ")] = 0;
        add_names(q, unknown, &b);
    } else if (strstr(sb_str(&b), "no such column")) {
        sb_add(&b, "; PRAGMA table_info(TABLE) lists a table's columns");
    }
    status s = err_set(e, LATHE_USAGE, "the query cannot be answered: %s", sb_str(&b));
    sb_free(&b);
    return s;
}

static json_t *value_at(sqlite3_stmt *st, int i)
{
    double v = sqlite3_column_type(st, i) == SQLITE_FLOAT ? sqlite3_column_double(st, i) : 0;
    return isinf(v) ? json_pack("{s:i}", "infinite", v > 0 ? 1 : -1) : query_column(st, i);
}

static status collect(struct query *q, sqlite3_stmt *st, const struct refusal *r, json_t *columns, json_t *rows,
                      struct err *e)
{
    int n = sqlite3_column_count(st), rc;
    for (int i = 0; i < n; i++) {
        struct strbuf name = {0};
        const char *raw = sqlite3_column_name(st, i);
        utf8_clean(&name, raw ? raw : "", raw ? strlen(raw) : 0);
        json_array_append_new(columns, json_string(sb_str(&name)));
        sb_free(&name);
    }
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        json_t *row = json_array();
        for (int i = 0; i < n; i++)
            json_array_append_new(row, value_at(st, i));
        json_array_append_new(rows, row);
    }
    return rc == SQLITE_DONE ? LATHE_OK : explain(q, r, e);
}

static status run_query(struct query *q, const char *sql, struct refusal *r, json_t *columns, json_t *rows,
                        struct err *e)
{
    sqlite3_stmt *st = NULL;
    const char *tail = "";
    status s;
    if (sqlite3_prepare_v2(q->sql.db, sql, -1, &st, &tail))
        s = explain(q, r, e);
    else if (!st)
        s = err_set(e, LATHE_USAGE, "the query is empty: give one SELECT");
    else if (more_follows(q->sql.db, tail))
        s = err_set(e, LATHE_USAGE, "the query has several statements: give one SELECT");
    else if (!sqlite3_stmt_readonly(st))
        s = refuse("change the database", e);
    else
        s = collect(q, st, r, columns, rows, e);
    sqlite3_finalize(st);
    return s;
}

static status sql_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    struct refusal r = {{0}};
    json_t *columns = json_array(), *rows = json_array();
    sqlite3_set_authorizer(q->sql.db, authorize, &r);
    status s = run_query(q, args, &r, columns, rows, e);
    sqlite3_set_authorizer(q->sql.db, NULL, NULL);
    if (!s)
        *out = json_pack("{s:O, s:O}", "columns", columns, "rows", rows);
    json_decref(columns);
    json_decref(rows);
    return s;
}

status query_sql(struct query *q, const char *sql, json_t **out, struct err *e)
{
    return query_in_snapshot(q, sql_body, sql ? sql : "", out, e);
}
