/* read_ktt.c: KTT's own JSON output: "Metadata": { "TimeUnit", "Device" }, "Results": [ { "Configuration": [ { "Name",
 * "Value" } ], "Status", "TotalDuration", ... } ].
 *
 * KTT tells no compile time of a configuration that failed; what is left of its TotalOverhead is it. */
#include "replay/builder.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

struct ktt {
    struct json_stream *s;
    struct builder *b;
    double unit;                /* seconds */
    size_t n;                   /* of the result, from 0 */
};

static status read_unit(struct ktt *t, const json_t *head)
{
    const json_t *unit = json_object_get(json_object_get(head, "Metadata"), "TimeUnit");
    t->unit = json_is_string(unit) ? unit_seconds(json_string_value(unit)) : 0;
    if (t->unit > 0)
        return LATHE_OK;
    return json_stream_fail(t->s,
                            "Metadata.TimeUnit is %.60s: expected Seconds, Milliseconds, Microseconds or Nanoseconds",
                            json_is_string(unit) ? json_string_value(unit)
                            : unit               ? "no text"
                                                 : "not there");
}

static status read_pair(struct ktt *t, const json_t *pair, config_choice *choice)
{
    const json_t *name = json_object_get(pair, "Name"), *value = json_object_get(pair, "Value");
    if (!json_is_string(name) || !value)
        return json_stream_fail(t->s, "Results[%zu].Configuration has an entry without Name or Value", t->n);
    int p = builder_find_param(t->b, json_string_value(name));
    if (p < 0)
        return json_stream_fail(t->s, "Results[%zu] has a parameter %.100s, which the first result lacks", t->n,
                                json_string_value(name));
    if (choice[p] != CHOICE_ABSENT)
        return json_stream_fail(t->s, "Results[%zu] has the parameter %.100s twice", t->n, json_string_value(name));
    if (builder_value(t->b, p, value, &choice[p], t->s->e))
        return json_stream_fail(t->s, "Results[%zu]: %s", t->n, t->s->e->text);
    return LATHE_OK;
}

static status read_configuration(struct ktt *t, const json_t *list, config_choice *choice)
{
    json_t *pair;
    size_t i;
    json_array_foreach(list, i, pair) {
        status st = read_pair(t, pair, choice);
        if (st)
            return st;
    }
    for (int p = 0; p < builder_nparams(t->b); p++)
        if (choice[p] == CHOICE_ABSENT)
            return json_stream_fail(t->s, "Results[%zu] lacks the parameter %.100s, which the first result has", t->n,
                                    builder_param_name(t->b, p));
    return LATHE_OK;
}

static status read_status(struct ktt *t, const json_t *result, enum outcome *out)
{
    static const struct {
        const char *name;
        enum outcome outcome;
    } names[] = {{"Ok", OUTCOME_ok},
                 {"ComputationFailed", OUTCOME_launch},
                 {"ValidationFailed", OUTCOME_wrong},
                 {"CompilationFailed", OUTCOME_compile},
                 {"DeviceLimitsExceeded", OUTCOME_resources}};
    const json_t *said = json_object_get(result, "Status");
    for (size_t i = 0; i < sizeof names / sizeof *names && json_is_string(said); i++)
        if (strcmp(json_string_value(said), names[i].name) == 0) {
            *out = names[i].outcome;
            return LATHE_OK;
        }
    return json_stream_fail(t->s,
                            "Results[%zu].Status is %.60s: expected Ok, ComputationFailed, ValidationFailed, "
                            "CompilationFailed or DeviceLimitsExceeded",
                            t->n, json_is_string(said) ? json_string_value(said) : said ? "no text" : "not there");
}

static void read_costs(struct ktt *t, const json_t *result, struct recorded *r)
{
    r->validation = builder_cost(t->b, json_object_get(result, "ValidationOverhead"), t->unit);
    r->framework = builder_cost(t->b, json_object_get(result, "DataMovementOverhead"), t->unit);
    r->search = builder_cost(t->b, json_object_get(result, "SearcherOverhead"), t->unit);
    double left = builder_cost(t->b, json_object_get(result, "TotalOverhead"), t->unit) - r->validation - r->framework -
                  r->search;
    r->compile = left > 0 ? left : 0;
}

/* Outputs of several kernels are one file; a recording is of one. */
static status check_kernel(struct ktt *t, const json_t *result)
{
    struct recording *r = builder_recording(t->b);
    const json_t *name = json_object_get(result, "KernelName");
    if (!json_is_string(name))
        return LATHE_OK;
    if (!r->kernel)
        r->kernel = mem_strdup(json_string_value(name));
    if (strcmp(r->kernel, json_string_value(name)) != 0)
        return json_stream_fail(t->s,
                                "Results[%zu] is of the kernel %.100s, those before it of %.100s: expected one kernel",
                                t->n, json_string_value(name), r->kernel);
    return LATHE_OK;
}

static status read_params(struct ktt *t, const json_t *list)
{
    json_t *pair;
    size_t i;
    json_array_foreach(list, i, pair) {
        const json_t *name = json_object_get(pair, "Name");
        if (json_is_string(name) && builder_param(t->b, json_string_value(name), false, t->s->e))
            return json_stream_fail(t->s, "Results[0]: %s", t->s->e->text);
    }
    return LATHE_OK;
}

static status read_result(struct ktt *t, const json_t *result)
{
    struct recorded *r;
    config_choice *choice;
    enum outcome outcome = OUTCOME_ok;
    const json_t *configuration = json_object_get(result, "Configuration");
    if (!json_is_array(configuration))
        return json_stream_fail(t->s, "Results[%zu] has no Configuration", t->n);
    status st = t->n ? LATHE_OK : read_params(t, configuration);
    if (!st && builder_entry(t->b, &r, &choice, t->s->e))
        return json_stream_fail(t->s, "%s", t->s->e->text);
    if (!st)
        st = read_configuration(t, configuration, choice);
    if (!st)
        st = read_status(t, result, &outcome);
    if (!st)
        st = check_kernel(t, result);
    if (st)
        return st;
    read_costs(t, result, r);
    if (outcome != OUTCOME_ok) {
        builder_failure(t->b, r, outcome, json_string_value(json_object_get(result, "Status")));
        return LATHE_OK;
    }
    double ms = to_ms(json_double(json_object_get(result, "TotalDuration")), t->unit);
    builder_success(t->b, r, ms);
    if (r->outcome == OUTCOME_ok) {
        builder_sample(t->b, r, ms);
        r->run = ms * 1e-3;
    }
    return LATHE_OK;
}

static status next_result(void *ctx, const json_t *result)
{
    struct ktt *t = ctx;
    status st = read_result(t, result);
    t->n++;
    return st;
}

status read_ktt(struct json_stream *s, const json_t *head, struct builder *b)
{
    struct ktt t = {.s = s, .b = b};
    status st = read_unit(&t, head);
    return st ? st : json_stream_each(s, next_result, &t);
}
