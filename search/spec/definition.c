/* definition.c: see definition.h. What is read becomes one list of parameters and one of constraints, whichever form
 * the file has; then the constraints are translated, for that needs the parameters' types and bounds. */
#include "search/spec/definition.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "search/spec/python.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { VALUES_MAX = 1 << 16 };

struct definition {
    const char *file;
    const json_t *json;
    json_t *params;             /* [name, [values]], of the tree */
    json_t *constraints;        /* texts in Python's syntax */
    const char *name;           /* NULL: the file's */
    struct err *e;
};

static status fail(struct definition *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static status fail(struct definition *d, const char *fmt, ...)
{
    char text[1200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return err_set(d->e, LATHE_SPEC, "%.300s: %s", d->file, text);
}

static bool is_scalar(const json_t *j)
{
    return json_is_number(j) || json_is_boolean(j) || json_is_string(j);
}

/* The values of parameter `name`: copied; integers among floats become floats. */
static status read_values(struct definition *d, const char *name, const json_t *list, bool floats, json_t **out)
{
    if (!json_is_array(list) || json_array_size(list) == 0)
        return fail(d, "parameter %.60s: expected a list of at least one value", name);
    if (json_array_size(list) > VALUES_MAX)
        return fail(d, "parameter %.60s: %zu values, and at most %d are allowed", name, json_array_size(list),
                    VALUES_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        if (!is_scalar(v))
            return fail(d, "parameter %.60s: value %zu is no number, text or boolean", name, i + 1);
        floats = floats || json_is_real(v);
    }
    *out = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *v = json_array_get(list, i);
        if (floats && json_is_integer(v))
            json_array_append_new(*out, json_real((double)json_integer_value(v)));
        else
            json_array_append(*out, v);
    }
    return LATHE_OK;
}

static status add_param(struct definition *d, const char *name, const json_t *list, bool floats)
{
    json_t *values = NULL;
    status s = read_values(d, name, list, floats, &values);
    return s ? s : json_array_append_new(d->params, json_pack("[s, o]", name, values))
                       ? fail(d, "a parameter's name is not UTF-8 text") : LATHE_OK;
}

static status read_constraints(struct definition *d, const json_t *list, const char *key, const char *field)
{
    if (list && !json_is_array(list))
        return fail(d, "%s: expected a list", key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *text = json_array_get(list, i);
        if (field)
            text = json_object_get(text, field);
        if (!json_is_string(text) || strlen(json_string_value(text)) != json_string_length(text))
            return fail(d, "%s[%zu]: expected a constraint, as text%s%s", key, i + 1, field ? " under " : "",
                        field ? field : "");
        json_array_append(d->constraints, text);
    }
    return LATHE_OK;
}

static status read_definition(struct definition *d, bool params_known)
{
    static const char *const keys[] = {"name", "parameters", "constraints", "cartesian", "valid"};
    enum { KEYS = sizeof keys / sizeof *keys };
    const json_t *params = json_object_get(d->json, "parameters");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)d->json, key, value) {
        bool known = false;
        for (int i = 0; i < KEYS; i++)
            known = known || !strcmp(key, keys[i]);
        const char *near = known ? NULL : nearest_word(key, keys, KEYS);
        if (!known)
            return fail(d, "unknown key '%.60s'%s%s%s; known are name, parameters, constraints, cartesian, valid", key,
                        near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    }
    d->name = json_string_value(json_object_get(d->json, "name"));
    status s = read_constraints(d, json_object_get(d->json, "constraints"), "constraints", NULL);
    if (s || params_known)
        return s;
    if (!params)
        return fail(d, "there are no parameters: these constraints alone are for a recording, which has them");
    if (!json_is_object(params))
        return fail(d, "parameters: expected an object, {\"name\": [values]}");
    json_object_foreach((json_t *)params, key, value)
        if ((s = add_param(d, key, value, false)))
            return s;
    return LATHE_OK;
}

/* T1: the values may be a text in Python's syntax. */
static status read_t1_param(struct definition *d, const json_t *param, size_t i)
{
    const char *name = json_string_value(json_object_get(param, "Name")),
               *type = json_string_value(json_object_get(param, "Type"));
    const json_t *values = json_object_get(param, "Values");
    json_t *made = NULL;
    if (!name)
        return fail(d, "ConfigurationSpace.TuningParameters[%zu]: there is no Name", i + 1);
    if (json_is_string(values)) {
        struct err why;
        if (python_values(json_string_value(values), VALUES_MAX, &made, &why))
            return fail(d, "parameter %.60s: Values: %.900s", name, why.text);
        values = made;
    }
    bool floats = type && (!strcmp(type, "float") || !strcmp(type, "double"));
    status s = add_param(d, name, values, floats);
    json_decref(made);
    return s;
}

static status read_t1(struct definition *d, bool params_known)
{
    const json_t *space = json_object_get(d->json, "ConfigurationSpace"),
                 *params = json_object_get(space, "TuningParameters");
    d->name = json_string_value(json_object_get(json_object_get(d->json, "General"), "BenchmarkName"));
    status s = read_constraints(d, json_object_get(space, "Conditions"), "ConfigurationSpace.Conditions", "Expression");
    if (s || params_known)
        return s;
    if (!json_is_array(params))
        return fail(d, "ConfigurationSpace.TuningParameters: expected a list");
    for (size_t i = 0; i < json_array_size(params) && !s; i++)
        s = read_t1_param(d, json_array_get(params, i), i);
    return s;
}

/* What the translation must know of a parameter. Types that differ are refused later, by model/problem/problem_json_space.c. */
static struct python_name describe(const json_t *param)
{
    const json_t *values = json_array_get(param, 1), *first = json_array_get(values, 0);
    struct python_name n = {.name = json_string_value(json_array_get(param, 0)), .low = INFINITY, .high = -INFINITY};
    n.type = json_is_integer(first) ? VALUE_INT
             : json_is_real(first)  ? VALUE_FLOAT
             : json_is_boolean(first) ? VALUE_BOOL
                                      : VALUE_STRING;
    for (size_t i = 0; i < json_array_size(values); i++) {
        double v = json_number_value(json_array_get(values, i));
        n.low = fmin(n.low, v);
        n.high = fmax(n.high, v);
    }
    return n;
}

static status translate(struct definition *d, json_t *out)
{
    size_t n = json_array_size(d->params);
    struct python_name *items = mem_zalloc(n, sizeof *items);
    struct python_names names = {items, (int)n};
    status s = LATHE_OK;
    for (size_t i = 0; i < n; i++)
        items[i] = describe(json_array_get(d->params, i));
    for (size_t i = 0; i < json_array_size(d->constraints) && !s; i++) {
        char *formula;
        struct err why;
        if (python_constraint(json_string_value(json_array_get(d->constraints, i)), &names, &formula, &why))
            s = fail(d, "constraint %zu: %.900s", i + 1, why.text);
        else
            json_array_append_new(out, json_string(formula));
        if (!s)
            mem_free(formula);
    }
    mem_free(items);
    return s;
}

/* A name that a problem may have: of the file's last part up to a dot, other characters as _. mem_free it. */
static char *make_name(const char *said)
{
    const char *slash = strrchr(said, '/');
    struct strbuf b = {0};
    said = slash ? slash + 1 : said;
    if (isdigit((unsigned char)*said) || !*said || *said == '.')
        sb_add(&b, "_");
    for (; *said && *said != '.' && b.len < 47; said++)
        sb_addn(&b, isalnum((unsigned char)*said) ? said : "_", 1);
    return sb_take(&b);
}

static status read_tree(struct definition *d, const json_t *known, json_t **out)
{
    status s;
    d->params = known ? json_incref((json_t *)known) : json_array();
    d->constraints = json_array();
    json_t *formulas = json_array();
    if (!json_is_object(d->json))
        s = fail(d, "expected an object: a definition with parameters, or a T1 input");
    else if (json_object_get(d->json, "ConfigurationSpace"))
        s = read_t1(d, known);
    else if (json_object_get(d->json, "parameters") || json_object_get(d->json, "constraints"))
        s = read_definition(d, known);
    else
        s = fail(d, "neither a definition, which has the key 'parameters', nor a T1 input, which has "
                    "'ConfigurationSpace'");
    if (!s)
        s = translate(d, formulas);
    if (!s) {
        char *name = make_name(d->name && *d->name ? d->name : d->file);
        *out = json_pack("{s:s, s:s, s:O, s:O}", "tag", "space", "name", name, "params", d->params, "constraints",
                         formulas);
        mem_free(name);
    }
    json_decref(d->params);
    json_decref(d->constraints);
    json_decref(formulas);
    return s;
}

static status read_text(const char *text, size_t len, const char *name, const json_t *known, json_t **out,
                        struct err *e)
{
    json_error_t why;
    struct err own;
    size_t mark = utf8_mark(text, len);
    json_t *json = json_loadb(text + mark, len - mark, JSON_REJECT_DUPLICATES, &why);
    if (!json)
        return err_set(e, LATHE_SPEC, "%.300s: line %d: %s", name, why.line, why.text);
    struct definition d = {.file = name, .json = json, .e = e ? e : &own};
    status s = read_tree(&d, known, out);
    json_decref(json);
    return s;
}

static status read_file(const char *path, const json_t *known, json_t **out, struct err *e)
{
    char *text;
    size_t len;
    status s = file_read(path, &text, &len, e);
    if (s)
        return s;
    s = read_text(text, len, path, known, out, e);
    mem_free(text);
    return s;
}

status definition_read(const char *path, json_t **out, struct err *e)
{
    return read_file(path, NULL, out, e);
}

status definition_read_text(const char *text, size_t len, const char *name, json_t **out, struct err *e)
{
    return read_text(text, len, name, NULL, out, e);
}

status definition_read_over(const char *path, const json_t *parameters, json_t **out, struct err *e)
{
    return read_file(path, parameters, out, e);
}
