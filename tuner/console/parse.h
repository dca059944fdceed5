/* parse.h: numbers as users type them, read strictly. Every failure is LATHE_USAGE and names `what` (the option) and
 * the text that was refused. */
#ifndef LATHE_CONSOLE_PARSE_H
#define LATHE_CONSOLE_PARSE_H

#include "base/err.h"
#include <stdint.h>

/* Decimal digits with an optional sign, nothing else, within [min, max]. */
status parse_count(const char *what, const char *text, int64_t min, int64_t max, int64_t *out, struct err *e);

/* "90", "1.5", "90s", "2m", "1h": seconds, above 0 and at most MAX_DURATION. */
#define MAX_DURATION 1e8 /* about three years */
status parse_seconds(const char *what, const char *text, double *out, struct err *e);

/* "M=128": the name goes to name[], the value, at least 1, to *value. */
enum { MAX_DIM_NAME = 64 };
status parse_dim(const char *what, const char *text, char name[MAX_DIM_NAME], int64_t *value, struct err *e);

#endif
