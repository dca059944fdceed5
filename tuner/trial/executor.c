/* executor.c: see executor.h, and executor_private.h for how a worker comes where it shall be. */
#include "trial/executor_private.h"
#include "base/mem.h"
#include "trial/cache.h"
#include <math.h>
#include <string.h>

/* --- ends --- */

static void finish(struct executor *x, const struct result *r, const char *text)
{
    executor_done done = x->done;
    x->done = NULL;
    done(x->ctx, r, text);
}

static void fail_trial(struct executor *x, enum outcome outcome, const char *text)
{
    struct result r;
    result_init(&r);
    r.outcome = outcome;
    snprintf(r.reason, sizeof r.reason, "%.1590s", text);
    finish(x, &r, NULL);
    result_free(&r);
}

void executor_give_up(struct executor *x)
{
    x->climbing = false;
    json_decref(x->evaluation);
    x->evaluation = NULL;
    if (x->done) finish(x, NULL, x->failure.text);
}

static bool is_right(enum outcome o) { return o == OUTCOME_ok || o == OUTCOME_inaccurate || o == OUTCOME_unstable; }

/* Seconds that were the candidate's: all but measuring, by its worker's clock, or by the child's count, in which a
 * stopped process does not age; the other one has this process's own delays. */
static double own_part(const struct executor *x, const struct result *r)
{
    return fmin(r->stage.load + r->stage.verify, child_spent(x->child) - r->stage.measure);
}

void executor_evaluated(void *ctx, const struct child_answer *a)
{
    struct executor *x = ctx;
    if (a->end != CHILD_REPLIED) {
        x->level = CLOSED;
        if (a->end == CHILD_DIED) {
            fail_trial(x, OUTCOME_crash, a->text);
            return;
        }
        char text[160], own[60] = "";
        if (x->own_seconds > 0) snprintf(own, sizeof own, ", and %.3g s that measuring may take", x->own_seconds);
        snprintf(text, sizeof text, "did not end within %.3g s%s; the worker was killed", x->seconds, own);
        fail_trial(x, OUTCOME_timeout, text);
        return;
    }
    if (json_is_true(json_object_get(a->reply, "gone"))) {
        const char *error = json_string_value(json_object_get(a->reply, "error"));
        child_kill(x->child);
        x->level = CLOSED;
        finish(x, NULL, error ? error : "it is gone");
        return;
    }
    struct result r;
    struct err e = {0};
    const char *error = json_string_value(json_object_get(a->reply, "error"));
    if (!json_is_true(json_object_get(a->reply, "ok")))
        err_set(&e, LATHE_DEVICE, "%s", error ? error : "the device worker gave no reason");
    else
        result_from_json(json_object_get(a->reply, "result"), &r, &e);
    /* What is no result may be a candidate's own writing: the worker's would be taken for the next trial's. */
    if (e.code || json_is_true(json_object_get(a->reply, "lost"))) {
        child_kill(x->child);
        x->level = CLOSED;
    }
    if (e.code) {
        fail_trial(x, OUTCOME_crash, e.text);
        return;
    }
    /* what it left of the method's seconds is not its own: the final would refuse it */
    if (x->measures && is_right(r.outcome) && own_part(x, &r) > x->seconds) {
        char text[120];
        snprintf(text, sizeof text, "took %.3g s to be loaded and verified, and may take %.3g s", own_part(x, &r),
                 x->seconds);
        fail_trial(x, OUTCOME_timeout, text);
    } else {
        finish(x, &r, NULL);
    }
    result_free(&r);
}

/* --- what is wanted --- */

struct executor *executor_open(uv_loop_t *loop, const char *self, const char *device, const char *name)
{
    const char *args[] = {"device", device, name, NULL};
    struct executor *x = mem_zalloc(1, sizeof *x);
    x->loop = loop;
    x->child = child_new(loop, self, args);
    executor_climb(x);
    return x;
}

void executor_close(struct executor *x)
{
    if (!x) return;
    child_free(x->child);
    json_decref(x->evaluation);
    mem_free(x);
}

void executor_prepare(struct executor *x, const struct bench_setup *setup, enum inputs inputs, uint64_t seed)
{
    if (setup) x->setup = setup;
    if (setup && x->level == READY) x->level = OPEN;
    x->inputs = inputs;
    x->seed = seed;
    x->stale = true;
    x->to_vary = false;
    executor_climb(x);
}

status executor_wait(struct executor *x, bool (*stop)(void *ctx), void *ctx, struct err *e)
{
    while (x->climbing) {
        uv_run(x->loop, UV_RUN_ONCE);
        if (!x->climbing || !stop || !stop(ctx)) continue;
        double seconds;
        err_set(e, LATHE_INTERRUPTED, "interrupted while %s", executor_doing(x, &seconds));
        executor_cancel(x);
        return e->code;
    }
    if (x->failure.code) *e = x->failure;
    return x->failure.code;
}

const struct target *executor_target(const struct executor *x) { return &x->target; }

int executor_others(const struct executor *x, const int **pids)
{
    *pids = x->others;
    return x->nothers;
}

const struct setup_answer *executor_answer(const struct executor *x) { return &x->answer; }

/* A worker that takes the place of one that died needs the set-up's images again, a final those of leaders. */
static void use_images(const struct executor *x, const struct evaluation *v)
{
    if (x->setup) cache_use(x->setup->support_image);
    if (x->setup) cache_use(x->setup->reference_image);
    cache_use(v->image);
}

void executor_evaluate(struct executor *x, const struct evaluation *v, double seconds, executor_done done, void *ctx)
{
    x->done = done;
    x->ctx = ctx;
    x->seconds = seconds;
    x->own_seconds = evaluation_own_seconds(v);
    x->measures = v->measure;
    x->evaluation = evaluation_to_json(v);
    use_images(x, v);
    executor_climb(x);
}

bool executor_busy(const struct executor *x) { return x->done != NULL; }

struct evaluation_wait {
    bool over;
    struct result *out;
    status code;
    struct err *e;
};

static void on_evaluation_waited(void *ctx, const struct result *r, const char *text)
{
    struct evaluation_wait *w = ctx;
    w->over = true;
    if (!r) {
        w->code = err_set(w->e, LATHE_DEVICE, "%s", text);
        return;
    }
    /* the samples are copied through their own printer: r is borrowed */
    json_t *j = result_to_json(r);
    w->code = result_from_json(j, w->out, w->e);
    json_decref(j);
}

status executor_evaluate_wait(struct executor *x, const struct evaluation *v, double seconds, bool (*stop)(void *ctx),
                              void *ctx, struct result *out, struct err *e)
{
    struct evaluation_wait w = {.out = out, .e = e};
    executor_evaluate(x, v, seconds, on_evaluation_waited, &w);
    while (!w.over) {
        uv_run(x->loop, UV_RUN_ONCE);
        if (w.over || !stop || !stop(ctx)) continue;
        executor_cancel(x);
        return err_set(e, LATHE_INTERRUPTED, "interrupted");
    }
    return w.code;
}

void executor_cancel(struct executor *x)
{
    x->done = NULL;
    x->climbing = false;
    json_decref(x->evaluation);
    x->evaluation = NULL;
    child_kill(x->child);
    x->level = CLOSED;
}
