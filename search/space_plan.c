/* space_plan.c: which formula can be evaluated after which parameter, and what the rest of a space depends on.
 *
 * The second is what makes building fast: two sets of choices that agree on the keys of a level have the same members
 * below it. A let counts by its value, not by the parameters it was made from, as soon as those are all chosen. */
#include "search/space_impl.h"

#include "base/mem.h"
#include <string.h>

struct planner {
    const struct kernel *k;
    int nslots;
    int *level;                 /* of each slot; -1: no parameter decides it */
    bool *needed;               /* lets that some constraint depends on */
    bool *done;                 /* slots of lets that are computed already */
    bool *visited;              /* lets that mark_params or mark_keys has been to */
};

static int expr_level(const struct planner *p, const struct expr *x)
{
    int level = -1;
    for (int s = p->k->first_param; s < p->nslots; s++)
        if (expr_uses(x, s) && p->level[s] > level)
            level = p->level[s];
    return level;
}

static void find_levels(struct planner *p)
{
    const struct kernel *k = p->k;
    for (int s = 0; s < p->nslots; s++)
        p->level[s] = -1;
    for (int i = 0; i < k->nparams; i++)
        p->level[k->first_param + i] = i;
    for (int i = 0; i < k->nlets; i++)
        p->level[k->first_let + i] = expr_level(p, k->lets[i].expr);
}

static void need_lets(struct planner *p, const struct expr *x)
{
    for (int i = 0; i < p->k->nlets; i++)
        if (!p->needed[i] && expr_uses(x, p->k->first_let + i)) {
            p->needed[i] = true;
            need_lets(p, p->k->lets[i].expr);
        }
}

/* Parameters that x depends on, itself or through lets. */
static void mark_params(const struct planner *p, const struct expr *x, bool *params)
{
    for (int i = 0; i < p->k->nparams; i++)
        params[i] = params[i] || expr_uses(x, p->k->first_param + i);
    for (int i = 0; i < p->k->nlets; i++)
        if (!p->visited[i] && expr_uses(x, p->k->first_let + i)) {
            p->visited[i] = true;
            mark_params(p, p->k->lets[i].expr, params);
        }
}

static void find_widest(struct planner *p, struct space_plan *plan)
{
    bool *params = mem_zalloc((size_t)p->k->nparams, sizeof *params);
    plan->widest = -1;
    for (int c = 0; c < p->k->nconstraints; c++) {
        int n = 0;
        memset(params, 0, (size_t)p->k->nparams * sizeof *params);
        memset(p->visited, 0, (size_t)p->k->nlets * sizeof *p->visited);
        mark_params(p, p->k->constraints[c].expr, params);
        for (int i = 0; i < p->k->nparams; i++)
            n += params[i];
        if (n > plan->widest_params) {
            plan->widest_params = n;
            plan->widest = c;
        }
    }
    mem_free(params);
}

/* The lets of this level that x uses itself are computed. */
static bool is_ready(const struct planner *p, const struct expr *x, int level)
{
    for (int s = p->k->first_let; s < p->nslots; s++)
        if (p->level[s] == level && !p->done[s] && expr_uses(x, s))
            return false;
    return true;
}

static void add_ready_constraints(const struct planner *p, int level, bool *placed, struct space_op *ops, int *n)
{
    for (int c = 0; c < p->k->nconstraints; c++) {
        const struct expr *x = p->k->constraints[c].expr;
        if (!placed[c] && expr_level(p, x) == level && is_ready(p, x, level)) {
            placed[c] = true;
            ops[(*n)++] = (struct space_op){.index = c};
        }
    }
}

/* Constraints come as early as they can, so that a let is not computed where one of them refuses. */
static void order_ops(struct planner *p, struct space_plan *plan)
{
    const struct kernel *k = p->k;
    int n = 0;
    bool *placed = mem_zalloc((size_t)k->nconstraints, sizeof *placed);
    plan->ops = mem_zalloc((size_t)k->nconstraints + (size_t)k->nlets, sizeof *plan->ops);
    plan->first_op = mem_zalloc((size_t)k->nparams + 2, sizeof *plan->first_op);
    for (int level = -1; level < k->nparams; level++) {
        plan->first_op[level + 1] = n;
        add_ready_constraints(p, level, placed, plan->ops, &n);
        for (int i = 0; i < k->nlets; i++)
            if (p->needed[i] && p->level[k->first_let + i] == level) {
                plan->ops[n++] = (struct space_op){.is_let = true, .index = i};
                p->done[k->first_let + i] = true;
                add_ready_constraints(p, level, placed, plan->ops, &n);
            }
    }
    plan->first_op[k->nparams + 1] = n;
    mem_free(placed);
}

/* Slots below `level` that x needs, with a let's own slot where its value is known by then. */
static void mark_keys(const struct planner *p, const struct expr *x, int level, bool *keys)
{
    for (int s = p->k->first_param; s < p->nslots; s++) {
        if (!expr_uses(x, s) || p->level[s] < 0)
            continue;
        int let = s - p->k->first_let;
        if (p->level[s] < level) {
            keys[s] = true;
        } else if (let >= 0 && !p->visited[let]) {
            p->visited[let] = true;
            mark_keys(p, p->k->lets[let].expr, level, keys);
        }
    }
}

static void keys_of_level(const struct planner *p, int level, bool *keys)
{
    const struct kernel *k = p->k;
    memset(keys, 0, (size_t)p->nslots * sizeof *keys);
    memset(p->visited, 0, (size_t)k->nlets * sizeof *p->visited);
    for (int c = 0; c < k->nconstraints; c++)
        if (expr_level(p, k->constraints[c].expr) >= level)
            mark_keys(p, k->constraints[c].expr, level, keys);
    for (int i = level; i < k->nparams; i++)
        if (k->params[i].when)
            mark_keys(p, k->params[i].when, level, keys);
}

/* Something known at `before`, the last level that forgot, or chosen since, is not among the keys. */
static bool is_forgetful(const struct planner *p, const bool *before_keys, int before, const bool *keys, int level)
{
    for (int s = p->k->first_param; s < p->nslots; s++) {
        int param = s - p->k->first_param;
        bool chosen_since = s < p->k->first_let && param >= before && param < level && p->k->params[param].nvalues > 1;
        if ((before_keys[s] || chosen_since) && !keys[s])
            return true;
    }
    return false;
}

static void find_keys(struct planner *p, struct space_plan *plan)
{
    const struct kernel *k = p->k;
    int n = 0, cap = 0, before = 0;
    bool *keys = mem_zalloc((size_t)p->nslots, sizeof *keys),
         *before_keys = mem_zalloc((size_t)p->nslots, sizeof *keys);
    plan->first_key = mem_zalloc((size_t)k->nparams + 2, sizeof *plan->first_key);
    plan->forgets = mem_zalloc((size_t)k->nparams + 1, sizeof *plan->forgets);
    for (int level = 0; level <= k->nparams; level++) {
        keys_of_level(p, level, keys);
        plan->first_key[level] = n;
        for (int s = k->first_param; s < p->nslots; s++)
            if (keys[s]) {
                MEM_GROW(plan->keys, n, cap);
                plan->keys[n++] = s;
            }
        plan->forgets[level] = is_forgetful(p, before_keys, before, keys, level);
        if (plan->forgets[level]) {
            before = level;
            memcpy(before_keys, keys, (size_t)p->nslots * sizeof *keys);
        }
    }
    plan->first_key[k->nparams + 1] = n;
    mem_free(keys);
    mem_free(before_keys);
}

void space_plan_make(const struct kernel *k, struct space_plan *plan)
{
    int nslots = k->first_let + k->nlets;
    struct planner p = {
        .k = k,
        .nslots = nslots,
        .level = mem_zalloc((size_t)nslots, sizeof(int)),
        .needed = mem_zalloc((size_t)k->nlets, sizeof(bool)),
        .done = mem_zalloc((size_t)nslots, sizeof(bool)),
        .visited = mem_zalloc((size_t)k->nlets, sizeof(bool)),
    };
    *plan = (struct space_plan){.levels = k->nparams + 1};
    find_levels(&p);
    for (int c = 0; c < k->nconstraints; c++)
        need_lets(&p, k->constraints[c].expr);
    find_widest(&p, plan);
    order_ops(&p, plan);
    find_keys(&p, plan);
    mem_free(p.level);
    mem_free(p.needed);
    mem_free(p.done);
    mem_free(p.visited);
}

void space_plan_free(struct space_plan *plan)
{
    mem_free(plan->ops);
    mem_free(plan->first_op);
    mem_free(plan->keys);
    mem_free(plan->first_key);
    mem_free(plan->forgets);
}
