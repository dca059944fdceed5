/* write_kernel_tuner.c: a recording as a cache of Kernel Tuner, laid out as it writes them: a line a configuration.
 * What it has no word for stands in members of lathe's own, which Kernel Tuner passes on like a user's metrics. */
#include "replay/write_impl.h"

#include "base/clock.h"
#include "base/mem.h"
#include "replay/failure.h"
#include "replay/kernel_tuner.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As Python prints it: the key of an entry is its values with commas between. */
static void add_python(struct strbuf *b, struct value v)
{
    if (v.type == VALUE_BOOL)
        sb_add(b, v.b ? "True" : "False");
    else
        value_print(b, v);
}

static void add_key(struct strbuf *b, const struct recording *r, uint64_t i)
{
    struct strbuf key = {0};
    sb_add(&key, "");
    for (int p = 0; p < r->nparams; p++) {
        sb_add(&key, p ? "," : "");
        add_python(&key, value_at(r, i, p));
    }
    print_json_text(b, key.s);
    sb_free(&key);
}

static void add_time(struct strbuf *b, const struct recorded *c)
{
    sb_add(b, ", \"time\": ");
    if (c->outcome == OUTCOME_ok) {
        print_number(b, c->value_ms);
        return;
    }
    const char *error = kernel_tuner_error(c->outcome);
    struct strbuf failure = {0};
    failure_print(&failure, c->outcome, c->reason, kernel_tuner_outcome(error));
    sb_addf(b, "\"%s\"", error);
    if (strcmp(sb_str(&failure), error) != 0) {
        sb_add(b, ", \"" KERNEL_TUNER_FAILURE "\": ");
        print_json_text(b, sb_str(&failure));
    }
    sb_free(&failure);
}

static void add_cost(struct strbuf *b, const char *name, double seconds)
{
    sb_addf(b, ", \"%s\": ", name);
    print_ms(b, seconds);
}

static void add_entry(struct strbuf *b, const struct recording *r, uint64_t i)
{
    const struct recorded *c = &r->configs[i];
    char moment[32];
    add_key(b, r, i);
    for (int p = 0; p < r->nparams; p++) {
        sb_add(b, p ? ", " : ": {");
        print_json_text(b, r->params[p].name);
        sb_add(b, ": ");
        print_json(b, value_to_json(value_at(r, i, p)));
    }
    add_time(b, c);
    if (c->nsamples) {
        sb_add(b, ", \"times\": [");
        print_samples(b, r, c, ", ");
        sb_add(b, "]");
    }
    add_cost(b, "compile_time", c->compile);
    add_cost(b, "verification_time", c->validation);
    add_cost(b, "benchmark_time", c->run);
    add_cost(b, "strategy_time", c->search);
    add_cost(b, "framework_time", c->framework);
    if (!isnan(c->energy_mj)) {
        sb_add(b, ", \"" KERNEL_TUNER_ENERGY "\": ");
        print_number(b, c->energy_mj);
    }
    if (c->moment) {
        clock_print_moment(c->moment, moment);
        moment[10] = ' ';
        moment[strlen(moment) - 1] = 0;
        sb_addf(b, ", \"timestamp\": \"%s+00:00\"", moment);
    }
    sb_add(b, "}");
}

static json_t *values_of(const struct recorded_param *p)
{
    json_t *values = json_array();
    for (int v = 0; v < p->nvalues; v++)
        json_array_append_new(values, value_to_json(p->values[v]));
    return values;
}

/* A size that was a number or a list stands in a recording as its JSON. */
static json_t *size_of(const char *size)
{
    json_t *j = json_loads(size, JSON_DECODE_ANY, NULL);
    if (json_is_array(j) || json_is_integer(j))
        return j;
    json_decref(j);
    return json_string(size);
}

/* An entry has its parameters and its figures in one object. */
static status check_names(const struct recording *r, struct err *e)
{
    static const char *const taken[] = {"time", "times", "compile_time", "verification_time", "benchmark_time",
                                        "strategy_time", "framework_time", "timestamp", "__error__",
                                        KERNEL_TUNER_FAILURE, KERNEL_TUNER_ENERGY};
    for (int p = 0; p < r->nparams; p++)
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
            if (!strcmp(r->params[p].name, taken[i]))
                return err_set(e, LATHE_USAGE, "%s: the parameter %s has the name of a figure that a cache of Kernel "
                               "Tuner has beside it: write it as t4", r->path, taken[i]);
    return LATHE_OK;
}

status print_kernel_tuner(const struct recording *r, const uint64_t *order, struct strbuf *b, struct err *e)
{
    status s = check_names(r, e);
    if (s)
        return s;
    sb_add(b, "{\n\"device_name\": ");
    print_json_text(b, r->device);
    sb_add(b, ",\n\"kernel_name\": ");
    print_json_text(b, r->kernel);
    sb_add(b, ",\n\"problem_size\": ");
    print_json(b, size_of(r->size));
    sb_add(b, ",\n\"tune_params_keys\": [");
    for (int p = 0; p < r->nparams; p++) {
        sb_add(b, p ? ", " : "");
        print_json_text(b, r->params[p].name);
    }
    sb_add(b, "],\n\"tune_params\": {");
    for (int p = 0; p < r->nparams; p++) {
        sb_add(b, p ? ",\n" : "\n");
        print_json_text(b, r->params[p].name);
        sb_add(b, ": ");
        print_json(b, values_of(&r->params[p]));
    }
    sb_addf(b, "\n},\n\"objective\": \"%s\",\n\"cache\": {", r->by_energy ? KERNEL_TUNER_ENERGY : "time");
    for (uint64_t i = 0; i < r->nconfigs; i++) {
        sb_add(b, i ? ",\n" : "\n");
        add_entry(b, r, order[i]);
    }
    sb_add(b, "}\n}\n");
    return LATHE_OK;
}
