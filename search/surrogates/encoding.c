/* encoding.c: see encoding.h. */
#include "search/surrogates/encoding.h"

#include "base/mem.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct axis {                   /* what one group of coordinates says */
    enum encoded kind;
    int param, first, ncoords;  /* coordinates [first, first + ncoords) */
    bool apart;                 /* strings: a coordinate each; else one, place[] */
    bool conditional;           /* the last coordinate says whether it is active */
    float *place;               /* of each value, 0 .. 1; of a PRODUCT, this parameter's share of the logarithm */
    int next;                   /* PRODUCT: place in `factors` of the next, -1: none */
};

struct encoding {
    const struct space *space;
    int naxes, ncoords;
    struct axis *axes, *factors; /* the factors of a product but the first */
    int nfactors;
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

/* The values from the smallest on; mem_free'd by the caller. */
static struct ranked *rank_values(const struct param *p)
{
    struct ranked *r = mem_zalloc((size_t)p->nvalues, sizeof *r);
    for (int i = 0; i < p->nvalues; i++) {
        r[i].value = i;
        if (!value_as_double(p->values[i], &r[i].x))
            r[i].x = i;
    }
    qsort(r, (size_t)p->nvalues, sizeof *r, by_size);
    return r;
}

static void place_numbers(const struct param *p, float *place)
{
    int n = p->nvalues;
    struct ranked *r = rank_values(p);
    double low = r[0].x > 0 ? log(r[0].x) : 0, range = r[0].x > 0 ? log(r[n - 1].x) - low : 0;
    for (int i = 0; i < n; i++) {
        double rank = i / (n - 1.0);
        place[r[i].value] = (float)(range > 0 ? 0.5 * (rank + (log(r[i].x) - low) / range) : rank);
    }
    mem_free(r);
}

static int twos(int64_t v)
{
    int n = 0;
    for (; v != 0 && v % 2 == 0; v /= 2)
        n++;
    return n;
}

/* False: how often 2 divides the values says nothing that their size does not. */
static bool place_divisors(const struct param *p, float *place)
{
    struct ranked *r = rank_values(p);
    int low = 64, high = 0;
    bool falls = false;
    for (int i = 0; i < p->nvalues; i++) {
        int n = twos(p->values[r[i].value].i);
        falls = falls || (i && n < twos(p->values[r[i - 1].value].i));
        low = n < low ? n : low;
        high = n > high ? n : high;
    }
    for (int i = 0; i < p->nvalues && falls; i++)
        place[i] = (float)(twos(p->values[i].i) - low) / (float)(high - low);
    mem_free(r);
    return falls;
}

static void add_axis(struct encoding *e, struct axis a, int ncoords)
{
    a.first = e->ncoords;
    a.ncoords = ncoords + a.conditional;
    e->group = mem_resize(e->group, (size_t)(e->ncoords + a.ncoords), sizeof *e->group);
    for (int c = 0; c < a.ncoords; c++)
        e->group[e->ncoords++] = e->naxes;
    e->axes[e->naxes++] = a;
}

static void add_param(struct encoding *e, int param)
{
    const struct param *p = &space_kernel(e->space)->params[param];
    if (p->nvalues < 2)
        return;
    struct axis a = {.kind = ENCODED_VALUE, .param = param, .conditional = p->when != NULL, .next = -1};
    if (p->type == VALUE_STRING && p->nvalues > 2) {
        a.apart = true;
        add_axis(e, a, p->nvalues);
        return;
    }
    a.place = mem_zalloc((size_t)p->nvalues, sizeof *a.place);
    if (p->type == VALUE_INT || p->type == VALUE_FLOAT)
        place_numbers(p, a.place);
    else
        a.place[1] = 1;
    add_axis(e, a, 1);
    if (p->type != VALUE_INT)
        return;
    struct axis d = {.kind = ENCODED_DIVISOR, .param = param, .next = -1};
    d.place = mem_zalloc((size_t)p->nvalues, sizeof *d.place);
    if (place_divisors(p, d.place))
        add_axis(e, d, 1);
    else
        mem_free(d.place);
}

/* Products --------------------------------------------------------------------------------------------------------*/

/* Whether two names are one but for the axis, and where it stands: "BM" and "BN", "MWG" and "NWG". */
static bool same_quantity(const char *a, const char *b)
{
    static const char axes[] = "xyzmnk";
    size_t n = strlen(a);
    if (n < 2 || strlen(b) != n)
        return false;
    bool last = memcmp(a, b, n - 1) == 0, first = memcmp(a + 1, b + 1, n - 1) == 0;
    int from = tolower((unsigned char)a[last ? n - 1 : 0]), to = tolower((unsigned char)b[last ? n - 1 : 0]);
    return (last || first) && strchr(axes, from) && strchr(axes, to);
}

static bool is_factor(const struct param *p)
{
    double x;
    bool positive = p->nvalues > 1 && !p->when && (p->type == VALUE_INT || p->type == VALUE_FLOAT);
    for (int i = 0; i < p->nvalues && positive; i++)
        positive = value_as_double(p->values[i], &x) && x > 0;
    return positive;
}

/* The logarithms of a factor's values above the smallest; the largest of them is added to *range. */
static float *place_factor(const struct param *p, double *range)
{
    struct ranked *r = rank_values(p);
    float *place = mem_zalloc((size_t)p->nvalues, sizeof *place);
    for (int i = 0; i < p->nvalues; i++)
        place[r[i].value] = (float)(log(r[i].x) - log(r[0].x));
    *range += log(r[p->nvalues - 1].x) - log(r[0].x);
    mem_free(r);
    return place;
}

/* The product of parameter `first` and those after it that are the same quantity; `used` marks them. */
static void add_product(struct encoding *e, int first, bool *used)
{
    const struct kernel *k = space_kernel(e->space);
    struct axis a = {.kind = ENCODED_PRODUCT, .param = first, .next = -1};
    double range = 0;
    int begin = e->nfactors;
    for (int i = first + 1; i < k->nparams; i++) {
        if (used[i] || !is_factor(&k->params[i]) || !same_quantity(k->params[first].name, k->params[i].name))
            continue;
        used[i] = true;
        float *place = place_factor(&k->params[i], &range);
        e->factors[e->nfactors++] = (struct axis){.param = i, .next = a.next, .place = place};
        a.next = e->nfactors - 1;
    }
    if (a.next < 0)
        return;
    a.place = place_factor(&k->params[first], &range);
    for (int v = 0; v < k->params[first].nvalues; v++)
        a.place[v] /= (float)range;
    for (int f = begin; f < e->nfactors; f++)
        for (int v = 0; v < k->params[e->factors[f].param].nvalues; v++)
            e->factors[f].place[v] /= (float)range;
    add_axis(e, a, 1);
}

struct encoding *encoding_new(const struct space *s)
{
    const struct kernel *k = space_kernel(s);
    struct encoding *e = mem_zalloc(1, sizeof *e);
    e->space = s;
    e->axes = mem_zalloc(3 * (size_t)k->nparams, sizeof *e->axes);
    e->factors = mem_zalloc((size_t)k->nparams, sizeof *e->factors);
    e->choice = mem_zalloc((size_t)k->nparams, sizeof *e->choice);
    e->slots = mem_zalloc((size_t)k->scope.count, sizeof *e->slots);
    for (int i = 0; i < k->nparams; i++)
        add_param(e, i);
    bool *used = mem_zalloc((size_t)k->nparams, sizeof *used);
    for (int i = 0; i < k->nparams; i++)
        if (!used[i] && is_factor(&k->params[i]))
            add_product(e, i, used);
    mem_free(used);
    return e;
}

void encoding_free(struct encoding *e)
{
    if (!e)
        return;
    for (int i = 0; i < e->naxes; i++)
        mem_free(e->axes[i].place);
    for (int i = 0; i < e->nfactors; i++)
        mem_free(e->factors[i].place);
    mem_free(e->axes);
    mem_free(e->factors);
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

enum encoded encoding_of_group(const struct encoding *e, int group)
{
    return e->axes[group].kind;
}

/* NOTE: a divisor's axis is never conditional: its parameter's other axis says whether it is active. */
void encoding_point(struct encoding *e, uint64_t index, float *out)
{
    const struct kernel *k = space_kernel(e->space);
    bool slots = false;
    space_at(e->space, index, e->choice);
    for (int i = 0; i < e->naxes; i++) {
        const struct axis *a = &e->axes[i];
        float *at = out + a->first;
        int value = e->choice[a->param], values = a->ncoords - a->conditional;
        bool active = true;
        if (k->params[a->param].when) {
            if (!slots)
                space_param_slots(e->space, e->choice, e->slots);
            slots = true;
            active = param_active(k, a->param, e->slots);
        }
        if (a->conditional)
            at[values] = active ? 0.5f : 0;
        if (!a->apart)
            at[0] = active ? a->place[value] : 0.5f;
        for (int v = 0; a->apart && v < values; v++) /* two strings differ in two coordinates: 1 apart */
            at[v] = active && value == v ? 0.70710678f : 0;
        for (int f = a->next; f >= 0; f = e->factors[f].next)
            at[0] += e->factors[f].place[e->choice[e->factors[f].param]];
    }
}
