/* trials.c: one configuration through its stages: begun (a row in the store, its compile job queued) -> ready (image
 * there) -> running (on the device) -> ended (trial_end.c). */
#include "base/clock.h"
#include "base/mem.h"
#include "campaign/jobs.h"
#include "campaign/trial_impl.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static void emit(struct trial *t, enum campaign_event_kind kind)
{
    struct campaign_event ev = {.kind = kind, .trial = t->id, .number = t->number, .kernel = t->entrant->kernel,
                                .config = t->text, .result = &t->result};
    campaign_emit(t->c, &ev);
}

/* A launch that does not fit its kernel is a mistake in the specification: the campaign ends with it. */
static void refused(struct trial *t, const struct compile_answer *a)
{
    struct err why = {0};
    status s = job_refused(t->c->problem, t->entrant->kernel, a, &why);
    trial_end_as(t, OUTCOME_compile, s ? why.text : a->text);
    if (s && !t->c->err.code) t->c->err = why;
}

static void on_compiled(void *ctx, const struct compile_answer *a)
{
    struct trial *t = ctx;
    t->compile_seconds = a->seconds;
    t->compile_cached = a->cached;
    switch (a->end) {
    case COMPILE_DONE:
        t->evaluation.image = mem_strdup(a->image);
        t->state = TRIAL_READY;
        t->result.stage.compile = a->seconds;
        t->result.stage.compile_cached = a->cached;
        emit(t, CAMPAIGN_COMPILED);
        return;
    case COMPILE_REFUSED: refused(t, a); return;
    case COMPILE_TIMED_OUT: trial_end_as(t, OUTCOME_timeout, a->text); return;
    case COMPILE_CRASHED: trial_end_as(t, OUTCOME_compile, a->text); return;
    case COMPILE_FAILED:
        trial_end_as(t, OUTCOME_skipped, a->text);
        if (!t->c->err.code) err_set(&t->c->err, LATHE_COMPILER, "%s", a->text);
        return;
    }
}

static void queue_compile(struct trial *t)
{
    struct compile_job job;
    struct err e = {0};
    if (job_make(t->c->problem, t->entrant->kernel, t->entrant->source, t->slots, &job, &e)) {
        trial_end_as(t, OUTCOME_compile, e.text);
        return;
    }
    t->state = TRIAL_COMPILING;
    compile_farm_add(t->c->farm, &job, on_compiled, t);
    job_free(&job);
}

static void on_evaluated(void *ctx, const struct result *r, const char *text)
{
    struct trial *t = ctx;
    t->device_seconds += clock_seconds() - t->on_device;
    if (!r) {                   /* another device may have it */
        if (!t->device->lost) t->device->lost = mem_strdup(text);
        t->state = TRIAL_READY;
        return;
    }
    /* A cached image that does not load may be damaged, or another lathe has made room meanwhile: it is made again,
     * once. */
    bool remake = !t->retried && t->evaluation.image && (t->compile_cached || !file_exists(t->evaluation.image));
    if (r->outcome == OUTCOME_launch && remake && !strncmp(r->reason, "loading ", 8)) {
        t->retried = true;
        unlink(t->evaluation.image);
        mem_free(t->evaluation.image);
        t->evaluation.image = NULL;
        queue_compile(t);
        return;
    }
    /* A campaign without its baseline has no speed-ups; its worker may have been killed from outside. */
    if (r->outcome == OUTCOME_crash && t->entrant->kernel->baseline && !t->retried) {
        t->retried = true;
        t->state = TRIAL_READY;
        return;
    }
    health_note(t->device, t->id, r->outcome);
    result_free(&t->result);
    t->result = *r;
    struct samples *s = &t->result.samples;
    s->ms = NULL;               /* r is borrowed */
    s->throttled = NULL;
    s->count = s->cap = 0;
    samples_append(s, &r->samples);
    t->state = TRIAL_ENDED;
    if (r->outcome != OUTCOME_timeout || t->limit >= t->c->time_limit) return;
    char *reason = mem_printf("%s (--give-up %d: far longer than the best so far took)", r->reason,
                              t->c->request->give_up);
    trial_end_as(t, OUTCOME_timeout, reason);
    mem_free(reason);
}

void trial_set_out(struct trial *t)
{
    if (t->entrant->source)
        queue_compile(t);
    else
        t->state = TRIAL_READY;
}

status trial_begin(struct campaign *c, const struct trial_item *item, struct trial **out, struct err *e)
{
    const struct kernel *k = item->entrant->kernel;
    struct trial *t = mem_zalloc(1, sizeof *t);
    *out = NULL;
    t->c = c;
    t->entrant = item->entrant;
    t->slot = item->slot;
    t->only = item->device;
    t->begun = clock_seconds();
    t->choice = config_copy(k, item->choice);
    result_init(&t->result);
    status s = campaign_slots(c, k, t->choice, &t->slots, e);
    if (s) goto done;
    struct strbuf text = {0};
    config_print(&text, k, t->slots, t->choice);
    t->text = sb_take(&text);
    t->number = k->baseline ? item->number : c->next_number++;
    bool over;
    s = trial_recall(t, &over, e);
    if (s || over) goto done;
    struct trial_record record = {.campaign = c->id, .number = t->number, .kernel = k, .slots = t->slots,
                                  .choice = t->choice, .image_key = ""};
    double start = clock_seconds();
    if (!t->id) s = store_trial_begin(c->store, &record, &t->id, e);
    if (s) goto done;
    c->store_seconds += clock_seconds() - start;
    t->strategy_seconds = k->baseline ? NAN : c->strategy_seconds;
    if (!k->baseline) c->strategy_seconds = 0;
    *out = t;
    if (t->state == TRIAL_ENDED) return LATHE_OK;
    emit(t, CAMPAIGN_PROPOSED);
    struct err own = {0};
    t->evaluation.verify = t->evaluation.checked = k->checked;
    t->evaluation.measure = true;
    t->evaluation.measure_inexact = k->baseline;
    if (item->why)
        trial_end_as(t, OUTCOME_constraint, item->why);
    else if (plan_build(c->problem, k, t->slots, &t->evaluation.plan, &own))
        trial_end_as(t, OUTCOME_launch, own.text);
    else if (t->suspect)
        t->state = TRIAL_HELD;
    else
        trial_set_out(t);
    if (t->state != TRIAL_ENDED) campaign_vary(c, k, t->slots, &t->evaluation);
    return LATHE_OK;
done:
    trial_free(t);
    return s;
}

/* Seconds that it may take: what never ends, or is far from the best, is not to cost the whole limit. */
static double limit_of(const struct trial *t)
{
    const double GIVE_UP_LEAST = 2;     /* verifying takes its time, however short a run is */
    const struct campaign *c = t->c;
    bool known = isfinite(c->best_seconds) && !t->entrant->kernel->baseline;
    if (!known || c->request->give_up < 1) return c->time_limit;
    return fmin(c->time_limit, fmax(GIVE_UP_LEAST, c->request->give_up * c->best_seconds));
}

/* NOTE: the store knows which trial is on which device before it is: if the machine goes down, it is a suspect. */
status trial_start(struct trial *t, struct pool_device *d, struct err *e)
{
    struct campaign *c = t->c;
    double start = clock_seconds();
    status s = t->device == d ? LATHE_OK : store_trial_runs(c->store, t->id, d->position, e);
    if (s) return s;
    c->store_seconds += clock_seconds() - start;
    t->device = d;
    t->state = TRIAL_RUNNING;
    t->evaluation.options = campaign_trial_options(c);
    t->on_device = clock_seconds();
    t->limit = limit_of(t);
    executor_evaluate(d->executor, &t->evaluation, t->limit, on_evaluated, t);
    return LATHE_OK;
}
