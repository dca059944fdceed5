/* document_importance.c: a campaign's trials as levels and times for importance.h, and the answer as JSON. */
#include "report/document.h"

#include "base/mem.h"
#include "base/rng.h"
#include "report/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEWEST = 20,                /* trials of a kernel that an estimate is made of */
    MOST = 3000,                /* of more, so many are drawn */
    PAIRS = 12,                 /* that are listed */
};
static const uint64_t importance_seed = 1;

/* A kernel's timed trials: rows of the columns. */
struct chosen {
    int *row;
    int n, cap;
};

static struct chosen timed_trials(const json_t *columns, json_int_t kernel)
{
    struct chosen c = {0};
    const json_t *number = json_object_get(columns, "number"), *of = json_object_get(columns, "kernel"),
                 *time = json_object_get(columns, "time_ms");
    for (size_t i = 0; i < json_array_size(number); i++) {
        double ms = json_number_value(json_array_get(time, i));
        if (json_integer_value(json_array_get(number, i)) > 0 && json_integer_value(json_array_get(of, i)) == kernel &&
            ms > 0) {
            MEM_GROW(c.row, c.n, c.cap);
            c.row[c.n++] = (int)i;
        }
    }
    struct rng r;
    rng_seed(&r, importance_seed);
    for (int i = 0; i < MOST && c.n > MOST; i++) { /* the first MOST become a random choice */
        int j = i + (int)rng_below(&r, (uint64_t)(c.n - i)), row = c.row[j];
        c.row[j] = c.row[i];
        c.row[i] = row;
    }
    c.n = c.n > MOST ? MOST : c.n;
    return c;
}

/* Levels of one parameter in the chosen rows: its values in the order met, and one more where it is not active. More
 * than there may be: neighbours in that order share one. Returns how many; level[i * stride] gets the rows'. */
static int levels_of(const json_t *parameter, const struct chosen *c, uint8_t *level, int stride)
{
    const json_t *column = json_object_get(parameter, "column");
    int values = (int)json_array_size(json_object_get(parameter, "values")), n = 0;
    int *place = mem_zalloc((size_t)values + 1, sizeof *place); /* of value - 1, from 1 on */
    for (int i = 0; i < c->n; i++) {
        int v = (int)json_integer_value(json_array_get(column, (size_t)c->row[i])) + 1;
        place[v] = 1;
    }
    for (int v = 0; v <= values; v++)
        if (place[v])
            place[v] = ++n;
    int per = (n + IMPORTANCE_LEVELS_MAX - 1) / IMPORTANCE_LEVELS_MAX;
    for (int i = 0; i < c->n; i++) {
        int v = (int)json_integer_value(json_array_get(column, (size_t)c->row[i])) + 1;
        level[(size_t)i * (size_t)stride] = (uint8_t)((place[v] - 1) / per);
    }
    mem_free(place);
    return n ? (n - 1) / per + 1 : 0;
}

static int by_share(const void *a, const void *b)
{
    double x = json_number_value(json_object_get(*(json_t *const *)a, "share"));
    double y = json_number_value(json_object_get(*(json_t *const *)b, "share"));
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The first `most` of an array of objects by their share; takes the array. */
static json_t *largest(json_t *list, size_t most)
{
    size_t n = json_array_size(list);
    json_t **items = mem_zalloc(n + 1, sizeof *items), *sorted = json_array();
    for (size_t i = 0; i < n; i++)
        items[i] = json_array_get(list, i);
    qsort(items, n, sizeof *items, by_share);
    for (size_t i = 0; i < n && i < most; i++)
        json_array_append(sorted, items[i]);
    mem_free(items);
    json_decref(list);
    return sorted;
}

static json_t *as_json(const struct importance *m, json_t **parameters, const char *kernel, int trials)
{
    json_t *alone = json_array(), *pairs = json_array();
    for (int p = 0; p < m->parameters; p++) {
        json_t *name = json_object_get(parameters[p], "name");
        json_array_append_new(alone, json_pack("{s:O, s:f, s:f}", "name", name, "share", m->alone[p], "deviation",
                                               m->alone_deviation[p]));
        for (int q = p + 1; q < m->parameters; q++)
            json_array_append_new(pairs, json_pack("{s:O, s:O, s:f}", "a", name, "b",
                                                   json_object_get(parameters[q], "name"), "share",
                                                   m->pair[p * m->parameters + q]));
    }
    return json_pack("{s:s, s:i, s:f, s:o, s:o}", "kernel", kernel, "trials", trials, "fit", m->fit, "alone",
                     largest(alone, (size_t)m->parameters), "pairs", largest(pairs, PAIRS));
}

/* One kernel's; NULL if there is nothing to say. */
static json_t *kernel_importance(const json_t *campaign, json_int_t kernel, const char *name)
{
    struct chosen c = timed_trials(json_object_get(campaign, "columns"), kernel);
    const json_t *all = json_object_get(campaign, "parameters");
    size_t n = json_array_size(all), k = 0;
    int *levels = mem_zalloc(n + 1, sizeof *levels);
    json_t **varied = mem_zalloc(n + 1, sizeof *varied), *out = NULL;
    uint8_t *level = mem_zalloc((size_t)c.n * n + 1, 1);
    double *value = mem_zalloc((size_t)c.n + 1, sizeof *value);
    for (size_t i = 0; i < n && c.n >= FEWEST; i++) {
        levels[k] = levels_of(json_array_get(all, i), &c, level + k, (int)n);
        if (levels[k] > 1)
            varied[k++] = json_array_get(all, i);
    }
    for (int i = 0; i < c.n; i++) { /* rows of n become rows of k */
        memmove(level + (size_t)i * k, level + (size_t)i * n, k);
        value[i] = log(json_number_value(
            json_array_get(json_object_get(json_object_get(campaign, "columns"), "time_ms"), (size_t)c.row[i])));
    }
    struct importance_data d = {.rows = c.n, .parameters = (int)k, .levels = levels, .level = level, .value = value};
    struct importance m;
    if (k > 0 && importance_of(&d, importance_seed, &m)) {
        out = as_json(&m, varied, name, c.n);
        importance_free(&m);
    }
    mem_free(c.row);
    mem_free(levels);
    mem_free(varied);
    mem_free(level);
    mem_free(value);
    return out;
}

json_t *document_importance(const json_t *campaign)
{
    const json_t *kernels = json_object_get(json_object_get(campaign, "texts"), "kernel");
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        json_t *one = kernel_importance(campaign, (json_int_t)i, json_string_value(json_array_get(kernels, i)));
        if (one)
            json_array_append_new(list, one);
    }
    return list;
}
