/* sqlite_util.h: the small layer between db/ and SQLite. Private to db/.
 *
 * A struct sql is one connection; it owns its path and handle. Values are bound by type, so that a NaN or an infinity
 * becomes NULL and text is valid UTF-8 whatever a compiler printed. Every failure becomes one message that names the
 * file and says what to do (sql_fail). */
#ifndef LATHE_DB_SQLITE_UTIL_H
#define LATHE_DB_SQLITE_UTIL_H

#include "base/err.h"
#include "base/strbuf.h"
#include <sqlite3.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SCHEMA_VERSION = 6,                 /* PRAGMA user_version this program writes and reads */
    APPLICATION_ID = 0x4c617468,        /* "Lath" */
    /* So many of a campaign and kernel, the best, are never marked as trial.behind. A file's marks are made by it, so
     * it changes with the schema only (schema_5.sql has it too). */
    STORE_LEADERS = 64,
    SQL_STOP_SECONDS = 2,               /* for a lock, when whoever waits is asked to stop */
};

struct sql {
    sqlite3 *db;
    char *path;                         /* as the user gave it, for messages */
    double busy_seconds;                /* how long a lock is waited for */
    bool (*stop)(void);                 /* true: no longer than SQL_STOP_SECONDS; NULL: nobody is asked */
    double busy_since;                  /* clock_seconds() when the present wait began */
};

enum sql_kind { SQL_NULL, SQL_INT, SQL_REAL, SQL_TEXT, SQL_UNSIGNED, SQL_BLOB };
struct sql_value {
    enum sql_kind kind;
    union {
        int64_t i;
        double f;
        const char *s;                  /* borrowed until the call returns */
        uint64_t u;                     /* bound as decimal text */
        struct sql_blob {
            const void *data;           /* borrowed likewise */
            size_t len;
        } blob;
    };
};

static inline struct sql_value sql_null(void) { return (struct sql_value){.kind = SQL_NULL}; }
static inline struct sql_value sql_int(int64_t i) { return (struct sql_value){.kind = SQL_INT, .i = i}; }
static inline struct sql_value sql_real(double f) { return (struct sql_value){.kind = SQL_REAL, .f = f}; }
static inline struct sql_value sql_text(const char *s) { return (struct sql_value){.kind = SQL_TEXT, .s = s}; }
static inline struct sql_value sql_blob(const void *data, size_t len)
{
    return (struct sql_value){.kind = SQL_BLOB, .blob = {data, len}};
}
static inline struct sql_value sql_unsigned(uint64_t u) { return (struct sql_value){.kind = SQL_UNSIGNED, .u = u}; }

/* The two arguments (values, count) of the calls below: SQL_VALUES(sql_int(1), sql_text("x")). */
#define SQL_VALUES(...)                                                                                                \
    (const struct sql_value[]){__VA_ARGS__},                                                                           \
        (int)(sizeof((const struct sql_value[]){__VA_ARGS__}) / sizeof(struct sql_value))

/* flags as sqlite3_open_v2's. immutable: the file is taken not to change (no locks, no -wal). Else, while what is
 * beside it is another file's, that is waited for: busy_seconds, 10 s at most. On failure nothing is left to close. */
status sql_open(struct sql *c, const char *path, int flags, bool immutable, double busy_seconds, struct err *e);
void sql_close(struct sql *c);          /* of a zeroed struct: nothing */

/* The process (this one too) that uses the log beside `database` (no link) for another file than the one that has the
 * name, or for none; -1: the system does not say which. 0: none does. */
pid_t sql_log_of_another(const char *database);
/* Whether this process has open what has that name. */
bool sql_is_own(const char *name);

/* Whose file it is, in one read: LATHE_STORE if not SQLite, another program's, of a newer schema, or damaged. *version
 * is 0 for an empty file; of a newer schema it is that. */
status sql_identify(const struct sql *c, int *version, struct err *e);

/* The message for the connection's last error. doing: "recording trial 7". Returns e->code. */
status sql_fail(const struct sql *c, const char *doing, struct err *e);
/* That process has another's log beside the database, and had it for so long. Returns LATHE_STORE. */
status sql_fail_stranger(const struct sql *c, pid_t stranger, double seconds, struct err *e);
/* A name for messages made by the layer itself, when `path` cannot be opened: why, from what the file system says. */
status sql_cannot_open(const char *path, int sys_errno, struct err *e);
/* LATHE_STORE if there is something at `path` that is neither file nor directory, or that cannot be looked at. */
status sql_check_file(const char *path, struct err *e);
/* A database that is lathe's and not whole. how: what is wrong. Returns LATHE_STORE. */
status sql_damaged(const char *path, const char *how, const char *doing, struct err *e);

/* A table or column that `text` needs and that is not there is damage. */
status sql_prepare(const struct sql *c, const char *text, sqlite3_stmt **out, struct err *e);
status sql_bind(const struct sql *c, sqlite3_stmt *st, const struct sql_value *v, int n, struct err *e);
/* The next row, or *row false at the end. */
status sql_step(const struct sql *c, sqlite3_stmt *st, const char *doing, bool *row, struct err *e);
/* Binds, runs to the end, resets. */
status sql_run(const struct sql *c, sqlite3_stmt *st, const char *doing, const struct sql_value *v, int n,
               struct err *e);
/* Binds, gives the first row's first column (0 and *found false if there is none), resets. found may be NULL. */
status sql_lookup(const struct sql *c, sqlite3_stmt *st, const char *doing, const struct sql_value *v, int n,
                  int64_t *out, bool *found, struct err *e);
status sql_exec(const struct sql *c, const char *text, const char *doing, struct err *e);
/* Ends a transaction that failed, if one is open. Never fails: SQLite has then already ended it. */
void sql_rollback(const struct sql *c);

#endif
