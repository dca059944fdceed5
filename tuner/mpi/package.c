/* package.c: see package.h. The request's JSON with "files": [[name, bytes], ...] and names in place of paths, a NUL,
 * the files one after another. One that is gone from the cache here has null for bytes: if it is not in the other
 * side's cache, the worker there fails to load it, as a worker of this side would, and the coordinator makes it again.
 * What an image is called is a hash of what made it (trial/cache.h), so a name that is in a cache, sealed and whole,
 * needs no second look. */
#include "mpi/package.h"
#include "base/mem.h"
#include "mpi/frame.h"
#include "trial/cache.h"
#include <string.h>

/* Where a request has a path: object and key. */
static const char *const places[][2] = {
    {"evaluation", "image"}, {"setup", "support_image"}, {"setup", "reference_image"}};
enum { PLACES = sizeof places / sizeof *places };

static const char *path_at(json_t *request, int place)
{
    return json_string_value(json_object_get(json_object_get(request, places[place][0]), places[place][1]));
}

static void set_path(json_t *request, int place, const char *path)
{
    json_object_set_new(json_object_get(request, places[place][0]), places[place][1], json_string(path));
}

static status add_files(json_t *request, struct strbuf *data, struct err *e)
{
    json_t *files = json_array();
    status s = LATHE_OK;
    for (int i = 0; i < PLACES && !s; i++) {
        const char *path = path_at(request, i);
        if (!path) continue;
        char *bytes = NULL;
        size_t len = 0;
        bool there = file_exists(path);
        s = there ? file_read(path, &bytes, &len, e) : LATHE_OK;
        if (s) break;
        if (data->len + len > FRAME_LIMIT / 2)
            s = err_set(e, LATHE_IO, "%.500s: too large to be sent to another process", path);
        if (there) sb_addn(data, bytes, len);
        mem_free(bytes);
        const char *slash = strrchr(path, '/');
        char *name = mem_strdup(slash ? slash + 1 : path);
        json_array_append_new(files, json_pack("[s, o]", name, there ? json_integer((json_int_t)len) : json_null()));
        set_path(request, i, name);
        mem_free(name);
    }
    json_object_set_new(request, "files", files);
    return s;
}

status package_write(const char *line, size_t len, struct strbuf *out, struct err *e)
{
    json_t *request = json_loadb(line, len, 0, NULL);
    if (!json_is_object(request)) {
        json_decref(request);
        return err_set(e, LATHE_INTERNAL, "a request that is no JSON object");
    }
    struct strbuf data = {0};
    status s = add_files(request, &data, e);
    if (!s) {
        char *text = json_dumps(request, JSON_COMPACT);
        sb_addn(out, text, strlen(text) + 1);
        mem_free(text);
        if (data.len) sb_addn(out, data.s, data.len);
    }
    sb_free(&data);
    json_decref(request);
    return s;
}

/* --- on the other side --- */

static bool is_image_name(const char *name)
{
    size_t n = strspn(name, "0123456789abcdef");
    return n && !strcmp(name + n, ".image");
}

/* data NULL: it was not sent. The folder may have been removed since it was opened. */
static status keep(const char *dir, const char *name, const char *data, size_t len, char **path, struct err *e)
{
    *path = NULL;
    if (!is_image_name(name)) return err_set(e, LATHE_INTERNAL, "a file that is no image: %.200s", name);
    *path = path_join(dir, name);
    if (cache_has(*path) || !data) return LATHE_OK;
    status s = dir_make(dir, e);
    return s ? s : file_write_atomic(*path, data, len, e);
}

static status keep_files(json_t *request, const char *data, size_t len, const char *dir, struct err *e)
{
    const json_t *files = json_object_get(request, "files");
    size_t at = 0, k = 0;
    for (int i = 0; i < PLACES; i++) {
        if (!path_at(request, i)) continue;
        const json_t *file = json_array_get(files, k++);
        const char *name = json_string_value(json_array_get(file, 0));
        bool sent = !json_is_null(json_array_get(file, 1));
        json_int_t bytes = json_integer_value(json_array_get(file, 1));
        if (!name || bytes < 0 || (size_t)bytes > len - at)
            return err_set(e, LATHE_INTERNAL, "a request that is not whole");
        char *path;
        status s = keep(dir, name, sent ? data + at : NULL, (size_t)bytes, &path, e);
        if (!s) set_path(request, i, path);
        mem_free(path);
        if (s) return s;
        at += (size_t)bytes;
    }
    json_object_del(request, "files");
    return at == len ? LATHE_OK : err_set(e, LATHE_INTERNAL, "a request with more than it names");
}

status package_read(const char *bytes, size_t len, const char *dir, json_t **out, struct err *e)
{
    const char *end = len ? memchr(bytes, 0, len) : NULL;
    json_t *request = end ? json_loadb(bytes, (size_t)(end - bytes), 0, NULL) : NULL;
    status s = json_is_object(request) ? LATHE_OK : err_set(e, LATHE_INTERNAL, "a request that is not whole");
    if (!s) s = keep_files(request, end + 1, len - (size_t)(end + 1 - bytes), dir, e);
    if (s)
        json_decref(request);
    else
        *out = request;
    return s;
}
