/* store_place.c: is the database still where its path says? A file that is deleted under a campaign goes on to be
 * written, and is gone when the campaign ends. */
#include "base/mem.h"
#include "db/store_private.h"
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is anything there, a link that leads nowhere too? */
static bool is_taken(const char *name)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};  /* they would be taken for a part of it */
    struct stat st;
    bool taken = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !taken; i++) {
        char *one = mem_printf("%s%s", name, endings[i]);
        taken = lstat(one, &st) == 0;
        mem_free(one);
    }
    return taken;
}

/* A name beside the file that nothing has: FILE.WHAT, FILE.WHAT-PID, FILE.WHAT-PID-2, ...; mem_free it. */
static char *free_name(const char *path, const char *what)
{
    char *name = mem_printf("%s.%s", path, what);
    for (int i = 1; is_taken(name); i++) {
        mem_free(name);
        name = i == 1 ? mem_printf("%s.%s-%d", path, what, (int)getpid())
                      : mem_printf("%s.%s-%d-%d", path, what, (int)getpid(), i);
    }
    return name;
}

/* A copy of it, from the file that only this process has left. Its name; mem_free it. NULL: *e says why not. */
static char *rescue(struct store *s, struct err *e)
{
    static const char doing[] = "writing what was recorded beside it";
    char *name = free_name(s->sql.path, "rescued");
    sqlite3_stmt *st = NULL;
    struct sql_value to = sql_text(name);
    bool row;
    status code = sql_prepare(&s->sql, "VACUUM INTO ?1", &st, e);
    if (!code)
        code = sql_bind(&s->sql, st, &to, 1, e);
    if (!code)
        code = sql_step(&s->sql, st, doing, &row, e);
    sqlite3_finalize(st);
    if (code) {                         /* a part of it is none */
        unlink(name);
        mem_free(name);
        return NULL;
    }
    return name;
}

/* What this process had beside the file would be taken for a part of whatever is in its place, by who opens that. Only
 * if it is ours: nobody else has a part in it while we hold it (sqlite_log.c). The log before the shared memory, whose
 * end others wait for. keep: a name for the log, if it is the only place of what was recorded; NULL: none. */
static void leave(const char *database, const char *keep)
{
    char *log = mem_printf("%s-wal", database), *memory = mem_printf("%s-shm", database);
    if (sql_is_own(log) && (!keep || rename(log, keep)))
        unlink(log);
    if (sql_is_own(memory))
        unlink(memory);
    mem_free(log);
    mem_free(memory);
}

bool store_lost(const struct store *s) { return s && s->lost; }

status store_check_place(struct store *s, struct err *e)
{
    int moved = 0;
    if (s->lost || s->together || sqlite3_file_control(s->sql.db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) || !moved)
        return LATHE_OK;
    struct err why = {0};
    char *name = rescue(s, &why), *log = name ? NULL : free_name(s->sql.path, "log");
    const char *database = sqlite3_db_filename(s->sql.db, "main");
    s->lost = true;
    if (database)
        leave(database, log);
    if (name)
        err_set(e, LATHE_STORE,
                "%s was deleted, moved or replaced while it was in use; what was recorded is in %s\n"
                "where the file was moved to, the latest of it may be missing",
                s->sql.path, name);
    else
        err_set(e, LATHE_STORE,
                "%s was deleted, moved or replaced while it was in use, and what was recorded could not be written "
                "again: %.900s\nthe log of the file that is gone is %.300s",
                s->sql.path, why.text, log);
    mem_free(name);
    mem_free(log);
    return LATHE_STORE;
}
