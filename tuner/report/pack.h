/* pack.h: long columns of a document in the form that a page opens fastest: bytes as base64. */
#ifndef LATHE_REPORT_PACK_H
#define LATHE_REPORT_PACK_H

#include <jansson.h>

/* A copy of j, a new reference, in which every array of PACK_LEAST or more numbers and nulls is {"as", "n", "data"}:
 * `n` numbers, little-endian, as base64: "i1", "i2", "i4" are signed integers of so many bytes, of which the smallest
 * stands for null; "f8" doubles, of which NaN stands for null, or with "of", a column of the different ones, the places
 * in it. If all are the same, "as" is "all" and `data` is that number or null. data.js reads it. An integer
 * beyond 2^53, which a script could not tell from its neighbours, is text wherever it stands (seeds, values of
 * parameters, sizes of spaces), and an array that has one is left an array. */
json_t *pack_columns(const json_t *j);

enum { PACK_LEAST = 64 };

#endif
