/* store_place.c: is the database still where its path says? A file that is deleted under a campaign goes on to be
 * written, and is gone when the campaign ends. */
#include "base/strbuf.h"
#include "base/mem.h"
#include "db/store_private.h"
#include <sqlite3.h>
#include <unistd.h>

/* A copy of it, from the file that only this process has left. Its name; mem_free it. NULL: *e says why not. */
static char *rescue(struct store *s, struct err *e)
{
    static const char doing[] = "writing what was recorded beside it";
    char *name = mem_printf("%s.rescued", s->sql.path);
    sqlite3_stmt *st = NULL;
    if (file_exists(name)) {
        mem_free(name);
        name = mem_printf("%s.rescued-%d", s->sql.path, (int)getpid());
    }
    struct sql_value to = sql_text(name);
    bool row;
    status code = sql_prepare(&s->sql, "VACUUM INTO ?1", &st, e);
    if (!code)
        code = sql_bind(&s->sql, st, &to, 1, e);
    if (!code)
        code = sql_step(&s->sql, st, doing, &row, e);
    sqlite3_finalize(st);
    if (code) {
        mem_free(name);
        return NULL;
    }
    return name;
}

status store_check_place(struct store *s, struct err *e)
{
    int moved = 0;
    if (sqlite3_file_control(s->sql.db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) || !moved)
        return LATHE_OK;
    struct err why = {0};
    char *name = rescue(s, &why);
    if (name)
        err_set(e, LATHE_STORE, "%s was deleted, moved or replaced while the campaign ran; what it recorded is in %s",
                s->sql.path, name);
    else
        err_set(e, LATHE_STORE,
                "%s was deleted, moved or replaced while the campaign ran, and what it recorded could not be written "
                "again: %.900s",
                s->sql.path, why.text);
    mem_free(name);
    return LATHE_STORE;
}
