/* sqlite_error.c: what SQLite and the file system say, as one message for a person.
 *
 * Every message names the file, what was being done, and what to do next. A failing write leaves the database as it was
 * before that write: the callers roll back, so a message may promise that what was recorded before is kept. */
#include "base/clock.h"
#include "base/mem.h"
#include "db/sqlite_util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool may(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

status sql_cannot_open(const char *path, int sys_errno, struct err *e)
{
    struct stat file, dir;
    char *parent = path_dirname(path);
    bool exists = stat(path, &file) == 0;
    if (exists && S_ISDIR(file.st_mode))
        err_set(e, LATHE_STORE, "%s: is a directory, expected a database file: give --db a file name", path);
    else if (stat(parent, &dir) != 0)
        err_set(e, LATHE_STORE, "%s: the directory %s does not exist: create it, or give --db another file", path,
                parent);
    else if (!S_ISDIR(dir.st_mode))
        err_set(e, LATHE_STORE, "%s: %s is not a directory: give --db another file", path, parent);
    else if (exists && !may(path, R_OK))
        err_set(e, LATHE_STORE, "%s: no permission to read it: change its mode, or give --db another file", path);
    else if (!may(parent, W_OK))
        err_set(e, LATHE_STORE,
                "%s: the directory %s is read-only, and SQLite keeps files beside the database: make it writable, or "
                "copy the database (with its -wal file, if there is one) elsewhere and give --db that",
                path, parent);
    else
        err_set(e, LATHE_STORE, "%s: cannot open: %s", path,
                sys_errno ? strerror(sys_errno) : "SQLite gives no reason");
    mem_free(parent);
    return LATHE_STORE;
}

status sql_damaged(const char *path, const char *how, const char *doing, struct err *e)
{
    return err_set(e, LATHE_STORE,
                   "%s: the database is damaged (%s; %s): keep a copy, and take out what is readable with "
                   "`sqlite3 %s .recover`",
                   path, how, doing, path);
}

/* Opening a pipe waits for its writer, so whether it is a file is asked before. What is absent, or a directory, is for
 * sql_cannot_open to tell. */
status sql_check_file(const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? LATHE_OK
                   : err_set(e, LATHE_STORE, "%s: cannot open: %s: give --db another file", path, strerror(errno));
    if (S_ISDIR(st.st_mode) || file_check_regular(path, "a database file: give --db another file", e) == LATHE_OK)
        return LATHE_OK;
    if (e)
        e->code = LATHE_STORE;
    return LATHE_STORE;
}

/* "process 1234 (lathe)" */
static char *process_name(pid_t pid)
{
    char *path = mem_printf("/proc/%ld/comm", (long)pid), *text = NULL;
    struct err ignored = {0};
    bool known = pid > 0 && file_read(path, &text, NULL, &ignored) == LATHE_OK;
    char *name = pid <= 0 ? mem_strdup("another process")
                 : known  ? mem_printf("process %ld (%.*s)", (long)pid, (int)strcspn(text, "\n"), text)
                          : mem_printf("process %ld", (long)pid);
    mem_free(path);
    mem_free(text);
    return name;
}

status sql_fail_stranger(const struct sql *c, pid_t stranger, double seconds, struct err *e)
{
    char *name = process_name(stranger);
    err_set(e, LATHE_STORE,
            "%s: beside it is the log (-wal, -shm) of another file that had its name, which %s still writes; waited "
            "%.1f s. Both would be damaged: let that process end, or give --db another file",
            c->path, name, seconds);
    mem_free(name);
    return LATHE_STORE;
}

static bool no_space(int primary, int sys_errno)
{
    return primary == SQLITE_FULL ||
           (primary == SQLITE_IOERR && (sys_errno == ENOSPC || sys_errno == EDQUOT || sys_errno == EFBIG));
}

static status fail_read_only(const struct sql *c, int extended, const char *doing, struct err *e)
{
    if (extended == SQLITE_READONLY_DBMOVED)
        return err_set(e, LATHE_STORE,
                       "%s: the file was moved or deleted while in use (%s): put it back, or start again", c->path,
                       doing);
    if (may(c->path, W_OK))
        return sql_cannot_open(c->path, EROFS, e);
    return err_set(e, LATHE_STORE, "%s: read-only (%s): make the file writable, or give --db another file", c->path,
                   doing);
}

/* What SQLite finds wrong with a value, not with lathe's statement. */
static bool about_values(const char *said)
{
    static const char *const known[] = {"malformed JSON", "integer overflow"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(said, known[i]))
            return true;
    return false;
}

status sql_fail(const struct sql *c, const char *doing, struct err *e)
{
    int extended = sqlite3_extended_errcode(c->db), primary = extended & 0xff;
    int sys_errno = sqlite3_system_errno(c->db);
    const char *said = sqlite3_errmsg(c->db), *path = c->path;
    if (no_space(primary, sys_errno))
        return err_set(
            e, LATHE_STORE,
            "%s: the disk is full (%s): that is not recorded, everything recorded before it is kept. Free some "
            "space and run again",
            path, doing);
    switch (primary) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(
            e, LATHE_STORE,
            "%s: another process holds the database locked; waited %.1f s (%s). Let that process end, or give "
            "--db another file",
            path, clock_seconds() - c->busy_since, doing);
    case SQLITE_READONLY: return fail_read_only(c, extended, doing, e);
    case SQLITE_CANTOPEN: return sql_cannot_open(path, sys_errno, e);
    case SQLITE_NOTADB:
        return err_set(e, LATHE_STORE, "%s: not a SQLite database, so not lathe's: give --db another file", path);
    case SQLITE_CORRUPT: return sql_damaged(path, said, doing, e);
    case SQLITE_IOERR:
        if (sys_errno == EISDIR)
            return sql_cannot_open(path, sys_errno, e);
        return extended == SQLITE_IOERR_NOMEM
                   ? err_set(e, LATHE_NOMEM, "%s: out of memory (%s)", path, doing)
                   : err_set(e, LATHE_STORE, "%s: the file cannot be read or written (%s): %s, %s", path, doing, said,
                             sys_errno ? strerror(sys_errno) : "no reason given");
    case SQLITE_NOMEM: return err_set(e, LATHE_NOMEM, "%s: out of memory (%s)", path, doing);
    case SQLITE_INTERRUPT: return err_set(e, LATHE_STORE, "%s: broken off (%s)", path, doing);   /* not by us */
    default:
        if (primary == SQLITE_ERROR && about_values(said))
            return sql_damaged(path, said, doing, e);
        return err_set(e, LATHE_INTERNAL, "%s: %s: %s (SQLite code %d); this is a bug in lathe", path, doing, said,
                       extended);
    }
}
