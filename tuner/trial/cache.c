/* cache.c: see cache.h. Invariant: a file with a key for a name was whole when it got it (written to another name and
 * renamed), and its seal tells whether it still is. Two campaigns that compile one key at once may seal the same file
 * twice: then the second seal is of the first and all, or of neither, and the worst is a compilation more. */
#include "trial/cache.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Part of every key: raise it when the meaning of a source or option changes. */
static const char CACHE_VERSION[] = "lathe image 1";

/* Images are loaded as code, so a directory that somebody else owns or may write is refused. */
static status check_owner(const char *dir, struct err *e)
{
    struct stat st;
    if (stat(dir, &st)) return err_set(e, LATHE_IO, "%s: %s", dir, strerror(errno));
    if (st.st_uid != getuid() && st.st_uid != 0)
        return err_set(e, LATHE_IO, "%s belongs to another user, who could put code there", dir);
    if (!(st.st_mode & 022)) return LATHE_OK;
    bool shared = st.st_mode & S_ISVTX || st.st_uid != getuid();
    if (shared || chmod(dir, st.st_mode & 07755))
        return err_set(e, LATHE_IO, "%s can be written by others, who could put code there: name a folder of your own",
                       dir);
    return LATHE_OK;
}

/* Workers are told of images in JSON. */
static status check_text(const char *dir, struct err *e)
{
    struct strbuf clean = {0};
    utf8_clean(&clean, dir, strlen(dir));
    bool text = !strcmp(sb_str(&clean), dir);
    if (!text) err_set(e, LATHE_IO, "%s is not UTF-8 text", sb_str(&clean));
    sb_free(&clean);
    return text ? LATHE_OK : LATHE_IO;
}

enum { LIMIT_DEFAULT = 2048, LIMIT_MOST = 1 << 20 };    /* MiB */

/* False: $LATHE_CACHE_SIZE is no such number. */
static bool read_limit(long long *mib)
{
    const char *text = getenv("LATHE_CACHE_SIZE");
    char *end;
    *mib = LIMIT_DEFAULT;
    if (!text || !*text) return true;
    *mib = strtoll(text, &end, 10);
    return end != text && !*end && *mib >= 1 && *mib <= LIMIT_MOST;
}

status cache_open(char **dir, struct err *e)
{
    long long mib;
    if (!read_limit(&mib))
        return err_set(e, LATHE_USAGE,
                       "LATHE_CACHE_SIZE is '%.100s': how large the cache may grow is a whole number of MiB, 1 to %d",
                       getenv("LATHE_CACHE_SIZE"), LIMIT_MOST);
    const char *own = getenv("LATHE_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own && *own)
        *dir = mem_strdup(own);
    else if (xdg && *xdg)
        *dir = path_join(xdg, "lathe");
    else if (home && *home)
        *dir = path_join(home, ".cache/lathe");
    else
        *dir = mem_printf("/tmp/lathe-cache-%ld", (long)getuid());
    status s = check_text(*dir, e);
    if (!s) s = dir_make(*dir, e);
    if (!s) s = check_owner(*dir, e);
    if (!s && access(*dir, W_OK | X_OK)) s = err_set(e, LATHE_IO, "%s: cannot write there: %s", *dir, strerror(errno));
    if (s) {
        err_prefix(e, "cache directory (set LATHE_CACHE to another)");
        mem_free(*dir);
        *dir = NULL;
    }
    return s;
}

void cache_key(const char *source, char *const *defines, int ndefines, const char *arch, const char *toolchain,
               bool sanitize, char key[HASH_HEX])
{
    struct hasher *h = hasher_new();
    hasher_add_str(h, CACHE_VERSION);
    hasher_add_str(h, source);
    hasher_add_str(h, arch);
    hasher_add_str(h, toolchain);
    hasher_add_str(h, sanitize ? "sanitize" : "");
    for (int i = 0; i < ndefines; i++) hasher_add_str(h, defines[i]);
    hasher_end(h, key);
}

char *cache_path(const char *dir, const char *key) { return mem_printf("%s/%s.image", dir, key); }

/* --- seals --- */

static const char SEAL_MARK[] = "\nlathe seal ";
enum { SEAL_BYTES = sizeof SEAL_MARK - 1 + HASH_HEX - 1 };

static void seal_of(const char *data, size_t len, char seal[SEAL_BYTES + 1])
{
    char hex[HASH_HEX];
    hash_hex(data, len, hex);
    snprintf(seal, SEAL_BYTES + 1, "%s%s", SEAL_MARK, hex);
}

void cache_seal(const char *path)
{
    char *data, seal[SEAL_BYTES + 1];
    size_t len;
    struct err e = {0};
    if (file_read(path, &data, &len, &e)) return;
    seal_of(data, len, seal);
    mem_free(data);
    FILE *f = fopen(path, "ab");
    if (!f) return;
    fwrite(seal, 1, SEAL_BYTES, f);     /* a part of a seal is none */
    fclose(f);
}

void cache_use(const char *path)
{
    if (path) utimensat(AT_FDCWD, path, NULL, 0);
}

bool cache_has(const char *path)
{
    char *data, seal[SEAL_BYTES + 1];
    size_t len;
    struct err e = {0};
    if (file_read(path, &data, &len, &e)) return false;
    bool whole = len > SEAL_BYTES;
    if (whole) {
        seal_of(data, len - SEAL_BYTES, seal);
        whole = !memcmp(data + len - SEAL_BYTES, seal, SEAL_BYTES);
    }
    mem_free(data);
    if (whole) cache_use(path);
    return whole;
}

/* --- size --- */

struct entry {
    char *path;
    long long bytes;
    struct timespec used;
};

static int by_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

static long long size_limit(void)
{
    long long mib;
    return (read_limit(&mib) ? mib : LIMIT_DEFAULT) << 20;
}

enum { LEFTOVER_SECONDS = 3600 };
#define LETTERS_DIGITS "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* As GCC names its temporary files: "ccXXXXXX.s". */
static bool is_temporary(const char *name)
{
    return !strncmp(name, "cc", 2) && strspn(name, LETTERS_DIGITS) == 8 && name[8] == '.';
}

/* Whole images are "KEY.image"; "KEY.image.PID..." and a temporary file are a compiler's work in progress, or what one
 * that was killed left. */
static bool is_image(const struct entry *x, const char *name, time_t modified)
{
    const char *suffix = strstr(name, ".image");
    if (!suffix && !is_temporary(name)) return false;
    if (suffix && !suffix[6]) return true;
    if (time(NULL) - modified > LEFTOVER_SECONDS) unlink(x->path);
    return false;
}

void cache_trim(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d) return;
    struct entry *entries = NULL;
    int n = 0, cap = 0;
    long long total = 0;
    for (struct dirent *f; (f = readdir(d));) {
        struct entry x = {.path = path_join(dir, f->d_name)};
        struct stat st;
        if (stat(x.path, &st) || !S_ISREG(st.st_mode) || !is_image(&x, f->d_name, st.st_mtime)) {
            mem_free(x.path);
            continue;
        }
        x.bytes = st.st_size;
        x.used = st.st_mtim;
        total += x.bytes;
        MEM_GROW(entries, n, cap);
        entries[n++] = x;
    }
    closedir(d);
    if (n) qsort(entries, (size_t)n, sizeof *entries, by_use);
    for (int i = 0; i < n; i++) {
        if (total > size_limit() && !unlink(entries[i].path)) total -= entries[i].bytes;
        mem_free(entries[i].path);
    }
    mem_free(entries);
}
