/* json_text.c: see json_text.h. */
#include "report/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_real(struct strbuf *b, double x)
{
    char text[40];
    if (!isfinite(x)) {
        sb_add(b, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    sb_add(b, text);
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != 0xe2;
}

static void add_string(struct strbuf *b, const char *s, size_t n)
{
    const char *end = s + n;
    sb_add(b, "\"");
    while (s < end) {
        const char *run = s;
        while (s < end && is_plain((unsigned char)*s))
            s++;
        sb_addn(b, run, (size_t)(s - run));
        if (s == end)
            break;
        bool separator = end - s >= 3 && (unsigned char)s[1] == 0x80 && ((unsigned char)s[2] & 0xfe) == 0xa8;
        if ((unsigned char)*s != 0xe2)
            sb_addf(b, "\\u%04x", (unsigned)(unsigned char)*s++);
        else if (separator) { /* U+2028, U+2029 */
            sb_addf(b, "\\u20%02x", 0x28u + ((unsigned char)s[2] & 1));
            s += 3;
        } else {
            sb_addn(b, s++, 1);
        }
    }
    sb_add(b, "\"");
}

void json_text(struct strbuf *b, const json_t *j)
{
    const char *key, *comma = "";
    size_t key_length, i;
    json_t *value;
    switch (json_typeof(j)) {
    case JSON_OBJECT:
        sb_add(b, "{");
        json_object_keylen_foreach((json_t *)j, key, key_length, value)
        {
            sb_add(b, comma);
            add_string(b, key, key_length);
            sb_add(b, ":");
            json_text(b, value);
            comma = ",";
        }
        sb_add(b, "}");
        break;
    case JSON_ARRAY:
        sb_add(b, "[");
        json_array_foreach(j, i, value)
        {
            sb_add(b, i ? "," : "");
            json_text(b, value);
        }
        sb_add(b, "]");
        break;
    case JSON_STRING: add_string(b, json_string_value(j), json_string_length(j)); break;
    case JSON_INTEGER: sb_addf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(j)); break;
    case JSON_REAL: add_real(b, json_real_value(j)); break;
    case JSON_TRUE: sb_add(b, "true"); break;
    case JSON_FALSE: sb_add(b, "false"); break;
    case JSON_NULL: sb_add(b, "null"); break;
    }
}
