/* bundle.h: the file that `lathe export --format bundle` writes and liblathe reads (docs/liblathe.md): compiled
 * kernels, and what is said of them as JSON.
 *
 *     0   8  89 4C 41 54 48 45 0D 0A   ("\x89LATHE\r\n": binary, and seen to be damaged where line ends were changed)
 *     8   4  version, 1
 *    12   4  0
 *    16   8  bytes of the JSON text, which begins at 64
 *    24   8  bytes of the whole file
 *    32  32  XXH3-128 of bytes 0 to 31 and of all after 64, as base/hash.h's hasher has it of two fields, in
 * hexadecimal 64      the JSON text; then the images, each at a multiple of 16, with at least one zero byte after it
 *
 * Integers are little-endian. A new member of the JSON object keeps the version; a change that an older reader would
 * take for something else gets the next one. */
#ifndef LATHE_MODEL_BUNDLE_H
#define LATHE_MODEL_BUNDLE_H

#include "base/strbuf.h"
#include <jansson.h>

enum { BUNDLE_VERSION = 1, BUNDLE_HEAD = 64 };

struct bundle_image {
    const char *data;                   /* a zero byte follows: PTX is text */
    size_t len;
};

struct bundle {
    json_t *manifest;
    struct bundle_image *images;        /* borrow from what was decoded */
    int nimages;
};

/* Whether it begins as one; len may be anything. */
bool bundle_is(const char *data, size_t len);

/* manifest: an object; it gets "images": [{at, bytes}]. */
status bundle_encode(json_t *manifest, const struct bundle_image *images, int n, struct strbuf *out, struct err *e);

/* data lives as long as `out`, at an address that is a multiple of 16. LATHE_STORE: no bundle, or a damaged one;
 * LATHE_NOTHING: one of a newer version. To be freed with bundle_free. */
status bundle_decode(const char *data, size_t len, struct bundle *out, struct err *e);
void bundle_free(struct bundle *b);

#endif
