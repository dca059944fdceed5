/* fuzz_bundle.c: any file through liblathe's lathe_open, and any JSON as what a bundle says, with the checksum that
 * fits it: no crash, no leak, no file opened, and what is accepted can be planned at other sizes. A specification alone
 * becomes a bundle of its first kernel's first configuration. A libFuzzer target; seeds: test/data/model. */
#include "lib/lib_impl.h"

#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct lathe *l)
{
    static const int64_t sizes[] = {1, 7, 64, 1000, 100000, 2147483647};
    struct target t;
    struct err e;
    if (target_named("sm_90a", &t, &e)) abort();
    for (int i = 0; i < l->nvariants; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const struct variant *v = &l->variants[i];
            struct problem at = *v->p;
            struct plan plan;
            at.dims = mem_zalloc((size_t)at.ndims + 1, sizeof *at.dims);
            for (int d = 0; d < at.ndims; d++)
                at.dims[d] = (struct dim){v->p->dims[d].name, sizes[(s + (size_t)d) % 6]};
            if (!serve_plan(&at, v->k, v->tuned, &t, &plan, &e)) plan_free(&plan);
            mem_free(at.dims);
        }
}

static void open_bytes(const char *data, size_t size)
{
    char path[64];
    lathe *l;
    int fd = memfd_create("bundle", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (lathe_open(path, NULL, &l) == LATHE_SUCCESS) use(l);
    else if (l || !*lathe_error()) abort();
    lathe_close(l);
    close(fd);
}

static json_t *first(json_t *entry)
{
    return json_array_get(json_is_object(entry) ? json_object_get(entry, "#") : entry, 0);
}

static json_t *list_of(const json_t *tree, const char *key)
{
    json_t *list = json_object_get(tree, key);
    return json_is_object(list) ? json_object_get(list, "#") : list;
}

/* New reference. */
static json_t *wrapped(json_t *spec)
{
    json_t *size = json_object(), *configuration = json_object(), *entry,
           *kernel = json_array_get(list_of(spec, "kernels"), 0);
    json_t *target;
    struct target t;
    size_t i;
    json_array_foreach(list_of(spec, "dims"), i, entry)
        if (json_is_string(first(entry))) json_object_set_new(size, json_string_value(first(entry)), json_integer(64));
    json_array_foreach(list_of(kernel, "params"), i, entry)
    {
        json_t *items = json_is_object(entry) ? json_object_get(entry, "#") : entry;
        if (json_is_string(first(entry)))
            json_object_set(configuration, json_string_value(first(entry)),
                            json_array_get(json_array_get(items, 1), 0));
    }
    if (target_named("sm_90a", &t, NULL)) abort();
    target = target_to_json(&t);
    return json_pack("{s:s, s:[O], s:[{s:s, s:i, s:O*, s:o, s:o, s:o, s:i, s:i, s:i}]}", "problem", "p",
                     "specifications", spec, "variants", "text", "t", "specification", 0, "kernel", first(kernel),
                     "size", size, "configuration", configuration, "target", target, "cubin", 0, "ptx", 1, "ptx_sm",
                     80);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bundle_image images[] = {{"cubin", 5}, {"ptx", 3}};
    struct strbuf bytes = {0};
    struct err e;
    open_bytes((const char *)data, size);
    json_t *tree = json_loadb((const char *)data, size, 0, NULL);
    json_t *manifest = json_is_object(tree) && !json_object_get(tree, "variants") ? wrapped(tree) : json_incref(tree);
    if (json_is_object(manifest) && !bundle_encode(manifest, images, 2, &bytes, &e)) open_bytes(bytes.s, bytes.len);
    json_decref(manifest);
    json_decref(tree);
    sb_free(&bytes);
    return 0;
}
