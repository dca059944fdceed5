/* tolerance.c: see tolerance.h. */
#include "model/tolerance.h"
#include "base/mem.h"
#include "model/record.h"
#include "expr/value.h"
#include <string.h>

static const char *const names[] = {
#define X(name) #name,
    TOLERANCE_TABLE(X)
#undef X
};

static double *field(struct tolerance *t, int l)
{
    double *const at[] = {
#define X(name) &t->name,
        TOLERANCE_TABLE(X)
#undef X
    };
    return at[l];
}

const char *tolerance_name(enum tolerance_limit l)
{
    return names[l];
}

double tolerance_get(const struct tolerance *t, enum tolerance_limit l)
{
    return *field((struct tolerance *)t, (int)l);
}

/* "rtol=1e-3" */
static status parse_one(char *pair, struct tolerance *t, unsigned *named, struct err *e)
{
    char *equals = strchr(pair, '=');
    if (!equals || equals == pair)
        return err_set(e, LATHE_USAGE, "'%.100s' is not a limit and a value\nexpected NAME=V, for example rtol=1e-3",
                       pair);
    *equals = 0;
    for (int l = 0; l < TOLERANCE_COUNT; l++) {
        if (strcmp(names[l], pair) != 0)
            continue;
        double v;
        if (!value_as_double(value_read(equals + 1), &v) || !(v >= 0))
            return err_set(e, LATHE_USAGE, "%s=%.100s: expected a number, 0 or more", pair, equals + 1);
        if (*named & 1u << l)
            return err_set(e, LATHE_USAGE, "%s is given twice", pair);
        *named |= 1u << l;
        *field(t, l) = v;
        return LATHE_OK;
    }
    const char *near = nearest_word(pair, names, TOLERANCE_COUNT);
    return err_set(e, LATHE_USAGE, "a tolerance has no limit '%.100s'\n%s%s%sthere are: atol, rtol, times_sgemm_error, "
                   "frobenius", pair, near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
}

status tolerance_parse(const char *text, struct tolerance *inout, unsigned *named, struct err *e)
{
    unsigned seen = 0;
    char *copy = mem_strdup(text), *rest = copy, *pair = copy;
    status s = *copy ? LATHE_OK : parse_one(copy, inout, &seen, e);
    while (!s && (pair = strsep(&rest, ",")))
        s = parse_one(pair, inout, &seen, e);
    mem_free(copy);
    if (named)
        *named |= seen;
    return s;
}

void tolerance_json(const struct tolerance *t, struct strbuf *b)
{
    for (int l = 0; l < TOLERANCE_COUNT; l++) {
        sb_addf(b, "%s\"%s\": ", l ? ", " : "{", names[l]);
        value_print(b, value_float(tolerance_get(t, (enum tolerance_limit)l)));
    }
    sb_add(b, "}");
}

status tolerance_from_json(const json_t *j, struct tolerance *out, struct err *e)
{
    struct record r;
    record_open(&r, j, "tolerance", e);
    for (int l = 0; l < TOLERANCE_COUNT; l++)
        record_double(&r, names[l], field(out, l));
    return r.failed;
}
