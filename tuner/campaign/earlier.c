/* earlier.c: see earlier.h. Rows that say nothing of a space here (a kernel whose parameters have other names, a time
 * that is no time) are left out; bounds are on what is read, so that a large database costs little more than a small
 * one. */
#include "campaign/earlier.h"

#include "base/mem.h"
#include "db/query.h"
#include <string.h>

enum { CAMPAIGNS = 64, BEST = 10 };     /* the newest, and of each of them and each kernel */

bool earlier_match(const struct space *s, const json_t *configuration, config_choice *out, bool *exact)
{
    const struct kernel *k = space_kernel(s);
    int wanted[SPACE_PARAMS_MAX];
    size_t shared = 0;
    *exact = true;
    for (int i = 0; i < k->nparams; i++) {
        struct value v;
        double number;
        wanted[i] = -1;
        if (!value_from_json(json_object_get(configuration, k->params[i].name), &v))
            continue;
        shared++;
        wanted[i] = param_find_value(&k->params[i], v);
        *exact = *exact && wanted[i] >= 0;
        if (wanted[i] < 0 && value_as_double(v, &number))
            wanted[i] = param_nearest_number(&k->params[i], number);
    }
    if (!shared)
        return false;
    space_nearest(s, wanted, out);
    /* what is given must be what is active; an inactive parameter has its first value */
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    struct err e;
    *exact = *exact && shared == json_object_size(configuration) && !space_slots(s, out, slots, &e);
    for (int i = 0; i < k->nparams && *exact; i++)
        *exact = param_active(k, i, slots) ? wanted[i] == out[i] : wanted[i] < 0;
    mem_free(slots);
    return true;
}

/* Sizes of {dim: n}; names are borrowed. */
static struct dim *read_size(const json_t *size, int *n)
{
    const char *name;
    json_t *value;
    struct dim *dims = mem_zalloc(json_object_size(size) + 1, sizeof *dims);
    *n = 0;
    json_object_foreach((json_t *)size, name, value)
        if (json_is_integer(value) && json_integer_value(value) >= 1)
            dims[(*n)++] = (struct dim){(char *)name, json_integer_value(value)};
    return dims;
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

/* One row as one of the spaces' configurations. The best of a campaign and kernel comes first: *best is its score. */
static bool read_row(const json_t *row, struct space *const *spaces, int nspaces, double best, struct earlier *out)
{
    double score = json_number_value(json_object_get(row, "score_ms"));
    config_choice choice[SPACE_PARAMS_MAX];
    *out = (struct earlier){.space = -1, .value = score, .ratio = score / best};
    for (int i = 0; i < nspaces && out->space < 0; i++)
        if (!strcmp(space_kernel(spaces[i])->name, text_of(row, "kernel")))
            out->space = i;
    if (out->space < 0 || !(score > 0))
        return false;
    if (!earlier_match(spaces[out->space], json_object_get(row, "configuration"), choice, &out->exact))
        return false;
    out->index = (uint64_t)space_index(spaces[out->space], choice);
    out->campaign = json_integer_value(json_object_get(row, "campaign"));
    out->place = (struct place){.problem = text_of(row, "problem"), .device = text_of(row, "device")};
    out->place.dims = read_size(json_object_get(row, "size"), &out->place.ndims);
    return true;
}

static bool same_group(const json_t *a, const json_t *b)
{
    return a && json_equal(json_object_get(a, "campaign"), json_object_get(b, "campaign")) &&
           !strcmp(text_of(a, "kernel"), text_of(b, "kernel"));
}

static int read_rows(const json_t *rows, struct space *const *spaces, int nspaces, struct earlier *list)
{
    const json_t *first = NULL;
    json_t *row;
    size_t i;
    int n = 0;
    json_array_foreach(rows, i, row) {
        if (!same_group(first, row))
            first = row;
        n += read_row(row, spaces, nspaces, json_number_value(json_object_get(first, "score_ms")), &list[n]);
    }
    return n;
}

static status ask(const char *db, int64_t before, bool replayed, struct space *const *spaces, int nspaces,
                  json_t **rows, struct err *e)
{
    struct query *q;
    status s = query_open(db, &q, e);
    if (s)
        return s;
    const char **kernels = mem_zalloc((size_t)nspaces + 1, sizeof *kernels);
    for (int i = 0; i < nspaces; i++)
        kernels[i] = space_kernel(spaces[i])->name;
    s = query_earlier(q, &(struct query_earlier){kernels, nspaces, CAMPAIGNS, BEST, replayed, before}, rows, e);
    mem_free(kernels);
    query_close(q);
    return s;
}

status earlier_inform(const char *db, int64_t before, const json_t *recorded, const struct problem *p,
                      const struct target *t, struct space *const *spaces, int nspaces, struct strategy *strategy,
                      json_t **told, char **unread, struct err *e)
{
    json_t *rows = json_incref((json_t *)recorded);
    struct err why = {0};
    *unread = NULL;
    if (!recorded && db && ask(db, before, !strcmp(t->device, "replay"), spaces, nspaces, &rows, &why))
        *unread = mem_printf("what earlier campaigns found cannot be read: %s", why.text);
    struct earlier *list = mem_zalloc(json_array_size(rows) + 1, sizeof *list);
    int n = read_rows(rows, spaces, nspaces, list);
    struct place here = {p->name, t->name, p->dims, p->ndims};
    status s = strategy_inform(strategy, &here, list, n, e);
    for (int i = 0; i < n; i++)
        mem_free((struct dim *)list[i].place.dims);
    mem_free(list);
    *told = rows ? rows : json_array();
    return s;
}
