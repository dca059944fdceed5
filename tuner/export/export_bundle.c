/* export_bundle.c: the configurations of several sizes and devices as a bundle (model/bundle.h): their images, and of
 * each the specification's own kernel, so that liblathe plans launches as the tuner does. Keys: docs/liblathe.md. */
#include "base/mem.h"
#include "export/internal.h"
#include "model/bundle.h"
#include <string.h>

struct bundle_export {
    const struct export_variant *v;
    struct bundle_image *images;        /* different ones */
    int nimages;
    json_t *specifications, *variants;
};

static int image_index(struct bundle_export *b, const struct export_image *image)
{
    if (!image->data) return -1;
    for (int i = 0; i < b->nimages; i++)
        if (b->images[i].len == image->len && !memcmp(b->images[i].data, image->data, image->len)) return i;
    b->images[b->nimages] = (struct bundle_image){image->data, image->len};
    return b->nimages++;
}

static const char *kernel_name(const json_t *kernel)
{
    return json_string_value(json_array_get(json_object_get(kernel, "#"), 0));
}

/* The specification with this kernel alone; k is the reference's: with all that it needs to be read. New reference. */
static json_t *trimmed(const struct problem *p, const struct kernel *k)
{
    json_t *spec = json_copy(p->json), *kept = json_array(), *kernel;
    size_t i;
    json_array_foreach(json_object_get(p->json, "kernels"), i, kernel)
    {
        const char *name = kernel_name(kernel);
        bool wanted = k == p->reference.kernel ? json_array_size(kept) == 0 : name && !strcmp(name, k->name);
        if (wanted) json_array_append(kept, kernel);
    }
    if (json_array_size(kept)) json_object_set(spec, "kernels", kept);
    json_object_del(spec, "baselines");
    json_decref(kept);
    return spec;
}

static int specification_index(struct bundle_export *b, const struct problem *p, const struct kernel *k)
{
    json_t *spec = trimmed(p, k), *known;
    size_t i;
    json_array_foreach(b->specifications, i, known)
    {
        if (!json_equal(known, spec)) continue;
        json_decref(spec);
        return (int)i;
    }
    json_array_append_new(b->specifications, spec);
    return (int)json_array_size(b->specifications) - 1;
}

/* What is known of where it comes from, but the specification and the samples. New reference. */
static json_t *origin(const json_t *provenance)
{
    static const char *const keys[] = {"trial", "driver", "toolchain", "tool_version"};
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *part = json_object_get(provenance, keys[i]);
        json_object_set_new(out, keys[i], part ? json_incref(part) : json_null());
    }
    const char *note = export_no_final(json_object_get(provenance, "trial"));
    json_object_set_new(out, "note", note ? json_string(note) : json_null());
    return out;
}

static void add_variant(struct bundle_export *b, const struct export_variant *v, const struct exporter *x)
{
    struct strbuf text = {0};
    const struct problem *p = x->p;
    json_t *size = json_object(), *out = json_object();
    export_variant_text(v, x, &text);
    for (int d = 0; d < p->ndims; d++) json_object_set_new(size, p->dims[d].name, json_integer(p->dims[d].value));
    json_object_set_new(out, "text", json_string(sb_str(&text)));
    json_object_set_new(out, "specification", json_integer(specification_index(b, p, x->k)));
    json_object_set_new(out, "kernel", x->k == p->reference.kernel ? json_null() : json_string(x->k->name));
    json_object_set_new(out, "fallback", json_boolean(v->fallback));
    json_object_set_new(out, "size", size);
    json_object_set_new(out, "configuration", config_to_json(x->k, x->slots, x->in->choice));
    json_object_set_new(out, "target", target_to_json(x->in->target));
    json_object_set_new(out, "cubin", json_integer(image_index(b, &v->cubin)));
    json_object_set_new(out, "exact", json_boolean(export_for_that_gpu_alone(x->in->target)));
    json_object_set_new(out, "ptx", json_integer(image_index(b, &v->ptx)));
    json_object_set_new(out, "ptx_sm", json_integer(v->ptx_sm));
    json_object_set_new(out, "origin", v->fallback ? json_null() : origin(x->in->provenance));
    json_array_append_new(b->variants, out);
    sb_free(&text);
}

status export_bundle(const struct export_variant *v, int n, const char *version, struct strbuf *out, struct err *e)
{
    struct bundle_export b = {.v = v, .specifications = json_array(), .variants = json_array()};
    status s = LATHE_OK;
    b.images = mem_zalloc(2 * (size_t)n + 1, sizeof *b.images);
    for (int i = 0; i < n && !s; i++) {
        struct exporter x;
        struct strbuf unused = {0};
        s = export_alike(v[0].in->problem, v[i].in->problem, e);
        if (s) break;
        s = export_open(v[i].in, &export_driver, "", &unused, &x, e);
        if (!s) add_variant(&b, &v[i], &x);
        export_close(&x);
    }
    json_t *manifest = json_pack("{s:s, s:s, s:s, s:o, s:o}", "format", "lathe-bundle", "lathe", version, "problem",
                                 v[0].in->problem->name, "specifications", b.specifications, "variants", b.variants);
    if (!s) s = bundle_encode(manifest, b.images, b.nimages, out, e);
    json_decref(manifest);
    mem_free(b.images);
    return s;
}
