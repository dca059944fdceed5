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

/* One launch. Registers and static shared memory are the pipeline's largest: of several launches this is the least that
 * it may have, and none says nothing. */
static json_t *launch(const struct plan_step *s, const json_t *trial, const struct target *target, bool several)
{
    int64_t blocks = (int64_t)s->grid[0] * s->grid[1] * s->grid[2];
    int threads = (int)(s->block[0] * s->block[1] * s->block[2]);
    const json_t *registers = json_object_get(trial, "registers"), *shared = json_object_get(trial, "shared_bytes");
    struct occupancy o;
    json_t *out = json_pack("{s:s, s:I, s:i, s:I}", "function", s->function, "blocks", (json_int_t)blocks, "threads",
                            threads, "shared_bytes", (json_int_t)s->shared);
    bool gpu = json_is_integer(registers) &&
               occupancy_of(target, threads, (int)json_integer_value(registers), json_integer_value(shared), &o) &&
               (o.blocks > 0 || !several);
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
    int n = 0;
    for (int i = 0; plan && i < plan->nsteps; i++)
        n += plan->steps[i].kind == STEP_LAUNCH;
    for (int i = 0; plan && i < plan->nsteps; i++)
        if (plan->steps[i].kind == STEP_LAUNCH)
            json_array_append_new(list, launch(&plan->steps[i], trial, target, n > 1));
    return list;
}

/* c: after the trial's rate was put to it. */
static json_t *roofline(const json_t *trial, const struct ceiling *c, const struct target *target,
                        const json_t *campaign)
{
    double flops = number(campaign, "flops"), bytes = number(campaign, "bytes");
    double peak = c->tflops > 0 ? c->tflops : NAN, single = c->unit_tflops > 0 ? c->unit_tflops : NAN;
    double floats = target->peak_tflops_f32 > 0 ? target->peak_tflops_f32 : NAN;
    double bandwidth = target->peak_gbps > 0 ? target->peak_gbps : NAN;
    double intensity = flops / bytes, roof = intensity * bandwidth / 1000;
    double tflops = number(trial, "tflops"), gbps = number(trial, "gbps");
    bool known_unit = c->from != CEILING_UNKNOWN, both = isfinite(roof) && isfinite(peak);
    json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o}", "flops", known(flops), "bytes", known(bytes), "intensity",
                            known(intensity), "unit",
                            known_unit ? json_string(unit_name(c->unit)) : json_null(), "products",
                            known_unit ? json_real(c->products) : json_null());
    json_object_set_new(out, "unit_from", json_string(ceiling_from_name(c->from)));
    json_object_set_new(out, "unit_tflops", known(single));
    json_object_set_new(out, "f32_tflops", known(floats));
    json_object_set_new(out, "peak_tflops", known(peak));
    json_object_set_new(out, "peak_gbps", known(bandwidth));
    json_object_set_new(out, "bound", both ? json_string(roof < peak ? "memory" : "compute") : json_null());
    json_object_set_new(out, "of_peak", known(tflops / peak));
    json_object_set_new(out, "of_bandwidth", known(gbps / bandwidth));
    json_object_set_new(out, "of_roofline", known(both ? tflops / fmin(roof, peak) : NAN));
    return out;
}

static int by_time(const void *a, const void *b)
{
    double x = number(*(json_t *const *)a, "time_ms"), y = number(*(json_t *const *)b, "time_ms");
    x = isnan(x) ? HUGE_VAL : x;
    y = isnan(y) ? HUGE_VAL : y;
    return x < y ? -1 : x > y;
}

/* The configuration with another value of one of its parameters, as the database has it. */
static char *text_with(const struct kernel *k, const json_t *configuration, const struct param *changed,
                       struct value to)
{
    struct strbuf b = {0};
    sb_add(&b, "");
    for (int i = 0; i < k->nparams; i++) {
        const struct param *p = &k->params[i];
        struct value v;
        if (!value_from_json(json_object_get(configuration, p->name), &v))
            continue;           /* not active */
        sb_addf(&b, "%s%s=", b.len ? " " : "", p->name);
        value_print(&b, p == changed ? to : v);
    }
    return sb_take(&b);
}

/* text -> [parameter, from, to], of every configuration that differs in one parameter. One whose change makes another
 * parameter active or not has a text that no trial has. */
static json_t *changes_of(const struct kernel *k, const json_t *configuration)
{
    json_t *changes = json_object();
    for (int i = 0; i < k->nparams; i++) {
        const struct param *p = &k->params[i];
        json_t *from = json_object_get(configuration, p->name);
        struct value was;
        if (!value_from_json(from, &was))
            continue;
        for (int v = 0; v < p->nvalues; v++) {
            if (value_equal(p->values[v], was))
                continue;
            char *text = text_with(k, configuration, p, p->values[v]);
            json_object_set_new(changes, text, json_pack("[s, O, o]", p->name, from, value_to_json(p->values[v])));
            mem_free(text);
        }
    }
    return changes;
}

static json_t *keys_of(const json_t *object)
{
    json_t *keys = json_array(), *value;
    const char *key;
    json_object_foreach((json_t *)object, key, value)
        json_array_append_new(keys, json_string(key));
    return keys;
}

/* rows: of query_neighbours. */
static json_t *neighbours(const json_t *trial, const json_t *changes, const json_t *rows)
{
    size_t n = json_array_size(rows), count = 0;
    json_t **found = mem_zalloc(n + 1, sizeof *found), *list = json_array(), *row;
    double own = number(trial, "time_ms");
    for (size_t i = 0; i < n; i++) {
        row = json_array_get(rows, i);
        const json_t *change = json_object_get(changes, json_string_value(json_object_get(row, "text")));
        double ms = number(row, "time_ms");
        if (change)
            found[count++] =
                json_pack("{s:O, s:O, s:O, s:O, s:O, s:O, s:o, s:O}", "trial", json_object_get(row, "trial"), "parameter",
                          json_array_get(change, 0), "from", json_array_get(change, 1), "to", json_array_get(change, 2),
                          "outcome", json_object_get(row, "outcome"), "time_ms", json_object_get(row, "time_ms"),
                          "ratio", known(own > 0 && ms > 0 ? ms / own : NAN), "eligible",
                          json_object_get(row, "eligible"));
    }
    qsort(found, count, sizeof *found, by_time);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, found[i]);
    mem_free(found);
    return list;
}

status explain_make(struct query *q, const json_t *trial, const struct kernel *k, const struct plan *plan,
                    const struct ceiling *ceiling, const struct target *target, json_t **out, struct err *e)
{
    struct ceiling met = *ceiling;
    json_t *changes = changes_of(k, json_object_get(trial, "configuration")), *texts = keys_of(changes), *rows = NULL;
    struct query_neighbours asked = {
        .campaign = json_integer_value(json_object_get(trial, "campaign")), .kernel = k->name, .configurations = texts};
    status s = query_neighbours(q, &asked, &rows, e);
    ceiling_measured(&met, number(trial, "tflops"));
    if (!s)
        *out = json_pack("{s:O, s:o, s:o, s:o}", "trial", trial, "launches", launches(plan, trial, target), "roofline",
                         roofline(trial, &met, target, rows), "neighbours",
                         neighbours(trial, changes, json_object_get(rows, "trials")));
    json_decref(changes);
    json_decref(texts);
    json_decref(rows);
    return s;
}
