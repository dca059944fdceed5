/* lib_variants.c: the configurations of a bundle, from what it says. The checksum was right, so what does not fit here
 * was made so: it is refused, never worked around. */
#include "lib/lib_impl.h"

#include "base/mem.h"
#include <string.h>

static status wrong(struct err *e, const char *what)
{
    return err_set(e, LATHE_STORE, "%s", what);
}

/* Whether sources are in the tree, as they are in what lathe writes: no file is opened for a bundle. */
static bool embedded(const json_t *j)
{
    const char *key;
    json_t *item;
    size_t i;
    bool all = !json_object_get(j, "source") || json_is_string(json_object_get(j, "source_text"));
    json_object_foreach((json_t *)j, key, item) all = all && embedded(item);
    json_array_foreach(j, i, item) all = all && embedded(item);
    return all;
}

static status read_problems(struct lathe *l, struct err *e)
{
    const json_t *list = json_object_get(l->bundle.manifest, "specifications");
    size_t n = json_array_size(list);
    if (n == 0)
        return wrong(e, "it has no specifications");
    l->problems = mem_zalloc(n, sizeof *l->problems);
    for (size_t i = 0; i < n; i++) {
        if (!embedded(json_array_get(list, i)))
            return wrong(e, "a specification lacks its source");
        status s = problem_from_json(json_array_get(list, i), l->name, NULL, &l->problems[l->nproblems], e);
        if (s)
            return s;
        l->nproblems++;
    }
    return LATHE_OK;
}

/* An integer member within bounds; else -1 or a failure. */
static bool number(const json_t *j, const char *key, int64_t low, int64_t high, int *out)
{
    const json_t *v = json_object_get(j, key);
    *out = (int)json_integer_value(v);
    return json_is_integer(v) && json_integer_value(v) >= low && json_integer_value(v) <= high;
}

/* The slots where it was tuned. */
static status read_configuration(struct variant *v, const json_t *j, struct err *e)
{
    struct problem at = *v->p;
    const json_t *size = json_object_get(j, "size");
    at.dims = mem_zalloc((size_t)at.ndims + 1, sizeof *at.dims);
    v->size = mem_zalloc((size_t)at.ndims + 1, sizeof *v->size);
    v->choice = mem_zalloc((size_t)v->k->nparams + 1, sizeof *v->choice);
    v->tuned = mem_zalloc((size_t)v->k->scope.count + 1, sizeof *v->tuned);
    status s = LATHE_OK;
    for (int d = 0; d < at.ndims && !s; d++) {
        v->size[d] = json_integer_value(json_object_get(size, v->p->dims[d].name));
        at.dims[d] = (struct dim){v->p->dims[d].name, v->size[d]};
        if (v->size[d] < 1)
            s = wrong(e, "a configuration has no size");
    }
    if (!s)
        s = config_from_json(v->k, json_object_get(j, "configuration"), v->choice, e);
    if (!s) {
        kernel_slots_fixed(&at, v->k, &v->target, v->tuned);
        s = kernel_slots_config(v->k, v->choice, v->tuned, e);
    }
    mem_free(at.dims);
    return s;
}

static status read_variant(struct lathe *l, struct variant *v, const json_t *j, struct err *e)
{
    int spec, last = l->bundle.nimages - 1;
    const json_t *name = json_object_get(j, "kernel");
    if (!number(j, "specification", 0, l->nproblems - 1, &spec) || !number(j, "cubin", -1, last, &v->cubin) ||
        !number(j, "ptx", -1, last, &v->ptx) || !number(j, "ptx_sm", 0, 100000, &v->ptx_sm) ||
        !json_is_string(json_object_get(j, "text")))
        return wrong(e, "a configuration lacks its parts");
    v->text = mem_strdup(json_string_value(json_object_get(j, "text")));
    v->fallback = json_is_true(json_object_get(j, "fallback"));
    v->exact = json_is_true(json_object_get(j, "exact"));
    v->p = l->problems[spec];
    int k = json_is_string(name) ? problem_find_kernel(v->p, json_string_value(name)) : -1;
    v->k = k >= 0 ? &v->p->kernels[k] : json_is_null(name) ? v->p->reference.kernel : NULL;
    if (!v->k)
        return wrong(e, "a configuration is of a kernel that its specification does not have");
    for (int i = 0; i < v->k->nsteps; i++)
        if (v->k->steps[i].kind != STEP_LAUNCH)
            return wrong(e, "a configuration calls cuBLAS");
    status s = target_from_json(json_object_get(j, "target"), &v->target, e);
    return s ? s : read_configuration(v, j, e);
}

/* One list of arguments serves all. */
static bool alike(const struct problem *a, const struct problem *b)
{
    bool same = a->ndims == b->ndims && a->nscalars == b->nscalars && a->ntensors == b->ntensors;
    for (int i = 0; i < a->ndims && same; i++)
        same = !strcmp(a->dims[i].name, b->dims[i].name);
    for (int i = 0; i < a->nscalars && same; i++)
        same = !strcmp(a->scalars[i].name, b->scalars[i].name);
    for (int i = 0; i < a->ntensors && same; i++)
        same = !strcmp(a->tensors[i].name, b->tensors[i].name) && a->tensors[i].dtype == b->tensors[i].dtype;
    return same;
}

status lib_variants(struct lathe *l, struct err *e)
{
    const json_t *list = json_object_get(l->bundle.manifest, "variants");
    size_t n = json_array_size(list);
    if (n == 0)
        return wrong(e, "it has no configurations");
    status s = read_problems(l, e);
    for (int i = 1; i < l->nproblems && !s; i++)
        if (!alike(l->problems[0], l->problems[i]))
            s = wrong(e, "its specifications are of different problems");
    l->variants = mem_zalloc(n, sizeof *l->variants);
    for (size_t i = 0; i < n && !s; i++)
        s = read_variant(l, &l->variants[l->nvariants++], json_array_get(list, i), e);
    return s;
}

void lib_variants_free(struct lathe *l)
{
    for (int i = 0; i < l->nvariants; i++) {
        mem_free(l->variants[i].text);
        mem_free(l->variants[i].choice);
        mem_free(l->variants[i].tuned);
        mem_free(l->variants[i].size);
    }
    for (int i = 0; i < l->nproblems; i++)
        problem_free(l->problems[i]);
    mem_free(l->variants);
    mem_free(l->problems);
}
