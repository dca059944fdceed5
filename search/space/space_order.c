/* space_order.c: an order of parameters in which a diagram is narrow.
 *
 * A parameter is open from its place on until every condition that it is part of is decided; what is open at a level
 * is what the states there may differ in, so the product of the open parameters' values bounds the level's width. The
 * order is greedy: next comes the parameter after which that product is least, the first of equal ones. Parameters of
 * one group, which conditions join, so come together. */
#include "search/space/space_impl.h"

#include "base/mem.h"
#include <math.h>

struct order {
    const struct kernel *k;
    int nconditions, cap;
    bool **uses;                /* [condition][parameter]: a condition, or a `when` with its own parameter */
    int *missing;               /* parameters of each condition that are not placed */
    bool *placed;
};

static void mark(const struct kernel *k, const struct expr *x, bool *visited, bool *params)
{
    for (int i = 0; i < k->nparams; i++)
        params[i] = params[i] || expr_uses(x, k->first_param + i);
    for (int i = 0; i < k->nlets; i++)
        if (!visited[i] && expr_uses(x, k->first_let + i)) {
            visited[i] = true;
            mark(k, k->lets[i].expr, visited, params);
        }
}

void space_params_of(const struct kernel *k, const struct expr *x, bool *params)
{
    bool *visited = mem_zalloc((size_t)k->nlets, sizeof *visited);
    mark(k, x, visited, params);
    mem_free(visited);
}

static bool *add_condition(struct order *o, const struct expr *x)
{
    MEM_GROW(o->uses, o->nconditions, o->cap);
    bool *uses = mem_zalloc((size_t)o->k->nparams, sizeof *uses);
    space_params_of(o->k, x, uses);
    return o->uses[o->nconditions++] = uses;
}

static void find_conditions(struct order *o)
{
    for (int c = 0; c < o->k->nconstraints; c++) {
        struct expr **parts;
        int n = expr_conjuncts(o->k->constraints[c].expr, &parts);
        for (int i = 0; i < n; i++) {
            add_condition(o, parts[i]);
            expr_free(parts[i]);
        }
        mem_free(parts);
    }
    for (int i = 0; i < o->k->nparams; i++)
        if (o->k->params[i].when)
            add_condition(o, o->k->params[i].when)[i] = true;
}

/* The logarithm of the product of the open parameters' values, once `next` is placed too. */
static double width(const struct order *o, int next)
{
    double sum = 0;
    for (int i = 0; i < o->k->nparams; i++) {
        bool open = false;
        for (int c = 0; c < o->nconditions && (o->placed[i] || i == next) && !open; c++)
            open = o->uses[c][i] && o->missing[c] > o->uses[c][next];
        sum += open ? log(o->k->params[i].nvalues) : 0;
    }
    return sum;
}

static void place(struct order *o, int param)
{
    o->placed[param] = true;
    for (int c = 0; c < o->nconditions; c++)
        o->missing[c] -= o->uses[c][param];
}

/* Whether the parameters that its `when` names are placed. */
static bool may_come(const struct order *o, int param)
{
    const struct expr *when = o->k->params[param].when;
    for (int i = 0; when && i < o->k->nparams; i++)
        if (!o->placed[i] && expr_uses(when, o->k->first_param + i))
            return false;
    return true;
}

bool space_order(const struct kernel *k, int *param)
{
    struct order o = {.k = k, .placed = mem_zalloc((size_t)k->nparams, sizeof *o.placed)};
    bool another = false;
    find_conditions(&o);
    o.missing = mem_zalloc((size_t)o.nconditions, sizeof *o.missing);
    for (int c = 0; c < o.nconditions; c++)
        for (int i = 0; i < k->nparams; i++)
            o.missing[c] += o.uses[c][i];
    for (int l = 0; l < k->nparams; l++) {
        double least = INFINITY;
        for (int i = 0; i < k->nparams; i++) {
            if (o.placed[i] || !may_come(&o, i))
                continue;
            double w = width(&o, i);
            if (w < least - 1e-9) {
                least = w;
                param[l] = i;
            }
        }
        place(&o, param[l]);
        another = another || param[l] != l;
    }
    for (int c = 0; c < o.nconditions; c++)
        mem_free(o.uses[c]);
    mem_free(o.uses);
    mem_free(o.missing);
    mem_free(o.placed);
    return another;
}
