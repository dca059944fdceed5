/* space_neighbours.c: the valid configurations one change away from a member.
 *
 * A change of parameter p keeps every other parameter, except that one whose condition the change turns on takes the
 * first value that leads to a member, and one that it turns off becomes 0. Without conditional parameters a neighbour
 * is one walk through the diagram; with them it is a depth-first walk over the few values left open, checked at the
 * end. */
#include "search/space/space_impl.h"

#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 20000 };             /* for one candidate; beyond it, it counts as no neighbour */

struct walker {
    const struct space *s;
    const config_choice *from;
    struct value *slots;        /* of `from` during set-up, of a candidate afterwards */
    bool *active;               /* in `from` */
    int changed;                /* the parameter */
    config_choice *candidate;
    int steps;                  /* left for this candidate */
};

/* Every parameter but the changed one is as it was, or is inactive before or after. */
static bool is_one_change(struct walker *w)
{
    const struct kernel *k = w->s->kernel;
    bool known = false;
    for (int i = 0; i < k->nparams; i++) {
        if (i == w->changed || w->candidate[i] == w->from[i] || !w->active[i])
            continue;
        if (!known && kernel_slots_config(k, w->candidate, w->slots, NULL))
            return false;
        known = true;
        if (param_active(k, i, w->slots))
            return false;
    }
    return true;
}

/* Completes the candidate from a level on, below `node`. */
static bool complete(struct walker *w, uint32_t node, int level)
{
    const struct space *s = w->s;
    const struct kernel *k = s->kernel;
    if (level == k->nparams)
        return is_one_change(w);
    if (w->steps <= 0)
        return false;
    w->steps--;
    int i = s->param[level];
    const struct edge *first = s->edges + s->nodes[node].first;
    if (i != w->changed && !w->active[i]) { /* free: it is inactive still, or takes its first valid value */
        for (uint32_t n = 0; n < s->nodes[node].count; n++) {
            w->candidate[i] = first[n].choice;
            if (complete(w, first[n].child, level + 1))
                return true;
        }
        return false;
    }
    config_choice wanted = i == w->changed ? w->candidate[i] : w->from[i];
    const struct edge *edge = space_edge(s, node, wanted);
    w->candidate[i] = wanted;
    if (edge && complete(w, edge->child, level + 1))
        return true;
    if (i == w->changed || !k->params[i].when || wanted == 0 || !(edge = space_edge(s, node, 0)))
        return false;
    w->candidate[i] = 0; /* it may have become inactive */
    return complete(w, edge->child, level + 1);
}

static void try_value(struct walker *w, config_choice value, uint64_t *list, int *n)
{
    w->candidate[w->changed] = value;
    w->steps = STEPS_MAX;
    if (complete(w, w->s->root, 0))
        list[(*n)++] = (uint64_t)space_index(w->s, w->candidate);
}

static void try_param(struct walker *w, enum neighbourhood kind, uint64_t *list, int *n)
{
    const struct space_axis *axis = &w->s->axes[w->changed];
    int nvalues = w->s->kernel->params[w->changed].nvalues, here = w->from[w->changed];
    if (kind == NEIGHBOURS_HAMMING) {
        for (int v = 0; v < nvalues; v++)
            if (v != here)
                try_value(w, (config_choice)v, list, n);
        return;
    }
    int rank = axis->rank[here];
    int down = rank > 0 ? axis->order[rank - 1] : -1, up = rank + 1 < nvalues ? axis->order[rank + 1] : -1;
    int low = down < up ? down : up, high = down < up ? up : down;
    if (low >= 0)
        try_value(w, (config_choice)low, list, n);
    if (high >= 0)
        try_value(w, (config_choice)high, list, n);
}

int space_neighbours(const struct space *s, const config_choice *c, enum neighbourhood kind, uint64_t **out)
{
    const struct kernel *k = s->kernel;
    struct walker w = {
        .s = s,
        .from = c,
        .slots = mem_alloc((size_t)k->scope.count * sizeof *w.slots),
        .active = mem_zalloc((size_t)k->nparams, sizeof *w.active),
        .candidate = mem_zalloc((size_t)k->nparams, sizeof *w.candidate),
    };
    size_t most = 0;
    int n = 0;
    space_param_slots(s, c, w.slots);
    for (int i = 0; i < k->nparams; i++) {
        w.active[i] = param_active(k, i, w.slots);
        most += (size_t)k->params[i].nvalues;
    }
    *out = mem_alloc(most * sizeof **out);
    for (w.changed = 0; w.changed < k->nparams; w.changed++)
        if (w.active[w.changed])
            try_param(&w, kind, *out, &n);
    mem_free(w.slots);
    mem_free(w.active);
    mem_free(w.candidate);
    return n;
}
