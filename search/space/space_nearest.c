/* space_nearest.c: how far configurations are from each other, and the member nearest to a combination that need not be
 * one: the cheapest path through the diagram, by Dijkstra's algorithm (1959) over its nodes. A path costs most for each
 * parameter that differs, and then for each step along its values, so few parameters change and those by little. Only
 * nodes that cost no more than the nearest member are looked at; of equal ones the deepest goes first, so where nothing
 * is wrong the search is one walk. */
#include "search/space/space_impl.h"

#include "base/mem.h"
#include "base/rng.h"
#include <string.h>

static const uint64_t CHANGE = UINT64_C(1) << 24;       /* more than all steps of 64 parameters can be */

/* A node on the way, and how it was reached. */
struct reached {
    uint32_t node, parent;      /* parent: place in the list */
    uint64_t cost;
    config_choice choice;       /* the edge from the parent */
    uint8_t level;
    bool done;
};

struct candidate {
    uint64_t cost;
    uint32_t at;                /* place in the list */
    uint8_t level;
};

struct finder {
    const struct space *s;
    const int *wanted;
    struct reached *list;
    uint32_t count, cap;
    uint32_t *places, mask;     /* node -> place + 1, 0: free; open addressing */
    struct candidate *heap;
    uint32_t nheap, heap_cap;
};

static uint64_t cost_of(const struct finder *f, int level, config_choice choice)
{
    int param = f->s->param[level], wanted = f->wanted[param];
    if (wanted < 0 || wanted == choice)
        return 0;
    if (choice == 0 && f->s->kernel->params[param].when)
        return 1;               /* it may have become inactive */
    const config_choice *rank = f->s->axes[param].rank;
    int steps = rank[choice] - rank[wanted];
    return CHANGE + (uint64_t)(steps < 0 ? -steps : steps);
}

static uint32_t *place_of(const struct finder *f, uint32_t node)
{
    uint32_t at = (uint32_t)splitmix64(node) & f->mask;
    while (f->places[at] && f->list[f->places[at] - 1].node != node)
        at = (at + 1) & f->mask;
    return &f->places[at];
}

static void grow_places(struct finder *f)
{
    f->mask = f->mask ? f->mask * 2 + 1 : 255;
    mem_free(f->places);
    f->places = mem_zalloc((size_t)f->mask + 1, sizeof *f->places);
    for (uint32_t i = 0; i < f->count; i++)
        *place_of(f, f->list[i].node) = i + 1;
}

/* Cheaper ones, then deeper ones, then those reached first. */
static bool goes_before(const struct candidate *a, const struct candidate *b)
{
    if (a->cost != b->cost)
        return a->cost < b->cost;
    return a->level != b->level ? a->level > b->level : a->at < b->at;
}

static void push(struct finder *f, struct candidate c)
{
    MEM_GROW(f->heap, f->nheap, f->heap_cap);
    uint32_t i = f->nheap++;
    for (; i > 0 && goes_before(&c, &f->heap[(i - 1) / 2]); i = (i - 1) / 2)
        f->heap[i] = f->heap[(i - 1) / 2];
    f->heap[i] = c;
}

static struct candidate pop(struct finder *f)
{
    struct candidate top = f->heap[0], last = f->heap[--f->nheap];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= f->nheap)
            break;
        if (child + 1 < f->nheap && goes_before(&f->heap[child + 1], &f->heap[child]))
            child++;
        if (!goes_before(&f->heap[child], &last))
            break;
        f->heap[i] = f->heap[child];
        i = child;
    }
    f->heap[i] = last;
    return top;
}

static void reach(struct finder *f, uint32_t node, uint32_t parent, int level, uint64_t cost, config_choice choice)
{
    if (f->count * 2 >= f->mask)
        grow_places(f);
    uint32_t *place = place_of(f, node);
    if (!*place) {
        MEM_GROW(f->list, f->count, f->cap);
        f->list[f->count++] = (struct reached){.node = node, .cost = UINT64_MAX};
        *place = f->count;
    }
    struct reached *r = &f->list[*place - 1];
    if (cost >= r->cost)
        return;
    r->cost = cost;
    r->parent = parent;
    r->choice = choice;
    r->level = (uint8_t)level;
    push(f, (struct candidate){.cost = cost, .at = *place - 1, .level = (uint8_t)level});
}

void space_nearest(const struct space *s, const int *wanted, config_choice *out)
{
    struct finder f = {.s = s, .wanted = wanted};
    int n = s->kernel->nparams;
    uint32_t at;
    reach(&f, s->root, 0, 0, 0, 0);
    for (;;) {
        at = pop(&f).at;
        struct reached r = f.list[at];
        if (r.done)
            continue;
        f.list[at].done = true;
        if (r.level == n)
            break;
        const struct edge *edge = s->edges + s->nodes[r.node].first;
        for (uint32_t i = 0; i < s->nodes[r.node].count; i++)
            reach(&f, edge[i].child, at, r.level + 1, r.cost + cost_of(&f, r.level, edge[i].choice), edge[i].choice);
    }
    for (int level = n; level > 0; at = f.list[at].parent)
        out[s->param[--level]] = f.list[at].choice;
    mem_free(f.list);
    mem_free(f.places);
    mem_free(f.heap);
}

struct space_distance space_distance(const struct space *s, const config_choice *a, const config_choice *b)
{
    const struct kernel *k = s->kernel;
    struct space_distance d = {0};
    bool conditional = false;
    for (int i = 0; i < k->nparams; i++)
        conditional = conditional || k->params[i].when;
    struct value *slots[2] = {NULL, NULL};
    for (int i = 0; conditional && i < 2; i++) {
        slots[i] = mem_zalloc((size_t)k->scope.count, sizeof *slots[i]);
        space_param_slots(s, i ? b : a, slots[i]);
    }
    for (int i = 0; i < k->nparams; i++) {
        bool here = !conditional || param_active(k, i, slots[0]), there = !conditional || param_active(k, i, slots[1]);
        int steps = here && there ? s->axes[i].rank[a[i]] - s->axes[i].rank[b[i]] : here != there;
        d.changed += steps != 0;
        d.steps += (uint64_t)(steps < 0 ? -steps : steps);
    }
    mem_free(slots[0]);
    mem_free(slots[1]);
    return d;
}
