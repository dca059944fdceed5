/* trials.c: configurations through their stages.
 *
 * A trial is: begun (a row in the store, its compile job queued) -> ready (image there) -> running (on the device) ->
 * ended (stored, reported). At most `window` are begun and not ended, so a batch of a million costs no more memory than
 * one of ten. Trials run on the device in the order of their numbers among those ready. */
#include "base/clock.h"
#include "base/mem.h"
#include "campaign/jobs.h"
#include "campaign/trial_impl.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

struct run {
    struct campaign *c;
    struct trial *first, *last; /* begun and not yet closed, by number */
    int count;
};

/* --- stages --- */

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
    health_note(t->device, t->number, r->outcome);
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

static void set_out(struct trial *t)
{
    if (t->entrant->source)
        queue_compile(t);
    else
        t->state = TRIAL_READY;
}

static status begin(struct run *run, const struct batch_item *item, struct err *e)
{
    struct campaign *c = run->c;
    const struct kernel *k = item->entrant->kernel;
    struct trial *t = mem_zalloc(1, sizeof *t);
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
    t->number = item->space < 0 ? item->number : c->next_number++;
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
    if (run->last)
        run->last->next = t;
    else
        run->first = t;
    run->last = t;
    run->count++;
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
        set_out(t);
    if (t->state != TRIAL_ENDED) campaign_vary(c, k, t->slots, &t->evaluation);
    return LATHE_OK;
done:
    trial_free(t);
    return s;
}

/* Where all that was begun is held, the first of it goes on, alone. */
static void release_held(struct run *run)
{
    for (struct trial *t = run->first; t; t = t->next)
        if (t->state != TRIAL_HELD) return;
    if (run->first) set_out(run->first);
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
static status start_on(struct pool_device *d, struct trial *t, struct err *e)
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

static status start_next(struct run *run, struct pool_device *d, struct err *e)
{
    if (d->gone || d->checking || d->retimed || executor_busy(d->executor)) return LATHE_OK;
    for (struct trial *t = run->first; t; t = t->next)
        if (t->state == TRIAL_READY && (!t->only || t->only == d)) return start_on(d, t, e);
    return LATHE_OK;
}

/* Every device has work, is being checked, or there is none for it. */
static status turn_devices(struct run *run, bool search, struct err *e)
{
    struct campaign *c = run->c;
    status s = devices_settle(c, e);
    for (int i = 0; i < c->ndevices && !s; i++) {
        s = health_check(&c->devices[i], e);
        if (!s && search) s = drift_check(&c->devices[i], e);
        if (!s) s = start_next(run, &c->devices[i], e);
    }
    for (struct trial *t = run->first; t && !s; t = t->next)
        if (t->state == TRIAL_READY && t->only && t->only->gone)
            trial_end_as(t, OUTCOME_skipped, "its device was taken out");
    return s;
}

/* --- the end of trials --- */

/* Stores, reports and frees what has ended, in any order. */
static status reap(struct run *run, struct err *e)
{
    struct trial **at = &run->first, *previous = NULL;
    while (*at) {
        struct trial *t = *at;
        if (t->state != TRIAL_ENDED) {
            previous = t;
            at = &t->next;
            continue;
        }
        bool candidate = t->number > 0;
        status s = trial_close(t, e);
        if (!s && candidate) s = campaign_search_passed(run->c, e);
        if (s) return s;
        *at = t->next;
        if (run->last == t) run->last = previous;
        trial_free(t);
        run->count--;
    }
    return LATHE_OK;
}

/* Ends what has not reached the device; what runs there is waited for, unless the user interrupts. */
static void cut(struct run *run, bool everything)
{
    struct campaign *c = run->c;
    compile_farm_cancel(c->farm);
    if (everything) devices_cancel(c);
    for (struct trial *t = run->first; t; t = t->next) {
        if (t->state <= TRIAL_READY || (everything && t->state == TRIAL_RUNNING))
            trial_end_as(t, OUTCOME_skipped, "the campaign ended first");
    }
}

static void count_stages(struct run *run)
{
    struct campaign_progress *p = &run->c->progress;
    p->compiling = p->running = 0;
    for (struct trial *t = run->first; t; t = t->next) {
        p->compiling += t->state == TRIAL_COMPILING;
        p->running += t->state == TRIAL_RUNNING;
    }
}

/* --- batches --- */

/* A slot for a configuration: the old one if it was proposed before (*fresh false). */
static int64_t slot_for(struct campaign *c, const struct batch_item *item, bool *fresh)
{
    int64_t slot = item->index >= 0 ? memo_find(&c->memo, item->space, (uint64_t)item->index) : -1;
    *fresh = slot < 0;
    if (slot >= 0) return slot;
    MEM_GROW(c->known, c->nknown, c->cap_known);
    slot = c->nknown++;
    c->known[slot] = (struct known){.answer = {.outcome = OUTCOME_skipped, .value = NAN}};
    if (item->index >= 0) memo_put(&c->memo, item->space, (uint64_t)item->index, slot);
    return slot;
}

static bool budget_left(const struct campaign *c, const struct run *run)
{
    const struct campaign_progress *p = &c->progress;
    return !p->budget_trials || p->trials + run->count < p->budget_trials;
}

static int window(const struct campaign *c) { return 2 * (c->request->compile_workers + c->ndevices); }

static status begin_more(struct run *run, struct batch_item *items, int count, int *next, struct err *e)
{
    struct campaign *c = run->c;
    while (*next < count && run->count < window(c) && !campaign_must_stop(c)) {
        struct batch_item *item = &items[*next];
        bool baseline = item->space < 0, fresh = true;
        item->slot = -1;
        if (!baseline && !budget_left(c, run)) {
            /* the rest may still be answered from what is known */
            item->slot = item->index >= 0 ? memo_find(&c->memo, item->space, (uint64_t)item->index) : -1;
            ++*next;
            continue;
        }
        if (!baseline) item->slot = slot_for(c, item, &fresh);
        status s = fresh ? begin(run, item, e) : LATHE_OK;
        if (s) return s;
        ++*next;
    }
    return LATHE_OK;
}

status trials_run(struct campaign *c, struct batch_item *items, int count, struct err *e)
{
    struct run run = {.c = c};
    int next = 0;
    bool stopping = false;
    status s = LATHE_OK;
    for (;;) {
        if (!stopping && campaign_must_stop(c)) {
            stopping = true;
            cut(&run, c->interrupted);
        }
        if (stopping && c->interrupted) cut(&run, true);
        if (!stopping) s = begin_more(&run, items, count, &next, e);
        if (s) break;
        if (next >= count || run.count >= window(c)) release_held(&run);
        s = turn_devices(&run, count && !items->entrant->kernel->baseline, e);
        if (s) break;
        count_stages(&run);
        s = reap(&run, e);
        if (s || (!run.first && (stopping || next >= count) && !devices_busy(c))) break;
        bool waiting = compile_farm_pending(c->farm) || devices_busy(c);
        if (waiting) uv_run(&c->loop, UV_RUN_ONCE);
    }
    if (s) {                    /* the store failed: what is left has no row to go to */
        compile_farm_cancel(c->farm);
        devices_cancel(c);
    }
    for (struct trial *t = run.first, *after; t; t = after) {
        after = t->next;
        trial_free(t);
    }
    for (int i = next; i < count; i++) items[i].slot = -1;
    c->progress.compiling = c->progress.running = 0;
    if (!s && c->err.code) {
        *e = c->err;
        return e->code;
    }
    return s;
}
