/* csv_rows.h: rows of CSV (RFC 4180; lines may end in LF) from a source of bytes. Private to replay/. */
#ifndef LATHE_REPLAY_CSV_ROWS_H
#define LATHE_REPLAY_CSV_ROWS_H

#include "replay/json_stream.h"

enum { CSV_FIELDS_MAX = 512, CSV_ROW_MAX = 16 << 20 };

struct csv_rows {
    json_stream_read read;
    void *ctx;
    const char *name;
    struct err *e;
    char buf[1 << 14];
    size_t at, len;
    long line;                  /* that is being read, from 1 */
    long row;                   /* where the row that was read begins */
    struct strbuf text;         /* its fields, each with a NUL */
    size_t starts[CSV_FIELDS_MAX];
    bool quoted[CSV_FIELDS_MAX];
    int nfields;
};

void csv_rows_open(struct csv_rows *c, json_stream_read read, void *ctx, const char *name, struct err *e);
void csv_rows_close(struct csv_rows *c);
/* The next row that is not blank. Blanks around a field that is not quoted are no part of it. *more false: the text is
 * over. LATHE_IO: cut off within quotes, text behind a quoted field, a NUL, no UTF-8, too many fields or bytes. */
status csv_rows_next(struct csv_rows *c, bool *more);
const char *csv_field_at(const struct csv_rows *c, int field);  /* valid until the next row */
/* LATHE_IO: "NAME:LINE: ...", the line of the row. */
status csv_rows_fail(struct csv_rows *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
