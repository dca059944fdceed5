/* stream.c: many trials at once, several compiling while each device runs one.
 *
 * At most `window` are begun and not ended, so a feed of a million costs no more memory than one of ten. A device that
 * is free takes the first by number of those that are ready, before anything else is done: whatever is asked of a
 * strategy meanwhile, it has work. */
#include "campaign/trial_impl.h"

struct run {
    struct campaign *c;
    struct trial *first, *last; /* begun and not yet closed, by number */
    int count;
};

static status start_next(struct run *run, struct pool_device *d, struct err *e)
{
    if (d->gone || d->checking || d->retimed || executor_busy(d->executor)) return LATHE_OK;
    for (struct trial *t = run->first; t; t = t->next)
        if (t->state == TRIAL_READY && (!t->only || t->only == d)) return trial_start(t, d, e);
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

/* Where all that was begun is held, the first of it goes on, alone. */
static void release_held(struct run *run)
{
    for (struct trial *t = run->first; t; t = t->next)
        if (t->state != TRIAL_HELD) return;
    if (run->first) trial_set_out(run->first);
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

/* --- all of it --- */

static int window(const struct campaign *c) { return 2 * (c->request->compile_workers + c->ndevices); }

/* *more: the feed has not said that it has none now. */
static status begin_more(struct run *run, const struct trial_feed *feed, bool *more, struct err *e)
{
    struct campaign *c = run->c;
    *more = true;
    while (run->count < window(c) && !campaign_must_stop(c)) {
        struct trial_item item;
        struct trial *t;
        status s = feed->next(feed->ctx, &item, more, e);
        if (s || !*more) return s;
        s = trial_begin(c, &item, &t, e);
        if (s) return s;
        if (!t) continue;       /* it was recorded before the campaign was resumed */
        if (run->last)
            run->last->next = t;
        else
            run->first = t;
        run->last = t;
        run->count++;
    }
    return LATHE_OK;
}

static bool some_ended(const struct run *run)
{
    for (struct trial *t = run->first; t; t = t->next)
        if (t->state == TRIAL_ENDED) return true;
    return false;
}

status trials_run(struct campaign *c, const struct trial_feed *feed, struct err *e)
{
    struct run run = {.c = c};
    bool stopping = false, more = true;
    status s = LATHE_OK;
    for (;;) {
        if (!stopping && campaign_must_stop(c)) {
            stopping = true;
            cut(&run, c->interrupted);
        }
        if (stopping && c->interrupted) cut(&run, true);
        s = store_check_place(c->store, e);     /* others wait for what is beside it */
        if (!s) s = turn_devices(&run, feed->search, e);
        if (!s) s = reap(&run, e);
        if (!s && !stopping) s = begin_more(&run, feed, &more, e);
        if (s) break;
        if (!more || run.count >= window(c)) release_held(&run);
        s = turn_devices(&run, feed->search, e);
        if (s) break;
        count_stages(&run);
        if (!run.first && (stopping || !more) && !devices_busy(c)) break;
        bool waiting = compile_farm_pending(c->farm) || devices_busy(c);
        uv_run(&c->loop, waiting && !some_ended(&run) ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    }
    if (s) {                    /* the store failed: what is left has no row to go to */
        compile_farm_cancel(c->farm);
        devices_cancel(c);
    }
    for (struct trial *t = run.first, *after; t; t = after) {
        after = t->next;
        trial_free(t);
    }
    c->progress.compiling = c->progress.running = 0;
    if (!s && c->err.code) {
        *e = c->err;
        return e->code;
    }
    return s;
}
