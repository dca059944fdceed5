/* explain.c: see explain.h. */
#include "report/explain.h"

#include "base/mem.h"
#include "report/occupancy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double number(const json_t *object, const char *key)
{
    const json_t *j = json_object_get(object, key);
    return json_is_number(j) ? json_number_value(j) : NAN;
}

static json_t *known(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *blocks_by(const struct occupancy *o)
{
    json_t *by = json_object();
    for (int l = 0; l < OCCUPANCY_LIMITS; l++)
        json_object_set_new(by, occupancy_limit_name((enum occupancy_limit)l), json_integer(o->by[l]));
    return by;
}

/* One launch. Registers and static shared memory are the pipeline's largest: of several launches this is the least that it
 * may have. */
static json_t *launch(const struct plan_step *s, const json_t *trial, const struct target *target)
{
    int64_t blocks = (int64_t)s->grid[0] * s->grid[1] * s->grid[2];
    int threads = (int)(s->block[0] * s->block[1] * s->block[2]);
    const json_t *registers = json_object_get(trial, "registers"), *shared = json_object_get(trial, "shared_bytes");
    struct occupancy o;
    json_t *out = json_pack("{s:s, s:I, s:i, s:I}", "function", s->function, "blocks", (json_int_t)blocks, "threads", threads,
                            "shared_bytes", (json_int_t)s->shared);
    bool gpu = json_is_integer(registers) &&
               occupancy_of(target, threads, (int)json_integer_value(registers), json_integer_value(shared), &o);
    json_object_set_new(out, "resident", gpu ? json_integer(o.blocks) : json_null());
    json_object_set_new(out, "limiter", gpu ? json_string(occupancy_limit_name(o.limiter)) : json_null());
    json_object_set_new(out, "blocks_by", gpu ? blocks_by(&o) : json_null());
    json_object_set_new(out, "occupancy", gpu ? json_real(o.share) : json_null());
    int64_t at_once = gpu ? o.blocks * target->limit[LIMIT_sm_count] : 0;
    json_object_set_new(out, "waves", at_once > 0 ? json_real((double)blocks / (double)at_once) : json_null());
    return out;
}

static json_t *launches(const struct plan *plan, const json_t *trial, const struct target *target)
{
    json_t *list = json_array();
    for (int i = 0; plan && i < plan->nsteps; i++)
        if (plan->steps[i].kind == STEP_LAUNCH)
            json_array_append_new(list, launch(&plan->steps[i], trial, target));
    return list;
}

static json_t *roofline(const json_t *trial, const struct target *target, const json_t *campaign)
{
    double flops = number(campaign, "flops"), bytes = number(campaign, "bytes");
    double peak = target->peak_tflops_f32 > 0 ? target->peak_tflops_f32 : NAN;
    double bandwidth = target->peak_gbps > 0 ? target->peak_gbps : NAN;
    double intensity = flops / bytes, roof = intensity * bandwidth / 1000;
    double tflops = number(trial, "tflops"), gbps = number(trial, "gbps");
    json_t *bound = isfinite(roof) && isfinite(peak) ? json_string(roof < peak ? "memory" : "compute") : json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "flops", known(flops), "bytes", known(bytes),
                     "intensity", known(intensity), "peak_tflops", known(peak), "peak_gbps", known(bandwidth), "bound", bound,
                     "of_peak", known(tflops / peak), "of_bandwidth", known(gbps / bandwidth), "of_roofline",
                     known(tflops / (roof < peak ? roof : isfinite(roof) ? peak : NAN)));
}

static json_t *at(const json_t *campaign, const char *key, size_t row)
{
    return json_array_get(json_object_get(json_object_get(campaign, "columns"), key), row);
}

static json_t *text_at(const json_t *campaign, const char *key, size_t row)
{
    return json_array_get(json_object_get(json_object_get(campaign, "texts"), key),
                          (size_t)json_integer_value(at(campaign, key, row)));
}

/* The value of a parameter at a row; null where it is not active. Borrowed, or a new null, so: new reference. */
static json_t *value_at(const json_t *parameter, size_t row)
{
    json_int_t place = json_integer_value(json_array_get(json_object_get(parameter, "column"), row));
    json_t *value = place < 0 ? NULL : json_array_get(json_object_get(parameter, "values"), (size_t)place);
    if (!value)
        return json_null();
    bool boolean = strcmp(json_string_value(json_object_get(parameter, "type")), "boolean") == 0;
    return boolean ? json_boolean(json_integer_value(value)) : json_incref(value);
}

/* The one parameter in which two rows differ; NULL: none, or several. */
static const json_t *difference(const json_t *campaign, size_t a, size_t b)
{
    const json_t *parameter, *found = NULL;
    size_t i;
    json_array_foreach(json_object_get(campaign, "parameters"), i, parameter)
    {
        const json_t *column = json_object_get(parameter, "column");
        if (json_equal(json_array_get(column, a), json_array_get(column, b)))
            continue;
        if (found)
            return NULL;
        found = parameter;
    }
    return found;
}

static int by_time(const void *a, const void *b)
{
    double x = number(*(json_t *const *)a, "time_ms"), y = number(*(json_t *const *)b, "time_ms");
    x = isnan(x) ? HUGE_VAL : x;
    y = isnan(y) ? HUGE_VAL : y;
    return x < y ? -1 : x > y;
}

static json_t *neighbours(const json_t *trial, const json_t *campaign)
{
    const json_t *ids = json_object_get(json_object_get(campaign, "columns"), "id");
    size_t n = json_array_size(ids), own = 0, count = 0;
    json_t **found = mem_zalloc(n + 1, sizeof *found), *list = json_array();
    while (own < n && !json_equal(json_array_get(ids, own), json_object_get(trial, "id")))
        own++;
    for (size_t i = 0; i < n && own < n; i++) {
        const json_t *p = i == own || !json_equal(at(campaign, "kernel", i), at(campaign, "kernel", own))
                              ? NULL : difference(campaign, own, i);
        if (!p || json_integer_value(at(campaign, "number", i)) <= 0)
            continue;
        double own_ms = json_number_value(at(campaign, "time_ms", own)), ms = json_number_value(at(campaign, "time_ms", i));
        found[count++] = json_pack("{s:O, s:O, s:o, s:o, s:O, s:O, s:o}", "trial", json_array_get(ids, i), "parameter",
                                   json_object_get(p, "name"), "from", value_at(p, own), "to", value_at(p, i), "outcome",
                                   text_at(campaign, "outcome", i), "time_ms", at(campaign, "time_ms", i), "ratio",
                                   known(own_ms > 0 && ms > 0 ? ms / own_ms : NAN));
    }
    qsort(found, count, sizeof *found, by_time);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, found[i]);
    mem_free(found);
    return list;
}

json_t *explain_make(const json_t *trial, const struct plan *plan, const struct target *target, const json_t *campaign)
{
    return json_pack("{s:O, s:o, s:o, s:o}", "trial", trial, "launches", launches(plan, trial, target), "roofline",
                     roofline(trial, target, campaign), "neighbours", neighbours(trial, campaign));
}
