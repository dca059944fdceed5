/* csv_rows.c: see csv_rows.h. */
#include "replay/csv_rows.h"

#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { OVER = -1, FAILED = -2 };

void csv_rows_open(struct csv_rows *c, json_stream_read read, void *ctx, const char *name, struct err *e)
{
    *c = (struct csv_rows){.read = read, .ctx = ctx, .name = name, .e = e, .line = 1};
    e->code = LATHE_OK;
}

void csv_rows_close(struct csv_rows *c)
{
    sb_free(&c->text);
}

const char *csv_field_at(const struct csv_rows *c, int field)
{
    return c->text.s + c->starts[field];
}

status csv_rows_fail(struct csv_rows *c, const char *fmt, ...)
{
    char text[700];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(c->e, LATHE_IO, "%s:%ld: %s", c->name, c->row, text);
}

/* The next byte, not taken; OVER, FAILED. */
static int peek(struct csv_rows *c)
{
    if (c->at == c->len) {
        long n = c->read(c->ctx, c->buf, sizeof c->buf, c->e);
        c->at = 0;
        c->len = n > 0 ? (size_t)n : 0;
        if (n <= 0)
            return n < 0 ? FAILED : OVER;
    }
    return (unsigned char)c->buf[c->at];
}

static int take(struct csv_rows *c)
{
    int byte = peek(c);
    if (byte >= 0)
        c->at++;
    c->line += byte == '\n';
    return byte;
}

static status add_byte(struct csv_rows *c, int byte)
{
    char one = (char)byte;
    if (!byte)
        return csv_rows_fail(c, "a NUL: this is no text");
    if (c->text.len > CSV_ROW_MAX)
        return csv_rows_fail(c, "a row of more than %d MiB", CSV_ROW_MAX >> 20);
    sb_addn(&c->text, &one, 1);
    return LATHE_OK;
}

/* Behind the opening quote, to behind the closing one. */
static status read_quoted(struct csv_rows *c)
{
    for (;;) {
        int byte = take(c);
        if (byte == FAILED)
            return c->e->code;
        if (byte == OVER)
            return csv_rows_fail(c, "a quoted field without its end: the file was cut off");
        if (byte == '"' && peek(c) != '"')
            return c->e->code;
        if (byte == '"')
            (void)take(c);
        if (add_byte(c, byte))
            return c->e->code;
    }
}

/* To what ends the field, which is not taken. */
static status read_plain(struct csv_rows *c, size_t start)
{
    int byte;
    while ((byte = peek(c)) >= 0 && byte != ',' && byte != '\n' && byte != '\r') {
        if (byte == '"')
            return csv_rows_fail(c, "a quote within a field that does not begin with one");
        if (add_byte(c, take(c)))
            return c->e->code;
    }
    while (c->text.len > start && strchr(" \t", c->text.s[c->text.len - 1]))
        c->text.s[--c->text.len] = 0;
    return byte == FAILED ? c->e->code : LATHE_OK;
}

static void skip_blanks(struct csv_rows *c)
{
    int byte;
    while ((byte = peek(c)) == ' ' || byte == '\t')
        (void)take(c);
}

static status end_field(struct csv_rows *c, size_t start)
{
    json_t *whole = json_stringn(c->text.len > start ? c->text.s + start : "", c->text.len - start);
    if (!whole)
        return csv_rows_fail(c, "text that is no UTF-8");
    json_decref(whole);
    sb_addn(&c->text, "", 1);
    return LATHE_OK;
}

static status read_field(struct csv_rows *c)
{
    size_t start = c->text.len;
    if (c->nfields == CSV_FIELDS_MAX)
        return csv_rows_fail(c, "more than %d columns", CSV_FIELDS_MAX);
    c->starts[c->nfields++] = start;
    skip_blanks(c);
    c->quoted[c->nfields - 1] = peek(c) == '"';
    if (peek(c) != '"')
        return read_plain(c, start) ? c->e->code : end_field(c, start);
    (void)take(c);
    if (read_quoted(c))
        return c->e->code;
    skip_blanks(c);
    int next = peek(c);
    if (next >= 0 && next != ',' && next != '\n' && next != '\r')
        return csv_rows_fail(c, "text behind a quoted field: expected a comma or the line's end");
    return next == FAILED ? c->e->code : end_field(c, start);
}

/* A line's end, or the text's. */
static status read_end(struct csv_rows *c)
{
    int byte = take(c);
    if (byte == '\r' && peek(c) == '\n')
        (void)take(c);
    return byte == FAILED || peek(c) == FAILED ? c->e->code : LATHE_OK;
}

static status read_row(struct csv_rows *c)
{
    c->text.len = 0;
    c->nfields = 0;
    c->row = c->line;
    for (;;) {
        if (read_field(c))
            return c->e->code;
        if (peek(c) != ',')
            return read_end(c);
        (void)take(c);
    }
}

/* Excel and its like begin with a byte order mark. */
static void skip_mark(struct csv_rows *c)
{
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
    for (int i = 0; i < 3 && peek(c) == mark[i]; i++)
        (void)take(c);
}

status csv_rows_next(struct csv_rows *c, bool *more)
{
    *more = false;
    if (c->line == 1 && !c->row)
        skip_mark(c);
    while (peek(c) >= 0) {
        if (read_row(c))
            return c->e->code;
        if (c->nfields > 1 || *csv_field_at(c, 0)) {
            *more = true;
            return LATHE_OK;
        }
    }
    return c->e->code;
}
