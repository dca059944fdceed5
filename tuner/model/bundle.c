/* bundle.c: see bundle.h. Nothing of a file is looked at before its checksum is right. */
#include "model/bundle.h"

#include "base/hash.h"
#include "base/mem.h"
#include <stdint.h>
#include <string.h>

enum { MAGIC = 8, AT_VERSION = 8, AT_JSON = 16, AT_TOTAL = 24, AT_SUM = 32, ALIGN = 16 };
static const char magic[MAGIC + 1] = "\x89LATHE\r\n";

bool bundle_is(const char *data, size_t len)
{
    return len >= MAGIC && !memcmp(data, magic, MAGIC);
}

static void put_number(char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (char)(value >> (8 * i));
}

static uint64_t get_number(const char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)at[i] << (8 * i);
    return value;
}

static void sum(const char *data, size_t len, char hex[HASH_HEX])
{
    struct hasher *h = hasher_new();
    hasher_add(h, data, AT_SUM);
    hasher_add(h, data + BUNDLE_HEAD, len - BUNDLE_HEAD);
    hasher_end(h, hex);
}

static void pad(struct strbuf *b)
{
    static const char zeros[ALIGN];
    sb_addn(b, zeros, ALIGN - b->len % ALIGN);  /* at least one */
}

static int append(const char *text, size_t n, void *buffer)
{
    sb_addn(buffer, text, n);
    return 0;
}

/* Images lie by their distance from the first, which begins where the text ends: the text need not know its own
 * length. */
status bundle_encode(json_t *manifest, const struct bundle_image *images, int n, struct strbuf *out, struct err *e)
{
    char head[BUNDLE_HEAD] = {0}, hex[HASH_HEX];
    struct strbuf text = {0}, body = {0};
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        json_array_append_new(list,
                              json_pack("{s:I, s:I}", "at", (json_int_t)body.len, "bytes", (json_int_t)images[i].len));
        sb_addn(&body, images[i].data, images[i].len);
        pad(&body);
    }
    json_object_set_new(manifest, "images", list);
    status s = json_dump_callback(manifest, append, &text, JSON_COMPACT)
                   ? err_set(e, LATHE_INTERNAL, "what a bundle says cannot be written as JSON")
                   : LATHE_OK;
    if (!s) {
        size_t begin = out->len, json_bytes = text.len;
        pad(&text);
        memcpy(head, magic, MAGIC);
        put_number(head + AT_VERSION, BUNDLE_VERSION, 4);
        put_number(head + AT_JSON, json_bytes, 8);
        put_number(head + AT_TOTAL, sizeof head + text.len + body.len, 8);
        sb_addn(out, head, sizeof head);
        sb_addn(out, text.s, text.len);
        sb_addn(out, sb_str(&body), body.len);
        sum(out->s + begin, out->len - begin, hex);
        memcpy(out->s + begin + AT_SUM, hex, HASH_HEX - 1);
    }
    sb_free(&text);
    sb_free(&body);
    return s;
}

static status damaged(struct err *e, const char *how)
{
    return err_set(e, LATHE_STORE, "it is damaged: %s\nexport it again: lathe export --format bundle", how);
}

static status check_head(const char *data, size_t len, struct err *e)
{
    char hex[HASH_HEX];
    if (!bundle_is(data, len))
        return err_set(e, LATHE_STORE, "it is no file of lathe export --format bundle");
    if (len < BUNDLE_HEAD)
        return damaged(e, "it ends within its first 64 bytes");
    uint64_t version = get_number(data + AT_VERSION, 4), total = get_number(data + AT_TOTAL, 8);
    if (version != BUNDLE_VERSION)
        return err_set(
            e, LATHE_NOTHING,
            "it is of version %llu, and this lathe reads version %d: use a newer lathe, or export it with this one",
            (unsigned long long)version, BUNDLE_VERSION);
    if (total != len)
        return damaged(e, total > len ? "its end is missing" : "something follows its end");
    sum(data, len, hex);
    if (memcmp(data + AT_SUM, hex, HASH_HEX - 1))
        return damaged(e, "its checksum does not fit");
    return get_number(data + AT_JSON, 8) > len - BUNDLE_HEAD ? damaged(e, "its text is longer than itself") : LATHE_OK;
}

static status find_images(const char *data, size_t len, struct bundle *out, struct err *e)
{
    const json_t *list = json_object_get(out->manifest, "images");
    size_t begin = BUNDLE_HEAD + (size_t)get_number(data + AT_JSON, 8);
    begin += ALIGN - begin % ALIGN;
    if (!json_is_array(list) || begin > len)
        return damaged(e, "it has no images");
    out->nimages = (int)json_array_size(list);
    out->images = mem_zalloc((size_t)out->nimages + 1, sizeof *out->images);
    for (int i = 0; i < out->nimages; i++) {
        const json_t *entry = json_array_get(list, (size_t)i);
        json_int_t at = json_integer_value(json_object_get(entry, "at")),
                   n = json_integer_value(json_object_get(entry, "bytes"));
        size_t room = len - begin;
        if (at < 0 || n < 1 || (uint64_t)at >= room || (uint64_t)n >= room - (uint64_t)at || at % ALIGN ||
            data[begin + (size_t)at + (size_t)n])
            return damaged(e, "an image is not where it should be");
        out->images[i] = (struct bundle_image){data + begin + at, (size_t)n};
    }
    return LATHE_OK;
}

status bundle_decode(const char *data, size_t len, struct bundle *out, struct err *e)
{
    *out = (struct bundle){0};
    status s = check_head(data, len, e);
    if (s)
        return s;
    out->manifest = json_loadb(data + BUNDLE_HEAD, (size_t)get_number(data + AT_JSON, 8), JSON_REJECT_DUPLICATES, NULL);
    s = json_is_object(out->manifest) ? find_images(data, len, out, e) : damaged(e, "what it says is not JSON");
    if (s)
        bundle_free(out);
    return s;
}

void bundle_free(struct bundle *b)
{
    json_decref(b->manifest);
    mem_free(b->images);
    *b = (struct bundle){0};
}
