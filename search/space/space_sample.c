/* space_sample.c: a space that is too large to build, by members drawn by rejection: combinations of all values are
 * drawn uniformly, parameter by parameter, and one that a condition refuses, or that has an inactive parameter at
 * another than its first value, is dropped. So each member is as likely as every other. How much is drawn is counted,
 * not timed: the same seed gives the same members on every machine. */
#include "search/space/space_impl.h"

#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MOST = 1 << 16, LOOK_AFTER = 1 << 14 };
static const double TRIES_MOST = 2e7;

struct sampler {
    const struct kernel *k;
    struct space_plan plan;
    struct value *slots;
    config_choice *choice;      /* of the combination being drawn */
    config_choice *list;        /* members, nparams each */
    size_t n, cap;
    struct rng rng;
};

static bool passes(struct sampler *m, int level)
{
    const struct space_plan *p = &m->plan;
    for (int i = p->first_op[level + 1]; i < p->first_op[level + 2]; i++) {
        bool yes;
        if (p->ops[i].kind == SPACE_LOOK_AHEAD)
            continue;
        if (p->ops[i].kind == SPACE_VALUE) {
            const struct space_value *v = &p->values[p->ops[i].index];
            if (expr_eval(v->expr, m->slots, &m->slots[v->slot], NULL))
                m->slots[v->slot] = (struct value){.type = VALUE_NONE};
        } else if (expr_eval_bool(p->conditions[p->ops[i].index].expr, m->slots, &yes, NULL) || !yes) {
            return false;
        }
    }
    return true;
}

static bool draw(struct sampler *m)
{
    for (int i = 0; i < m->k->nparams; i++) {
        const struct param *p = &m->k->params[i];
        m->choice[i] = (config_choice)rng_below(&m->rng, (uint64_t)p->nvalues);
        if (m->choice[i] != 0 && !param_active(m->k, i, m->slots))
            return false;
        m->slots[m->k->first_param + i] = p->values[m->choice[i]];
        if (!passes(m, i))
            return false;
    }
    return true;
}

static int in_order(const void *pa, const void *pb, void *kernel)
{
    const config_choice *a = pa, *b = pb;
    for (int i = 0; i < ((const struct kernel *)kernel)->nparams; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* In the order of a space, each once. */
static void sort_members(struct sampler *m)
{
    size_t width = (size_t)m->k->nparams, kept = 0;
    if (m->n)
        qsort_r(m->list, m->n, width * sizeof *m->list, in_order, (void *)m->k);
    for (size_t i = 0; i < m->n; i++)
        if (i == 0 || in_order(m->list + (kept - 1) * width, m->list + i * width, (void *)m->k) != 0)
            memmove(m->list + kept++ * width, m->list + i * width, width * sizeof *m->list);
    m->n = kept;
}

static status draw_members(struct sampler *m, const struct space_watch *watch, struct space_draw *d, struct err *e)
{
    size_t width = (size_t)m->k->nparams;
    int since = 0;
    if (!passes(m, -1))
        return LATHE_OK;
    while (d->valid < MEMBERS_MOST && d->tried < TRIES_MOST) {
        d->tried++;
        if (++since == LOOK_AFTER) {
            since = 0;
            status s = space_look(watch, m->k, e);
            if (s)
                return s;
        }
        if (!draw(m))
            continue;
        d->valid++;
        if (m->n == m->cap) {
            m->cap = m->cap ? m->cap * 2 : 64;
            m->list = mem_resize(m->list, m->cap * width, sizeof *m->list);
        }
        memcpy(m->list + m->n++ * width, m->choice, width * sizeof *m->list);
    }
    return LATHE_OK;
}

status space_sample(const struct problem *p, const struct kernel *k, const struct target *t, uint64_t seed,
                    const struct space_watch *watch, struct space **out, struct space_draw *d, struct err *e)
{
    struct sampler m = {.k = k, .choice = mem_zalloc((size_t)k->nparams, sizeof *m.choice)};
    int *param = mem_zalloc((size_t)k->nparams, sizeof *param);
    *d = (struct space_draw){0};
    for (int i = 0; i < k->nparams; i++)
        param[i] = i;
    space_plan_make(k, param, &m.plan);
    m.slots = mem_zalloc((size_t)m.plan.nslots, sizeof *m.slots);
    kernel_slots_fixed(p, k, t, m.slots);
    rng_seed(&m.rng, seed);
    status s = draw_members(&m, watch, d, e);
    sort_members(&m);
    if (!s && m.n)
        s = space_of_list(p, k, t, m.list, m.n, out, e);
    else if (!s)
        s = err_set(e, LATHE_SPEC,
                    "kernel %s: none of %.3g combinations drawn at random is valid, so it cannot be sampled either",
                    k->name, d->tried);
    space_plan_free(&m.plan);
    mem_free(param);
    mem_free(m.slots);
    mem_free(m.choice);
    mem_free(m.list);
    return s;
}

status space_open_sampled_limited(const struct problem *p, const struct kernel *k, const struct target *t,
                                  const struct space_limits *limits, uint64_t seed, struct space **out,
                                  struct space_draw *d, struct err *e)
{
    bool too_large = false;
    struct err large = {0}, none = {0};
    *d = (struct space_draw){0};
    status s = space_open_telling(p, k, t, limits, out, &too_large, &large);
    if (s && !too_large)
        return err_set(e, s, "%s", large.text);
    if (!s)
        return s;
    s = space_sample(p, k, t, seed, limits->watch, out, d, &none);
    snprintf(d->why, sizeof d->why, "%.999s", large.text);
    if (s == LATHE_INTERRUPTED)
        return err_set(e, s, "%s", none.text);
    return s ? err_set(e, s, "%.1200s\n%.600s", large.text, none.text) : LATHE_OK;
}

void space_draw_explain(struct strbuf *b, const struct space *s, const struct space_draw *d)
{
    sb_addf(b, "%s. %llu configurations drawn by rejection stand for it (%.3g %% of combinations are valid)", d->why,
            (unsigned long long)space_size(s), 100 * d->valid / d->tried);
}

status space_open_sampled(const struct problem *p, const struct kernel *k, const struct target *t, uint64_t seed,
                          const struct space_watch *watch, struct space **out, struct space_draw *d, struct err *e)
{
    struct space_limits limits = SPACE_LIMITS;
    limits.watch = watch;
    return space_open_sampled_limited(p, k, t, &limits, seed, out, d, e);
}
