/* pack.c: see pack.h. */
#include "report/pack.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char *base64(const unsigned char *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = mem_alloc((n + 2) / 3 * 4 + 1), *to = text;
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t bits =
            (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) | (left > 2 ? data[i + 2] : 0);
        *to++ = digits[bits >> 18];
        *to++ = digits[bits >> 12 & 63];
        *to++ = left > 1 ? digits[bits >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[bits & 63] : '=';
    }
    *to = 0;
    return text;
}

/* Whether a double, which is all that a script has, is that integer. */
static bool is_exact(const json_t *integer)
{
    const json_int_t most = (json_int_t)1 << 53, value = json_integer_value(integer);
    return value >= -most && value <= most;
}

struct column {
    bool packable, whole, same;
    double low, high;           /* of the numbers */
};

static struct column look_at(const json_t *array)
{
    struct column c = {.packable = json_array_size(array) >= PACK_LEAST, .whole = true, .same = true};
    const json_t *first = json_array_get(array, 0);
    json_t *value;
    size_t i;
    if (c.packable)
        json_array_foreach(array, i, value)
        {
            double x = json_number_value(value);
            if (!json_is_number(value) && !json_is_null(value))
                c.packable = false;
            if (json_is_integer(value) && !is_exact(value))
                c.packable = false;
            c.whole &= !json_is_number(value) || (x == floor(x) && !(x == 0 && signbit(x)));
            c.same &= json_equal(value, first);
            c.low = fmin(c.low, x);
            c.high = fmax(c.high, x);
        }
    return c;
}

/* Bytes of a signed integer that holds the column, its smallest value kept for null; 8: none up to four does. */
static int width_of(const struct column *c)
{
    for (int bytes = 1; bytes <= 4 && c->whole; bytes *= 2)
        if (c->low > -ldexp(1, 8 * bytes - 1) && c->high < ldexp(1, 8 * bytes - 1))
            return bytes;
    return 8;
}

/* A column of doubles of which few differ: the different ones, and their places. NULL: too many differ. */
static json_t *by_places(const json_t *array)
{
    json_t *met = json_object(), *different = json_array(), *places = json_array(), *value, *out = NULL;
    size_t i, most = json_array_size(array) / 8;
    char key[32];
    most = most > 30000 ? 30000 : most;
    json_array_foreach(array, i, value)
    {
        if (json_is_null(value)) {
            json_array_append_new(places, json_null());
            continue;
        }
        snprintf(key, sizeof key, "%a", json_number_value(value));
        json_t *place = json_object_get(met, key);
        if (!place) {
            if (json_array_size(different) == most)
                break;
            place = json_integer((json_int_t)json_array_size(different));
            json_object_set_new(met, key, place);
            json_array_append(different, value);
        }
        json_array_append(places, place);
    }
    if (json_array_size(places) == json_array_size(array)) {
        out = pack_columns(places);
        json_object_set_new(out, "of", pack_columns(different));
    }
    json_decref(met);
    json_decref(different);
    json_decref(places);
    return out;
}

static json_t *packed(const json_t *array, const struct column *c)
{
    size_t n = json_array_size(array), i;
    int width = width_of(c);
    json_t *placed = width == 8 ? by_places(array) : NULL;
    if (placed)
        return placed;
    unsigned char *data = mem_alloc(n * (size_t)width);
    json_t *value;
    json_array_foreach(array, i, value)
    {
        double x = json_is_number(value) ? json_number_value(value) : NAN;
        int64_t whole = width == 8 ? 0 : isnan(x) ? -((int64_t)1 << (8 * width - 1)) : (int64_t)x;
        memcpy(data + i * (size_t)width, width == 8 ? (const void *)&x : (const void *)&whole, (size_t)width);
    }
    char *text = base64(data, n * (size_t)width);
    const char as[3] = {width == 8 ? 'f' : 'i', (char)('0' + width), 0};
    json_t *out = json_pack("{s:s, s:I, s:s}", "as", as, "n", (json_int_t)n, "data", text);
    mem_free(text);
    mem_free(data);
    return out;
}

static json_t *as_text(const json_t *integer)
{
    char text[24];
    snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(integer));
    return json_string(text);
}

json_t *pack_columns(const json_t *j)
{
    const char *key;
    json_t *value, *out;
    size_t i;
    if (json_is_integer(j) && !is_exact(j))
        return as_text(j);
    if (json_is_object(j)) {
        out = json_object();
        json_object_foreach((json_t *)j, key, value)
            json_object_set_new_nocheck(out, key, pack_columns(value));
        return out;
    }
    if (!json_is_array(j))
        return json_incref((json_t *)j);
    struct column c = look_at(j);
    if (c.packable && c.same)
        return json_pack("{s:s, s:I, s:O}", "as", "all", "n", (json_int_t)json_array_size(j), "data",
                         json_array_get(j, 0));
    if (c.packable)
        return packed(j, &c);
    out = json_array();
    json_array_foreach(j, i, value)
        json_array_append_new(out, pack_columns(value));
    return out;
}
