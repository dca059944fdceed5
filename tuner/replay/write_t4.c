/* write_t4.c: a recording as T4 results (AutoTuningAssociation), which read_t4.c reads back the same: parameters,
 * values, samples, costs, energy, moments; and the outcomes and reasons that T4 does not tell apart, as the text that
 * stands where a valid result has its time. */
#include "replay/write_impl.h"

#include "base/clock.h"
#include "base/mem.h"
#include "replay/failure.h"
#include <math.h>
#include <string.h>

static void add_measurements(struct strbuf *b, const struct recorded *c, const char *why)
{
    struct strbuf failure = {0};
    sb_add(b, ", \"measurements\": [");
    if (c->outcome == OUTCOME_ok) {
        sb_add(b, "{\"name\": \"time\", \"value\": ");
        print_number(b, c->value_ms);
        sb_add(b, ", \"unit\": \"ms\"}");
    } else {
        failure_print(&failure, c->outcome, c->reason, (enum outcome)t4_outcome(why));
        sb_add(b, "{\"name\": \"time\", \"value\": ");
        print_json_text(b, sb_str(&failure));
        sb_add(b, ", \"unit\": \"\"}");
        sb_free(&failure);
    }
    if (!isnan(c->energy_mj)) {
        sb_add(b, ", {\"name\": \"energy\", \"value\": ");
        print_number(b, c->energy_mj);
        sb_add(b, ", \"unit\": \"mJ\"}");
    }
    sb_add(b, "]}");
}

static void add_times(struct strbuf *b, const struct recording *r, const struct recorded *c)
{
    sb_add(b, "}, \"times\": {\"compilation\": ");
    print_ms(b, c->compile);
    sb_add(b, ", \"framework\": ");
    print_ms(b, c->framework);
    sb_add(b, ", \"search_algorithm\": ");
    print_ms(b, c->search);
    sb_add(b, ", \"validation\": ");
    print_ms(b, c->validation);
    if (c->nsamples) {
        sb_add(b, ", \"runtimes\": [");
        print_samples(b, r, c, ", ");
        sb_add(b, "]");
    }
    sb_add(b, "}");
}

static void add_result(struct strbuf *b, const struct recording *r, uint64_t i)
{
    const struct recorded *c = &r->configs[i];
    const char *why = t4_invalidity(c->outcome);
    char moment[32];
    sb_add(b, "{");
    if (c->moment) {
        clock_print_moment(c->moment, moment);
        sb_addf(b, "\"timestamp\": \"%s\", ", moment);
    }
    sb_add(b, "\"configuration\": {");
    for (int p = 0; p < r->nparams; p++) {
        sb_add(b, p ? ", " : "");
        print_json_text(b, r->params[p].name);
        sb_add(b, ": ");
        print_json(b, value_to_json(value_at(r, i, p)));
    }
    add_times(b, r, c);
    sb_addf(b, ", \"invalidity\": \"%s\", \"correctness\": %d, \"objectives\": [\"%s\"]", why,
            strcmp(why, "correctness") != 0, r->by_energy ? "energy" : "time");
    add_measurements(b, c, why);
}

status print_t4(const struct recording *r, const uint64_t *order, struct strbuf *b, struct err *e)
{
    sb_add(b, "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"milliseconds\", \"device\": ");
    print_json_text(b, r->device);
    sb_add(b, ", \"kernel\": ");
    print_json_text(b, r->kernel);
    sb_add(b, ", \"size\": ");
    print_json_text(b, r->size);
    sb_add(b, "}, \"results\": [");
    for (uint64_t i = 0; i < r->nconfigs; i++) {
        sb_add(b, i ? ",\n" : "\n");
        add_result(b, r, order[i]);
    }
    sb_add(b, "\n]}\n");
    return LATHE_OK;
}
