/* builder_end.c: a recording's end: values of one type, values and configurations in order, duplicates settled. */
#include "replay/builder_impl.h"

#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

bool are_numbers(enum value_type a, enum value_type b)
{
    return (a == VALUE_INT || a == VALUE_FLOAT) && (b == VALUE_INT || b == VALUE_FLOAT);
}

/* Whole numbers among floats become floats; one that no float is might become another that is there. */
static status to_float(struct value *v, const char *name, struct err *e)
{
    struct value exact = value_float((double)v->i);
    if (!value_equal(*v, exact))
        return err_set(e, LATHE_IO, "the value %lld of %.100s is among floats, of which none is that number",
                       (long long)v->i, name);
    *v = exact;
    return LATHE_OK;
}

/* Other mixes are refused. */
static status one_type(struct builder_param *p, struct err *e)
{
    enum value_type type = p->nvalues ? p->values[0].type : VALUE_INT;
    for (int i = 1; i < p->nvalues; i++) {
        enum value_type other = p->values[i].type;
        if (are_numbers(type, other) && other != type)
            type = VALUE_FLOAT;
        else if (other != type)
            return err_set(e, LATHE_IO, "the values of %.100s are of different types: %s and %s", p->name,
                           value_type_name(type), value_type_name(other));
    }
    status s = LATHE_OK;
    for (int i = 0; i < p->nvalues && type == VALUE_FLOAT && !s; i++)
        if (p->values[i].type == VALUE_INT)
            s = to_float(&p->values[i], p->name, e);
    return s;
}

struct place {
    double number;
    int was;
};

static int by_number(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    return a->number < b->number ? -1 : a->number > b->number ? 1 : a->was - b->was;
}

/* to[old place] = new place. Numbers that no list orders go by size. */
static void order_values(struct builder_param *p, config_choice *to)
{
    struct place *places = mem_alloc(((size_t)p->nvalues + 1) * sizeof *places);
    struct value *values = mem_alloc(((size_t)p->nvalues + 1) * sizeof *values);
    for (int i = 0; i < p->nvalues; i++) {
        places[i] = (struct place){.was = i};
        if (!p->listed)
            (void)value_as_double(p->values[i], &places[i].number);
    }
    qsort(places, (size_t)p->nvalues, sizeof *places, by_number);
    for (int i = 0; i < p->nvalues; i++) {
        to[places[i].was] = (config_choice)i;
        values[i] = p->values[places[i].was];
    }
    if (p->nvalues)
        memcpy(p->values, values, (size_t)p->nvalues * sizeof *values);
    mem_free(places);
    mem_free(values);
}

static status settle_params(struct builder *b, struct err *e)
{
    struct recording *r = b->r;
    config_choice *to = mem_zalloc((size_t)UINT16_MAX + 1, sizeof *to);
    status s = LATHE_OK;
    r->params = mem_zalloc((size_t)b->nparams + 1, sizeof *r->params);
    for (int i = 0; i < b->nparams && !s; i++) {
        struct builder_param *p = &b->params[i];
        s = one_type(p, e);
        if (s)
            break;
        order_values(p, to);
        to[CHOICE_ABSENT] = 0;
        for (uint64_t c = 0; c < r->nconfigs; c++) {
            config_choice *choice = &r->choices[c * (uint64_t)b->nparams + (uint64_t)i];
            *choice = to[*choice];
        }
        r->params[r->nparams++] = (struct recorded_param){.name = p->name, .values = p->values, .nvalues = p->nvalues,
                                                          .type = p->nvalues ? p->values[0].type : VALUE_INT};
        p->name = NULL;
        p->values = NULL;
        p->nvalues = 0;
    }
    mem_free(to);
    return s;
}

static int compare_choices(const config_choice *a, const config_choice *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int by_choices(const void *pa, const void *pb, void *ctx)
{
    const struct recording *r = ctx;
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb, n = (uint64_t)r->nparams;
    int c = compare_choices(r->choices + a * n, r->choices + b * n, r->nparams);
    return c ? c : a < b ? -1 : a > b;
}

/* Into their order; of equal ones the last stays. */
static void order_configs(struct recording *r)
{
    uint64_t n = r->nconfigs, width = (uint64_t)r->nparams, kept = 0;
    uint64_t *order = mem_alloc(n * sizeof *order);
    for (uint64_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, by_choices, r);
    struct recorded *configs = mem_alloc(n * sizeof *configs);
    config_choice *choices = mem_alloc(n * width * sizeof *choices);
    for (uint64_t i = 0; i < n; i++) {
        const config_choice *c = r->choices + order[i] * width;
        if (kept && compare_choices(choices + (kept - 1) * width, c, r->nparams) == 0) {
            r->duplicates++;
            kept--;
        }
        if (width)
            memcpy(choices + kept * width, c, width * sizeof *c);
        configs[kept++] = r->configs[order[i]];
    }
    mem_free(order);
    mem_free(r->configs);
    mem_free(r->choices);
    r->configs = configs;
    r->choices = choices;
    r->nconfigs = kept;
}

status builder_end(struct builder *b, struct recording **out, struct err *e)
{
    struct recording *r = b->r;
    status s = LATHE_OK;
    if (!r->nconfigs)
        s = err_set(e, LATHE_NOTHING, "the recording is empty: it has no configuration");
    if (!s)
        s = settle_params(b, e);
    if (!s) {
        order_configs(r);
        r->texts = b->texts;
        r->ntexts = b->ntexts;
        b->texts = NULL;
        b->ntexts = 0;
        char **words[] = {&r->kernel, &r->device, &r->size};
        for (int i = 0; i < 3; i++)
            if (!*words[i])
                *words[i] = mem_strdup("");
        *out = r;
        b->r = NULL;
    }
    builder_free(b);
    return s;
}
