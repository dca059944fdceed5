/* final_entry.c: one entry of the final, evaluated on every device at the same time. */
#include "base/mem.h"
#include "campaign/final/final_impl.h"
#include <stdio.h>
#include <string.h>

bool final_interrupted(struct campaign *c) { return campaign_must_stop(c) && c->interrupted; }

status final_entry_open(struct campaign *c, struct entry *x, struct err *e)
{
    if (!x->leader->baseline)
        for (int i = 0; i < c->ndevices; i++) x->on[i].leader = x->leader;
    status s = leader_open(c, x->leader, &x->evaluation, e);
    x->evaluation.measure = true;
    return s;
}

void final_entry_close(const struct campaign *c, struct entry *x)
{
    evaluation_free(&x->evaluation);
    delayed_free(&x->delayed);
    for (int i = 0; i < c->ndevices; i++)
        for (int r = 0; r < REGIME_COUNT; r++) samples_free(&x->on[i].pooled[r]);
    mem_free(x->on);
}

/* --- one entry, on every device at the same time --- */

static void on_answer(void *ctx, const struct result *r, const char *text)
{
    struct answer_of *a = ctx;
    struct err unread;
    if (!r) {
        if (!a->device->lost) a->device->lost = mem_strdup(text);
        return;
    }
    /* the samples are copied through their own printer: r is borrowed */
    json_t *j = result_to_json(r);
    a->there = !result_from_json(j, &a->r, &unread);
    json_decref(j);
}

/* A crash is given a second chance, since the worker may have been killed from outside. */
static bool ask_again(struct answer_of *a)
{
    bool again = a->wanted && !a->device->lost && a->tries < 2 && (!a->there || a->r.outcome == OUTCOME_crash);
    if (again && a->there) result_free(&a->r);
    if (again) a->there = false;
    return again;
}

status final_evaluate(struct campaign *c, struct entry *x, double seconds, struct answer_of *answers,
                                  struct err *e)
{
    status s = bench_images(c, e);      /* should a worker have to be replaced */
    if (!s) s = leader_reopen(c, x->leader, &x->evaluation, e);
    if (s || x->leader->refused) return s;
    for (int i = 0; i < c->ndevices; i++) {
        struct pool_device *d = &c->devices[i];
        answers[i] = (struct answer_of){.device = d, .wanted = !d->gone && x->on[i].leader};
    }
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < c->ndevices; i++) {
            struct answer_of *a = &answers[i];
            if (!executor_busy(a->device->executor) && ask_again(a)) {
                a->tries++;
                executor_evaluate(a->device->executor, &x->evaluation, seconds, on_answer, a);
            }
            any = any || executor_busy(a->device->executor);
        }
        if (any) uv_run(&c->loop, UV_RUN_ONCE);
        if (!final_interrupted(c)) continue;
        devices_cancel(c);
        return err_set(e, LATHE_INTERRUPTED, "interrupted");
    }
    s = devices_settle(c, e);
    return s || !c->device_gone ? s : (*e = c->err, e->code);
}

void final_answers_free(const struct campaign *c, struct answer_of *answers)
{
    for (int i = 0; i < c->ndevices; i++)
        if (answers[i].there) result_free(&answers[i].r);
    mem_free(answers);
}

static status baseline_is_out(struct campaign *c, const struct entry *x, const struct result *r, struct err *e)
{
    char note[400];
    snprintf(note, sizeof note, "final: baseline %.60s has no times: %s: %.280s", x->leader->kernel->name,
             outcome_name(r->outcome), r->reason);
    campaign_note(c, "%s", note);
    return store_campaign_note(c->store, c->id, note, e);
}

status final_refuse(struct campaign *c, struct entry *x, struct result *r, struct err *e)
{
    x->leader->refused = true;
    if (x->leader->baseline) return baseline_is_out(c, x, r, e);
    campaign_note(c, "final: trial %lld is out: %s: %s", (long long)x->leader->id, outcome_name(r->outcome), r->reason);
    if (!c->refusal)
        c->refusal = mem_printf("trial %lld is %s: %s", (long long)x->leader->id, outcome_name(r->outcome), r->reason);
    struct verification *v = &r->verification;
    if (!*v->detail) snprintf(v->detail, sizeof v->detail, "%s: %.380s", outcome_name(r->outcome), r->reason);
    return store_verification(c->store, x->leader->id, v, e);
}
