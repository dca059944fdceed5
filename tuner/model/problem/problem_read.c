/* problem_read.c: the fields of a specification's tree. Every failure goes through read_fail or read_because, so that
 * every message names the file and the field. */
#include "model/problem/problem_read.h"

#include "base/mem.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t at_enter(struct reader *r, const char *fmt, ...)
{
    size_t mark = r->at.len;
    char part[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(part, sizeof part, fmt, args);
    va_end(args);
    if (mark == 0 && part[0] == '.')
        sb_add(&r->at, part + 1);
    else
        sb_add(&r->at, part);
    return mark;
}

void at_leave(struct reader *r, size_t mark)
{
    r->at.len = mark;
    if (r->at.s)
        r->at.s[mark] = 0;
}

status read_because(struct reader *r, status s)
{
    if (r->at.len)
        err_prefix(r->e, "%s: %s", r->path, sb_str(&r->at));
    else
        err_prefix(r->e, "%s", r->path);
    return s;
}

status read_fail(struct reader *r, const char *fmt, ...)
{
    char text[1200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    err_set(r->e, LATHE_SPEC, "%s", text);
    return read_because(r, LATHE_SPEC);
}

/* What a person would call this value. */
static void describe(const json_t *j, char *out, size_t size)
{
    switch (j ? json_typeof(j) : JSON_NULL) {
    case JSON_OBJECT:
        if (node_tag(j)[0])
            snprintf(out, size, "%.40s { ... }", node_tag(j));
        else
            snprintf(out, size, "a table with named keys");
        break;
    case JSON_ARRAY: snprintf(out, size, "a list of %zu", json_array_size(j)); break;
    case JSON_STRING:
        if (node_text(j))
            snprintf(out, size, "the text '%.60s'", json_string_value(j));
        else
            snprintf(out, size, "a text with a zero byte");
        break;
    case JSON_INTEGER: snprintf(out, size, "the number %lld", (long long)json_integer_value(j)); break;
    case JSON_REAL: snprintf(out, size, "the number %g", json_real_value(j)); break;
    case JSON_TRUE: snprintf(out, size, "true"); break;
    case JSON_FALSE: snprintf(out, size, "false"); break;
    case JSON_NULL: snprintf(out, size, "nothing"); break;
    }
}

status read_wrong(struct reader *r, const json_t *j, const char *expected)
{
    char got[120] = "";
    describe(j, got, sizeof got);
    return read_fail(r, "expected %s, got %s", expected, got);
}

const char *node_text(const json_t *j)
{
    const char *s = json_string_value(j);
    return s && strlen(s) == json_string_length(j) ? s : NULL;
}

const char *node_tag(const json_t *j)
{
    const char *tag = json_is_object(j) ? node_text(json_object_get(j, "tag")) : NULL;
    return tag ? tag : "";
}

static status unknown_key(struct reader *r, const char *key, const struct table_form *form)
{
    struct strbuf list = {0};
    int n = 0;
    for (; form->keys[n]; n++)
        sb_addf(&list, "%s%s", n ? ", " : "", form->keys[n]);
    const char *near = nearest_word(key, form->keys, n);
    status s = near ? read_fail(r, "unknown key '%.60s' (did you mean '%s'?)", key, near)
               : n  ? read_fail(r, "unknown key '%.60s'; known are %s", key, sb_str(&list))
                    : read_fail(r, "unknown key '%.60s'; expected %s", key, form->written);
    sb_free(&list);
    return s;
}

static status check_keys(struct reader *r, const json_t *named, const struct table_form *form)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)named, key, value) {
        bool known = strcmp(key, "#") == 0 || strcmp(key, "tag") == 0;
        for (int i = 0; form->keys[i] && !known; i++)
            known = strcmp(key, form->keys[i]) == 0;
        if (!known)
            return unknown_key(r, key, form);
    }
    return LATHE_OK;
}

/* Either form of a Lua table to one. */
static bool split_table(json_t *j, struct table *out)
{
    *out = (struct table){0};
    if (json_is_array(j)) {
        out->items = j;
    } else if (json_is_object(j)) {
        out->named = j;
        out->items = json_object_get(j, "#");
        if (out->items && !json_is_array(out->items))
            return false;
    } else {
        return false;
    }
    if (json_array_size(out->items) > 1000000)
        return false;
    out->nitems = (int)json_array_size(out->items);
    return true;
}

status read_table(struct reader *r, json_t *j, const struct table_form *form, struct table *out)
{
    if (!split_table(j, out))
        return read_wrong(r, j, form->written);
    const char *tag = node_tag(j);
    if (strcmp(tag, form->tag ? form->tag : "") != 0)
        return read_wrong(r, j, form->written);
    TRY(check_keys(r, out->named, form));
    if (out->nitems < form->min_items || out->nitems > form->max_items)
        return read_fail(r, "expected %s, got %d positional item%s", form->written, out->nitems,
                         out->nitems == 1 ? "" : "s");
    return LATHE_OK;
}

status read_list(struct reader *r, json_t *j, const char *entries, int min, int max, struct table *out)
{
    *out = (struct table){0};
    if (j && (!split_table(j, out) || node_tag(j)[0])) {
        char expected[200];
        snprintf(expected, sizeof expected, "a list of %s", entries);
        return read_wrong(r, j, expected);
    }
    const char *key;
    json_t *value;
    json_object_foreach(out->named, key, value)
        if (strcmp(key, "#") != 0)
            return read_fail(r, "expected a list of %s, got the named key '%.60s' (order matters here, so a name "
                             "stands inside its entry)", entries, key);
    if (out->nitems < min)
        return min == 1 ? read_fail(r, "expected at least one %s", entries)
                        : read_fail(r, "expected at least %d of %s, got %d", min, entries, out->nitems);
    if (out->nitems > max)
        return read_fail(r, "%d entries, and at most %d are allowed", out->nitems, max);
    return LATHE_OK;
}

json_t *table_item(const struct table *t, int i)
{
    return json_array_get(t->items, (size_t)i);
}

json_t *table_get(const struct table *t, const char *key)
{
    return json_object_get(t->named, key);
}

status read_text(struct reader *r, const struct table *t, const char *key, char **out)
{
    const json_t *j = table_get(t, key);
    size_t mark = at_enter(r, ".%s", key);
    if (j && !node_text(j))
        return read_wrong(r, j, "a text");
    if (j)
        *out = mem_strdup(node_text(j));
    at_leave(r, mark);
    return LATHE_OK;
}

status read_flag(struct reader *r, const struct table *t, const char *key, bool *inout)
{
    const json_t *j = table_get(t, key);
    size_t mark = at_enter(r, ".%s", key);
    if (j && !json_is_boolean(j))
        return read_wrong(r, j, "true or false");
    if (j)
        *inout = json_is_true(j);
    at_leave(r, mark);
    return LATHE_OK;
}

status read_amount(struct reader *r, const struct table *t, const char *key, bool required, double *inout)
{
    const json_t *j = table_get(t, key);
    size_t mark = at_enter(r, ".%s", key);
    double x = json_number_value(j);
    if ((j || required) && (!json_is_number(j) || !isfinite(x) || x < 0))
        return read_wrong(r, j, "a number, 0 or more");
    if (j)
        *inout = x;
    at_leave(r, mark);
    return LATHE_OK;
}

static bool wanted(enum value_type t, enum formula_want want)
{
    switch (want) {
    case WANT_INTEGER: return t == VALUE_INT;
    case WANT_NUMBER: return t == VALUE_INT || t == VALUE_FLOAT;
    case WANT_BOOLEAN: return t == VALUE_BOOL;
    case WANT_ANY: return true;
    }
    return false;
}

static const char *const want_names[] = {
    [WANT_INTEGER] = "an integer",
    [WANT_NUMBER] = "a number",
    [WANT_BOOLEAN] = "true or false",
    [WANT_ANY] = "a value",
};

/* A literal's value; false if j is none. A float like 256.0 where an integer is wanted is that integer: Lua's `/` makes
 * such. */
static bool literal_value(const json_t *j, enum formula_want want, struct value *v)
{
    int64_t i;
    if (json_is_integer(j))
        *v = value_int(json_integer_value(j));
    else if (json_is_real(j))
        *v = value_float(json_real_value(j));
    else if (json_is_boolean(j))
        *v = value_bool(json_is_true(j));
    else
        return false;
    if (want == WANT_INTEGER && value_as_int(*v, &i))
        *v = value_int(i);
    return true;
}

status read_formula(struct reader *r, const json_t *j, enum formula_want want, const struct scope *scope,
                    const char *hint, struct expr **out)
{
    struct value v;
    struct expr *x = NULL;
    status s;
    if (node_text(j)) {
        if ((s = expr_parse(node_text(j), &x, r->e)))
            return read_because(r, s);
    } else if (literal_value(j, want, &v)) {
        x = expr_literal(v);
    } else {
        char expected[80];
        snprintf(expected, sizeof expected, "a formula (a text, a number, true or false) for %s", want_names[want]);
        return read_wrong(r, j, expected);
    }
    if ((s = expr_bind(x, scope, r->e))) {
        if (hint)
            err_set(r->e, s, "%s (%s)", r->e->text, hint);
        expr_free(x);
        return read_because(r, s);
    }
    if (!wanted(expr_type(x), want)) {
        bool floats = want == WANT_INTEGER && expr_type(x) == VALUE_FLOAT;
        s = read_fail(r, "expected %s, but `%.200s` is of type %s%s", want_names[want], expr_text(x),
                      value_type_name(expr_type(x)), floats ? " (`/` gives a float: use `//` or ceil_div)" : "");
        expr_free(x);
        return s;
    }
    *out = x;
    return LATHE_OK;
}

status read_formula_key(struct reader *r, const struct table *t, const char *key, enum formula_want want,
                        const struct scope *scope, struct expr **out)
{
    const json_t *j = table_get(t, key);
    size_t mark = at_enter(r, ".%s", key);
    if (j)
        TRY(read_formula(r, j, want, scope, NULL, out));
    at_leave(r, mark);
    return LATHE_OK;
}

status forbid_slots(struct reader *r, const struct expr *x, const struct scope *scope, int from, int to,
                    const char *hint)
{
    for (int i = from; i < to; i++)
        if (expr_uses(x, i))
            return read_fail(r, "`%.200s` uses %s: %s", expr_text(x), scope->names[i].name, hint);
    return LATHE_OK;
}
