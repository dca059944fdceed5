/* value.c: values, their comparison and their text.
 *
 * Invariant: value_read(value_print(v)) equals v for every value but a NaN, an infinity, and a string that looks like
 * a number or a boolean. */
#include "expr/value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool value_as_double(struct value v, double *out)
{
    if (v.type == VALUE_INT)
        *out = (double)v.i;
    else if (v.type == VALUE_FLOAT)
        *out = v.f;
    else
        return false;
    return true;
}

bool value_as_int(struct value v, int64_t *out)
{
    if (v.type == VALUE_INT) {
        *out = v.i;
        return true;
    }
    if (v.type != VALUE_FLOAT || !(v.f >= -0x1p63 && v.f < 0x1p63) || v.f != floor(v.f))
        return false;
    *out = (int64_t)v.f;
    return true;
}

bool value_equal(struct value a, struct value b)
{
    if (a.type != b.type) {                         /* an integer and a float: exactly, not as two doubles */
        int64_t i, j;
        bool numbers = (a.type == VALUE_INT && b.type == VALUE_FLOAT) || (a.type == VALUE_FLOAT && b.type == VALUE_INT);
        return numbers && value_as_int(a, &i) && value_as_int(b, &j) && i == j;
    }
    switch (a.type) {
    case VALUE_NONE: return true;
    case VALUE_BOOL: return a.b == b.b;
    case VALUE_INT: return a.i == b.i;
    case VALUE_FLOAT: return a.f == b.f;
    case VALUE_STRING: return strcmp(a.s, b.s) == 0;
    }
    return false;
}

/* The fewest digits that read back as f; always with a point or an exponent, so that it reads back as a float. */
static void print_float(struct strbuf *b, double f)
{
    char text[40];
    if (!isfinite(f)) {
        sb_add(b, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
        return;
    }
    if (f == floor(f) && fabs(f) < 1e15) {
        sb_addf(b, "%.1f", f);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, f);
        if (strtod(text, NULL) == f)
            break;
    }
    sb_add(b, text);
    if (!strpbrk(text, ".e"))
        sb_add(b, ".0");
}

void value_print(struct strbuf *b, struct value v)
{
    switch (v.type) {
    case VALUE_NONE: sb_add(b, "nil"); break;
    case VALUE_BOOL: sb_add(b, v.b ? "true" : "false"); break;
    case VALUE_INT: sb_addf(b, "%lld", (long long)v.i); break;
    case VALUE_FLOAT: print_float(b, v.f); break;
    case VALUE_STRING: sb_add(b, v.s); break;
    }
}

const char *value_type_name(enum value_type t)
{
    switch (t) {
    case VALUE_NONE: return "nothing";
    case VALUE_BOOL: return "boolean";
    case VALUE_INT: return "integer";
    case VALUE_FLOAT: return "float";
    case VALUE_STRING: return "string";
    }
    return "unknown";
}

/* Decimal numbers only: strtod alone would also take "inf", "nan" and hexadecimal floats. */
static bool looks_like_number(const char *text)
{
    const char *p = text + (*text == '-' || *text == '+');
    return (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) && !strpbrk(text, "xXpP");
}

struct value value_read(const char *text)
{
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return value_bool(text[0] == 't');
    if (looks_like_number(text)) {
        char *end;
        errno = 0;
        long long i = strtoll(text, &end, 10);
        if (!*end && errno == 0)
            return value_int(i);
        double f = strtod(text, &end);
        if (!*end && isfinite(f))
            return value_float(f);
    }
    return value_string(text);
}
