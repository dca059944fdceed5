/* index_map.c: see index_map.h. */
#include "search/space/index_map.h"

#include "base/mem.h"
#include "base/rng.h"
#include <string.h>

/* The place of the key, or the free one where it belongs. */
static int find(const struct index_map *m, uint64_t key)
{
    int at = (int)(splitmix64(key) & (uint64_t)(m->cap - 1));
    while (m->values[at] >= 0 && m->keys[at] != key)
        at = (at + 1) & (m->cap - 1);
    return at;
}

int index_map_get(const struct index_map *m, uint64_t key)
{
    return m->cap ? m->values[find(m, key)] : -1;
}

static void grow(struct index_map *m)
{
    struct index_map old = *m;
    m->cap = old.cap ? 2 * old.cap : 64;
    m->keys = mem_zalloc((size_t)m->cap, sizeof *m->keys);
    m->values = mem_zalloc((size_t)m->cap, sizeof *m->values);
    index_map_clear(m);
    for (int i = 0; i < old.cap; i++)
        if (old.values[i] >= 0)
            index_map_put(m, old.keys[i], old.values[i]);
    index_map_free(&old);
}

void index_map_put(struct index_map *m, uint64_t key, int value)
{
    if (2 * m->count >= m->cap)
        grow(m);
    int at = find(m, key);
    m->count += m->values[at] < 0;
    m->keys[at] = key;
    m->values[at] = value;
}

void index_map_clear(struct index_map *m)
{
    if (m->cap)
        memset(m->values, 0xff, (size_t)m->cap * sizeof *m->values);
    m->count = 0;
}

void index_map_free(struct index_map *m)
{
    mem_free(m->keys);
    mem_free(m->values);
    *m = (struct index_map){0};
}
