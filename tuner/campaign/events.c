/* events.c: what every file of this room says and asks: events and notes, how long phases took, and whether the campaign
 * is to stop. */
#include "base/clock.h"
#include "campaign/internal.h"
#include "campaign/resume.h"
#include <math.h>
#include <stdatomic.h>

/* Set by a signal handler, read between turns of the loop; a process runs one campaign at a time. */
static atomic_int interrupt_flag;

void campaign_interrupt(void)
{
    interrupt_flag = 1;
    strategy_interrupt();
}

bool campaign_interrupted(void) { return interrupt_flag != 0; }

void campaign_emit(struct campaign *c, struct campaign_event *ev)
{
    c->progress.seconds = clock_seconds() - c->started;
    ev->campaign = c->id;
    ev->progress = &c->progress;
    if (c->request->on_event) c->request->on_event(c->request->ctx, ev);
}

void campaign_note(struct campaign *c, const char *fmt, ...)
{
    char text[2000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    campaign_emit(c, &(struct campaign_event){.kind = CAMPAIGN_NOTE, .text = text});
}

bool campaign_out_of_time(const struct campaign *c)
{
    double limit = c->progress.budget_seconds;
    return limit > 0 && clock_seconds() - c->started > limit;
}

/* What was recorded costs no time, and without it there would be no leaders for a final. */
static bool recalls(const struct campaign *c)
{
    return c->request->resumed && c->next_number <= resumption_trials(c->request->resumed);
}

bool campaign_must_stop(struct campaign *c)
{
    if (interrupt_flag) c->interrupted = true;
    return c->interrupted || c->device_gone || c->err.code || (campaign_out_of_time(c) && !recalls(c));
}

void campaign_forget_error(const struct campaign *c, struct verification *v)
{
    if (!c->blind) return;
    v->frobenius = NAN;
    v->frobenius_limit = 0;
}

status campaign_phase_ended(struct campaign *c, enum campaign_phase phase, struct err *e)
{
    double now = clock_seconds(), took = now - c->phase_began;
    c->phase_began = now;
    status s = store_campaign_phase(c->store, c->id, phase, took, e);
    return s ? s : store_check_place(c->store, e);
}

status campaign_search_passed(struct campaign *c, struct err *e)
{
    static const double OFTEN = 0.5;    /* seconds */
    return clock_seconds() - c->phase_began < OFTEN ? LATHE_OK : campaign_phase_ended(c, PHASE_SEARCH, e);
}
