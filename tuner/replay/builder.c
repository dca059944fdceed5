/* builder.c: see builder.h. Arrays grow by doubling; the order of things is made at the
 * end, once: builder_end.c. */
#include "replay/builder_impl.h"

#include "base/clock.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct builder *builder_new(const char *format)
{
    struct builder *b = mem_zalloc(1, sizeof *b);
    b->r = mem_zalloc(1, sizeof *b->r);
    b->r->format = mem_strdup(format);
    return b;
}

static void free_values(struct value *values, int n)
{
    for (int i = 0; i < n; i++)
        if (values[i].type == VALUE_STRING)
            mem_free((char *)values[i].s);
    mem_free(values);
}

void builder_free(struct builder *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->nparams; i++) {
        mem_free(b->params[i].name);
        free_values(b->params[i].values, b->params[i].nvalues);
    }
    for (int i = 0; i < b->ntexts; i++)
        mem_free(b->texts[i]);
    mem_free(b->texts);
    recording_free(b->r);
    mem_free(b);
}

struct recording *builder_recording(struct builder *b)
{
    return b->r;
}

void builder_path(struct builder *b, const char *path)
{
    mem_free(b->r->path);
    b->r->path = utf8_copy(path);
}

int builder_nparams(const struct builder *b)
{
    return b->nparams;
}

const char *builder_param_name(const struct builder *b, int param)
{
    return b->params[param].name;
}

int builder_find_param(const struct builder *b, const char *name)
{
    for (int i = 0; i < b->nparams; i++)
        if (strcmp(b->params[i].name, name) == 0)
            return i;
    return -1;
}

status builder_param(struct builder *b, const char *name, bool listed, struct err *e)
{
    if (!*name)
        return err_set(e, LATHE_IO, "a parameter without a name");
    if (strlen(name) > RECORDING_NAME_MAX)
        return err_set(e, LATHE_IO, "the name of a parameter, %.40s..., is too long", name);
    if (builder_find_param(b, name) >= 0)
        return err_set(e, LATHE_IO, "the parameter %.100s is there twice", name);
    if (b->nparams == RECORDING_PARAMS_MAX)
        return err_set(e, LATHE_IO, "more than %d parameters: too large", RECORDING_PARAMS_MAX);
    b->params[b->nparams++] = (struct builder_param){.name = mem_strdup(name), .listed = listed};
    return LATHE_OK;
}

status builder_value(struct builder *b, int param, const json_t *value, config_choice *out, struct err *e)
{
    struct builder_param *p = &b->params[param];
    struct value v;
    if (!value_from_json(value, &v))
        return err_set(e, LATHE_IO, "the value of %.100s is %s: expected a number, a text, true or false", p->name,
                       json_is_null(value) ? "null" : json_is_array(value) ? "a list" : "an object");
    if (v.type == VALUE_STRING && strlen(v.s) > RECORDING_NAME_MAX)
        return err_set(e, LATHE_IO, "a value of %.100s, %.40s..., is too long", p->name, v.s);
    if (p->last < p->nvalues && value_equal(p->values[p->last], v)) {
        *out = (config_choice)p->last;
        return LATHE_OK;
    }
    for (int i = 0; i < p->nvalues; i++)
        if (value_equal(p->values[i], v)) {
            *out = (config_choice)(p->last = i);
            return LATHE_OK;
        }
    if (p->nvalues == RECORDING_VALUES_MAX)
        return err_set(e, LATHE_IO, "%.100s has more than %d values: too large", p->name, RECORDING_VALUES_MAX);
    MEM_GROW(p->values, p->nvalues, p->cap);
    if (v.type == VALUE_STRING)
        v.s = mem_strdup(v.s);
    *out = (config_choice)(p->last = p->nvalues);
    p->values[p->nvalues++] = v;
    return LATHE_OK;
}

void builder_set(char **text, const json_t *value)
{
    char *said = json_is_string(value) ? mem_strdup(json_string_value(value)) : NULL;
    if (value && !said) {
        char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        said = dumped ? mem_strdup(dumped) : NULL;
        free(dumped);
    }
    if (!said)
        return;
    mem_free(*text);
    *text = said;
}

status builder_entry(struct builder *b, struct recorded **entry, config_choice **choice, struct err *e)
{
    struct recording *r = b->r;
    uint64_t n = r->nconfigs, width = (uint64_t)b->nparams;
    uint64_t bytes = n * (sizeof *r->configs + width * sizeof *r->choices) + r->nsamples * sizeof *r->samples;
    if (bytes > RECORDING_BYTES_MAX)
        return err_set(e, LATHE_IO, "too large: %llu configurations and %llu samples take more than %llu MiB",
                       (unsigned long long)n, (unsigned long long)r->nsamples,
                       (unsigned long long)(RECORDING_BYTES_MAX >> 20));
    if (n == b->cap_configs) {
        b->cap_configs = n ? 2 * n : 256;
        r->configs = mem_resize(r->configs, b->cap_configs, sizeof *r->configs);
        r->choices = mem_resize(r->choices, b->cap_configs * width + 1, sizeof *r->choices);
    }
    r->configs[n] = (struct recorded){.outcome = OUTCOME_ok,
                                      .reason = "",
                                      .value_ms = NAN,
                                      .energy_mj = NAN,
                                      .first_sample = r->nsamples,
                                      .position = n};
    *entry = &r->configs[n];
    *choice = r->choices + n * width;
    for (uint64_t i = 0; i < width; i++)
        (*choice)[i] = CHOICE_ABSENT;
    r->nconfigs++;
    return LATHE_OK;
}

void builder_sample(struct builder *b, struct recorded *entry, double ms)
{
    struct recording *r = b->r;
    if (!(ms > 0 && ms < MUCH_MS) || entry->nsamples == UINT32_MAX)
        return;
    if (r->nsamples == b->cap_samples) {
        b->cap_samples = b->cap_samples ? 2 * b->cap_samples : 4096;
        r->samples = mem_resize(r->samples, b->cap_samples, sizeof *r->samples);
    }
    r->samples[r->nsamples++] = ms;
    entry->nsamples++;
}

const char *builder_text(struct builder *b, const char *text)
{
    enum { MANY = 4096, LONG = 400 };
    if (!*text)
        return "";
    for (int i = b->ntexts - 1; i >= 0; i--)
        if (strncmp(b->texts[i], text, LONG) == 0)
            return b->texts[i];
    if (b->ntexts >= MANY)
        return "one of very many reasons";
    MEM_GROW(b->texts, b->ntexts, b->cap_texts);
    return b->texts[b->ntexts++] = mem_printf("%.*s", LONG, text);
}

void builder_moment(struct recorded *entry, const json_t *text)
{
    int64_t us;
    if (json_is_string(text) && clock_read_moment(json_string_value(text), &us))
        entry->moment = us;
}

void builder_energy(struct recorded *entry, double mj)
{
    if (mj > 0 && mj < MUCH_MJ)
        entry->energy_mj = mj;
}

double json_double(const json_t *j)
{
    return json_is_number(j) ? json_number_value(j) : NAN;
}

#define MUCH 1e9                /* seconds that no trial takes: a failure's number */

double builder_cost(struct builder *b, const json_t *j, double unit)
{
    double seconds = json_double(j) * unit;
    if (!j || json_is_null(j))
        return 0;
    if (seconds >= 0 && seconds < MUCH)
        return seconds;
    b->r->not_costs++;
    return 0;
}

void builder_success(struct builder *b, struct recorded *entry, double ms)
{
    if (ms > 0 && ms < MUCH_MS) {
        entry->value_ms = ms;
        return;
    }
    b->r->not_times++;
    builder_failure(b, entry, OUTCOME_unstable, "the recorded time is no positive number");
}

void builder_failure(struct builder *b, struct recorded *entry, enum outcome outcome, const char *reason)
{
    entry->outcome = outcome;
    entry->value_ms = NAN;
    entry->reason = builder_text(b, reason);
}

double unit_seconds(const char *name)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {
        {"s", 1},       {"sec", 1},           {"second", 1},         {"seconds", 1},
        {"ms", 1e-3},   {"msec", 1e-3},       {"millisecond", 1e-3}, {"milliseconds", 1e-3}, {"miliseconds", 1e-3},
        {"us", 1e-6},   {"\xc2\xb5s", 1e-6},  {"usec", 1e-6},        {"microsecond", 1e-6},  {"microseconds", 1e-6},
        {"ns", 1e-9},   {"nsec", 1e-9},       {"nanosecond", 1e-9},  {"nanoseconds", 1e-9},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(name, units[i].name) == 0)
            return units[i].seconds;
    return 0;
}
