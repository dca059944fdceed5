/* space_plan.c: which formula can be evaluated after which parameter, and what the rest of a space depends on.
 *
 * The second is what makes building fast: two sets of choices that agree on the keys of a level have the same members
 * below it. A let or a part counts by its value, not by the parameters it was made from, as soon as those are all
 * chosen.
 *
 * Taking `a and b` apart changes nothing that is seen: where a condition cannot be evaluated its combination is
 * refused, as it is where the condition is false, so their order does not matter. */
#include "search/space/space_impl.h"

#include "base/mem.h"
#include <string.h>

struct planner {
    const struct kernel *k;
    const int *param;           /* of each level */
    struct space_plan *plan;
    int *level, level_cap;      /* of each slot; -1: no parameter decides it */
    bool *done;                 /* values that are computed already */
    bool *visited;              /* values that a walk has been to */
};

static int expr_level(const struct planner *p, const struct expr *x)
{
    int level = -1;
    for (int s = p->k->first_param; s < p->plan->nslots; s++)
        if (p->level[s] > level && expr_uses(x, s))
            level = p->level[s];
    return level;
}

static void set_level(struct planner *p, int slot, int level)
{
    MEM_GROW(p->level, slot, p->level_cap);
    p->level[slot] = level;
}

static void find_levels(struct planner *p)
{
    const struct kernel *k = p->k;
    for (int s = 0; s < k->scope.count; s++)
        set_level(p, s, -1);
    for (int l = 0; l < k->nparams; l++)
        p->level[k->first_param + p->param[l]] = l;
    for (int i = 0; i < k->nlets; i++)
        p->level[k->first_let + i] = expr_level(p, k->lets[i].expr);
}

static void find_widest(struct planner *p, struct space_plan *plan)
{
    bool *params = mem_zalloc((size_t)p->k->nparams, sizeof *params);
    plan->widest = -1;
    for (int c = 0; c < p->k->nconstraints; c++) {
        int n = 0;
        memset(params, 0, (size_t)p->k->nparams * sizeof *params);
        space_params_of(p->k, p->k->constraints[c].expr, params);
        for (int i = 0; i < p->k->nparams; i++)
            n += params[i];
        if (n > plan->widest_params) {
            plan->widest_params = n;
            plan->widest = c;
        }
    }
    mem_free(params);
}

/* Takes x apart --------------------------------------------------------------------------------------------------*/

static struct expr *without_parts(struct planner *p, const struct expr *x, int level);

static int add_value(struct planner *p, struct expr *x, int slot, int level, int let)
{
    struct space_plan *plan = p->plan;
    MEM_GROW(plan->values, plan->nvalues, plan->values_cap);
    plan->values[plan->nvalues++] = (struct space_value){.expr = x, .slot = slot, .level = level, .let = let};
    return slot;
}

/* The slot of a part: that of an equal one if there is one. */
static int slot_of_part(void *ctx, struct expr *part)
{
    struct planner *p = ctx;
    int level = expr_level(p, part);
    struct expr *x = without_parts(p, part, level);
    expr_free(part);
    for (int i = 0; i < p->plan->nvalues; i++)
        if (p->plan->values[i].let < 0 && expr_same(p->plan->values[i].expr, x)) {
            expr_free(x);
            return p->plan->values[i].slot;
        }
    int slot = p->plan->nslots++;
    set_level(p, slot, level);
    return add_value(p, x, slot, level, -1);
}

static int level_of_slot(void *ctx, int slot)
{
    return ((const struct planner *)ctx)->level[slot];
}

/* A copy of x, of that level, in which names of slots stand for what is known before. */
static struct expr *without_parts(struct planner *p, const struct expr *x, int level)
{
    return expr_cut(x, level, &(struct expr_cut){.level = level_of_slot, .slot = slot_of_part, .ctx = p});
}

static void need_lets(struct planner *p, const struct expr *x, bool *needed)
{
    for (int i = 0; i < p->k->nlets; i++)
        if (!needed[i] && expr_uses(x, p->k->first_let + i)) {
            needed[i] = true;
            need_lets(p, p->k->lets[i].expr, needed);
        }
}

static void find_values(struct planner *p)
{
    const struct kernel *k = p->k;
    bool *needed = mem_zalloc((size_t)k->nlets, sizeof *needed);
    for (int c = 0; c < k->nconstraints; c++)
        need_lets(p, k->constraints[c].expr, needed);
    for (int i = 0; i < k->nlets; i++) {
        int slot = k->first_let + i, level = p->level[slot];
        if (needed[i])
            add_value(p, without_parts(p, k->lets[i].expr, level), slot, level, i);
    }
    mem_free(needed);
}

/* The level at which only the parameter of the condition's own level is missing, if others come in between and it has
 * few values. */
static int ahead_level(const struct planner *p, const struct space_condition *c)
{
    enum { VALUES_MOST = 16 };
    if (c->level < 0 || p->k->params[p->param[c->level]].nvalues > VALUES_MOST)
        return p->k->nparams;
    int level = -1, own = p->k->first_param + p->param[c->level];
    for (int s = p->k->first_param; s < p->plan->nslots; s++) {
        if (s == own || !expr_uses(c->expr, s))
            continue;
        if (p->level[s] == c->level)
            return p->k->nparams;                   /* a let of its level is missing too */
        level = p->level[s] > level ? p->level[s] : level;
    }
    return level >= 0 && level < c->level - 1 ? level : p->k->nparams;
}

static void find_conditions(struct planner *p)
{
    struct space_plan *plan = p->plan;
    for (int c = 0; c < p->k->nconstraints; c++) {
        struct expr **parts;
        int n = expr_conjuncts(p->k->constraints[c].expr, &parts);
        for (int i = 0; i < n; i++) {
            int level = expr_level(p, parts[i]);
            MEM_GROW(plan->conditions, plan->nconditions, plan->conditions_cap);
            struct space_condition *condition = &plan->conditions[plan->nconditions++];
            *condition = (struct space_condition){.level = level, .constraint = c};
            condition->expr = without_parts(p, parts[i], level);
            condition->ahead = ahead_level(p, condition);
            expr_free(parts[i]);
        }
        mem_free(parts);
    }
}

/* Order -----------------------------------------------------------------------------------------------------------*/

/* The values of this level that x uses itself are computed. */
static bool is_ready(const struct planner *p, const struct expr *x, int level)
{
    for (int i = 0; i < p->plan->nvalues; i++) {
        const struct space_value *v = &p->plan->values[i];
        if (v->level == level && !p->done[i] && expr_uses(x, v->slot))
            return false;
    }
    return true;
}

static void add_ready_conditions(const struct planner *p, int level, bool *placed, int *n)
{
    for (int c = 0; c < p->plan->nconditions; c++) {
        const struct space_condition *condition = &p->plan->conditions[c];
        if (!placed[c] && condition->level == level && is_ready(p, condition->expr, level)) {
            placed[c] = true;
            p->plan->ops[(*n)++] = (struct space_op){.kind = SPACE_CONDITION, .index = c};
        }
    }
}

/* The next value of this level whose own are computed: lets before parts, for conditions need those. -1: none is left.
 */
static int next_value(const struct planner *p, int level)
{
    for (int parts = 0; parts < 2; parts++)
        for (int i = 0; i < p->plan->nvalues; i++) {
            const struct space_value *v = &p->plan->values[i];
            if ((v->let < 0) == parts && v->level == level && !p->done[i] && is_ready(p, v->expr, level))
                return i;
        }
    return -1;
}

/* Conditions come as early as they can, so that a value is not computed where one of them refuses. */
static void order_ops(struct planner *p)
{
    struct space_plan *plan = p->plan;
    int n = 0;
    bool *placed = mem_zalloc((size_t)plan->nconditions, sizeof *placed);
    p->done = mem_zalloc((size_t)plan->nvalues, sizeof *p->done);
    plan->ops = mem_zalloc(2 * (size_t)plan->nconditions + (size_t)plan->nvalues, sizeof *plan->ops);
    plan->first_op = mem_zalloc((size_t)p->k->nparams + 2, sizeof *plan->first_op);
    for (int level = -1; level < p->k->nparams; level++) {
        plan->first_op[level + 1] = n;
        add_ready_conditions(p, level, placed, &n);
        for (int i; (i = next_value(p, level)) >= 0;) {
            plan->ops[n++] = (struct space_op){.kind = SPACE_VALUE, .index = i};
            p->done[i] = true;
            add_ready_conditions(p, level, placed, &n);
        }
        for (int c = 0; c < plan->nconditions; c++)
            if (plan->conditions[c].ahead == level)
                plan->ops[n++] = (struct space_op){.kind = SPACE_LOOK_AHEAD, .index = c};
    }
    plan->first_op[p->k->nparams + 1] = n;
    mem_free(placed);
}

/* Keys ------------------------------------------------------------------------------------------------------------*/

static int value_of_slot(const struct space_plan *plan, int slot)
{
    for (int i = 0; i < plan->nvalues; i++)
        if (plan->values[i].slot == slot)
            return i;
    return -1;
}

/* Slots below `level` that x needs, with a value's own slot where it is known by then. */
static void mark_keys(const struct planner *p, const struct expr *x, int level, bool *keys)
{
    for (int s = p->k->first_param; s < p->plan->nslots; s++) {
        if (p->level[s] < 0 || !expr_uses(x, s))
            continue;
        int value = p->level[s] < level ? -1 : value_of_slot(p->plan, s);
        if (p->level[s] < level) {
            keys[s] = true;
        } else if (value >= 0 && !p->visited[value]) {
            p->visited[value] = true;
            mark_keys(p, p->plan->values[value].expr, level, keys);
        }
    }
}

static void keys_of_level(const struct planner *p, int level, bool *keys)
{
    const struct kernel *k = p->k;
    memset(keys, 0, (size_t)p->plan->nslots * sizeof *keys);
    memset(p->visited, 0, (size_t)p->plan->nvalues * sizeof *p->visited);
    for (int c = 0; c < p->plan->nconditions; c++)
        if (p->plan->conditions[c].level >= level)
            mark_keys(p, p->plan->conditions[c].expr, level, keys);
    for (int l = level; l < k->nparams; l++)
        if (k->params[p->param[l]].when)
            mark_keys(p, k->params[p->param[l]].when, level, keys);
}

/* Something known at `before`, the last level that forgot, or chosen since, is not among the keys. */
static bool is_forgetful(const struct planner *p, const bool *before_keys, int before, const bool *keys, int level)
{
    for (int s = p->k->first_param; s < p->plan->nslots; s++) {
        bool chosen_since = s < p->k->first_let && p->level[s] >= before && p->level[s] < level &&
                            p->k->params[s - p->k->first_param].nvalues > 1;
        if ((before_keys[s] || chosen_since) && !keys[s])
            return true;
    }
    return false;
}

static void find_keys(struct planner *p)
{
    const struct kernel *k = p->k;
    struct space_plan *plan = p->plan;
    size_t nslots = (size_t)plan->nslots;
    int n = 0, cap = 0, before = 0;
    bool *keys = mem_zalloc(nslots, sizeof *keys), *before_keys = mem_zalloc(nslots, sizeof *keys);
    p->visited = mem_zalloc((size_t)plan->nvalues, sizeof *p->visited);
    plan->first_key = mem_zalloc((size_t)k->nparams + 2, sizeof *plan->first_key);
    plan->forgets = mem_zalloc((size_t)k->nparams + 1, sizeof *plan->forgets);
    for (int level = 0; level <= k->nparams; level++) {
        keys_of_level(p, level, keys);
        plan->first_key[level] = n;
        for (int s = k->first_param; s < plan->nslots; s++)
            if (keys[s]) {
                MEM_GROW(plan->keys, n, cap);
                plan->keys[n++] = s;
            }
        plan->forgets[level] = is_forgetful(p, before_keys, before, keys, level);
        if (plan->forgets[level]) {
            before = level;
            memcpy(before_keys, keys, nslots * sizeof *keys);
        }
    }
    plan->first_key[k->nparams + 1] = n;
    mem_free(keys);
    mem_free(before_keys);
    mem_free(p->visited);
}

void space_plan_make(const struct kernel *k, const int *param, struct space_plan *plan)
{
    struct planner p = {.k = k, .param = param, .plan = plan};
    *plan = (struct space_plan){.nslots = k->scope.count};
    find_levels(&p);
    find_widest(&p, plan);
    find_values(&p);
    find_conditions(&p);
    order_ops(&p);
    find_keys(&p);
    mem_free(p.level);
    mem_free(p.done);
}

void space_plan_free(struct space_plan *plan)
{
    for (int i = 0; i < plan->nvalues; i++)
        expr_free(plan->values[i].expr);
    for (int i = 0; i < plan->nconditions; i++)
        expr_free(plan->conditions[i].expr);
    mem_free(plan->values);
    mem_free(plan->conditions);
    mem_free(plan->ops);
    mem_free(plan->first_op);
    mem_free(plan->keys);
    mem_free(plan->first_key);
    mem_free(plan->forgets);
}
