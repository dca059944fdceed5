/* sqlite_log.c: whose is the log beside a database?
 *
 * SQLite finds the log of x.db by its name, x.db-wal, and so does whoever opens a file that was put in the place of
 * one that is in use: both would write one log, and what the first keeps in it would be played over the second. Hence a
 * file is not opened while the shared memory beside it, x.db-shm, is held by a process that does not hold the file.
 *
 * Which SQLite says by two locks (os_unix.c; https://sqlite.org/lockingv3.html): a connection with a log has a read
 * lock on the shared range of the database from before it opens the log until after, and one on a byte of the shared
 * memory as long as it uses that. Both end with the process, however it ends.
 *
 * Invariant: a file that this process has open is not opened here, since to close any descriptor of a file takes back
 * the locks that the process has on it (fcntl(2)). sql_open has one thread here at a time for that reason. */
#include "base/mem.h"
#include "db/sqlite_util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SHARED_FIRST = 0x40000002, SHARED_SIZE = 510,   /* of the database */
    IN_USE = 128,                                   /* of the shared memory: UNIX_SHM_DMS */
};

/* Whether this process has the file open; `unknown` where the system does not tell. */
static bool is_open_here(const struct stat *file, bool unknown)
{
    struct stat own;
    bool found = false;
    DIR *open = opendir("/proc/self/fd");
    if (!open)
        return unknown;
    for (struct dirent *d; !found && (d = readdir(open));)
        found = *d->d_name != '.' && !fstat(atoi(d->d_name), &own) && own.st_ino == file->st_ino &&
                own.st_dev == file->st_dev;
    closedir(open);
    return found;
}

bool sql_is_own(const char *name)
{
    struct stat there;
    return !stat(name, &there) && is_open_here(&there, false);
}

/* A process that has a lock there: 0: none. Where the system does not say which, -1. */
static pid_t holder(int fd, off_t start, off_t len)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
    if (fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid > 0 ? lock.l_pid : -1;
}

/* Asked in this order a process that opens or closes the database meanwhile is not taken for a stranger. */
static pid_t stranger(int database, int memory)
{
    pid_t first = holder(memory, IN_USE, 1);
    if (!first || (database >= 0 && holder(database, SHARED_FIRST, SHARED_SIZE)))
        return 0;
    return holder(memory, IN_USE, 1) == first ? first : 0;
}

pid_t sql_log_of_another(const char *database)
{
    const int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct stat file, memory;
    pid_t found = 0;
    char *name = mem_printf("%s-shm", database);
    bool there = !stat(database, &file), ours = there && is_open_here(&file, true);
    if (!stat(name, &memory) && is_open_here(&memory, true)) {
        found = ours ? 0 : getpid();
    } else if (!ours) {
        int shm = open(name, how), db = shm >= 0 && there ? open(database, how) : -1;
        if (shm >= 0 && (db >= 0 || !there))        /* what may not be read cannot be opened by SQLite either */
            found = stranger(db, shm);
        if (db >= 0)
            close(db);
        if (shm >= 0)
            close(shm);
    }
    mem_free(name);
    return found;
}
