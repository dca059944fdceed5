/* cache.h: compiled images on disk, found by a hash of everything that made them.
 *
 * Directory: $LATHE_CACHE, else $XDG_CACHE_HOME/lathe, else ~/.cache/lathe, else one in /tmp of the user's own. An
 * image is one file, written atomically by the compiler; the name is the key. A seal at its end, which no loader reads,
 * holds a hash of the rest: an image that was cut short or changed later, or never sealed, counts as absent and is
 * compiled again. When the total passes the limit ($LATHE_CACHE_SIZE in MiB, default 2048), the least recently used go
 * first; cache_trim is called once a campaign. */
#ifndef LATHE_TRIAL_CACHE_H
#define LATHE_TRIAL_CACHE_H

#include "base/err.h"
#include "base/hash.h"
#include <stdbool.h>

/* Creates it; *dir: mem_free it. LATHE_IO: it cannot be written; LATHE_USAGE: $LATHE_CACHE_SIZE is no size. */
status cache_open(char **dir, struct err *e);
void cache_key(const char *source, char *const *defines, int ndefines, const char *arch, const char *toolchain,
               bool sanitize, char key[HASH_HEX]);
char *cache_path(const char *dir, const char *key); /* mem_free */
void cache_seal(const char *path);                  /* the image just compiled; a failure leaves it unsealed */
bool cache_has(const char *path);                   /* sealed and whole; marks it as used now */
void cache_use(const char *path);                   /* marks it as used now; NULL: nothing */
/* Brings the cache down to its size limit: what was not used for longest goes, also if another process has a campaign
 * that needs it. */
void cache_trim(const char *dir);

#endif
