/* newest.c: see newest.h. */
#include "cli/args/newest.h"
#include "base/mem.h"
#include "cli/output/report.h"
#include <string.h>

char **newest_dims(const json_t *size, int *ndims)
{
    char **dims = mem_zalloc(json_object_size(size) + 1, sizeof *dims);
    const char *name;
    json_t *value;
    *ndims = 0;
    json_object_foreach((json_t *)size, name, value)
        dims[(*ndims)++] = mem_printf("%s=%lld", name, (long long)json_integer_value(value));
    return dims;
}

void newest_dims_free(char **dims, int ndims)
{
    for (int i = 0; i < ndims; i++)
        mem_free(dims[i]);
    mem_free(dims);
}

static void place_text(const json_t *place, bool device, struct strbuf *b)
{
    const json_t *size = json_object_get(place, "size");
    sb_addf(b, "%s%s", tree_text(place, "problem"), json_object_size(size) ? " " : "");
    report_size(b, size);
    if (device)
        sb_addf(b, " on %s", tree_text(place, "device"));
}

static bool is_open(const struct query_filter *f)
{
    return f->measured && !f->problem && !f->kernel && !f->ndims && !f->ntolerances && !f->inputs;
}

status newest_find(struct query *q, const struct query_filter *f, struct newest *out, struct err *e)
{
    json_t *different = json_object(), *place;
    size_t i;
    *out = (struct newest){0};
    status s = query_places(q, f, &out->places, e);
    json_array_foreach(out->places, i, place) {
        struct strbuf text = {0};
        place_text(place, true, &text);
        out->devices |= strcmp(tree_text(place, "device"), tree_text(json_array_get(out->places, 0), "device")) != 0;
        json_object_set_new(different, sb_str(&text), json_null());
        sb_free(&text);
    }
    if (s == LATHE_OK && i && is_open(f)) {
        int64_t id = 0;
        s = query_newest(q, &id, e);
        out->passed_over = s == LATHE_OK && id > tree_int(json_array_get(out->places, 0), "campaign");
    }
    if (s == LATHE_OK && i) {
        const json_t *newest = json_array_get(out->places, 0);
        out->campaign = tree_int(newest, "campaign");
        out->dims = newest_dims(json_object_get(newest, "size"), &out->ndims);
        out->others = (int)json_object_size(different) - 1;
    }
    json_decref(different);
    if (s != LATHE_OK)
        newest_free(out);
    return s;
}

void newest_narrow(const struct newest *n, struct query_filter *f)
{
    if (!n->campaign)
        return;
    f->problem = tree_text(json_array_get(n->places, 0), "problem");
    f->device_name = tree_text(json_array_get(n->places, 0), "device");
    f->dims = (const char *const *)n->dims;
    f->ndims = n->ndims;
}

void newest_text(const struct newest *n, struct strbuf *b)
{
    place_text(json_array_get(n->places, 0), n->devices, b);
    sb_addf(b, ", as campaign %lld is, the newest with a verified result", (long long)n->campaign);
}

void newest_free(struct newest *n)
{
    newest_dims_free(n->dims, n->ndims);
    json_decref(n->places);
    *n = (struct newest){0};
}
