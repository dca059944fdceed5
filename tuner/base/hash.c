/* hash.c: content hashes by XXH3 (128 bits), as hexadecimal text.
 *
 * Invariant: a hasher's fields are each preceded by their length as eight little-endian bytes, so the hash is the same
 * on every machine and no two different lists of fields feed the same bytes. */
#define XXH_STATIC_LINKING_ONLY                     /* for the size of XXH3_state_t: it is kept inside struct hasher */
#include "base/hash.h"
#include "base/mem.h"

#include <stdint.h>
#include <string.h>
#include <xxhash.h>

struct hasher {
    XXH3_state_t state;                             /* must stand at a multiple of 64, which malloc does not promise */
    void *block;                                    /* what to free */
};

static void print_hex(XXH128_hash_t hash, char hex[HASH_HEX])
{
    static const char digits[] = "0123456789abcdef";
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, hash);
    for (int i = 0; i < 16; i++) {
        hex[2 * i] = digits[bytes.digest[i] >> 4];
        hex[2 * i + 1] = digits[bytes.digest[i] & 15];
    }
    hex[32] = 0;
}

struct hasher *hasher_new(void)
{
    enum { ALIGNMENT = 64 };
    void *block = mem_alloc(sizeof(struct hasher) + ALIGNMENT);
    uintptr_t at = ((uintptr_t)block + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct hasher *h = (struct hasher *)at;
    h->block = block;
    XXH3_INITSTATE(&h->state);
    XXH3_128bits_reset(&h->state);
    return h;
}

void hasher_add(struct hasher *h, const void *data, size_t len)
{
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char)((uint64_t)len >> (8 * i));
    XXH3_128bits_update(&h->state, prefix, sizeof prefix);
    if (len)
        XXH3_128bits_update(&h->state, data, len);
}

void hasher_add_str(struct hasher *h, const char *s)
{
    hasher_add(h, s, strlen(s));
}

void hasher_end(struct hasher *h, char hex[HASH_HEX])
{
    print_hex(XXH3_128bits_digest(&h->state), hex);
    mem_free(h->block);
}

void hash_hex(const void *data, size_t len, char hex[HASH_HEX])
{
    print_hex(XXH3_128bits(data, len), hex);
}
