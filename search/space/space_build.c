/* space_build.c: from parameters and constraints to the decision diagram (space_impl.h).
 *
 * Depth first over the parameters in their order, each constraint tried as soon as it can be. At a level that forgets
 * (space_plan.c) the result for each set of key values is remembered, so each state is searched once; nodes are shared
 * by content as well, which catches what the keys can't. Forgetting a memory, when it grows too large, costs time only.
 *
 * `refused` of a level is what each constraint refused first below the current choices, in combinations; it is kept
 * with each remembered state, so that the totals are exact whatever is shared. */
#include "search/space/space_tables.h"

#include "base/clock.h"
#include "base/mem.h"
#include <math.h>
#include <string.h>

struct builder {
    struct space *s;
    const struct kernel *k;
    struct space_plan plan;
    struct value *slots;
    config_choice *choice;      /* of each parameter that is chosen */
    double *weight;             /* combinations of the parameters at or after a level */
    double *refused;            /* nrefused (constraints, then inactive) a level */
    int nrefused;
    struct edge **edges;        /* of the node being made at each level */
    uint64_t *below;            /* members below those edges */
    uint64_t *key;
    struct state_table *states; /* one a level; a parameter is one key word, its choice, a let two, type and bits */
    struct node_table nodes;
    struct space_limits limits;
    double evaluations, deadline;
    struct err *e;
};

/* The bits of a let's value. Equal texts from two places differ, which only costs a meeting. */
static uint64_t value_bits(struct value v)
{
    uint64_t bits = 0;
    if (v.type == VALUE_FLOAT)
        memcpy(&bits, &v.f, sizeof bits);
    else if (v.type == VALUE_STRING)
        bits = (uint64_t)(uintptr_t)v.s;
    else if (v.type != VALUE_NONE)
        bits = v.type == VALUE_BOOL ? v.b : (uint64_t)v.i;
    return bits;
}

static void read_key(struct builder *b, int level)
{
    int n = 0;
    for (int i = b->plan.first_key[level]; i < b->plan.first_key[level + 1]; i++) {
        int slot = b->plan.keys[i], param = slot - b->k->first_param;
        if (param < b->k->nparams) {
            b->key[n++] = b->choice[param];
        } else {
            b->key[n++] = b->slots[slot].type;
            b->key[n++] = value_bits(b->slots[slot]);
        }
    }
}

/* Failures --------------------------------------------------------------------------------------------------------*/

/* "BM=32 BN=64": levels 0 .. level */
static void add_choices(const struct builder *b, int level, struct strbuf *out)
{
    for (int l = 0; l <= level; l++) {
        int i = b->s->param[l];
        sb_addf(out, "%s%s=", l ? " " : "", b->k->params[i].name);
        value_print(out, b->k->params[i].values[b->choice[i]]);
    }
}

static status cannot_evaluate(struct builder *b, const struct let *let, int level)
{
    struct strbuf at = {0};
    struct value v;
    expr_eval(let->expr, b->slots, &v, b->e);
    add_choices(b, level, &at);
    err_prefix(b->e, "kernel %s: let %s cannot be evaluated%s%s", b->k->name, let->name, at.len ? " at " : "",
               sb_str(&at));
    sb_free(&at);
    return LATHE_SPEC;
}

/* How far the search is: combinations before the current choices, and members found among them. */
static status too_large(struct builder *b, int level, const char *what)
{
    double looked_at = 0, found = 0;
    for (int i = 0; i <= level; i++) {
        looked_at += b->choice[b->s->param[i]] * b->weight[i + 1];
        found += (double)b->below[i];
    }
    const struct space_plan *p = &b->plan;
    struct strbuf hint = {0};
    if (p->widest >= 0 && p->widest_params > 1)
        sb_addf(&hint,
                "; the widest constraint, %s, depends on %d parameters: bring those together in the list, or split it",
                expr_text(b->k->constraints[p->widest].expr), p->widest_params);
    err_set(b->e, LATHE_SPEC,
            "kernel %s: the space is too large to build: given up after %s, with %.3g of %.3g combinations looked at "
            "and %.0f valid configurations found so far. Give parameters fewer values, or constraints that refuse "
            "earlier%s",
            b->k->name, what, looked_at, b->s->cartesian, found, sb_str(&hint));
    sb_free(&hint);
    b->s->too_large = true;
    return LATHE_SPEC;
}

status space_look(const struct space_watch *watch, const struct kernel *k, struct err *e)
{
    if (!watch || !watch->stop(watch->ctx))
        return LATHE_OK;
    return err_set(e, LATHE_INTERRUPTED, "interrupted while the space of kernel %s was built", k->name);
}

static status check_limits(struct builder *b, int level)
{
    char what[80];
    status s = space_look(b->limits.watch, b->k, b->e);
    if (s)
        return s;
    if (b->evaluations > b->limits.evaluations)
        snprintf(what, sizeof what, "%.3g evaluations", b->evaluations);
    else if (b->s->nedges > b->limits.edges)
        snprintf(what, sizeof what, "%zu MiB of memory", (size_t)b->s->nedges * sizeof(struct edge) >> 20);
    else if (clock_thread_seconds() > b->deadline)
        snprintf(what, sizeof what, "%g s", b->limits.seconds);
    else
        return LATHE_OK;
    return too_large(b, level, what);
}

/* The search ------------------------------------------------------------------------------------------------------*/

/* A condition that cannot be evaluated refuses: config.h. */
static bool holds(const struct builder *b, const struct space_condition *c)
{
    bool yes;
    return !expr_eval_bool(c->expr, b->slots, &yes, NULL) && yes;
}

/* Whether some value of the condition's last parameter makes it true. */
static bool can_hold(struct builder *b, const struct space_condition *c)
{
    int last = b->s->param[c->level];
    const struct param *p = &b->k->params[last];
    for (int v = 0; v < p->nvalues; v++) {
        b->slots[b->k->first_param + last] = p->values[v];
        b->evaluations++;
        if (holds(b, c))
            return true;
    }
    return false;
}

/* Evaluates what level decides. *refuser: the constraint that refuses, -1 if none. */
static status try_level(struct builder *b, int level, int *refuser)
{
    const struct space_plan *p = &b->plan;
    *refuser = -1;
    for (int i = p->first_op[level + 1]; i < p->first_op[level + 2]; i++) {
        const struct space_op *op = &p->ops[i];
        if (op->kind == SPACE_VALUE) {
            const struct space_value *v = &p->values[op->index];
            if (!expr_eval(v->expr, b->slots, &b->slots[v->slot], NULL))
                continue;
            if (v->let >= 0)
                return cannot_evaluate(b, &b->k->lets[v->let], level);
            b->slots[v->slot] = (struct value){.type = VALUE_NONE};
        } else {
            const struct space_condition *c = &p->conditions[op->index];
            if (op->kind == SPACE_CONDITION ? holds(b, c) : can_hold(b, c))
                continue;
            *refuser = c->constraint;
            break;
        }
    }
    int before = (int)(b->evaluations / 65536);
    b->evaluations += 1 + p->first_op[level + 2] - p->first_op[level + 1];
    return (int)(b->evaluations / 65536) == before ? LATHE_OK : check_limits(b, level);
}

static status is_active(struct builder *b, int level, bool *active)
{
    const struct param *p = &b->k->params[b->s->param[level]];
    const struct expr *when = p->when;
    *active = true;
    if (!when || !expr_eval_bool(when, b->slots, active, NULL))
        return LATHE_OK;
    struct strbuf at = {0};
    expr_eval_bool(when, b->slots, active, b->e);
    add_choices(b, level - 1, &at);
    err_prefix(b->e, "kernel %s: the condition of parameter %s cannot be evaluated at %s", b->k->name,
               p->name, sb_str(&at));
    sb_free(&at);
    return LATHE_SPEC;
}

static status search(struct builder *b, int level, uint32_t *out);

/* One choice at a level, and everything below it. */
static status search_choice(struct builder *b, int level, int choice, uint32_t *n)
{
    int refuser, param = b->s->param[level];
    uint32_t child;
    double *refused = b->refused + level * b->nrefused;
    b->choice[param] = (config_choice)choice;
    b->slots[b->k->first_param + param] = b->k->params[param].values[choice];
    status s = try_level(b, level, &refuser);
    if (s)
        return s;
    if (refuser >= 0) {
        refused[refuser] += b->weight[level + 1];
        return LATHE_OK;
    }
    if ((s = search(b, level + 1, &child)))
        return s;
    for (int i = 0; i < b->nrefused; i++)
        refused[i] += refused[b->nrefused + i];
    if (child == NODE_NONE)
        return LATHE_OK;
    b->edges[level][(*n)++] = (struct edge){.child = child, .choice = (config_choice)choice};
    if (__builtin_add_overflow(b->below[level], b->s->nodes[child].members, &b->below[level]) ||
        b->below[level] > INT64_MAX) {
        b->s->too_large = true;
        return err_set(b->e, LATHE_SPEC,
                       "kernel %s: more than 2^63 valid configurations (%.3g combinations): give parameters fewer "
                       "values",
                       b->k->name, b->s->cartesian);
    }
    return LATHE_OK;
}

/* The node for the choices made at levels before this one; NODE_NONE if no member begins with them. */
static status search(struct builder *b, int level, uint32_t *out)
{
    double *refused = b->refused + level * b->nrefused;
    memset(refused, 0, (size_t)b->nrefused * sizeof *refused);
    if (level == b->k->nparams) {
        *out = NODE_END;
        return LATHE_OK;
    }
    if (b->plan.forgets[level]) {
        read_key(b, level);
        if (state_find(&b->states[level], b->key, out, refused))
            return LATHE_OK;
    }
    bool active;
    status s = is_active(b, level, &active);
    int nvalues = b->k->params[b->s->param[level]].nvalues;
    uint32_t n = 0;
    b->below[level] = 0;
    for (int v = 0; v < (active ? nvalues : 1) && !s; v++)
        s = search_choice(b, level, v, &n);
    if (s)
        return s;
    if (!active)
        refused[b->k->nconstraints] += (nvalues - 1) * b->weight[level + 1];
    *out = n ? node_make(&b->nodes, b->s, b->edges[level], n, b->below[level]) : NODE_NONE;
    if (b->plan.forgets[level]) {
        read_key(b, level);
        state_add(&b->states[level], b->key, *out, refused);
    }
    return LATHE_OK;
}

static void open_builder(struct builder *b)
{
    const struct kernel *k = b->k;
    size_t n = (size_t)k->nparams;
    int widest_key = 0;
    space_plan_make(k, b->s->param, &b->plan);
    b->nrefused = k->nconstraints + 1;
    b->slots = mem_zalloc((size_t)b->plan.nslots, sizeof *b->slots);
    memcpy(b->slots, b->s->fixed, (size_t)k->scope.count * sizeof *b->slots);
    b->choice = mem_zalloc(n, sizeof *b->choice);
    b->weight = mem_zalloc(n + 1, sizeof *b->weight);
    b->refused = mem_zalloc((n + 1) * (size_t)b->nrefused, sizeof *b->refused);
    b->edges = mem_zalloc(n, sizeof *b->edges);
    b->below = mem_zalloc(n, sizeof *b->below);
    b->states = mem_zalloc(n + 1, sizeof *b->states);
    b->weight[n] = 1;
    for (int i = k->nparams - 1; i >= 0; i--) {
        int nvalues = k->params[b->s->param[i]].nvalues;
        b->weight[i] = b->weight[i + 1] * nvalues;
        b->edges[i] = mem_zalloc((size_t)nvalues, sizeof **b->edges);
        for (int j = b->plan.first_key[i]; j < b->plan.first_key[i + 1]; j++)
            b->states[i].nkeys += b->plan.keys[j] < k->first_let ? 1 : 2;
        b->states[i].nrefused = b->nrefused;
        if (b->states[i].nkeys > widest_key)
            widest_key = b->states[i].nkeys;
    }
    b->key = mem_zalloc((size_t)widest_key, sizeof *b->key);
    b->deadline = clock_thread_seconds() + b->limits.seconds;
}

static void close_builder(struct builder *b)
{
    for (int i = 0; i < b->k->nparams; i++) {
        mem_free(b->edges[i]);
        state_table_free(&b->states[i]);
    }
    mem_free(b->slots);
    mem_free(b->choice);
    mem_free(b->weight);
    mem_free(b->refused);
    mem_free(b->edges);
    mem_free(b->below);
    mem_free(b->states);
    mem_free(b->key);
    node_table_free(&b->nodes);
    space_plan_free(&b->plan);
}

status space_build(struct space *s, const struct space_limits *limits, struct err *e)
{
    struct err own;
    struct builder b = {.s = s, .k = s->kernel, .limits = *limits, .e = e ? e : &own};
    int refuser;
    s->nnodes = s->nedges = 0;
    s->too_large = false;
    open_builder(&b);
    MEM_GROW(s->nodes, s->nnodes, s->node_cap);
    s->nodes[s->nnodes++] = (struct node){.members = 1}; /* NODE_END */
    s->cartesian = b.weight[0];
    s->root = NODE_NONE;
    status st = try_level(&b, -1, &refuser);
    if (!st && refuser >= 0)
        b.refused[refuser] = s->cartesian;
    else if (!st)
        st = search(&b, 0, &s->root);
    if (!st) {
        s->size = s->root == NODE_NONE ? 0 : s->nodes[s->root].members;
        memcpy(s->refused, b.refused, (size_t)s->kernel->nconstraints * sizeof *s->refused);
        s->inactive = b.refused[s->kernel->nconstraints];
    }
    close_builder(&b);
    return st;
}
