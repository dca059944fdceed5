/* json_stream.c: see json_stream.h.
 *
 * The buffer holds what was read and not yet taken: buf[at .. len). While a value is measured it grows; before it is
 * filled again, what was taken is dropped. */
#include "replay/json_stream.h"

#include "base/mem.h"
#include <ctype.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

void json_stream_open(struct json_stream *s, json_stream_read read, void *ctx, const char *name, struct err *e)
{
    *s = (struct json_stream){.read = read, .ctx = ctx, .name = name, .line = 1, .e = e};
    e->code = LATHE_OK;
}

void json_stream_close(struct json_stream *s)
{
    mem_free(s->buf);
    s->buf = NULL;
}

status json_stream_fail(struct json_stream *s, const char *fmt, ...)
{
    char text[1500];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return err_set(s->e, LATHE_IO, "%.300s:%ld: %s", s->name, s->line, text);
}

static status ended(struct json_stream *s)
{
    if (s->e->code)
        return s->e->code;
    s->cut = true;
    return json_stream_fail(s, "the text ends here, in the middle: the recording was cut off");
}

/* More bytes after those that are there; false: there are none, or reading failed. */
static bool fill(struct json_stream *s)
{
    if (s->over || s->e->code)
        return false;
    if (s->at) {
        memmove(s->buf, s->buf + s->at, s->len - s->at);
        s->len -= s->at;
        s->at = 0;
    }
    if (s->cap - s->len < CHUNK) {
        s->cap = s->cap ? 2 * s->cap : 4 * CHUNK;
        s->buf = mem_resize(s->buf, s->cap, 1);
    }
    long n = s->read(s->ctx, s->buf + s->len, s->cap - s->len, s->e);
    if (n <= 0) {
        s->over = true;
        return false;
    }
    s->len += (size_t)n;
    return true;
}

static void take_bytes(struct json_stream *s, size_t n)
{
    for (const char *at = s->buf + s->at, *end = at + n; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        s->line++;
    s->at += n;
}

static void begin(struct json_stream *s)
{
    s->begun = true;
    while (s->len < 3 && fill(s)) {}
    s->at += utf8_mark(s->buf, s->len);
}

int json_stream_peek(struct json_stream *s)
{
    if (!s->begun)
        begin(s);
    for (;;) {
        while (s->at < s->len) {
            char c = s->buf[s->at];
            if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
                return s->e->code ? -1 : (unsigned char)c;
            take_bytes(s, 1);
        }
        if (!fill(s))
            return -1;
    }
}

static status unexpected(struct json_stream *s, int found, const char *wanted)
{
    if (found < 0)
        return ended(s);
    return isprint(found) ? json_stream_fail(s, "not JSON: expected %s, and found '%c'", wanted, found)
                          : json_stream_fail(s, "not JSON: expected %s, and found the byte 0x%02x", wanted, found);
}

status json_stream_take(struct json_stream *s, char c)
{
    int found = json_stream_peek(s);
    char wanted[] = {'\'', c, '\'', 0};
    if (found != (unsigned char)c)
        return unexpected(s, found, wanted);
    take_bytes(s, 1);
    return LATHE_OK;
}

/* A comma before every member but the first; *more false: `close` was there and is taken. */
static status next_member(struct json_stream *s, char close, bool *first, bool *more)
{
    int c = json_stream_peek(s);
    *more = false;
    if (c == (unsigned char)close)
        return json_stream_take(s, close);
    if (!*first && c != ',')
        return unexpected(s, c, close == '}' ? "',' or '}'" : "',' or ']'");
    if (!*first)
        take_bytes(s, 1);
    *first = false;
    if (json_stream_peek(s) < 0)
        return ended(s);
    *more = true;
    return LATHE_OK;
}

status json_stream_key(struct json_stream *s, bool *first, char **key)
{
    bool more;
    json_t *text = NULL;
    *key = NULL;
    status st = next_member(s, '}', first, &more);
    if (st || !more)
        return st;
    int c = json_stream_peek(s);
    if (c != '"')
        return unexpected(s, c, "a key in quotes");
    st = json_stream_value(s, &text);
    if (!st)
        st = json_stream_take(s, ':');
    if (!st)
        *key = mem_strdup(json_string_value(text));
    json_decref(text);
    return st;
}

status json_stream_item(struct json_stream *s, bool *first, bool *more)
{
    return next_member(s, ']', first, more);
}

/* Measuring a value ----------------------------------------------------------------------------------------------*/

struct scan {
    size_t n;                   /* bytes of the value so far, from buf[at] */
    int depth;
    bool in_string, escaped, word;  /* word: in a number, true, NaN, ... */
    size_t word_at;             /* from buf[at] */
    bool done;
};

/* Python's NaN and infinities become a text of the same length: "?" and blanks. */
static void replace_word(char *word, size_t n)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (int i = 0; i < 3; i++)
        if (n == strlen(words[i]) && memcmp(word, words[i], n) == 0) {
            memset(word, ' ', n);
            memcpy(word, "\"?\"", 3);
            return;
        }
}

static void end_word(struct json_stream *s, struct scan *k)
{
    if (!k->word)
        return;
    replace_word(s->buf + s->at + k->word_at, k->n - k->word_at);
    k->word = false;
    k->done = k->depth == 0;
}

static const bool ends_word[256] = {
    [' '] = true, ['\t'] = true, ['\n'] = true, ['\r'] = true, [','] = true, [':'] = true,
    [']'] = true, ['}'] = true,  ['['] = true,  ['{'] = true,  ['"'] = true};

/* Looks at the byte buf[at + n]; done is set when the value is complete, with n its length. */
static void step(struct json_stream *s, struct scan *k)
{
    char c = s->buf[s->at + k->n];
    if (k->in_string) {
        if (k->escaped)
            k->escaped = false;
        else if (c == '\\')
            k->escaped = true;
        else if (c == '"')
            k->in_string = false;
        k->n++;
        k->done = !k->in_string && k->depth == 0;
        return;
    }
    if (ends_word[(unsigned char)c]) {
        end_word(s, k);
        if (k->done)
            return;             /* the byte belongs to what follows */
    } else if (!k->word) {
        k->word = true;
        k->word_at = k->n;
    }
    if (c == '"')
        k->in_string = true;
    if (c == '[' || c == '{')
        k->depth++;
    if (c == ']' || c == '}') {
        k->depth--;
        k->done = k->depth <= 0;
    }
    k->n++;
}

/* keep: the value stays in the buffer, buf[at .. at + *n). Else it is taken while it is measured. */
static status measure(struct json_stream *s, bool keep, size_t *n)
{
    struct scan k = {0};
    int c = json_stream_peek(s);
    if (c < 0)
        return ended(s);
    if (memchr(",:]}", c, 4))
        return unexpected(s, c, "a value");
    while (!k.done) {
        if (keep && k.n > JSON_STREAM_VALUE_MAX)
            return json_stream_fail(s, "one value is longer than %d MiB: too large", JSON_STREAM_VALUE_MAX >> 20);
        if (s->at + k.n < s->len) {
            step(s, &k);
            continue;
        }
        if (!keep) {            /* a word that is passed over may be forgotten too */
            take_bytes(s, k.n);
            k.n = k.word_at = 0;
        }
        if (!fill(s)) {
            if (k.depth == 0 && k.word && !s->e->code) {
                end_word(s, &k);
                break;
            }
            return ended(s);
        }
    }
    *n = k.n;
    return LATHE_OK;
}

status json_stream_value(struct json_stream *s, json_t **out)
{
    size_t n;
    json_error_t why;
    *out = NULL;
    status st = measure(s, true, &n);
    if (st)
        return st;
    *out = json_loadb(s->buf + s->at, n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why);
    if (!*out)
        return json_stream_fail(s, "not JSON: %.200s", why.text);
    take_bytes(s, n);
    return LATHE_OK;
}

status json_stream_each(struct json_stream *s, status (*take)(void *ctx, const json_t *item), void *ctx)
{
    bool first = true, more = false;
    status st = json_stream_take(s, '[');
    while (!st && !(st = json_stream_item(s, &first, &more)) && more) {
        json_t *item;
        st = json_stream_value(s, &item);
        if (!st)
            st = take(ctx, item);
        json_decref(item);
    }
    return st;
}

status json_stream_skip(struct json_stream *s)
{
    size_t n;
    status st = measure(s, false, &n);
    if (!st)
        take_bytes(s, n);
    return st;
}
