/* record.c: sticky reading of the JSON objects that lathe wrote. Invariant: once r->failed is set nothing is written
 * through any output pointer, and *r->e keeps the first message. */
#include "model/record.h"

#include "base/mem.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

status record_fail(struct record *r, const char *key, const char *expected)
{
    if (!r->failed)
        r->failed = err_set(r->e, LATHE_SPEC, "%s%s%s: expected %s", r->where, key[0] ? "." : "", key, expected);
    return r->failed;
}

void record_open(struct record *r, const json_t *j, const char *where, struct err *e)
{
    *r = (struct record){.object = j, .e = e};
    snprintf(r->where, sizeof r->where, "%s", where);
    if (!json_is_object(j))
        record_fail(r, "", "an object");
}

void record_sub(struct record *r, const char *key, struct record *sub)
{
    *sub = (struct record){.e = r->e, .failed = r->failed};
    snprintf(sub->where, sizeof sub->where, "%.100s.%.50s", r->where, key);
    sub->object = record_get(r, key);
    if (r->failed)
        sub->failed = r->failed;
    else if (!json_is_object(sub->object))
        record_fail(sub, "", "an object");
}

void record_close(struct record *r, const struct record *sub)
{
    if (!r->failed)
        r->failed = sub->failed;
}

const json_t *record_get(struct record *r, const char *key)
{
    if (r->failed)
        return NULL;
    const json_t *j = json_object_get(r->object, key);
    if (!j)
        record_fail(r, key, "a value, but it is missing");
    return j;
}

const json_t *record_array(struct record *r, const char *key)
{
    const json_t *j = record_get(r, key);
    if (j && !json_is_array(j)) {
        record_fail(r, key, "an array");
        return NULL;
    }
    return j;
}

void record_text(struct record *r, const char *key, char *out, size_t size)
{
    const json_t *j = record_get(r, key);
    if (!j)
        return;
    if (!json_is_string(j) || json_string_length(j) != strlen(json_string_value(j)))
        record_fail(r, key, "a text");
    else if (json_string_length(j) >= size)
        record_fail(r, key, "a shorter text");
    else
        memcpy(out, json_string_value(j), json_string_length(j) + 1);
}

void record_int(struct record *r, const char *key, int64_t low, int64_t high, int64_t *out)
{
    const json_t *j = record_get(r, key);
    if (!j)
        return;
    int64_t i = json_integer_value(j);
    if (!json_is_integer(j) || i < low || i > high) {
        char expected[80];
        snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)low, (long long)high);
        record_fail(r, key, expected);
        return;
    }
    *out = i;
}

void record_int32(struct record *r, const char *key, int low, int high, int *out)
{
    int64_t i = 0;
    record_int(r, key, low, high, &i);
    if (!r->failed)
        *out = (int)i;
}

void record_uint64(struct record *r, const char *key, uint64_t *out)
{
    int64_t i = 0;
    record_int(r, key, INT64_MIN, INT64_MAX, &i);
    if (!r->failed)
        *out = (uint64_t)i;
}

void record_double(struct record *r, const char *key, double *out)
{
    const json_t *j = record_get(r, key);
    double x;
    if (!j)
        return;
    if (!record_number_read(j, &x))
        record_fail(r, key, "a number, null, \"inf\" or \"-inf\"");
    else
        *out = x;
}

void record_bool(struct record *r, const char *key, bool *out)
{
    const json_t *j = record_get(r, key);
    if (j && !json_is_boolean(j))
        record_fail(r, key, "true or false");
    else if (j)
        *out = json_is_true(j);
}

void record_name(struct record *r, const char *key, int (*parse)(const char *), int *out)
{
    const json_t *j = record_get(r, key);
    if (!j)
        return;
    int i = json_is_string(j) ? parse(json_string_value(j)) : -1;
    if (i < 0)
        record_fail(r, key, "a known name");
    else
        *out = i;
}

json_t *record_number(double x)
{
    if (isnan(x))
        return json_null();
    if (isinf(x))
        return json_string(x > 0 ? "inf" : "-inf");
    return json_real(x);
}

bool record_number_read(const json_t *j, double *out)
{
    if (json_is_number(j))
        *out = json_number_value(j);
    else if (json_is_null(j))
        *out = NAN;
    else if (json_is_string(j) && strcmp(json_string_value(j), "inf") == 0)
        *out = INFINITY;
    else if (json_is_string(j) && strcmp(json_string_value(j), "-inf") == 0)
        *out = -INFINITY;
    else
        return false;
    return true;
}

json_t *record_string(const char *text)
{
    json_t *j = json_string(text);
    if (j)
        return j;
    char *plain = mem_strdup(text);
    for (char *c = plain; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    j = json_string(plain);
    mem_free(plain);
    return j;
}
