/* space_tables.c: open addressing, powers of two, at most half full. Equality is by content, never by hash alone. */
#include "search/space/space_tables.h"

#include "base/mem.h"
#include "base/rng.h"
#include <string.h>

enum { STATE_BYTES = 64 << 20 };        /* of one state table */

static inline bool same_key(const uint64_t *a, const uint64_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static uint32_t *state_place(const struct state_table *t, const uint64_t *key)
{
    uint64_t h = 0;
    size_t n = (size_t)t->nkeys;
    for (size_t i = 0; i < n; i++)
        h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
    uint32_t at = (uint32_t)(h >> 32) & t->mask;
    while (t->places[at] && !same_key(&t->keys[(t->places[at] - 1) * n], key, n))
        at = (at + 1) & t->mask;
    return &t->places[at];
}

bool state_find(const struct state_table *t, const uint64_t *key, uint32_t *node, double *refused)
{
    uint32_t found = t->cap ? *state_place(t, key) : 0;
    if (!found)
        return false;
    *node = t->nodes[found - 1];
    memcpy(refused, &t->refused[(found - 1) * (size_t)t->nrefused], (size_t)t->nrefused * sizeof *refused);
    return true;
}

static void state_grow(struct state_table *t)
{
    size_t n = (size_t)t->nkeys, nrefused = (size_t)t->nrefused;
    size_t entry = n * sizeof *t->keys + sizeof *t->nodes + nrefused * sizeof *t->refused;
    if (t->cap && t->cap * 2 * entry > STATE_BYTES) {
        t->count = 0;
        memset(t->places, 0, ((size_t)t->mask + 1) * sizeof *t->places);
        return;
    }
    t->cap = t->cap ? t->cap * 2 : 64;
    t->keys = mem_resize(t->keys, t->cap * n + 1, sizeof *t->keys);
    t->nodes = mem_resize(t->nodes, t->cap, sizeof *t->nodes);
    t->refused = mem_resize(t->refused, t->cap * nrefused, sizeof *t->refused);
    mem_free(t->places);
    t->mask = t->cap * 2 - 1;
    t->places = mem_zalloc((size_t)t->mask + 1, sizeof *t->places);
    for (uint32_t i = 0; i < t->count; i++)
        *state_place(t, &t->keys[i * n]) = i + 1;
}

void state_add(struct state_table *t, const uint64_t *key, uint32_t node, const double *refused)
{
    if (t->count == t->cap)
        state_grow(t);
    uint32_t *place = state_place(t, key);
    memcpy(&t->keys[t->count * (size_t)t->nkeys], key, (size_t)t->nkeys * sizeof *key);
    t->nodes[t->count] = node;
    memcpy(&t->refused[t->count * (size_t)t->nrefused], refused, (size_t)t->nrefused * sizeof *refused);
    *place = ++t->count;
}

void state_table_free(struct state_table *t)
{
    mem_free(t->places);
    mem_free(t->keys);
    mem_free(t->nodes);
    mem_free(t->refused);
}

static bool same_edges(const struct space *s, const struct node *node, const struct edge *edges, uint32_t n)
{
    if (node->count != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (s->edges[node->first + i].choice != edges[i].choice || s->edges[node->first + i].child != edges[i].child)
            return false;
    return true;
}

static uint32_t *node_place(const struct node_table *t, const struct space *s, const struct edge *edges, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++)
        h = splitmix64(h ^ ((uint64_t)edges[i].choice << 32 | edges[i].child));
    uint32_t at = (uint32_t)h & t->mask;
    while (t->places[at] && !same_edges(s, &s->nodes[t->places[at] - 1], edges, n))
        at = (at + 1) & t->mask;
    return &t->places[at];
}

static void node_table_grow(struct node_table *t, const struct space *s)
{
    t->mask = t->mask ? t->mask * 2 + 1 : 1023;
    mem_free(t->places);
    t->places = mem_zalloc((size_t)t->mask + 1, sizeof *t->places);
    for (uint32_t i = NODE_END + 1; i < s->nnodes; i++)
        *node_place(t, s, &s->edges[s->nodes[i].first], s->nodes[i].count) = i + 1;
}

uint32_t node_make(struct node_table *t, struct space *s, const struct edge *edges, uint32_t n, uint64_t members)
{
    if (s->nnodes * 2ull >= t->mask)
        node_table_grow(t, s);
    uint32_t *place = node_place(t, s, edges, n);
    if (*place)
        return *place - 1;
    MEM_GROW(s->nodes, s->nnodes, s->node_cap);
    while (s->nedges + n > s->edge_cap) {
        s->edge_cap = s->edge_cap ? s->edge_cap * 2 : 64;
        s->edges = mem_resize(s->edges, s->edge_cap, sizeof *s->edges);
    }
    memcpy(s->edges + s->nedges, edges, n * sizeof *edges);
    s->nodes[s->nnodes] = (struct node){.first = s->nedges, .count = n, .members = members};
    s->nedges += n;
    *place = ++s->nnodes;
    return s->nnodes - 1;
}

void node_table_free(struct node_table *t)
{
    mem_free(t->places);
}
