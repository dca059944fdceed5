/* memo.c: see memo.h. Own code because the table is forty lines and holds a million entries in 32 MB. */
#include "campaign/replay/memo.h"
#include "base/mem.h"
#include "base/rng.h"

/* Spaces are few, indices below 2^56: the pair fits one word, and 0 stays free. */
static uint64_t key_of(int space, uint64_t index) { return ((uint64_t)(space + 1) << 56) | index; }

static struct memo_entry *place(const struct memo *m, uint64_t key)
{
    uint64_t i = splitmix64(key) & (m->cap - 1);
    while (m->entries[i].key && m->entries[i].key != key) i = (i + 1) & (m->cap - 1);
    return &m->entries[i];
}

int64_t memo_find(const struct memo *m, int space, uint64_t index)
{
    if (!m->cap) return -1;
    const struct memo_entry *at = place(m, key_of(space, index));
    return at->key ? at->slot : -1;
}

void memo_put(struct memo *m, int space, uint64_t index, int64_t slot)
{
    if ((m->count + 1) * 2 > m->cap) {
        struct memo bigger = {.cap = m->cap ? m->cap * 2 : 64};
        bigger.entries = mem_zalloc(bigger.cap, sizeof *bigger.entries);
        for (uint64_t i = 0; i < m->cap; i++)
            if (m->entries[i].key) *place(&bigger, m->entries[i].key) = m->entries[i];
        bigger.count = m->count;
        mem_free(m->entries);
        *m = bigger;
    }
    struct memo_entry *at = place(m, key_of(space, index));
    if (!at->key) m->count++;
    *at = (struct memo_entry){key_of(space, index), slot};
}

void memo_free(struct memo *m)
{
    mem_free(m->entries);
    *m = (struct memo){0};
}
