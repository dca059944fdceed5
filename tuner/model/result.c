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

void result_init(struct result *r)
{
    *r = (struct result){.outcome = OUTCOME_skipped, .time_ms = NAN};
    r->stage.total = NAN;
    r->samples.median = r->samples.low = r->samples.high = NAN;
    r->verification.max_abs = r->verification.max_rel = r->verification.frobenius = NAN;
    r->verification.scaled = r->verification.scaled_limit = NAN;
    r->telemetry.sm_mhz = r->telemetry.mem_mhz = r->telemetry.power_w = r->telemetry.temperature_c = NAN;
}

void result_free(struct result *r)
{
    mem_free(r->samples.ms);
    r->samples.ms = NULL;
    r->samples.count = 0;
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
    json_t *j = json_object(), *ms = json_array();
    for (int i = 0; i < s->count; i++)
        json_array_append_new(ms, record_number(s->ms[i]));
    json_object_set_new(j, "regime", json_string(regime_name(s->regime)));
    json_object_set_new(j, "ms", ms);
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
    set_int(j, "throttle_reasons", (int64_t)t->throttle_reasons);
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
    const json_t *ms = record_array(r, "ms");
    size_t n = json_array_size(ms);
    if (!ms || n == 0)
        return;
    if (n > INT_MAX / 8) {
        record_fail(r, "ms", "fewer samples");
        return;
    }
    s->ms = mem_zalloc(n, sizeof *s->ms);
    s->count = (int)n;
    for (size_t i = 0; i < n; i++)
        if (!record_number_read(json_array_get(ms, i), &s->ms[i]))
            record_fail(r, "ms", "numbers");
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
    record_int32(r, "local_bytes", 0, INT_MAX, &s->local_bytes);
    record_int32(r, "shared_static", 0, INT_MAX, &s->shared_static);
    record_int32(r, "shared_dynamic", 0, INT_MAX, &s->shared_dynamic);
    record_double(r, "occupancy", &s->occupancy);
}

static void read_telemetry(struct record *r, struct telemetry *t)
{
    record_double(r, "sm_mhz", &t->sm_mhz);
    record_double(r, "mem_mhz", &t->mem_mhz);
    record_double(r, "power_w", &t->power_w);
    record_double(r, "temperature_c", &t->temperature_c);
    record_uint64(r, "throttle_reasons", &t->throttle_reasons);
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
