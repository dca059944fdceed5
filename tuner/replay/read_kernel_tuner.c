/* read_kernel_tuner.c: Kernel Tuner's cache files: "cache": { "16,1,...": { parameters, "time", "times", ... }, ... }.
 * Times are milliseconds. A configuration that failed has the name of an error as its time, or a huge number, or a
 * member "__error__". */
#include "replay/builder.h"

#include "base/mem.h"
#include "replay/failure.h"
#include "replay/kernel_tuner.h"
#include <math.h>
#include <string.h>

#define MS 1e-3

static status read_params(struct json_stream *s, const json_t *head, struct builder *b)
{
    const json_t *keys = json_object_get(head, "tune_params_keys"), *lists = json_object_get(head, "tune_params");
    const char *name;
    json_t *list, *value;
    size_t i;
    status st = LATHE_OK;
    if (!json_is_array(keys) && !json_is_object(lists))
        return json_stream_fail(s, "no tune_params_keys and no tune_params: what is no parameter cannot be told");
    json_array_foreach(keys, i, value) {
        if (!json_is_string(value))
            return json_stream_fail(s, "tune_params_keys[%zu] is no name", i);
        name = json_string_value(value);
        st = builder_param(b, name, json_is_array(json_object_get(lists, name)), s->e);
        if (st)
            return json_stream_fail(s, "tune_params_keys: %s", s->e->text);
    }
    json_object_foreach((json_t *)lists, name, list) {
        if (json_is_array(keys) && builder_find_param(b, name) < 0)
            return json_stream_fail(s, "tune_params has %.100s, which tune_params_keys lacks", name);
        if (!json_is_array(keys))
            st = builder_param(b, name, true, s->e);
        json_array_foreach(list, i, value) {
            config_choice ignored;
            if (!st)
                st = builder_value(b, builder_find_param(b, name), value, &ignored, s->e);
        }
        if (st)
            return json_stream_fail(s, "tune_params: %s", s->e->text);
    }
    return LATHE_OK;
}

static void failed(struct builder *b, struct recorded *r, const char *name)
{
    builder_failure(b, r, kernel_tuner_outcome(name), name);
}

/* What lathe wrote of a failure counts where the error that is named stands for it. */
static void read_failure(struct builder *b, const json_t *entry, struct recorded *r, const char *error)
{
    const json_t *said = json_object_get(entry, KERNEL_TUNER_FAILURE);
    enum outcome outcome = kernel_tuner_outcome(error);
    const char *reason = json_is_string(said) ? failure_read(json_string_value(said), &outcome) : error;
    if (strcmp(kernel_tuner_error(outcome), kernel_tuner_error(kernel_tuner_outcome(error))) != 0)
        failed(b, r, error);
    else
        builder_failure(b, r, outcome, reason);
}

static void read_time(struct builder *b, const json_t *entry, struct recorded *r)
{
    const json_t *error = json_object_get(entry, "__error__"), *time = json_object_get(entry, "time");
    bool number = json_is_number(time), not_number = json_is_string(time) && !strcmp(json_string_value(time), "?");
    if (error)
        failed(b, r, json_is_string(error) ? json_string_value(error) : "recorded with __error__");
    else if (json_is_string(time) && !not_number)
        read_failure(b, entry, r, json_string_value(time));
    else if (number && json_number_value(time) >= MUCH_MS)
        failed(b, r, "its time is a huge number, which stands for a failure");
    else
        builder_success(b, r, json_double(time));
}

static status read_entry(struct json_stream *s, const char *key, const json_t *entry, struct builder *b)
{
    struct recorded *r;
    config_choice *choice;
    const json_t *times = json_object_get(entry, "times"), *time;
    size_t i;
    if (!json_is_object(entry))
        return json_stream_fail(s, "cache[\"%.100s\"] is no object", key);
    if (builder_entry(b, &r, &choice, s->e))
        return json_stream_fail(s, "%s", s->e->text);
    for (int p = 0; p < builder_nparams(b); p++) {
        const char *name = builder_param_name(b, p);
        const json_t *value = json_object_get(entry, name);
        if (!value)
            return json_stream_fail(s, "cache[\"%.100s\"] has no %.100s, which is a parameter", key, name);
        if (builder_value(b, p, value, &choice[p], s->e))
            return json_stream_fail(s, "cache[\"%.100s\"]: %s", key, s->e->text);
    }
    r->compile = builder_cost(b, json_object_get(entry, "compile_time"), MS);
    r->validation = builder_cost(b, json_object_get(entry, "verification_time"), MS);
    r->framework = builder_cost(b, json_object_get(entry, "framework_time"), MS);
    r->search = builder_cost(b, json_object_get(entry, "strategy_time"), MS);
    builder_energy(r, json_double(json_object_get(entry, KERNEL_TUNER_ENERGY)));
    builder_moment(r, json_object_get(entry, "timestamp"));
    json_array_foreach(times, i, time) {
        r->run += builder_cost(b, time, MS);
        builder_sample(b, r, json_double(time));
    }
    read_time(b, entry, r);
    if (!json_is_array(times) && r->outcome == OUTCOME_ok) {
        builder_sample(b, r, r->value_ms);
        r->run = r->value_ms * MS;
    }
    return LATHE_OK;
}

status read_kernel_tuner(struct json_stream *s, const json_t *head, struct builder *b)
{
    status st = read_params(s, head, b);
    bool first = true;
    char *key;
    if (!st)
        st = json_stream_take(s, '{');
    while (!st && !(st = json_stream_key(s, &first, &key)) && key) {
        json_t *entry;
        st = json_stream_value(s, &entry);
        if (!st)
            st = read_entry(s, key, entry, b);
        json_decref(entry);
        mem_free(key);
    }
    return st;
}
