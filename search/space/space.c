/* space.c: opening a space, and the questions that are walks through its diagram (space_impl.h). */
#include "search/space/space_impl.h"

#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* The device can't run the kernel at all, or sizes that no parameter changes refuse it. */
static status check_requirements(const struct space *s, const struct target *t, struct err *e)
{
    const struct kernel *k = s->kernel;
    for (int i = 0; i < k->nrequires; i++) {
        bool yes = false;
        status st = expr_eval_bool(k->requires[i].expr, s->fixed, &yes, e);
        if (st) {
            err_prefix(e, "kernel %s: a requirement cannot be evaluated", k->name);
            return st;
        }
        if (yes)
            continue;
        struct strbuf why = {0};
        expr_explain(&why, k->requires[i].expr, s->fixed);
        const char *reason = k->requires[i].reason;
        st = err_set(e, LATHE_NOTHING, "kernel %s cannot run on %s: it requires %s%s%s%s", k->name,
                     t->name[0] ? t->name : t->arch, sb_str(&why), reason ? " (" : "", reason ? reason : "",
                     reason ? ")" : "");
        sb_free(&why);
        return st;
    }
    return LATHE_OK;
}

static status nothing_valid(const struct space *s, struct err *e)
{
    struct strbuf b = {0};
    space_refusals(s, &b);
    if (b.len && b.s[b.len - 1] == '\n')
        b.s[--b.len] = 0;
    status st =
        err_set(e, LATHE_NOTHING, "kernel %s has no valid configuration among %.0f combinations; refused by\n%s",
                s->kernel->name, s->cartesian, sb_str(&b));
    sb_free(&b);
    return st;
}

static int by_size(const void *a, const void *b, void *param)
{
    const struct param *p = param;
    config_choice i = *(const config_choice *)a, j = *(const config_choice *)b;
    double x, y;
    if (value_as_double(p->values[i], &x) && value_as_double(p->values[j], &y) && x != y)
        return x < y ? -1 : 1;
    return i - j;
}

void space_set_order(struct space *s, const int *param)
{
    int least = s->kernel->nparams;
    for (int l = s->kernel->nparams - 1; l >= 0; l--) {
        s->param[l] = param ? param[l] : l;
        least = s->param[l] < least ? s->param[l] : least;
        s->least[l] = least;
    }
}

void space_make_axes(struct space *s)
{
    const struct kernel *k = s->kernel;
    s->param = mem_zalloc((size_t)k->nparams, sizeof *s->param);
    s->least = mem_zalloc((size_t)k->nparams, sizeof *s->least);
    space_set_order(s, NULL);
    s->axes = mem_zalloc((size_t)k->nparams, sizeof *s->axes);
    for (int i = 0; i < k->nparams; i++) {
        size_t n = (size_t)k->params[i].nvalues;
        struct space_axis *axis = &s->axes[i];
        axis->order = mem_zalloc(n, sizeof *axis->order);
        axis->rank = mem_zalloc(n, sizeof *axis->rank);
        for (size_t v = 0; v < n; v++)
            axis->order[v] = (config_choice)v;
        qsort_r(axis->order, n, sizeof *axis->order, by_size, &k->params[i]);
        for (size_t v = 0; v < n; v++)
            axis->rank[axis->order[v]] = (config_choice)v;
    }
}

/* In the order as written, if that takes few evaluations; else in a narrow one, and if that is too large too, as
 * written whatever it takes. Time does not decide, so the order is the same on every machine. */
static status build(struct space *s, const struct space_limits *limits, struct err *e)
{
    struct space_limits first = *limits;
    bool more = limits->evaluations > limits->first;
    if (more)
        first.evaluations = limits->first;
    status st = LATHE_OK;
    if (limits->first > 0 && (!(st = space_build(s, &first, e)) || !s->too_large || !more))
        return st;
    int *param = mem_zalloc((size_t)s->kernel->nparams, sizeof *param);
    bool another = space_order(s->kernel, param);
    if (another) {
        space_set_order(s, param);
        st = space_build(s, limits, e);
    }
    if (s->too_large || !another) {
        space_set_order(s, NULL);
        st = space_build(s, limits, e);
    }
    mem_free(param);
    return st;
}

status space_open_telling(const struct problem *p, const struct kernel *k, const struct target *t,
                          const struct space_limits *limits, struct space **out, bool *too_large, struct err *e)
{
    struct space *s = mem_zalloc(1, sizeof *s);
    s->kernel = k;
    space_make_axes(s);
    s->fixed = mem_zalloc((size_t)k->scope.count, sizeof *s->fixed);
    s->refused = mem_zalloc((size_t)k->nconstraints, sizeof *s->refused);
    kernel_slots_fixed(p, k, t, s->fixed);
    status st = check_requirements(s, t, e);
    if (!st)
        st = build(s, limits, e);
    if (!st && s->size == 0)
        st = nothing_valid(s, e);
    *too_large = s->too_large;
    if (st) {
        space_close(s);
        return st;
    }
    *out = s;
    return LATHE_OK;
}

status space_open_limited(const struct problem *p, const struct kernel *k, const struct target *t,
                          const struct space_limits *limits, struct space **out, struct err *e)
{
    bool too_large;
    return space_open_telling(p, k, t, limits, out, &too_large, e);
}

status space_open(const struct problem *p, const struct kernel *k, const struct target *t, struct space **out,
                  struct err *e)
{
    return space_open_limited(p, k, t, &SPACE_LIMITS, out, e);
}

void space_close(struct space *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->kernel->nparams; i++) {
        mem_free(s->axes[i].order);
        mem_free(s->axes[i].rank);
    }
    mem_free(s->axes);
    mem_free(s->param);
    mem_free(s->least);
    mem_free(s->fixed);
    mem_free(s->nodes);
    mem_free(s->edges);
    mem_free(s->refused);
    mem_free(s);
}

const struct kernel *space_kernel(const struct space *s)
{
    return s->kernel;
}

uint64_t space_size(const struct space *s)
{
    return s->size;
}

double space_cartesian(const struct space *s)
{
    return s->cartesian;
}

size_t space_bytes(const struct space *s)
{
    return s->node_cap * sizeof *s->nodes + s->edge_cap * sizeof *s->edges;
}

const struct edge *space_edge(const struct space *s, uint32_t node, config_choice choice)
{
    const struct edge *first = s->edges + s->nodes[node].first;
    uint32_t low = 0, high = s->nodes[node].count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (first[middle].choice < choice)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->nodes[node].count && first[low].choice == choice ? &first[low] : NULL;
}

void space_at(const struct space *s, uint64_t index, config_choice *out)
{
    uint32_t node = s->root;
    for (int i = 0; i < s->kernel->nparams; i++) {
        const struct edge *edge = s->edges + s->nodes[node].first;
        while (index >= s->nodes[edge->child].members)
            index -= s->nodes[edge++->child].members;
        out[s->param[i]] = edge->choice;
        node = edge->child;
    }
}

int64_t space_index(const struct space *s, const config_choice *c)
{
    uint32_t node = s->root;
    uint64_t index = 0;
    for (int i = 0; i < s->kernel->nparams; i++) {
        const struct edge *found = space_edge(s, node, c[s->param[i]]);
        if (!found)
            return -1;
        for (const struct edge *edge = s->edges + s->nodes[node].first; edge < found; edge++)
            index += s->nodes[edge->child].members;
        node = found->child;
    }
    return (int64_t)index;
}

uint64_t space_random(const struct space *s, struct rng *r)
{
    return rng_below(r, s->size);
}

void space_param_slots(const struct space *s, const config_choice *c, struct value *slots)
{
    const struct kernel *k = s->kernel;
    memcpy(slots, s->fixed, (size_t)k->scope.count * sizeof *slots);
    for (int i = 0; i < k->nparams; i++) /* conditions look back only, so the slots so far are enough */
        slots[k->first_param + i] = k->params[i].values[param_active(k, i, slots) ? c[i] : 0];
}

status space_slots(const struct space *s, const config_choice *c, struct value *slots, struct err *e)
{
    memcpy(slots, s->fixed, (size_t)s->kernel->scope.count * sizeof *slots);
    return kernel_slots_config(s->kernel, c, slots, e);
}

bool space_explain(const struct space *s, const config_choice *c, struct strbuf *why)
{
    const struct kernel *k = s->kernel;
    struct err e;
    if (space_index(s, c) >= 0)
        return true;
    struct value *slots = mem_zalloc((size_t)k->scope.count, sizeof *slots);
    bool inactive = false;
    if (space_slots(s, c, slots, &e)) {
        sb_add(why, e.text);
    } else if (kernel_allows(k, slots, why)) {
        if (s->listed)
            sb_add(why, "not in the list of configurations that the space is made of");
        for (int i = 0; i < k->nparams && !inactive; i++) {
            inactive = c[i] != 0 && !param_active(k, i, slots);
            if (inactive) {
                sb_addf(why, "%s does not apply here and must be left out: ", k->params[i].name);
                expr_explain(why, k->params[i].when, slots);
            }
        }
    }
    mem_free(slots);
    return false;
}

struct refusal {
    int constraint;
    double count;
};

static int most_first(const void *pa, const void *pb)
{
    const struct refusal *a = pa, *b = pb;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->constraint - b->constraint;
}

void space_refusals(const struct space *s, struct strbuf *b)
{
    const struct kernel *k = s->kernel;
    struct refusal *list = mem_zalloc((size_t)k->nconstraints, sizeof *list);
    for (int i = 0; i < k->nconstraints; i++)
        list[i] = (struct refusal){.constraint = i, .count = s->refused[i]};
    if (k->nconstraints)
        qsort(list, (size_t)k->nconstraints, sizeof *list, most_first);
    for (int i = 0; i < k->nconstraints && list[i].count > 0; i++) {
        const struct constraint *c = &k->constraints[list[i].constraint];
        sb_addf(b, "  %s", expr_text(c->expr));
        constraint_reason(b, c);
        sb_addf(b, ": %.0f combinations (%.3g %%)", list[i].count, 100 * list[i].count / s->cartesian);
        bool fixed = true; /* no parameter decides it: its values say why */
        for (int slot = k->first_param; slot < k->scope.count && fixed; slot++)
            fixed = !expr_uses(c->expr, slot);
        if (fixed) {
            sb_add(b, ": ");
            expr_explain(b, c->expr, s->fixed);
        }
        sb_add(b, "\n");
    }
    mem_free(list);
}
