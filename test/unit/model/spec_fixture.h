/* spec_fixture.h: what the model's tests share: the specification test/data/model/linear.json, and changes to it. */
#ifndef LATHE_TEST_MODEL_SPEC_FIXTURE_H
#define LATHE_TEST_MODEL_SPEC_FIXTURE_H

#include "base/mem.h"
#include "model/config.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline json_t *fixture_tree(void)
{
    json_error_t why;
    json_t *j = json_load_file("test/data/model/linear.json", 0, &why);
    if (!j)
        fail_msg("test/data/model/linear.json: %s (run the tests from the repository's root)", why.text);
    return j;
}

/* Replaces what stands at `path` ("kernels/0/params/1/#/1") with the JSON `text`; NULL: removes it. An array index
 * equal to the length appends. */
static inline void fixture_set(json_t *tree, const char *path, const char *text)
{
    char copy[200], *rest = copy, *key, *last = NULL;
    json_t *at = tree, *parent = NULL;
    snprintf(copy, sizeof copy, "%s", path);
    while ((key = strtok_r(rest, "/", &rest))) {
        parent = at;
        last = key;
        at = json_is_array(parent) ? json_array_get(parent, strtoul(key, NULL, 10)) : json_object_get(parent, key);
        if (!at && *rest)
            fail_msg("%s: no %s in the fixture", path, key);
    }
    json_t *value = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    if (text && !value)
        fail_msg("%s: not JSON", text);
    if (json_is_object(parent) && value)
        json_object_set_new(parent, last, value);
    else if (json_is_object(parent))
        json_object_del(parent, last);
    else if (value && at)
        json_array_set_new(parent, strtoul(last, NULL, 10), value);
    else if (value)
        json_array_append_new(parent, value);
    else
        json_array_remove(parent, strtoul(last, NULL, 10));
}

static inline struct problem *fixture_problem(json_t *tree)
{
    struct problem *p = NULL;
    struct err e = {0};
    if (problem_from_json(tree, "spec.lua", NULL, &p, &e))
        fail_msg("%s", e.text);
    json_decref(tree);
    return p;
}

/* The problem with one change; path NULL: none. */
static inline struct problem *fixture_changed(const char *path, const char *text)
{
    json_t *tree = fixture_tree();
    if (path)
        fixture_set(tree, path, text);
    return fixture_problem(tree);
}

/* Complete slots for a configuration given as text; free with mem_free. */
static inline struct value *fixture_slots(const struct problem *p, const struct kernel *k, const char *config,
                                          config_choice *choice)
{
    struct target t;
    struct err e = {0};
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    if (target_named("sm_90a", &t, &e) || config_from_text(k, config, choice, &e))
        fail_msg("%s", e.text);
    kernel_slots_fixed(p, k, &t, slots);
    if (kernel_slots_config(k, choice, slots, &e))
        fail_msg("%s", e.text);
    return slots;
}

static inline void assert_has(const char *text, const char *fragment)
{
    if (!strstr(text, fragment))
        fail_msg("\"%s\" does not contain \"%s\"", text, fragment);
}

#endif
