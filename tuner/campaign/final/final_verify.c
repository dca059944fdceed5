/* final_verify.c: which leaders are right, on fresh inputs and with warps that pause at random. */
#include "base/mem.h"
#include "campaign/final/final_impl.h"
#include <string.h>

/* Seconds of running on. */
static const double ENDURE_GPU = 1, ENDURE_HOST = 0.3;

/* A leader that is not right on fresh inputs, on any device, is out, or not right any more after many runs. The first
 * device's verification is recorded last. */
static status verify_entry(struct campaign *c, struct entry *x, struct err *e)
{
    struct answer_of *answers = mem_zalloc((size_t)c->ndevices, sizeof *answers);
    const double endure = campaign_on_gpu(c) ? ENDURE_GPU : ENDURE_HOST;
    x->evaluation.verify = true;
    x->evaluation.measure = false;
    x->evaluation.endure_seconds = endure;
    status s = final_evaluate(c, x, LAUNCHES_PER_LIMIT * c->time_limit, answers, e);
    x->evaluation.endure_seconds = 0;
    x->evaluation.verify = false;
    x->evaluation.measure = true;
    for (int i = c->ndevices - 1; i >= 0 && !s; i--) {
        struct result *r = &answers[i].r;
        if (!answers[i].there || x->leader->refused) continue;
        campaign_forget_error(c, &r->verification);
        if (r->outcome != OUTCOME_ok)
            s = final_refuse(c, x, r, e);
        else if (r->verification.done)
            s = store_verification(c->store, x->leader->id, &r->verification, e);
    }
    final_answers_free(c, answers);
    return s;
}

static status add_delayed(struct campaign *c, struct entry *x, struct err *e)
{
    const struct entrant *from = campaign_entrant(c, x->leader->kernel);
    if (!from || !from->source) return LATHE_OK;
    struct value *slots;
    status s = campaign_slots(c, x->leader->kernel, x->leader->choice, &slots, e);
    if (!s) s = delays_add(c, x->leader->kernel, from->source, slots, &x->delayed, e);
    mem_free(slots);
    return s;
}

/* A leader that is wrong where its warps pause at random is out: it has a race. */
static status verify_delayed_once(struct campaign *c, struct entry *x, struct err *e)
{
    char *image = x->evaluation.image;
    const char *untried = x->delayed.why;
    struct answer_of *answers = mem_zalloc((size_t)c->ndevices, sizeof *answers);
    status s = LATHE_OK;
    if (x->delayed.image) {
        x->evaluation.image = x->delayed.image;
        x->evaluation.verify = true;
        x->evaluation.measure = false;
        s = final_evaluate(c, x, DELAYED_LIMITS * c->time_limit, answers, e);
        x->evaluation.verify = false;
        x->evaluation.measure = true;
        x->evaluation.image = image;
    }
    for (int i = 0; i < c->ndevices && !s; i++) {
        struct result *r = &answers[i].r;
        if (!answers[i].there || x->leader->refused || r->outcome == OUTCOME_ok) continue;
        if ((untried = delays_say_nothing(r))) break;
        char *reason = mem_printf("with warps that pause at random (a race?): %s", r->reason);
        snprintf(r->reason, sizeof r->reason, "%s", reason);
        mem_free(reason);
        *r->verification.detail = 0;
        s = final_refuse(c, x, r, e);
    }
    if (untried && !s) {
        campaign_note(c, "final: trial %lld was not verified with delays: %.300s", (long long)x->leader->id, untried);
        mem_free(x->delayed.image);
        x->delayed.image = NULL;
    }
    final_answers_free(c, answers);
    return s;
}

static status verify_delayed(struct campaign *c, struct entry *x, struct err *e)
{
    status s = verify_delayed_once(c, x, e);
    for (int i = 1; i < DELAYED_TRIES && !s && x->delayed.image && !x->leader->refused && !final_interrupted(c); i++)
        s = verify_delayed_once(c, x, e);
    return s;
}

static bool stays(const struct entry *x) { return !x->leader->refused; }

static status verify_some(struct campaign *c, struct entry *list, int n, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < n && !s; i++)
        if (stays(&list[i]) && !final_interrupted(c)) s = verify_entry(c, &list[i], e);
    if (s || !delays_wanted(c)) return s;
    for (int i = 0; i < n && !s; i++)
        if (stays(&list[i])) s = add_delayed(c, &list[i], e);
    if (!s) s = delays_wait(c, e);
    for (int i = 0; i < n && !s; i++)
        if (stays(&list[i]) && !final_interrupted(c)) s = verify_delayed(c, &list[i], e);
    return s;
}

status final_verify(struct campaign *c, struct entry *list, int n, int *tried, struct err *e)
{
    status s = LATHE_OK;
    int standing = 0;
    for (int i = 0; i < *tried; i++) standing += stays(&list[i]);
    while (!s && standing < c->request->top && *tried < n && !final_interrupted(c)) {
        int from = *tried, more = c->request->top - standing;
        if (more > n - from) more = n - from;
        if (from)
            campaign_note(c, "final: the next %d take the place%s of those that are out", more, more > 1 ? "s" : "");
        *tried += more;
        for (int i = from; i < *tried && !s; i++) s = final_entry_open(c, &list[i], e);
        if (!s) s = verify_some(c, list + from, more, e);
        for (int i = from; i < *tried; i++) standing += stays(&list[i]);
    }
    return s;
}
