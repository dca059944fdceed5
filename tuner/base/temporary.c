/* temporary.c: see temporary.h. */
#include "base/temporary.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 100 };

static const char *const kinds[] = {"selftest", "export", "recording", "mpi"};

const char *temporary_place(void)
{
    const char *place = getenv("TMPDIR");
    return place && *place ? place : "/tmp";
}

/* "lathe-WHAT-" and mkdtemp's six. */
static bool is_ours(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char begin[32];
        size_t n = (size_t)snprintf(begin, sizeof begin, "lathe-%s-", kinds[i]);
        if (strncmp(name, begin, n) || strlen(name + n) != 6) continue;
        for (name += n; isalnum((unsigned char)*name); name++) {}
        return !*name;
    }
    return false;
}

static int open_folder(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

/* What is in the open folder, and the folder. */
static void take_away(int folder, const char *path)
{
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);    /* which closedir closes */
    DIR *d = again < 0 ? NULL : fdopendir(again);
    if (!d && again >= 0) close(again);
    for (struct dirent *f; d && (f = readdir(d));) unlinkat(folder, f->d_name, 0);
    if (d) closedir(d);
    rmdir(path);
}

/* Whether the open folder is still what the path names. */
static bool is_there(int folder, const char *path)
{
    struct stat is, named;
    return !fstat(folder, &is) && !lstat(path, &named) && is.st_dev == named.st_dev && is.st_ino == named.st_ino;
}

static void take_away_left(const char *path)
{
    struct stat st;
    int folder = open_folder(path);
    if (folder < 0) return;
    if (!fstat(folder, &st) && st.st_uid == geteuid() && !flock(folder, LOCK_EX | LOCK_NB) && is_there(folder, path))
        take_away(folder, path);
    close(folder);
}

static void sweep(const char *place)
{
    DIR *d = opendir(place);
    if (!d) return;
    for (struct dirent *f; (f = readdir(d));) {
        if (!is_ours(f->d_name)) continue;
        char *path = path_join(place, f->d_name);
        take_away_left(path);
        mem_free(path);
    }
    closedir(d);
}

status temporary_make(const char *place, const char *what, struct temporary *t, struct err *e)
{
    if (!place) place = temporary_place();
    sweep(place);
    for (int attempt = 0;; attempt++) {
        *t = (struct temporary){.path = mem_printf("%s/lathe-%s-XXXXXX", place, what), .lock = -1};
        status s = mkdtemp(t->path) ? LATHE_OK
                                    : err_set(e, LATHE_IO, "%s: cannot make a folder: %s", t->path, strerror(errno));
        if (!s && (t->lock = open_folder(t->path)) < 0 && errno != ENOENT) {
            s = err_set(e, LATHE_IO, "%s: %s", t->path, strerror(errno));
            rmdir(t->path);
        }
        /* until it is locked, another that sweeps may take it away; a file system without locks keeps what is left */
        bool mine = !s && t->lock >= 0 && (flock(t->lock, LOCK_EX) || is_there(t->lock, t->path));
        if (mine) return LATHE_OK;
        if (t->lock >= 0) close(t->lock);
        mem_free(t->path);
        *t = (struct temporary){.lock = -1};
        if (!s && attempt == ATTEMPTS)
            s = err_set(e, LATHE_IO, "%s: what is made there is taken away at once", place);
        if (s) return s;
    }
}

void temporary_remove(struct temporary *t)
{
    if (!t->path) return;
    take_away(t->lock, t->path);
    close(t->lock);
    mem_free(t->path);
    *t = (struct temporary){.lock = -1};
}
