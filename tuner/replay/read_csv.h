/* read_csv.h: CSV read row by row, and a recording from it (csv.h has the columns). Private to replay/. */
#ifndef LATHE_REPLAY_READ_CSV_H
#define LATHE_REPLAY_READ_CSV_H

#include "replay/builder.h"

struct csv_source {
    json_stream_read read;
    status (*rewind)(void *ctx, struct err *e);
    void *ctx;
    const char *name;           /* of the text, for messages */
};

/* Whether the text, from its beginning, is neither JSON nor without any text. */
bool looks_like_csv(const struct csv_source *source);
/* *out: builder_free it, also after a failure. The source is at its beginning; it is read twice, since a column's type
 * is that of all its values. LATHE_IO: "NAME:LINE: ...". */
status read_csv(const struct csv_source *source, struct builder **out, struct err *e);

#endif
