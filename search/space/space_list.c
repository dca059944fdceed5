/* space_list.c: a space whose members are listed, such as those of a recording: the diagram of exactly these. */
#include "search/space/space_tables.h"

#include "base/mem.h"
#include <string.h>

struct lister {
    struct space *s;
    const config_choice *choices;
    int nparams;
    struct node_table nodes;
    struct edge **edges;        /* room for the node being made at each level */
};

/* The node of the members [from, to), which agree in all parameters before `level`. */
static uint32_t list_node(struct lister *l, int level, uint64_t from, uint64_t to)
{
    if (level == l->nparams)
        return NODE_END;
    struct edge *edges = l->edges[level];
    uint32_t n = 0;
    for (uint64_t i = from, next; i < to; i = next) {
        config_choice choice = l->choices[i * (uint64_t)l->nparams + (uint64_t)level];
        for (next = i + 1; next < to && l->choices[next * (uint64_t)l->nparams + (uint64_t)level] == choice;)
            next++;
        edges[n++] = (struct edge){.choice = choice, .child = list_node(l, level + 1, i, next)};
    }
    return node_make(&l->nodes, l->s, edges, n, to - from);
}

/* Ascending, each once, and every choice one of its parameter's. */
static bool is_list(const struct kernel *k, const config_choice *choices, uint64_t n)
{
    uint64_t width = (uint64_t)k->nparams;
    for (uint64_t i = 0; i < n; i++) {
        const config_choice *c = choices + i * width, *before = choices + (i ? i - 1 : 0) * width;
        uint64_t same = 0;
        for (uint64_t p = 0; p < width; p++)
            if (c[p] >= k->params[p].nvalues)
                return false;
        while (same < width && before[same] == c[same])
            same++;
        if (i && (same == width || before[same] > c[same]))
            return false;
    }
    return true;
}

status space_of_list(const struct problem *p, const struct kernel *k, const struct target *t,
                     const config_choice *choices, uint64_t n, struct space **out, struct err *e)
{
    if (!n)
        return err_set(e, LATHE_NOTHING, "kernel %s: the list of configurations is empty", k->name);
    if (!is_list(k, choices, n))
        return err_set(e, LATHE_SPEC, "kernel %s: the list of configurations is not in order, or not of its values",
                       k->name);
    struct space *s = mem_zalloc(1, sizeof *s);
    s->kernel = k;
    s->listed = true;
    space_make_axes(s);
    s->fixed = mem_zalloc((size_t)k->scope.count + 1, sizeof *s->fixed);
    s->refused = mem_zalloc((size_t)k->nconstraints + 1, sizeof *s->refused);
    kernel_slots_fixed(p, k, t, s->fixed);
    MEM_GROW(s->nodes, s->nnodes, s->node_cap);
    s->nodes[s->nnodes++] = (struct node){.members = 1};    /* NODE_END */
    s->cartesian = 1;
    struct lister l = {.s = s, .choices = choices, .nparams = k->nparams};
    l.edges = mem_zalloc((size_t)k->nparams + 1, sizeof *l.edges);
    for (int i = 0; i < k->nparams; i++) {
        l.edges[i] = mem_alloc(((size_t)k->params[i].nvalues + 1) * sizeof **l.edges);
        s->cartesian *= k->params[i].nvalues;
    }
    s->root = list_node(&l, 0, 0, n);
    s->size = n;
    for (int i = 0; i < k->nparams; i++)
        mem_free(l.edges[i]);
    mem_free(l.edges);
    node_table_free(&l.nodes);
    *out = s;
    return LATHE_OK;
}
