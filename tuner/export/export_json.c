/* export_json.c: everything about a winner as one JSON document (docs/json.md): for programs that want the launch and
 * the source, and for people who keep results. */
#include "base/mem.h"
#include "export/internal.h"
#include "model/source.h"

/* The provenance's part of that name, or null: what is not known is said to be. New reference. */
static json_t *known_part(const json_t *from, const char *key)
{
    json_t *part = json_object_get(from, key);
    return part ? json_incref(part) : json_null();
}

/* New reference. */
static json_t *note_of(const json_t *trial)
{
    const char *note = export_no_final(trial);
    return note ? json_string(note) : json_null();
}

static json_t *size_of(const struct problem *p)
{
    json_t *size = json_object();
    for (int d = 0; d < p->ndims; d++) json_object_set_new(size, p->dims[d].name, json_integer(p->dims[d].value));
    return size;
}

/* The text that was compiled, and the macros that stood before it. */
static status kernel_part(const struct exporter *x, json_t **out, struct err *e)
{
    char **defines = NULL;
    int n = 0;
    struct strbuf source = {0};
    status s = source_defines(x->k, x->slots, &defines, &n, e);
    if (!s) s = source_epilogue(x->p, &source, e);
    if (!s) {
        json_t *list = json_array();
        sb_add(&source, x->k->source ? x->k->source : "");
        for (int i = 0; i < n; i++) json_array_append_new(list, json_string(defines[i]));
        *out = json_pack("{s:s, s:s, s:o, s:s}", "name", x->k->name, "summary", x->k->summary ? x->k->summary : "",
                         "defines", list, "source", sb_str(&source));
        if (!*out)
            s = err_set(e, LATHE_STORE, "the source of kernel %s is no UTF-8, and JSON cannot hold it", x->k->name);
    }
    source_defines_free(defines, n);
    sb_free(&source);
    return s;
}

static status build_plan(const struct exporter *x, json_t **out, struct err *e)
{
    struct plan plan;
    status s = plan_build(x->p, x->k, x->slots, &plan, e);
    if (s) return s;
    *out = plan_to_json(&plan);
    plan_free(&plan);
    return LATHE_OK;
}

status export_json(const struct export_input *in, const json_t *campaign, json_t **out, struct err *e)
{
    static const char *const provenance[] = {"target", "driver", "toolchain", "tool_version", "baselines", "samples"};
    struct strbuf unused = {0};
    struct exporter x;
    json_t *kernel = NULL, *plan = NULL;
    status s = export_open(in, &export_runtime, "", &unused, &x, e);
    if (!s) s = kernel_part(&x, &kernel, e);
    if (!s) s = build_plan(&x, &plan, e);
    if (!s) {
        const json_t *trial = json_object_get(in->provenance, "trial");
        json_t *j = json_pack("{s:s, s:i, s:s, s:o, s:o}", "format", "lathe-export", "version", 1, "problem", x.p->name,
                              "operator", known_part(trial, "operator"), "size", size_of(x.p));
        json_object_set_new(j, "device", known_part(trial, "device"));
        json_object_set_new(j, "configuration", config_to_json(x.k, x.slots, in->choice));
        json_object_set_new(j, "trial", known_part(in->provenance, "trial"));
        json_object_set_new(j, "note", note_of(trial));
        json_object_set_new(j, "campaign", campaign ? json_incref((json_t *)campaign) : json_null());
        for (size_t i = 0; i < sizeof provenance / sizeof *provenance; i++)
            json_object_set_new(j, provenance[i], known_part(in->provenance, provenance[i]));
        json_object_set_new(j, "plan", plan);
        json_object_set_new(j, "kernel", kernel);
        json_object_set_new(j, "specification", known_part(in->provenance, "spec"));
        *out = j;
    } else {
        json_decref(kernel);
    }
    export_close(&x);
    sb_free(&unused);
    return s;
}
