/* document_ceilings.c: which ceiling each trial of a campaign has, by what its kernel's specification says. */
#include "report/document.h"

#include "base/mem.h"
#include "model/ceiling.h"
#include "model/config.h"

#include <math.h>
#include <string.h>

/* Of a parameter of a kernel: the campaign's column of its values. */
struct values {
    const json_t *column;                       /* NULL: no trial has it */
    config_choice *choice;                      /* of each value that the column may name */
};

/* Of a kernel that the trials have, by its place in texts.kernel. */
struct source {
    const struct kernel *k;                     /* NULL: the specification has none of that name */
    struct value *slots;
    config_choice *choice;
    struct values *values;                      /* one a parameter */
};

struct builder {
    struct problem *p;
    struct target target;
    const json_t *columns, *parameters;
    double flops;
    struct ceiling *list;                       /* the different ones */
    int count, cap;
};

static struct value value_as(const json_t *j, enum value_type type)
{
    struct value v = {0};
    if (type == VALUE_BOOL)                     /* a column's booleans may be 0 and 1 */
        return value_bool(json_is_true(j) || json_integer_value(j));
    if (type == VALUE_FLOAT)
        return value_float(json_number_value(j));
    value_from_json(j, &v);
    return v;
}

static struct values values_of(const struct builder *b, const struct param *p)
{
    struct values v = {0};
    json_t *one, *value;
    size_t i, place;
    json_array_foreach(b->parameters, i, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "name")), p->name) != 0 ||
            strcmp(json_string_value(json_object_get(one, "type")), value_type_name(p->type)) != 0)
            continue;
        const json_t *values = json_object_get(one, "values");
        v.column = json_object_get(one, "column");
        v.choice = mem_zalloc(json_array_size(values) + 1, sizeof *v.choice);
        json_array_foreach(values, place, value)
        {
            int at = param_find_value(p, value_as(value, p->type));
            v.choice[place] = at < 0 ? 0 : (config_choice)at;
        }
        break;
    }
    return v;
}

/* Its place among the different ones. */
static int place_of(struct builder *b, const struct ceiling *c)
{
    for (int i = 0; i < b->count; i++) {
        const struct ceiling *o = &b->list[i];
        if (o->from == c->from && (c->from == CEILING_UNKNOWN || (o->unit == c->unit && o->products == c->products)))
            return i;
    }
    MEM_GROW(b->list, b->count, b->cap);
    b->list[b->count] = *c;
    return b->count++;
}

static json_t *ceiling_json(const struct ceiling *c)
{
    bool known = c->from != CEILING_UNKNOWN;
    return json_pack("{s:o, s:o, s:s, s:o, s:o}", "unit", known ? json_string(unit_name(c->unit)) : json_null(),
                     "products", known ? json_real(c->products) : json_null(), "from", ceiling_from_name(c->from),
                     "unit_tflops", c->unit_tflops > 0 ? json_real(c->unit_tflops) : json_null(), "peak_tflops",
                     c->tflops > 0 ? json_real(c->tflops) : json_null());
}

static double rate_of(const struct builder *b, size_t row)
{
    double ms = json_number_value(json_array_get(json_object_get(b->columns, "cold_ms"), row));
    if (!(ms > 0))
        ms = json_number_value(json_array_get(json_object_get(b->columns, "time_ms"), row));
    return ms > 0 ? b->flops / (ms * 1e9) : NAN;
}

/* The place of the trial's; -1: what its specification says cannot be evaluated for it. */
static int ceiling_place(struct builder *b, const struct source *s, size_t row)
{
    struct ceiling c;
    struct err e;
    if (!s->k)
        return -1;
    for (int i = 0; i < s->k->nparams; i++) {   /* an inactive one has its first value */
        const struct values *v = &s->values[i];
        json_int_t place = v->column ? json_integer_value(json_array_get(v->column, row)) : -1;
        s->choice[i] = place < 0 ? 0 : v->choice[place];
    }
    if (kernel_slots_config(s->k, s->choice, s->slots, &e) || ceiling_of(b->p, s->k, &b->target, s->slots, &c, &e))
        return -1;
    ceiling_measured(&c, rate_of(b, row));
    return place_of(b, &c);
}

static void source_open(const struct builder *b, const char *kernel, struct source *s)
{
    int at = problem_find_kernel(b->p, kernel);
    if (at < 0)
        return;
    s->k = &b->p->kernels[at];
    s->slots = mem_zalloc((size_t)s->k->scope.count + 1, sizeof *s->slots);
    s->choice = mem_zalloc((size_t)s->k->nparams + 1, sizeof *s->choice);
    s->values = mem_zalloc((size_t)s->k->nparams + 1, sizeof *s->values);
    for (int i = 0; i < s->k->nparams; i++)
        s->values[i] = values_of(b, &s->k->params[i]);
    kernel_slots_fixed(b->p, s->k, &b->target, s->slots);
}

static void source_close(struct source *s)
{
    for (int i = 0; s->k && i < s->k->nparams; i++)
        mem_free(s->values[i].choice);
    mem_free(s->values);
    mem_free(s->choice);
    mem_free(s->slots);
}

static void add_column(struct builder *b, const json_t *kernels, json_t *column)
{
    size_t n = json_array_size(kernels), i;
    struct source *sources = mem_zalloc(n + 1, sizeof *sources);
    json_t *name, *place;
    json_array_foreach(kernels, i, name) source_open(b, json_string_value(name), &sources[i]);
    json_array_foreach(json_object_get(b->columns, "kernel"), i, place)
        json_array_append_new(column, json_integer(ceiling_place(b, &sources[json_integer_value(place)], i)));
    for (i = 0; i < n; i++)
        source_close(&sources[i]);
    mem_free(sources);
}

/* The problem at the campaign's size, and the device. */
static status open_stored(struct builder *b, const json_t *provenance, struct err *e)
{
    const json_t *size = json_object_get(json_object_get(provenance, "trial"), "size");
    const char *name;
    json_t *value;
    status s = target_from_json(json_object_get(provenance, "target"), &b->target, e);
    if (!s)
        s = problem_from_json(json_object_get(provenance, "spec"), "the database", NULL, &b->p, e);
    if (!s && !b->p->space_alone)
        json_object_foreach((json_t *)size, name, value)
            if (!s)
                s = problem_set_dim(b->p, name, json_integer_value(value), e);
    return s;
}

void document_ceilings(json_t *campaign, const json_t *provenance)
{
    const json_t *flops = json_object_get(campaign, "flops");
    json_t *columns = json_object_get(campaign, "columns"), *column = json_array(),
           *list = json_array();
    struct builder b = {.columns = columns,
                        .parameters = json_object_get(campaign, "parameters"),
                        .flops = json_is_number(flops) ? json_number_value(flops) : NAN};
    struct err e;
    if (!open_stored(&b, provenance, &e) && !b.p->space_alone)
        add_column(&b, json_object_get(json_object_get(campaign, "texts"), "kernel"), column);
    while (json_array_size(column) < json_array_size(json_object_get(columns, "id")))
        json_array_append_new(column, json_integer(-1));
    json_object_set_new(columns, "ceiling", column);
    for (int i = 0; i < b.count; i++)
        json_array_append_new(list, ceiling_json(&b.list[i]));
    json_object_set_new(campaign, "ceilings", list);
    mem_free(b.list);
    problem_free(b.p);
}
