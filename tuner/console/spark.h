/* spark.h: numbers as a line of small bars, or one as a bar, for a terminal. Where the locale is not UTF-8 (plain), of
 * '#'. */
#ifndef LATHE_CONSOLE_SPARK_H
#define LATHE_CONSOLE_SPARK_H

#include "base/strbuf.h"

/* Does the environment's locale (LC_ALL, LC_CTYPE, LANG, the first that is set) say UTF-8? */
bool spark_utf8(void);

/* A bar of `width` columns, filled by `share` (below 0 as 0, above 1 as 1, NaN: empty) from the left; in UTF-8 to an
 * eighth of a column. `rest` stands where it is not filled. */
void spark_bar(struct strbuf *b, double share, int width, const char *rest, bool utf8);

/* n numbers as n columns, the least as the lowest bar; on a scale of logarithms if all are positive. NaN: a blank.
 * Nothing where the locale is not UTF-8, or the numbers are all the same. */
void spark_line(struct strbuf *b, const double *values, int n, bool utf8);

#endif
