/* write.c: a recording as a text or a file, and what the writers of formats share. */
#include "replay/write_impl.h"

#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void print_number(struct strbuf *b, double v)
{
    value_print(b, value_float(v));
}

void print_ms(struct strbuf *b, double seconds)
{
    double ms = seconds * 1e3, next = ms;
    if (ms * 1e-3 != seconds)
        next = nextafter(ms, ms * 1e-3 < seconds ? INFINITY : 0);
    print_number(b, next * 1e-3 == seconds ? next : ms);
}

void print_json(struct strbuf *b, json_t *j)
{
    char *text = json_dumps(j, JSON_ENCODE_ANY | JSON_COMPACT);
    sb_add(b, text ? text : "null");
    free(text);
    json_decref(j);
}

void print_json_text(struct strbuf *b, const char *text)
{
    print_json(b, json_string(text));
}

void print_samples(struct strbuf *b, const struct recording *r, const struct recorded *c, const char *between)
{
    for (uint32_t s = 0; s < c->nsamples; s++) {
        sb_add(b, s ? between : "");
        print_number(b, r->samples[c->first_sample + s]);
    }
}

struct value value_at(const struct recording *r, uint64_t config, int param)
{
    return r->params[param].values[r->choices[config * (uint64_t)r->nparams + (uint64_t)param]];
}

static const struct {
    const char *name;
    status (*print)(const struct recording *r, const uint64_t *order, struct strbuf *b, struct err *e);
} forms[RECORDING_FORMS] = {[RECORDING_T4] = {"t4", print_t4},
                            [RECORDING_KERNEL_TUNER] = {"kernel-tuner", print_kernel_tuner},
                            [RECORDING_CSV] = {"csv", print_csv}};

const char *recording_form_name(enum recording_form f)
{
    return forms[f].name;
}

status recording_print(const struct recording *r, enum recording_form f, struct strbuf *out, struct err *e)
{
    uint64_t *order = recording_order(r);
    status s = forms[f].print(r, order, out, e);
    mem_free(order);
    return s;
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

status recording_write(const struct recording *r, enum recording_form f, const char *path, struct err *e)
{
    struct strbuf text = {0};
    size_t n = strlen(path), len = 0;
    unsigned char *packed = NULL;
    bool gz = n > 3 && strcmp(path + n - 3, ".gz") == 0;
    status s = recording_print(r, f, &text, e);
    if (!s && gz)
        s = compress_text(&text, &packed, &len, e);
    if (!s)
        s = gz ? file_write_atomic(path, packed, len, e) : file_write_atomic(path, text.s, text.len, e);
    mem_free(packed);
    sb_free(&text);
    return s;
}
