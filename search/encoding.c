/* encoding.c: see encoding.h. */
#include "search/encoding.h"

#include "base/mem.h"
#include "search/space_impl.h"
#include <math.h>
#include <stdlib.h>

struct axis {                   /* a parameter */
    int param, first, ncoords;  /* coordinates [first, first + ncoords) */
    bool apart;                 /* strings: a coordinate each; else place[] */
    bool conditional;           /* the last coordinate says whether it is active */
    float *place;               /* of each value, 0 .. 1 */
};

struct encoding {
    const struct space *space;
    int naxes, ncoords;
    struct axis *axes;
    int *group;
    config_choice *choice;      /* scratch */
    struct value *slots;        /* scratch */
};

struct ranked {
    double x;
    int value;
};

static int by_size(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    return a->x < b->x ? -1 : a->x > b->x ? 1 : a->value - b->value;
}

static void place_numbers(const struct param *p, float *place)
{
    int n = p->nvalues;
    struct ranked *r = mem_zalloc((size_t)n, sizeof *r);
    for (int i = 0; i < n; i++) {
        r[i].value = i;
        if (!value_as_double(p->values[i], &r[i].x))
            r[i].x = i;
    }
    qsort(r, (size_t)n, sizeof *r, by_size);
    double low = r[0].x > 0 ? log(r[0].x) : 0, range = r[0].x > 0 ? log(r[n - 1].x) - low : 0;
    for (int i = 0; i < n; i++) {
        double rank = i / (n - 1.0);
        place[r[i].value] = (float)(range > 0 ? 0.5 * (rank + (log(r[i].x) - low) / range) : rank);
    }
    mem_free(r);
}

struct encoding *encoding_new(const struct space *s)
{
    const struct kernel *k = space_kernel(s);
    struct encoding *e = mem_zalloc(1, sizeof *e);
    e->space = s;
    e->axes = mem_zalloc((size_t)k->nparams, sizeof *e->axes);
    e->choice = mem_zalloc((size_t)k->nparams, sizeof *e->choice);
    e->slots = mem_zalloc((size_t)k->scope.count, sizeof *e->slots);
    for (int i = 0; i < k->nparams; i++) {
        const struct param *p = &k->params[i];
        if (p->nvalues < 2)
            continue;
        struct axis *a = &e->axes[e->naxes++];
        *a = (struct axis){.param = i, .first = e->ncoords, .conditional = p->when != NULL};
        a->apart = p->type == VALUE_STRING && p->nvalues > 2;
        a->ncoords = (a->apart ? p->nvalues : 1) + a->conditional;
        if (!a->apart) {
            a->place = mem_zalloc((size_t)p->nvalues, sizeof *a->place);
            if (p->type == VALUE_INT || p->type == VALUE_FLOAT)
                place_numbers(p, a->place);
            else
                a->place[1] = 1;
        }
        e->group = mem_resize(e->group, (size_t)(e->ncoords + a->ncoords), sizeof *e->group);
        for (int c = 0; c < a->ncoords; c++)
            e->group[e->ncoords++] = e->naxes - 1;
    }
    return e;
}

void encoding_free(struct encoding *e)
{
    if (!e)
        return;
    for (int i = 0; i < e->naxes; i++)
        mem_free(e->axes[i].place);
    mem_free(e->axes);
    mem_free(e->group);
    mem_free(e->choice);
    mem_free(e->slots);
    mem_free(e);
}

int encoding_coords(const struct encoding *e)
{
    return e->ncoords;
}

int encoding_groups(const struct encoding *e)
{
    return e->naxes;
}

const int *encoding_group(const struct encoding *e)
{
    return e->group;
}

void encoding_point(struct encoding *e, uint64_t index, float *out)
{
    const struct kernel *k = space_kernel(e->space);
    bool slots = false;
    space_at(e->space, index, e->choice);
    for (int i = 0; i < e->naxes; i++) {
        const struct axis *a = &e->axes[i];
        float *at = out + a->first;
        int values = a->ncoords - a->conditional;
        bool active = true;
        if (a->conditional) {
            if (!slots)
                space_param_slots(e->space, e->choice, e->slots);
            slots = true;
            active = param_active(k, a->param, e->slots);
            at[values] = active ? 0.5f : 0;
        }
        if (!a->apart)
            at[0] = active ? a->place[e->choice[a->param]] : 0.5f;
        for (int v = 0; a->apart && v < values; v++) /* two strings differ in two coordinates: 1 apart */
            at[v] = active && e->choice[a->param] == v ? 0.70710678f : 0;
    }
}
