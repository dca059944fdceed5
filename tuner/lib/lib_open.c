/* lib_open.c: a file opened and closed, and what is said of it. */
#include "lib/lib_impl.h"

#include "base/mem.h"
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
        r = lib_fail(LATHE_ERROR_NOT_FOUND, "%.400s: it is for the problem %.200s, and not for %.200s", path, name, problem);
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

lathe_result lathe_open(const char *path, const char *problem, lathe **out)
{
    struct err e = {0};
    char *data = NULL;
    size_t len = 0;
    if (out)
        *out = NULL;
    if (!path || !out)
        return lib_fail(LATHE_ERROR_ARGUMENT, "lathe_open: %s is NULL", path ? "out" : "path");
    status s = file_read(path, &data, &len, &e);
    return s ? failure(path, &e, s) : open_bytes(data, len, path, problem, out);
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
