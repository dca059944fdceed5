/* file_resolve.c: the file that a name leads to by links. */
#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the name itself is, though nothing need be there; NULL: its folder is not there. */
static char *place_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *dir = path_dirname(path), *real = realpath(dir, NULL), *joined = real ? path_join(real, name) : NULL;
    free(real);
    mem_free(dir);
    return joined;
}

/* Of a file that is not there a link may tell the name. */
static char *follow(const char *path)
{
    enum { MOST = 40 };                 /* as many as the system follows */
    char to[4096];
    char *at = place_of(path);
    for (int i = 0; at && i < MOST; i++) {
        ssize_t n = readlink(at, to, sizeof to - 1);
        if (n < 0)
            break;
        to[n] = 0;
        char *dir = path_dirname(at), *next = path_join(dir, to), *place = place_of(next);
        mem_free(dir);
        mem_free(next);
        mem_free(at);
        at = place;
    }
    return at;
}

/* Whether a folder or file on the way is a link. */
static bool has_link(const char *path)
{
    struct stat st;
    bool found = false;
    char *part = mem_strdup(path);
    for (size_t i = 1; part[0] && !found; i++) {
        char c = part[i];
        if (c && c != '/')
            continue;
        part[i] = 0;
        found = lstat(part, &st) == 0 && S_ISLNK(st.st_mode);
        part[i] = c;
        if (!c)
            break;
    }
    mem_free(part);
    return found;
}

char *file_resolve(const char *path)
{
    struct stat st, same;
    bool there = stat(path, &st) == 0;
    if (!has_link(path) || (there && !S_ISREG(st.st_mode)) || (!there && errno != ENOENT))
        return mem_strdup(path);
    char *full = follow(path), *here = realpath(".", NULL), *out = NULL;
    size_t n = here ? strlen(here) : 0;
    bool leads = full && (there ? !stat(full, &same) && same.st_ino == st.st_ino && same.st_dev == st.st_dev
                                : stat(full, &same) != 0);
    if (leads)
        out = mem_strdup(n > 1 && !strncmp(full, here, n) && full[n] == '/' ? full + n + 1 : full);
    free(here);
    mem_free(full);
    return out ? out : mem_strdup(path);
}
