/* store_place.c: is the database still where its path says? A file that is deleted under a campaign goes on to be
 * written, and is gone when the campaign ends. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "db/store_private.h"
#include <dirent.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
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

/* What this process had beside the file would be taken for a part of whatever is in its place, by who opens that. Only
 * if it is ours, and not yet another's. */
static void remove_ours(const char *database, const char *suffix)
{
    char *name = mem_printf("%s%s", database, suffix);
    struct stat there, own;
    DIR *open = stat(name, &there) ? NULL : opendir("/proc/self/fd");
    for (struct dirent *d; open && (d = readdir(open));) {
        if (fstat(atoi(d->d_name), &own) || own.st_ino != there.st_ino || own.st_dev != there.st_dev)
            continue;
        unlink(name);
        break;
    }
    if (open)
        closedir(open);
    mem_free(name);
}

bool store_lost(const struct store *s) { return s && s->lost; }

status store_check_place(struct store *s, struct err *e)
{
    int moved = 0;
    if (s->lost || sqlite3_file_control(s->sql.db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) || !moved)
        return LATHE_OK;
    struct err why = {0};
    char *name = rescue(s, &why);
    const char *database = sqlite3_db_filename(s->sql.db, "main");
    s->lost = true;
    if (name && database) {
        remove_ours(database, "-wal");
        remove_ours(database, "-shm");
    }
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
