/* encoding.h: configurations of a kernel as points, for models.
 *
 * Each parameter with more than one value is a group of coordinates, scaled so that its values lie at most 1 apart:
 * - numbers: one coordinate, 0 .. 1, the mean of the value's rank and of its logarithm; the rank alone where a value
 *   is not positive;
 * - booleans, and two strings: 0 or 1;
 * - more strings: one coordinate a string, so that all are equally far apart;
 * - a conditional parameter has one more, which says whether it is active; inactive, its value lies in the middle.
 *
 * What kernels depend on besides has groups of its own, of one coordinate, 0 .. 1:
 * - how often 2 divides a whole number (alignment, vectors, banks), unless that only rises with the value;
 * - the logarithm of the product of parameters that are one quantity along several axes: positive numbers whose names
 *   differ in a letter for the axis only, x y z m n k, first or last: block_size_x * block_size_y, BM * BN. */
#ifndef LATHE_SEARCH_ENCODING_H
#define LATHE_SEARCH_ENCODING_H

#include "search/space/space.h"

struct encoding;

struct encoding *encoding_new(const struct space *s);   /* s is borrowed */
void encoding_free(struct encoding *e);                 /* NULL is fine */
int encoding_coords(const struct encoding *e);          /* may be 0: a space of one */
int encoding_groups(const struct encoding *e);
const int *encoding_group(const struct encoding *e);    /* of each coordinate */
enum encoded { ENCODED_VALUE, ENCODED_DIVISOR, ENCODED_PRODUCT };
enum encoded encoding_of_group(const struct encoding *e, int group);
/* The point of a member; index < space_size. */
void encoding_point(struct encoding *e, uint64_t index, float *out);

#endif
