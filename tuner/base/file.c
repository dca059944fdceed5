/* file.c: the file helpers of strbuf.h.
 *
 * Invariant: file_write_atomic leaves the old file or the new one under `path`, never a part, and no temporary file
 * behind, whatever fails. */
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t file_limit = (size_t)256 << 20;

/* Reads to the end of fd: the size that stat gives is only a hint (0 for a file of /proc). */
static status read_all(int fd, const char *path, size_t hint, struct strbuf *b, struct err *e)
{
    size_t cap = hint < file_limit ? hint + 1 : file_limit + 1;
    for (;;) {
        if (b->len + 1 >= b->cap) {
            b->cap = b->cap ? b->cap * 2 : cap + 1;
            b->s = mem_resize(b->s, b->cap, 1);
        }
        ssize_t n = read(fd, b->s + b->len, b->cap - b->len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(e, LATHE_IO, "%s: cannot read: %s", path, strerror(errno));
        if (n == 0)
            break;
        b->len += (size_t)n;
        if (b->len > file_limit)
            return err_set(e, LATHE_IO, "%s: larger than 256 MiB, which is more than lathe reads", path);
    }
    b->s[b->len] = 0;
    return LATHE_OK;
}

static status check_kind(const char *path, mode_t mode, const char *what, struct err *e)
{
    return S_ISREG(mode) ? LATHE_OK
                         : err_set(e, LATHE_IO, "%s: is a %s, expected %s", path,
                                   S_ISDIR(mode)    ? "directory"
                                   : S_ISFIFO(mode) ? "pipe"
                                   : S_ISSOCK(mode) ? "socket"
                                                    : "device",
                                   what);
}

status file_check_regular(const char *path, const char *what, struct err *e)
{
    struct stat st;
    return stat(path, &st) == 0 ? check_kind(path, st.st_mode, what, e) : LATHE_OK;
}

/* O_NONBLOCK: between a check of what it is and opening it, it may become a pipe. */
status file_read(const char *path, char **text, size_t *len, struct err *e)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_set(e, LATHE_IO, "%s: cannot open: %s", path, strerror(errno));
    status s = LATHE_OK;
    struct strbuf b = {0};
    if (fstat(fd, &st) < 0)
        s = err_set(e, LATHE_IO, "%s: cannot read: %s", path, strerror(errno));
    else if ((s = check_kind(path, st.st_mode, "a file", e)) == LATHE_OK && st.st_size > (off_t)file_limit)
        s = err_set(e, LATHE_IO, "%s: larger than 256 MiB, which is more than lathe reads", path);
    else if (s == LATHE_OK)
        s = read_all(fd, path, (size_t)st.st_size, &b, e);
    close(fd);
    if (s) {
        sb_free(&b);
        return s;
    }
    if (len)
        *len = b.len;
    *text = sb_take(&b);
    return LATHE_OK;
}

static status write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return LATHE_IO;
        data += n;
        len -= (size_t)n;
    }
    return LATHE_OK;
}

/* A new file beside `path`, opened for writing; its name goes to *name (mem_free it). -1 on failure, errno says why. */
static int open_temporary(const char *path, char **name)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        *name = mem_printf("%s.%ld-%d.tmp", path, (long)getpid(), attempt);
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        mem_free(*name);
        *name = NULL;
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* Makes the rename itself durable. A file system that cannot sync a directory is no failure: the file is whole. */
static void sync_directory(const char *path)
{
    char *dir = path_dirname(path);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    mem_free(dir);
}

/* A terminal, a pipe, /dev/full, a link to what is not there yet (create: O_CREAT): written to as it is, for a rename
 * would put a file in its place. */
static status write_through(const char *path, int create, const void *data, size_t len, struct err *e)
{
    /* a pipe that nobody reads is an error and no wait */
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | create, 0666);
    bool wrote = fd >= 0 && fcntl(fd, F_SETFL, 0) == 0 && write_all(fd, data, len) == LATHE_OK;
    int why = errno;
    if (fd >= 0 && close(fd) < 0 && wrote) {
        wrote = false;
        why = errno;
    }
    return wrote ? LATHE_OK : err_set(e, LATHE_IO, "%s: cannot write: %s", path, strerror(why));
}

static status replace(const char *path, const void *data, size_t len, struct err *e)
{
    char *name = NULL;
    int fd = open_temporary(path, &name);
    if (fd < 0)
        return err_set(e, LATHE_IO, "%s: cannot write: %s", path, strerror(errno));
    struct stat before;
    bool keep = stat(path, &before) == 0;           /* who may read what is replaced may read the new one */
    bool wrote = (!keep || fchmod(fd, before.st_mode & 0777) == 0) && write_all(fd, data, len) == LATHE_OK &&
                 fsync(fd) == 0;
    int why = errno;
    if (close(fd) < 0 && wrote) {
        wrote = false;
        why = errno;
    }
    if (wrote && rename(name, path) < 0) {
        wrote = false;
        why = errno;
    }
    if (!wrote)
        unlink(name);
    mem_free(name);
    if (!wrote)
        return err_set(e, LATHE_IO, "%s: cannot write: %s", path, strerror(why));
    sync_directory(path);
    return LATHE_OK;
}

/* A night's campaigns are no output file: `-o` with the database's name, or a link to it, is a slip. */
static bool is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char begin[sizeof magic];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is = fd >= 0 && read(fd, begin, sizeof begin) == (ssize_t)sizeof begin && !memcmp(begin, magic, sizeof magic);
    if (fd >= 0)
        close(fd);
    return is;
}

/* Nor is what SQLite keeps beside one: the newest of its rows may be there alone. */
static bool is_beside_database(const char *path)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    size_t n = strlen(path);
    bool beside = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !beside; i++) {
        size_t end = strlen(endings[i]);
        if (n <= end || strcmp(path + n - end, endings[i]))
            continue;
        char *database = mem_printf("%.*s", (int)(n - end), path);
        beside = is_database(database);
        mem_free(database);
    }
    return beside;
}

status file_write_atomic(const char *path, const void *data, size_t len, struct err *e)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && is_database(path))
        return err_set(e, LATHE_IO, "%s: is a database, which is not overwritten: give another name", path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return write_through(path, 0, data, len, e);
    char *target = realpath(path, NULL);        /* a link stays one; NULL: nothing is there yet */
    if (is_beside_database(path) || (target && is_beside_database(target))) {
        free(target);
        return err_set(e, LATHE_IO, "%s: belongs to the database beside it, and is not overwritten: give another name",
                       path);
    }
    if (!target && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return write_through(path, O_CREAT, data, len, e);
    status s = replace(target ? target : path, data, len, e);
    free(target);
    return s;
}

bool file_is_same(const char *a, const char *b)
{
    struct stat one, other;
    return !stat(a, &one) && !stat(b, &other) && one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

status dir_make(const char *path, struct err *e)
{
    struct stat st;
    char *copy = mem_strdup(path);
    status s = LATHE_OK;
    if (!*copy)
        s = err_set(e, LATHE_IO, "cannot create a directory with an empty name");
    for (char *p = copy; !s && *p;) {
        p += strspn(p, "/");
        p += strcspn(p, "/");
        char kept = *p;
        *p = 0;
        if (mkdir(copy, 0777) < 0 && errno != EEXIST) {
            int why = errno;                        /* a read-only parent that exists already is no failure */
            if (stat(copy, &st) < 0 || !S_ISDIR(st.st_mode))
                s = err_set(e, LATHE_IO, "%s: cannot create the directory: %s", copy, strerror(why));
        }
        *p = kept;
    }
    if (!s && (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)))
        s = err_set(e, LATHE_IO, "%s: exists and is not a directory", path);
    mem_free(copy);
    return s;
}

char *path_join(const char *dir, const char *name)
{
    if (name[0] == '/' || !dir[0])
        return mem_strdup(name);
    const char *slash = dir[strlen(dir) - 1] == '/' ? "" : "/";
    return mem_printf("%s%s%s", dir, slash, name);
}

char *path_dirname(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    if (n == 0)
        return mem_strdup(".");
    while (n > 1 && path[n - 1] == '/')
        n--;
    return mem_printf("%.*s", (int)n, path);
}
