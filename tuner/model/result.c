/* result.c: a trial's result and its JSON form, which is also the workers' protocol. Every double may be NaN (null). */
#include "model/result.h"

#include "base/mem.h"
#include "model/record.h"
#include <limits.h>
#include <math.h>
#include <string.h>

static const char *const regimes[REGIME_COUNT] = {"trial", "cold", "sustained"};

const char *regime_name(enum regime r)
{
    return (unsigned)r < REGIME_COUNT ? regimes[r] : "unknown";
}

static int regime_parse(const char *name)
{
    for (int i = 0; i < REGIME_COUNT; i++)
        if (strcmp(regimes[i], name) == 0)
            return i;
    return -1;
}

static const char *const objectives[OBJECTIVE_COUNT] = {"time", "energy"};

const char *objective_name(enum objective o)
{
    return (unsigned)o < OBJECTIVE_COUNT ? objectives[o] : "unknown";
}

int objective_parse(const char *name)
{
    for (int i = 0; i < OBJECTIVE_COUNT; i++)
        if (strcmp(objectives[i], name) == 0)
            return i;
    return -1;
}

static const char *const delays[DELAYS_COUNT] = {"auto", "yes", "no"};

const char *delays_name(enum delays d)
{
    return (unsigned)d < DELAYS_COUNT ? delays[d] : "unknown";
}

int delays_parse(const char *name)
{
    for (int i = 0; i < DELAYS_COUNT; i++)
        if (strcmp(delays[i], name) == 0)
            return i;
    return -1;
}

void result_init(struct result *r)
{
    *r = (struct result){.outcome = OUTCOME_skipped, .time_ms = NAN};
    r->resources = (struct resources){.local_bytes = -1, .shared_static = -1, .shared_dynamic = -1};
    r->stage.total = r->stage.strategy = r->stage.store = r->stage.device = NAN;
    r->samples.median = r->samples.low = r->samples.high = r->samples.energy_mj = NAN;
    r->verification.max_abs = r->verification.max_rel = r->verification.frobenius = NAN;
    r->verification.scaled = r->verification.scaled_limit = NAN;
    r->telemetry = (struct telemetry){.sm_mhz = NAN, .mem_mhz = NAN, .power_w = NAN, .temperature_c = NAN,
                                      .sm_mhz_low = NAN};
}

void result_free(struct result *r)
{
    samples_free(&r->samples);
}

static void set_number(json_t *j, const char *key, double x)
{
    json_object_set_new(j, key, record_number(x));
}

static void set_int(json_t *j, const char *key, int64_t i)
{
    json_object_set_new(j, key, json_integer(i));
}

static json_t *samples_to_json(const struct samples *s)
{
    json_t *j = json_object(), *ms = json_array(), *throttled = json_array();
    for (int i = 0; i < s->count; i++) {
        json_array_append_new(ms, record_number(s->ms[i]));
        if (s->throttled && s->throttled[i])
            json_array_append_new(throttled, json_integer(i));
    }
    json_object_set_new(j, "regime", json_string(regime_name(s->regime)));
    json_object_set_new(j, "ms", ms);
    json_object_set_new(j, "throttled", throttled);
    set_int(j, "batch", s->batch);
    json_object_set_new(j, "graph", json_boolean(s->graph));
    set_number(j, "energy_mj", s->energy_mj);
    set_int(j, "energy_launches", s->energy_launches);
    set_number(j, "median", s->median);
    set_number(j, "low", s->low);
    set_number(j, "high", s->high);
    return j;
}

static json_t *verification_to_json(const struct verification *v)
{
    json_t *j = json_object();
    json_object_set_new(j, "done", json_boolean(v->done));
    json_object_set_new(j, "reference", record_string(v->reference));
    set_int(j, "seed", (int64_t)v->seed);
    set_number(j, "max_abs", v->max_abs);
    set_number(j, "max_rel", v->max_rel);
    set_number(j, "frobenius", v->frobenius);
    set_number(j, "frobenius_limit", v->frobenius_limit);
    set_number(j, "scaled", v->scaled);
    set_number(j, "scaled_limit", v->scaled_limit);
    set_int(j, "elements", v->elements);
    set_int(j, "mismatches", v->mismatches);
    json_object_set_new(j, "deterministic", json_boolean(v->deterministic));
    json_object_set_new(j, "detail", record_string(v->detail));
    return j;
}

static json_t *resources_to_json(const struct resources *s)
{
    json_t *j = json_object();
    set_int(j, "registers", s->registers);
    set_int(j, "local_bytes", s->local_bytes);
    set_int(j, "shared_static", s->shared_static);
    set_int(j, "shared_dynamic", s->shared_dynamic);
    set_number(j, "occupancy", s->occupancy);
    return j;
}

static json_t *telemetry_to_json(const struct telemetry *t)
{
    json_t *j = json_object();
    set_number(j, "sm_mhz", t->sm_mhz);
    set_number(j, "mem_mhz", t->mem_mhz);
    set_number(j, "power_w", t->power_w);
    set_number(j, "temperature_c", t->temperature_c);
    set_number(j, "sm_mhz_low", t->sm_mhz_low);
    set_int(j, "throttle_reasons", (int64_t)t->throttle_reasons);
    json_object_set_new(j, "throttle_known", json_boolean(t->throttle_known));
    return j;
}

static json_t *stage_to_json(const struct stage_seconds *s)
{
    json_t *j = json_object();
    set_number(j, "compile", s->compile);
    set_number(j, "load", s->load);
    set_number(j, "verify", s->verify);
    set_number(j, "measure", s->measure);
    json_object_set_new(j, "compile_cached", json_boolean(s->compile_cached));
    return j;
}

json_t *result_to_json(const struct result *r)
{
    json_t *j = json_object();
    json_object_set_new(j, "outcome", json_string(outcome_name(r->outcome)));
    json_object_set_new(j, "reason", record_string(r->reason));
    set_number(j, "time_ms", r->time_ms);
    json_object_set_new(j, "samples", samples_to_json(&r->samples));
    json_object_set_new(j, "verification", verification_to_json(&r->verification));
    json_object_set_new(j, "resources", resources_to_json(&r->resources));
    json_object_set_new(j, "telemetry", telemetry_to_json(&r->telemetry));
    json_object_set_new(j, "stage", stage_to_json(&r->stage));
    return j;
}

static void read_samples(struct record *r, struct samples *s)
{
    int regime = 0;
    record_name(r, "regime", regime_parse, &regime);
    s->regime = (enum regime)regime;
    record_double(r, "median", &s->median);
    record_double(r, "low", &s->low);
    record_double(r, "high", &s->high);
    record_int32(r, "batch", 0, INT_MAX, &s->batch);
    record_bool(r, "graph", &s->graph);
    record_double(r, "energy_mj", &s->energy_mj);
    record_int32(r, "energy_launches", 0, INT_MAX, &s->energy_launches);
    const json_t *ms = record_array(r, "ms"), *throttled = record_array(r, "throttled");
    size_t n = json_array_size(ms);
    if (!ms || !throttled || n == 0)
        return;
    if (n > INT_MAX / 8) {
        record_fail(r, "ms", "fewer samples");
        return;
    }
    s->ms = mem_zalloc(n, sizeof *s->ms);
    s->count = s->cap = (int)n;
    for (size_t i = 0; i < n; i++)
        if (!record_number_read(json_array_get(ms, i), &s->ms[i]))
            record_fail(r, "ms", "numbers");
    if (json_array_size(throttled) > 0)
        s->throttled = mem_zalloc(n, sizeof *s->throttled);
    for (size_t i = 0; i < json_array_size(throttled); i++) {
        json_int_t at = json_integer_value(json_array_get(throttled, i));
        if (at < 0 || at >= (json_int_t)n)
            record_fail(r, "throttled", "places of samples");
        else
            s->throttled[at] = true;
    }
}

static void read_verification(struct record *r, struct verification *v)
{
    record_bool(r, "done", &v->done);
    record_text(r, "reference", v->reference, sizeof v->reference);
    record_uint64(r, "seed", &v->seed);
    record_double(r, "max_abs", &v->max_abs);
    record_double(r, "max_rel", &v->max_rel);
    record_double(r, "frobenius", &v->frobenius);
    record_double(r, "frobenius_limit", &v->frobenius_limit);
    record_double(r, "scaled", &v->scaled);
    record_double(r, "scaled_limit", &v->scaled_limit);
    record_int(r, "elements", 0, INT64_MAX, &v->elements);
    record_int(r, "mismatches", 0, INT64_MAX, &v->mismatches);
    record_bool(r, "deterministic", &v->deterministic);
    record_text(r, "detail", v->detail, sizeof v->detail);
}

static void read_resources(struct record *r, struct resources *s)
{
    record_int32(r, "registers", 0, INT_MAX, &s->registers);
    record_int32(r, "local_bytes", -1, INT_MAX, &s->local_bytes);
    record_int32(r, "shared_static", -1, INT_MAX, &s->shared_static);
    record_int32(r, "shared_dynamic", -1, INT_MAX, &s->shared_dynamic);
    record_double(r, "occupancy", &s->occupancy);
}

static void read_telemetry(struct record *r, struct telemetry *t)
{
    record_double(r, "sm_mhz", &t->sm_mhz);
    record_double(r, "mem_mhz", &t->mem_mhz);
    record_double(r, "power_w", &t->power_w);
    record_double(r, "temperature_c", &t->temperature_c);
    record_double(r, "sm_mhz_low", &t->sm_mhz_low);
    record_uint64(r, "throttle_reasons", &t->throttle_reasons);
    record_bool(r, "throttle_known", &t->throttle_known);
}

static void read_stage(struct record *r, struct stage_seconds *s)
{
    record_double(r, "compile", &s->compile);
    record_double(r, "load", &s->load);
    record_double(r, "verify", &s->verify);
    record_double(r, "measure", &s->measure);
    record_bool(r, "compile_cached", &s->compile_cached);
}

status result_from_json(const json_t *j, struct result *out, struct err *e)
{
    struct result new;
    struct record r, sub;
    int outcome = OUTCOME_skipped;
    result_init(&new);
    record_open(&r, j, "result", e);
    record_name(&r, "outcome", outcome_parse, &outcome);
    new.outcome = (enum outcome)outcome;
    record_text(&r, "reason", new.reason, sizeof new.reason);
    record_double(&r, "time_ms", &new.time_ms);
    record_sub(&r, "samples", &sub);
    read_samples(&sub, &new.samples);
    record_close(&r, &sub);
    record_sub(&r, "verification", &sub);
    read_verification(&sub, &new.verification);
    record_close(&r, &sub);
    record_sub(&r, "resources", &sub);
    read_resources(&sub, &new.resources);
    record_close(&r, &sub);
    record_sub(&r, "telemetry", &sub);
    read_telemetry(&sub, &new.telemetry);
    record_close(&r, &sub);
    record_sub(&r, "stage", &sub);
    read_stage(&sub, &new.stage);
    record_close(&r, &sub);
    if (r.failed)
        result_free(&new);
    else
        *out = new;
    return r.failed;
}
