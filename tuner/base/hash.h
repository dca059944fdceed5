/* hash.h: content hashes (XXH3, 128 bits). Used for the identity of sources, compiled images and specifications; not
 * for security. */
#ifndef LATHE_BASE_HASH_H
#define LATHE_BASE_HASH_H

#include <stddef.h>

#define HASH_HEX 33 /* 32 digits and a NUL */

struct hasher;                                      /* streaming; fields are length-prefixed so that ("ab","c") differs
                                                       from ("a","bc") */
struct hasher *hasher_new(void);
void hasher_add(struct hasher *h, const void *data, size_t len);
void hasher_add_str(struct hasher *h, const char *s);
void hasher_end(struct hasher *h, char hex[HASH_HEX]); /* also frees h */

void hash_hex(const void *data, size_t len, char hex[HASH_HEX]);

#endif
