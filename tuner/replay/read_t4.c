/* read_t4.c: T4 results (AutoTuningAssociation): "results": [ { "configuration", "times", "invalidity", ... } ].
 *
 * `invalidity` alone says whether an item is valid. Its times are in metadata.timeunit, milliseconds if that is not
 * given; a measurement may have a unit of its own. */
#include "replay/builder.h"

#include "replay/failure.h"
#include <math.h>
#include <string.h>

struct t4 {
    struct json_stream *s;
    struct builder *b;
    double unit;                /* seconds */
    size_t n;                   /* of the result, from 0 */
};

static status read_unit(struct t4 *t, const json_t *head)
{
    const json_t *unit = json_object_get(json_object_get(head, "metadata"), "timeunit");
    t->unit = 1e-3;
    if (!unit || (json_is_string(unit) && !*json_string_value(unit)))
        return LATHE_OK;
    t->unit = json_is_string(unit) ? unit_seconds(json_string_value(unit)) : 0;
    if (t->unit > 0)
        return LATHE_OK;
    return json_stream_fail(t->s,
                            "metadata.timeunit is %.60s: expected seconds, milliseconds, microseconds or nanoseconds",
                            json_is_string(unit) ? json_string_value(unit) : "no text");
}

/* The names of the first result are the parameters; the others must have the same. */
static status read_configuration(struct t4 *t, const json_t *configuration, config_choice *choice)
{
    struct err *e = t->s->e;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)configuration, name, value) {
        int p = builder_find_param(t->b, name);
        if (p < 0)
            return json_stream_fail(t->s, "results[%zu] has a parameter %.100s, which the first result lacks", t->n,
                                    name);
        if (builder_value(t->b, p, value, &choice[p], e))
            return json_stream_fail(t->s, "results[%zu]: %s", t->n, e->text);
    }
    for (int p = 0; p < builder_nparams(t->b); p++)
        if (choice[p] == CHOICE_ABSENT)
            return json_stream_fail(t->s, "results[%zu] lacks the parameter %.100s, which the first result has", t->n,
                                    builder_param_name(t->b, p));
    return LATHE_OK;
}

static status read_invalidity(struct t4 *t, const json_t *result, enum outcome *out)
{
    const json_t *said = json_object_get(result, "invalidity");
    int outcome = json_is_string(said) ? t4_outcome(json_string_value(said)) : -1;
    if (outcome >= 0) {
        *out = (enum outcome)outcome;
        return LATHE_OK;
    }
    return json_stream_fail(
        t->s,
        "results[%zu].invalidity is %.60s: expected correct, timeout, compile, runtime, correctness or "
        "constraints",
        t->n,
        json_is_string(said) ? json_string_value(said)
        : said               ? "no text"
                             : "not there");
}

/* The measurement that is the objective: the one that `objectives` names first if that is a time, else "time". NULL:
 * none. */
static const json_t *find_measurement(const json_t *result, const char *name)
{
    const json_t *list = json_object_get(result, "measurements");
    json_t *m;
    size_t i;
    json_array_foreach(list, i, m) {
        const json_t *its = json_object_get(m, "name");
        if (json_is_string(its) && strcmp(json_string_value(its), name) == 0)
            return m;
    }
    return NULL;
}

static status read_value(struct t4 *t, const json_t *result, struct recorded *r)
{
    const json_t *objective = json_array_get(json_object_get(result, "objectives"), 0);
    const char *name = json_is_string(objective) ? json_string_value(objective) : "time";
    const json_t *m = find_measurement(result, name), *unit = json_object_get(m, "unit");
    double seconds = t->unit;
    if (strcmp(name, "time") != 0) {
        const json_t *time = find_measurement(result, "time");
        if (time) {
            m = time;
            unit = json_object_get(m, "unit");
        }
    }
    if (json_is_string(unit) && *json_string_value(unit)) {
        seconds = unit_seconds(json_string_value(unit));
        if (!(seconds > 0))
            return json_stream_fail(t->s,
                                    "results[%zu]: the objective %.60s is measured in %.60s, which is no unit of time",
                                    t->n, name, json_string_value(unit));
    }
    builder_recording(t->b)->by_energy |= strcmp(name, "energy") == 0;
    double value = to_ms(json_double(json_object_get(m, "value")), seconds);
    if (!m && r->nsamples)
        value = r->run * 1e3 / r->nsamples;
    builder_success(t->b, r, value);
    if (!r->nsamples && r->outcome == OUTCOME_ok) {
        builder_sample(t->b, r, value);
        r->run = value * 1e-3;
    }
    return LATHE_OK;
}

/* invalidity says that it failed; a text in place of the time may say more: what lathe writes there counts where T4 has
 * the same word for it. */
static void read_failure(struct t4 *t, const json_t *result, struct recorded *r, enum outcome outcome)
{
    const json_t *said = json_object_get(find_measurement(result, "time"), "value");
    const char *text = json_is_string(said) ? json_string_value(said) : "?", *reason;
    enum outcome told = outcome;
    reason = failure_read(text, &told);
    if (!strcmp(text, "?") || strcmp(t4_invalidity(told), t4_invalidity(outcome)) != 0)
        builder_failure(t->b, r, outcome, t4_invalidity(outcome));
    else
        builder_failure(t->b, r, told, reason);
}

/* Besides the time: energy, in J or mJ. */
static void read_energy(const json_t *result, struct recorded *r)
{
    const json_t *m = find_measurement(result, "energy"), *unit = json_object_get(m, "unit");
    if (json_is_string(unit) && !strcmp(json_string_value(unit), "mJ"))
        builder_energy(r, json_double(json_object_get(m, "value")));
    else if (json_is_string(unit) && !strcmp(json_string_value(unit), "J"))
        builder_energy(r, json_double(json_object_get(m, "value")) * 1e3);
}

static status read_result(struct t4 *t, const json_t *result)
{
    struct recorded *r;
    config_choice *choice;
    const json_t *configuration = json_object_get(result, "configuration"), *times = json_object_get(result, "times");
    const json_t *compile = json_object_get(times, "compilation"), *runs = json_object_get(times, "runtimes");
    const char *name;
    json_t *value;
    size_t i;
    if (!json_is_object(configuration))
        return json_stream_fail(t->s, "results[%zu] has no configuration", t->n);
    if (t->n == 0)
        json_object_foreach((json_t *)configuration, name, value)
            if (builder_param(t->b, name, false, t->s->e))
                return json_stream_fail(t->s, "results[0]: %s", t->s->e->text);
    if (builder_entry(t->b, &r, &choice, t->s->e))
        return json_stream_fail(t->s, "%s", t->s->e->text);
    status st = read_configuration(t, configuration, choice);
    enum outcome outcome = OUTCOME_ok;
    if (!st)
        st = read_invalidity(t, result, &outcome);
    if (st)
        return st;
    r->compile = builder_cost(t->b, compile ? compile : json_object_get(times, "compilation_time"), t->unit);
    r->validation = builder_cost(t->b, json_object_get(times, "validation"), t->unit);
    r->framework = builder_cost(t->b, json_object_get(times, "framework"), t->unit);
    r->search = builder_cost(t->b, json_object_get(times, "search_algorithm"), t->unit);
    builder_moment(r, json_object_get(result, "timestamp"));
    read_energy(result, r);
    json_array_foreach(runs, i, value) {
        r->run += builder_cost(t->b, value, t->unit);
        builder_sample(t->b, r, to_ms(json_double(value), t->unit));
    }
    if (outcome == OUTCOME_ok)
        return read_value(t, result, r);
    read_failure(t, result, r, outcome);
    return LATHE_OK;
}

static status next_result(void *ctx, const json_t *result)
{
    struct t4 *t = ctx;
    status st = read_result(t, result);
    t->n++;
    return st;
}

status read_t4(struct json_stream *s, const json_t *head, struct builder *b)
{
    struct t4 t = {.s = s, .b = b};
    status st = read_unit(&t, head);
    return st ? st : json_stream_each(s, next_result, &t);
}
