/* evaluate.c: open the pipeline, verify, time, close; type every failure. Invariants: a result that says ok was
 * verified (unless the pipeline's output is not the problem's) and has a finite, positive time if one was asked for;
 * what is timed runs on the timed inputs, never on the check inputs. */
#include "trial/evaluate.h"
#include "base/clock.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A failed operation's error as the trial's outcome. */
static void take_fault(struct bench *b, const struct err *from, struct result *out)
{
    switch (b->ops->fault(b->dev)) {
    case DEV_FAULT_RESOURCES: out->outcome = OUTCOME_resources; break;
    case DEV_FAULT_LOST:            /* there is no outcome for it: health.c tells it from a candidate's own */
    case DEV_FAULT_CRASH: out->outcome = OUTCOME_crash; break;
    default: out->outcome = OUTCOME_launch; break;
    }
    snprintf(out->reason, sizeof out->reason, "%.1590s", from->text);
}

static bool is_timed(enum outcome o) { return o == OUTCOME_ok || o == OUTCOME_inaccurate; }

/* Verifies on the check inputs, if there are any, and then on those that are timed; what is wrong on the first needs no
 * second. on_check: what the first found, `ok` if there was none. */
static status verify(struct bench *b, struct pipeline *p, struct result *on_check, struct result *out, bool *damaged,
                     struct err *e)
{
    static const char where[] = "on the check inputs: ";
    if (!b->setup.check) return verify_pipeline(b, p, out, damaged, e);
    status s = bench_use(b, &b->check, e);
    if (!s) s = verify_pipeline(b, p, out, damaged, e);
    if (*out->reason) {
        memmove(out->reason + sizeof where - 1, out->reason, sizeof out->reason - sizeof where);
        memcpy(out->reason, where, sizeof where - 1);
        out->reason[sizeof out->reason - 1] = 0;
    }
    if (s || *damaged) return s;
    s = bench_use(b, &b->timed, e);
    if (s || out->outcome == OUTCOME_wrong) return s;
    *on_check = *out;
    out->outcome = OUTCOME_ok;
    *out->reason = 0;
    return verify_pipeline(b, p, out, damaged, e);
}

static bool is_right(const struct verification *v)      /* NOTE: written so that a NaN is not */
{
    return !v->mismatches && (!(v->frobenius_limit > 0) || v->frobenius <= v->frobenius_limit);
}

/* The result on the timed inputs and that on the check inputs as one: right is what is right on both. The verification
 * that is kept is that on the check inputs, so that errors of one campaign are of the same inputs and can be compared;
 * unless only the other says why the result is not right. */
static void join(const struct result *on_check, struct result *out)
{
    bool deterministic = out->verification.deterministic && on_check->verification.deterministic;
    if (out->outcome == OUTCOME_wrong || !on_check->verification.done) return;
    if (is_timed(out->outcome) && on_check->outcome != OUTCOME_ok) {
        out->outcome = on_check->outcome;
        memcpy(out->reason, on_check->reason, sizeof out->reason);
    }
    if (is_right(&out->verification) || !is_right(&on_check->verification))
        out->verification = on_check->verification;
    out->verification.deterministic = deterministic;
}

/* With other scalars. What is timed comes first: one that cannot win is not worth another run. */
static status verify_scalars(struct bench *b, struct pipeline *p, const struct evaluation *v, struct result *out,
                             bool *damaged, struct err *e)
{
    if (!v->verify || !v->varied.nsteps || !b->varies || *damaged || !is_timed(out->outcome)) return LATHE_OK;
    if (v->measure && measure_is_hopeless(&out->samples, &v->options)) return LATHE_OK;
    double start = clock_seconds();
    status s = bench_use(b, &b->varied, e);
    if (!s) s = pipeline_arguments(p, &v->varied, e);
    if (!s) s = verify_varied(b, p, out, damaged, e);
    status back = bench_use(b, &b->timed, s ? NULL : e);
    if (!s && out->outcome == OUTCOME_wrong && !v->measure_inexact) out->time_ms = NAN;
    out->stage.verify += clock_seconds() - start;
    return s ? s : back;
}

static status run_open(struct bench *b, struct pipeline *p, const struct evaluation *v, struct result *out,
                       bool *damaged, struct err *e)
{
    double start = clock_seconds();
    struct result on_check = {.outcome = OUTCOME_ok};
    status s = pipeline_resources(p, &out->resources, e);
    out->outcome = OUTCOME_ok;
    if (!s && v->verify) s = verify(b, p, &on_check, out, damaged, e);
    if (!s && !v->verify) {
        s = bench_use(b, &b->timed, e);
        if (!s) s = bench_poison_outputs(b, GARBAGE_NAN, e);
        if (!s) s = pipeline_poison(p, GARBAGE_NAN, e);
        if (!s) s = pipeline_run(p, e);
        if (!s) s = b->ops->sync(b->dev, e);
    }
    if (!s && v->endure_seconds > 0 && out->outcome == OUTCOME_ok)
        s = verify_endurance(b, p, v->endure_seconds, out, damaged, e);
    out->stage.verify = clock_seconds() - start;
    bool timed = is_timed(out->outcome) || (out->outcome == OUTCOME_wrong && v->measure_inexact && !*damaged);
    if (s || !timed || !v->measure) {
        if (!s) join(&on_check, out);
        return s ? s : verify_scalars(b, p, v, out, damaged, e);
    }
    start = clock_seconds();
    bool exact = v->checked && !v->measure_inexact;
    struct measure_options options = v->options;
    options.check_each = exact;
    s = measure_pipeline(b, p, &options, out, e);
    /* Every timed run began with NaN in the outputs: work that was skipped, or stopped, is seen here, and so is what
     * was done to other memory meanwhile. */
    if (!s && exact) s = verify_later_run(b, p, AFTER_TIMED_RUN, out, e);
    if (!s) s = verify_memory(b, p, out, damaged, e);
    if (!s && out->outcome == OUTCOME_wrong && exact) out->time_ms = NAN;
    if (!s) join(&on_check, out);
    out->stage.measure = clock_seconds() - start;
    return s ? s : verify_scalars(b, p, v, out, damaged, e);
}

bool evaluate(struct bench *b, const struct evaluation *v, struct result *out)
{
    result_init(out);
    struct pipeline p;
    const char *stage = "";
    double start = clock_seconds();
    struct err e = {0};
    bool damaged = false;
    status s = pipeline_open(b->ops, b->dev, &v->plan, v->image, b->address, NULL, &p, &stage, &e);
    bool opened = !s;
    out->stage.load = clock_seconds() - start;
    if (opened) s = run_open(b, &p, v, out, &damaged, &e);
    if (s) {
        if (!opened && v->image && !strcmp(stage, "load")) err_prefix(&e, "loading %s", v->image);
        take_fault(b, &e, out);
    }
    bool lost = out->outcome == OUTCOME_crash;
    if (opened && !lost) pipeline_close(&p);
    if (!is_timed(out->outcome) && out->outcome != OUTCOME_wrong) out->time_ms = NAN;
    return !lost && !damaged;
}

double evaluation_own_seconds(const struct evaluation *v)
{
    const struct measure_options *o = &v->options;
    const double endure = v->verify ? 2 * v->endure_seconds : 0;    /* its last burst is as long as those before */
    if (!v->measure) return endure;
    switch (o->regime) {
    case REGIME_COLD: return endure + (1 + o->retakes) * o->idle_seconds + o->retakes * o->cool_seconds;
    case REGIME_SUSTAINED: return endure + o->run_seconds;
    default:                            /* single runs, then perhaps batches */
        return endure + 2 * (o->max_seconds + o->retakes * o->cool_seconds) + o->energy_seconds;
    }
}

/* --- messages --- */

json_t *measure_options_to_json(const struct measure_options *o)
{
    json_t *j =
        json_pack("{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:i, s:i, s:f, s:f, s:b, s:f, s:i, s:f}", "regime",
                  regime_name(o->regime), "min_samples", o->min_samples, "max_samples", o->max_samples, "max_seconds",
                  o->max_seconds, "interval", o->interval, "unstable_above", o->unstable_above, "hopeless", o->hopeless,
                  "idle_seconds", o->idle_seconds, "launches", o->launches, "skip", o->skip, "run_seconds",
                  o->run_seconds, "batch_below_ms", o->batch_below_ms, "batches", (int)o->batches, "cool_seconds",
                  o->cool_seconds, "retakes", o->retakes, "energy_seconds", o->energy_seconds);
    json_object_set_new(j, "incumbent_ms", isfinite(o->incumbent_ms) ? json_real(o->incumbent_ms) : json_null());
    return j;
}

status measure_options_from_json(const json_t *j, struct measure_options *o, struct err *e)
{
    memset(o, 0, sizeof *o);
    const char *regime;
    int batches;
    json_t *incumbent;
    json_error_t je;
    if (json_unpack_ex((json_t *)j, &je, 0,
                       "{s:s, s:i, s:i, s:F, s:F, s:F, s:F, s:F, s:i, s:i, s:F, s:F, s:b, s:F, s:i, s:F, s:o}",
                       "regime", &regime, "min_samples", &o->min_samples, "max_samples", &o->max_samples, "max_seconds",
                       &o->max_seconds, "interval", &o->interval, "unstable_above", &o->unstable_above, "hopeless",
                       &o->hopeless, "idle_seconds", &o->idle_seconds, "launches", &o->launches, "skip", &o->skip,
                       "run_seconds", &o->run_seconds, "batch_below_ms", &o->batch_below_ms, "batches", &batches,
                       "cool_seconds", &o->cool_seconds, "retakes", &o->retakes, "energy_seconds", &o->energy_seconds,
                       "incumbent_ms", &incumbent))
        return err_set(e, LATHE_INTERNAL, "measuring options: %s", je.text);
    o->batches = batches;
    for (int r = 0; r < REGIME_COUNT; r++)
        if (!strcmp(regime, regime_name((enum regime)r))) o->regime = (enum regime)r;
    o->incumbent_ms = json_is_number(incumbent) ? json_number_value(incumbent) : NAN;
    return LATHE_OK;
}

json_t *evaluation_to_json(const struct evaluation *v)
{
    return json_pack("{s:o, s:o, s:s*, s:b, s:b, s:b, s:b, s:f, s:o}", "plan", plan_to_json(&v->plan), "varied",
                     plan_to_json(&v->varied), "image", v->image, "verify", v->verify, "checked", v->checked, "measure",
                     v->measure, "measure_inexact", v->measure_inexact, "endure_seconds", v->endure_seconds, "options",
                     measure_options_to_json(&v->options));
}

status evaluation_from_json(const json_t *j, struct evaluation *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    json_t *plan, *varied, *options;
    const char *image = NULL;
    int verify, checked, measure, inexact;
    json_error_t je;
    if (json_unpack_ex((json_t *)j, &je, 0, "{s:o, s:o, s?s, s:b, s:b, s:b, s:b, s:F, s:o}", "plan", &plan, "varied",
                       &varied, "image", &image, "verify", &verify, "checked", &checked, "measure", &measure,
                       "measure_inexact", &inexact, "endure_seconds", &out->endure_seconds, "options", &options))
        return err_set(e, LATHE_INTERNAL, "evaluation message: %s", je.text);
    status s = plan_from_json(plan, &out->plan, e);
    if (!s) s = plan_from_json(varied, &out->varied, e);
    if (!s) s = measure_options_from_json(options, &out->options, e);
    out->image = mem_strdup(image);
    out->verify = verify;
    out->checked = checked;
    out->measure = measure;
    out->measure_inexact = inexact;
    if (s) evaluation_free(out);
    return s;
}

void evaluation_free(struct evaluation *v)
{
    plan_free(&v->plan);
    plan_free(&v->varied);
    mem_free(v->image);
    memset(v, 0, sizeof *v);
}
