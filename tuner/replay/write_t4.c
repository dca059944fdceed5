/* write_t4.c: a recording as T4 results (AutoTuningAssociation), which read_t4.c reads back the same: parameters,
 * values, samples, costs. Of outcomes T4 tells fewer apart. Made in memory, then written at once. */
#include "replay/recording.h"

#include "base/mem.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void add_number(struct strbuf *b, double v)
{
    value_print(b, value_float(v));     /* the shortest text that reads back the same; here always finite */
}

static void add_json(struct strbuf *b, json_t *j)
{
    char *text = json_dumps(j, JSON_ENCODE_ANY | JSON_COMPACT);
    sb_add(b, text ? text : "null");
    free(text);
    json_decref(j);
}

static const char *invalidity(enum outcome o)
{
    switch (o) {
    case OUTCOME_ok: return "correct";
    case OUTCOME_constraint: return "constraints";
    case OUTCOME_compile: return "compile";
    case OUTCOME_timeout: return "timeout";
    case OUTCOME_wrong:
    case OUTCOME_inaccurate: return "correctness";
    default: return "runtime";
    }
}

static void add_result(struct strbuf *b, const struct recording *r, uint64_t i)
{
    const struct recorded *c = &r->configs[i];
    const char *why = invalidity(c->outcome);
    sb_add(b, "{\"configuration\": {");
    for (int p = 0; p < r->nparams; p++) {
        sb_add(b, p ? ", " : "");
        add_json(b, json_string(r->params[p].name));
        sb_add(b, ": ");
        add_json(b, value_to_json(r->params[p].values[r->choices[i * (uint64_t)r->nparams + (uint64_t)p]]));
    }
    sb_add(b, "}, \"times\": {\"compilation\": ");
    add_number(b, c->compile * 1e3);
    sb_add(b, ", \"framework\": ");
    add_number(b, c->framework * 1e3);
    sb_add(b, ", \"search_algorithm\": ");
    add_number(b, c->search * 1e3);
    sb_add(b, ", \"validation\": ");
    add_number(b, c->validation * 1e3);
    for (uint32_t s = 0; s < c->nsamples; s++) {
        sb_add(b, s ? ", " : ", \"runtimes\": [");
        add_number(b, r->samples[c->first_sample + s]);
    }
    sb_addf(b, "%s}, \"invalidity\": \"%s\", \"correctness\": %d, \"objectives\": [\"time\"], \"measurements\": [",
            c->nsamples ? "]" : "", why, strcmp(why, "correctness") != 0);
    if (c->outcome == OUTCOME_ok) {
        sb_add(b, "{\"name\": \"time\", \"value\": ");
        add_number(b, c->value_ms);
        sb_add(b, ", \"unit\": \"ms\"}");
    }
    sb_add(b, "]}");
}

static void make_text(const struct recording *r, struct strbuf *b)
{
    sb_add(b, "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"milliseconds\", \"device\": ");
    add_json(b, json_string(r->device));
    sb_add(b, ", \"kernel\": ");
    add_json(b, json_string(r->kernel));
    sb_add(b, ", \"size\": ");
    add_json(b, json_string(r->size));
    sb_add(b, "}, \"results\": [");
    for (uint64_t i = 0; i < r->nconfigs; i++) {
        sb_add(b, i ? ",\n" : "\n");
        add_result(b, r, i);
    }
    sb_add(b, "\n]}\n");
}

/* The same bytes for the same text: gzip's header holds no time and no name. */
static status compress_text(const struct strbuf *text, unsigned char **out, size_t *len, struct err *e)
{
    z_stream z = {0};
    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return err_set(e, LATHE_INTERNAL, "zlib cannot compress: %s", z.msg ? z.msg : "no reason given");
    size_t cap = deflateBound(&z, text->len), done = 0;
    *out = mem_alloc(cap);
    int code = Z_OK;
    z.next_out = *out;
    while (code == Z_OK) {              /* zlib counts in 32 bits */
        size_t left = text->len - done, part = left < (1u << 30) ? left : 1u << 30;
        size_t room = cap - (size_t)(z.next_out - *out);
        z.next_in = (unsigned char *)text->s + done;
        z.avail_in = (unsigned)part;
        z.avail_out = (unsigned)(room < (1u << 30) ? room : 1u << 30);
        code = deflate(&z, part == left ? Z_FINISH : Z_NO_FLUSH);
        done += part - z.avail_in;
    }
    *len = (size_t)(z.next_out - *out);
    deflateEnd(&z);
    return code == Z_STREAM_END ? LATHE_OK : err_set(e, LATHE_INTERNAL, "zlib cannot compress: code %d", code);
}

status recording_write_t4(const struct recording *r, const char *path, struct err *e)
{
    struct strbuf text = {0};
    size_t n = strlen(path), len = 0;
    make_text(r, &text);
    unsigned char *packed = NULL;
    bool gz = n > 3 && strcmp(path + n - 3, ".gz") == 0;
    status s = gz ? compress_text(&text, &packed, &len, e) : LATHE_OK;
    if (!s)
        s = gz ? file_write_atomic(path, packed, len, e) : file_write_atomic(path, text.s, text.len, e);
    mem_free(packed);
    sb_free(&text);
    return s;
}
