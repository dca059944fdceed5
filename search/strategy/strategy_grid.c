/* strategy_grid.c: see strategy_grid.h. */
#include "search/strategy/strategy_grid.h"

#include "base/mem.h"
#include "expr/value.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 8, OCTAVES = 3, EVENLY = 7 };

struct range {
    bool has_min, has_max, whole;   /* whole: integers only */
    double min, max, initial;
};

/* "LOW..HIGH", each of which may be missing. */
static struct range read_range(const struct strategy_option *o)
{
    struct range r = {.whole = !strcmp(o->type, "integer"), .initial = strtod(o->text_default, NULL)};
    const char *dots = strstr(o->range, "..");
    if (dots && dots > o->range) {
        r.has_min = true;
        r.min = strtod(o->range, NULL);
    }
    if (dots && dots[2]) {
        r.has_max = true;
        r.max = strtod(dots + 2, NULL);
    }
    return r;
}

struct grid {
    double values[STRATEGY_GRID_MAX];
    int n;
};

static void add(struct grid *g, const struct range *r, double v)
{
    v = r->whole ? nearbyint(v) : v;
    if ((r->has_min && v < r->min) || (r->has_max && v > r->max) || g->n == STRATEGY_GRID_MAX)
        return;
    for (int i = 0; i < g->n; i++)
        if (g->values[i] == v)
            return;
    int at = g->n++;
    for (; at > 0 && g->values[at - 1] > v; at--)
        g->values[at] = g->values[at - 1];
    g->values[at] = v;
}

static void add_octaves(struct grid *g, const struct range *r)
{
    for (int k = -OCTAVES; k <= OCTAVES; k++)
        add(g, r, ldexp(r->initial, k));
    if (r->has_min && r->min == 0)
        add(g, r, 0);           /* what is 0 is often off */
}

static void add_evenly(struct grid *g, const struct range *r)
{
    for (int k = 0; k < EVENLY; k++)
        add(g, r, r->min + (r->max - r->min) * k / (EVENLY - 1));
}

/* Of a default that is 0. */
static void add_around(struct grid *g, const struct range *r)
{
    for (double step = 1; step <= 4; step *= 2) {
        add(g, r, -step);
        add(g, r, step);
    }
}

static json_t *numbers(const struct strategy_option *o)
{
    struct range r = read_range(o);
    struct grid g = {0};
    bool bounded = r.has_min && r.has_max;
    add(&g, &r, r.initial);
    if (bounded && r.whole && r.max - r.min < FEW)
        for (double v = r.min; v <= r.max; v++)
            add(&g, &r, v);
    else if (bounded ? r.min >= 0 && r.initial > 0 && r.max > 4 * r.initial : r.initial != 0)
        add_octaves(&g, &r);
    else if (bounded)
        add_evenly(&g, &r);
    else
        add_around(&g, &r);
    json_t *values = json_array();
    for (int i = 0; i < g.n; i++)
        json_array_append_new(values, r.whole ? json_integer((json_int_t)g.values[i]) : json_real(g.values[i]));
    return values;
}

json_t *strategy_grid(const struct strategy_option *o)
{
    if (!strcmp(o->type, "boolean"))
        return json_pack("[b, b]", 0, 1);
    if (strcmp(o->type, "choice") != 0)
        return numbers(o);
    json_t *values = json_array();
    for (const char *at = o->range;; at++) {
        size_t n = strcspn(at, "|");
        json_array_append_new(values, json_stringn(at, n));
        at += n;
        if (!*at)
            return values;
    }
}

static json_t *read_value(const struct strategy_option *o, const char *text)
{
    if (!strcmp(o->type, "choice"))
        return json_string(text);
    if (!strcmp(o->type, "boolean"))
        return !strcmp(text, "true") ? json_true() : !strcmp(text, "false") ? json_false() : NULL;
    struct value v = value_read(text);
    double number;
    if (!strcmp(o->type, "integer"))
        return v.type == VALUE_INT ? json_integer(v.i) : NULL;
    return value_as_double(v, &number) ? json_real(number) : NULL;
}

status strategy_grid_given(const struct strategy_option *o, const char *values, json_t **out, struct err *e)
{
    status s = LATHE_OK;
    *out = json_array();
    for (const char *at = values; !s; at++) {
        size_t n = strcspn(at, ","), i;
        char *text = mem_printf("%.*s", (int)n, at);
        json_t *v = read_value(o, text), *other;
        if (!v)
            s = err_set(e, LATHE_USAGE, "%s: '%.100s' is no %s", o->name, text, o->type);
        json_array_foreach(*out, i, other)
            if (v && json_equal(v, other))
                s = err_set(e, LATHE_USAGE, "%s: the value %.100s is there twice", o->name, text);
        if (!s && json_array_size(*out) == STRATEGY_GRID_MAX)
            s = err_set(e, LATHE_USAGE, "%s: more than %d values", o->name, STRATEGY_GRID_MAX);
        mem_free(text);
        if (v)
            json_array_append_new(*out, v);
        at += n;
        if (!*at)
            break;
    }
    if (s) {
        json_decref(*out);
        *out = NULL;
    }
    return s;
}
