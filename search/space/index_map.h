/* index_map.h: from the index of a configuration to a number; open addressing, no removal. */
#ifndef LATHE_SEARCH_INDEX_MAP_H
#define LATHE_SEARCH_INDEX_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct index_map {              /* zeroed: empty */
    uint64_t *keys;
    int *values;                /* -1: no key here */
    int count, cap;             /* cap: 0 or a power of two */
};

int index_map_get(const struct index_map *m, uint64_t key); /* -1: not there */
void index_map_put(struct index_map *m, uint64_t key, int value);   /* value >= 0; in place of an older one */
void index_map_clear(struct index_map *m);          /* keeps the memory */
void index_map_free(struct index_map *m);

#endif
