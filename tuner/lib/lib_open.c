/* lib_open.c: a file opened and closed, and what is said of it. */
#include "lib/lib_impl.h"

#include "base/mem.h"
#include "db/query.h"
#include <stdio.h>
#include <string.h>

static lathe_result failure(const char *path, const struct err *e, status s)
{
    switch (s) {
    case LATHE_IO: return lib_fail(LATHE_ERROR_FILE, "%s", e->text);    /* says the path itself */
    case LATHE_NOTHING: return lib_fail(LATHE_ERROR_VERSION, "%.400s: %s", path, e->text);
    default: return lib_fail(LATHE_ERROR_FORMAT, "%.400s: %s", path, e->text);
    }
}

/* From bytes that become the new object's. */
static lathe_result open_bytes(char *data, size_t len, const char *path, const char *problem, struct lathe **out)
{
    struct err e = {0};
    struct lathe *l = mem_zalloc(1, sizeof *l);
    lathe_result r = LATHE_SUCCESS;
    pthread_mutex_init(&l->lock, NULL);
    l->users = 1;
    l->data = data;
    status s = bundle_decode(data, len, &l->bundle, &e);
    const char *name = s ? NULL : json_string_value(json_object_get(l->bundle.manifest, "problem"));
    if (!s && !name)
        s = err_set(&e, LATHE_STORE, "it does not say which problem it is for");
    l->name = mem_strdup(name);
    if (!s && problem && strcmp(problem, name))
        r = lib_fail(LATHE_ERROR_NOT_FOUND, "%.400s: it is for the problem %.200s, and not for %.200s", path, name,
                     problem);
    if (!s && !r && (s = lib_variants(l, &e)) == LATHE_NOTHING)
        s = LATHE_STORE;
    if (s)
        r = failure(path, &e, s);
    if (r)
        lathe_close(l);
    else
        *out = l;
    return r;
}

/* Whether the file begins as SQLite's do. */
static bool is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char begin[sizeof magic] = {0};
    FILE *f = fopen(path, "rb");
    bool is = f && fread(begin, 1, sizeof begin, f) == sizeof begin && !memcmp(begin, magic, sizeof magic);
    if (f)
        fclose(f);
    return is;
}

static lathe_result read_database(const char *path, const char *problem, char **data, size_t *len)
{
    struct err e = {0};
    struct query *q = NULL;
    status s = query_open(path, &q, &e);
    bool opened = !s;
    if (opened)
        s = query_bundle(q, problem, data, len, &e);
    query_close(q);
    if (!s)
        return LATHE_SUCCESS;
    lathe_result r = s == LATHE_NOTHING ? LATHE_ERROR_NOT_FOUND : LATHE_ERROR_FORMAT;
    if (!opened && query_is_newer(path))
        r = LATHE_ERROR_VERSION;
    return lib_fail(r, "%s", e.text);           /* says the path */
}

lathe_result lathe_open(const char *path, const char *problem, lathe **out)
{
    struct err e = {0};
    char *data = NULL;
    size_t len = 0;
    if (out)
        *out = NULL;
    if (!path || !out)
        return lib_fail(LATHE_ERROR_ARGUMENT, "lathe_open: %s is NULL", path ? "out" : "path");
    status s = file_check_regular(path, "a file", &e);
    if (s)
        return failure(path, &e, s);
    if (is_database(path)) {
        lathe_result r = read_database(path, problem, &data, &len);
        if (r)
            return r;
    } else {
        s = file_read(path, &data, &len, &e);
        if (s)
            return failure(path, &e, s);
    }
    return open_bytes(data, len, path, problem, out);
}

void lib_leave(struct lathe *l)
{
    pthread_mutex_lock(&l->lock);
    bool last = --l->users == 0;
    pthread_mutex_unlock(&l->lock);
    if (!last)
        return;
    lib_contexts_free(l);
    lib_variants_free(l);
    bundle_free(&l->bundle);
    pthread_mutex_destroy(&l->lock);
    mem_free(l->data);
    mem_free(l->name);
    mem_free(l);
}

void lathe_close(lathe *l)
{
    if (l)
        lib_leave(l);
}

/* --- what is said of it --- */

const char *lathe_problem(const lathe *l)
{
    return l ? l->name : NULL;
}

int lathe_tensors(const lathe *l)
{
    return l ? l->problems[0]->ntensors : 0;
}

int lathe_dims(const lathe *l)
{
    return l ? l->problems[0]->ndims : 0;
}

int lathe_scalars(const lathe *l)
{
    return l ? l->problems[0]->nscalars : 0;
}

const char *lathe_tensor_name(const lathe *l, int i)
{
    return i >= 0 && i < lathe_tensors(l) ? l->problems[0]->tensors[i].name : NULL;
}

const char *lathe_tensor_type(const lathe *l, int i)
{
    return i >= 0 && i < lathe_tensors(l) ? dtype_name(l->problems[0]->tensors[i].dtype) : NULL;
}

const char *lathe_dim_name(const lathe *l, int i)
{
    return i >= 0 && i < lathe_dims(l) ? l->problems[0]->dims[i].name : NULL;
}

const char *lathe_scalar_name(const lathe *l, int i)
{
    return i >= 0 && i < lathe_scalars(l) ? l->problems[0]->scalars[i].name : NULL;
}
