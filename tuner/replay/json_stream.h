/* json_stream.h: a JSON text read member by member, so that a file of any size needs the memory of its largest member.
 *
 * The levels that are walked through are scanned here; each value below them goes to jansson whole. Python's NaN,
 * Infinity and -Infinity, which are no JSON, are read as the text "?". A stream is sticky: after a failure or the end
 * of the text every further call fails at once. */
#ifndef LATHE_REPLAY_JSON_STREAM_H
#define LATHE_REPLAY_JSON_STREAM_H

#include "base/strbuf.h"
#include <jansson.h>

enum { JSON_STREAM_VALUE_MAX = 16 << 20 };  /* bytes of one value */

/* Up to n bytes into buf; 0 at the end, -1 where it fails, with *e. */
typedef long (*json_stream_read)(void *ctx, char *buf, size_t n, struct err *e);

struct json_stream {
    json_stream_read read;
    void *ctx;
    const char *name;           /* of the text, for messages; borrowed */
    char *buf;
    size_t at, len, cap;
    long line;                  /* of buf[at], from 1 */
    bool begun;                 /* a byte order mark is passed, if there is one */
    bool over;                  /* read has given all */
    bool cut;                   /* the text ended where more had to come; *e says so too */
    struct err *e;              /* where failures are written; borrowed */
};

void json_stream_open(struct json_stream *s, json_stream_read read, void *ctx, const char *name, struct err *e);
void json_stream_close(struct json_stream *s);

/* The next byte that is no blank, not taken; -1: the text is over, or reading failed (e->code). */
int json_stream_peek(struct json_stream *s);
/* Takes the byte c, after blanks. Fails (LATHE_IO) with the line and what stands there. */
status json_stream_take(struct json_stream *s, char c);
/* Inside an object whose { is taken: the next key, mem_free it, its colon taken; or the closing } taken and *key NULL.
 * *first is true before the first call. */
status json_stream_key(struct json_stream *s, bool *first, char **key);
/* Inside an array whose [ is taken: *more, or the closing ] taken. */
status json_stream_item(struct json_stream *s, bool *first, bool *more);
/* The value that follows; a new reference. */
status json_stream_value(struct json_stream *s, json_t **out);
/* The array that follows, an item at a time, which `take` borrows; ends at the first that fails. */
status json_stream_each(struct json_stream *s, status (*take)(void *ctx, const json_t *item), void *ctx);
/* Passes over the value that follows, of any size. */
status json_stream_skip(struct json_stream *s);
/* Fails with LATHE_IO: "NAME:LINE: ...". */
status json_stream_fail(struct json_stream *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
