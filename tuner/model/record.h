/* record.h: reading the JSON objects that lathe itself writes (results, targets, plans) back into structs. Private to
 * model/.
 *
 * A reader is sticky: after the first failure every further read does nothing, so a function reads all its fields and
 * looks at `failed` once. A member that is absent or of the wrong type is LATHE_SPEC and the message names it
 * ("result.samples.median: expected a number"). Unknown members are ignored: a newer lathe may have written them.
 */
#ifndef LATHE_MODEL_RECORD_H
#define LATHE_MODEL_RECORD_H

#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record {
    const json_t *object;       /* borrowed */
    char where[160];            /* "result.samples" */
    struct err *e;
    status failed;
};

/* Starts on `j`, which must be an object. */
void record_open(struct record *r, const json_t *j, const char *where, struct err *e);
/* A member that is an object itself; its failures reach the parent through record_close. */
void record_sub(struct record *r, const char *key, struct record *sub);
void record_close(struct record *r, const struct record *sub);

const json_t *record_get(struct record *r, const char *key);        /* NULL after a failure, or if absent: failure */
const json_t *record_array(struct record *r, const char *key);      /* the same, and an array */
void record_text(struct record *r, const char *key, char *out, size_t size);    /* at most size - 1 bytes */
void record_int(struct record *r, const char *key, int64_t low, int64_t high, int64_t *out);
void record_int32(struct record *r, const char *key, int low, int high, int *out);
void record_uint64(struct record *r, const char *key, uint64_t *out);              /* stored as its bits, signed */
void record_double(struct record *r, const char *key, double *out);                 /* see record_number */
void record_bool(struct record *r, const char *key, bool *out);
/* The name of one of a set, by its parser (-1: unknown). */
void record_name(struct record *r, const char *key, int (*parse)(const char *), int *out);
status record_fail(struct record *r, const char *key, const char *expected);

/* JSON has no NaN and no infinity: NaN is null, infinities are the strings "inf" and "-inf". */
json_t *record_number(double x);
bool record_number_read(const json_t *j, double *out);

/* JSON must be UTF-8, and a compiler's or a driver's words may not be: then each byte that is not ASCII becomes '?'. */
json_t *record_string(const char *text);

#endif
