/* parse.c: strict readers for numbers on the command line.
 *
 * strtod and strtoll alone accept what no user means (leading blanks, "0x10", "inf", trailing text), so the characters
 * are checked first and the C library only converts. */
#include "console/parse.h"
#include "base/strbuf.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

status parse_count(const char *what, const char *text, int64_t min, int64_t max, int64_t *out, struct err *e)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (!*digits || digits[strspn(digits, "0123456789")])
        return err_set(e, LATHE_USAGE, "%s: '%.200s' is not a whole number\nexpected %lld or more", what, text,
                       (long long)min);
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (errno == ERANGE && *text != '-')
        v = INT64_MAX;
    if ((errno == ERANGE && *text != '-') || v > max)
        return err_set(e, LATHE_USAGE, "%s: %.200s is too large\nexpected %lld to %lld", what, text, (long long)min,
                       (long long)max);
    if (errno == ERANGE || v < min)
        return err_set(e, LATHE_USAGE, "%s: %.200s is too small\nexpected %lld or more", what, text, (long long)min);
    *out = v;
    return LATHE_OK;
}

status parse_seconds(const char *what, const char *text, double *out, struct err *e)
{
    size_t whole = strspn(text, "0123456789");
    size_t point = text[whole] == '.';
    size_t fraction = point ? strspn(text + whole + 1, "0123456789") : 0;
    const char *unit = text + whole + point + fraction;
    double scale = 0;
    if (!*unit || !strcmp(unit, "s"))
        scale = 1;
    else if (!strcmp(unit, "m"))
        scale = 60;
    else if (!strcmp(unit, "h"))
        scale = 3600;
    if (scale == 0 || whole + fraction == 0)
        return err_set(e, LATHE_USAGE,
                       "%s: '%.200s' is not a duration\nexpected seconds, or a number with s, m or h: 90, 1.5, 2m, 1h",
                       what, text);
    double v = strtod(text, NULL) * scale;
    if (!(v > 0))
        return err_set(e, LATHE_USAGE, "%s: %.200s is too short\nexpected more than 0 seconds", what, text);
    if (!(v <= MAX_DURATION))
        return err_set(e, LATHE_USAGE, "%s: %.200s is too long\nexpected at most %.0f seconds", what, text,
                       MAX_DURATION);
    *out = v;
    return LATHE_OK;
}

status parse_dim(const char *what, const char *text, char name[MAX_DIM_NAME], int64_t *value, struct err *e)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return err_set(e, LATHE_USAGE,
                       "%s: '%.200s' is not a dimension and its size\nexpected DIM=N, for example M=256", what, text);
    size_t len = (size_t)(equals - text);
    if (len >= MAX_DIM_NAME)
        return err_set(e, LATHE_USAGE, "%s: the dimension's name '%.*s...' is too long", what, 40, text);
    memcpy(name, text, len);
    name[len] = 0;
    char where[MAX_DIM_NAME + 80];
    strncpy(where, what, 60);
    where[60] = 0;
    strcat(where, " ");
    strcat(where, name);
    return parse_count(where, equals + 1, 1, INT64_MAX, value, e);
}
