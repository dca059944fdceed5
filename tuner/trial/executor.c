/* executor.c: see executor.h.
 *
 * An evaluation goes through: (start, open, setup if the worker is not ready) -> evaluate -> done. Each arrow is one
 * request to the child. Invariant: `ready` means that the living worker holds `setup` with `inputs` of `seed`. */
#include "trial/executor.h"
#include "base/mem.h"
#include <math.h>
#include <string.h>

enum { OPEN_SECONDS = 120, SETUP_SECONDS = 600, REVIVALS = 3 };

struct executor {
    uv_loop_t *loop;
    struct child *child;
    const struct bench_setup *setup;
    enum inputs inputs;
    uint64_t seed;
    bool ready;
    double seconds;             /* limit of the evaluation in flight */
    executor_done done;         /* NULL: none in flight */
    void *ctx;
};

/* --- blocking requests --- */

struct waiting {
    bool over;
    json_t *reply;
    char text[1600];
};

static void on_waited(void *ctx, const struct child_answer *a)
{
    struct waiting *w = ctx;
    w->over = true;
    if (a->reply) w->reply = json_incref(a->reply);
    snprintf(w->text, sizeof w->text, "%s", a->text ? a->text : "");
}

/* New reference in *reply, whose "ok" is true. */
static status ask(struct executor *x, json_t *request, double seconds, const char *what, json_t **reply, struct err *e)
{
    struct waiting w = {0};
    if (!child_alive(x->child)) {
        json_decref(request);
        return err_set(e, LATHE_DEVICE, "the device worker died before %s", what);
    }
    child_send(x->child, request, seconds, on_waited, &w);
    while (!w.over) uv_run(x->loop, UV_RUN_ONCE);
    if (!w.reply) return err_set(e, LATHE_DEVICE, "the device worker failed while %s: %s", what, w.text);
    if (json_is_true(json_object_get(w.reply, "ok"))) {
        *reply = w.reply;
        return LATHE_OK;
    }
    const char *error = json_string_value(json_object_get(w.reply, "error"));
    int code = (int)json_integer_value(json_object_get(w.reply, "status"));
    err_set(e, code > 0 && code < STATUS_COUNT ? (status)code : LATHE_DEVICE, "%s", error ? error : "no reason given");
    json_decref(w.reply);
    return e->code;
}

static json_t *setup_request(const struct executor *x)
{
    return json_pack("{s:s, s:o, s:s, s:I}", "op", "setup", "setup", bench_setup_to_json(x->setup), "inputs",
                     inputs_name(x->inputs), "seed", (json_int_t)x->seed);
}

static double number_of(const json_t *reply, const char *key)
{
    const json_t *v = json_object_get(reply, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static void read_setup_answer(const json_t *reply, struct setup_answer *out)
{
    const char *reference = json_string_value(json_object_get(reply, "reference"));
    const char *blind = json_string_value(json_object_get(reply, "blind"));
    snprintf(out->reference, sizeof out->reference, "%s", reference ? reference : "");
    snprintf(out->blind, sizeof out->blind, "%s", blind ? blind : "");
    out->sgemm_error = number_of(reply, "sgemm_error");
    out->sgemm_scaled = number_of(reply, "sgemm_scaled");
    out->scaled_limit = number_of(reply, "scaled_limit");
    out->frobenius_limit = json_number_value(json_object_get(reply, "frobenius_limit"));
}

status executor_open(uv_loop_t *loop, const char *self, const char *device, struct executor **out,
                     struct target *target, struct err *e)
{
    const char *args[] = {"device", device, NULL};
    struct executor *x = mem_zalloc(1, sizeof *x);
    x->loop = loop;
    x->child = child_new(loop, self, args);
    json_t *reply = NULL;
    status s = LATHE_DEVICE;
    for (int attempt = 0; s && attempt < REVIVALS; attempt++) {
        s = child_start(x->child, e);
        if (s) break;
        s = ask(x, json_pack("{s:s}", "op", "open"), OPEN_SECONDS, "opening the device", &reply, e);
        if (s && child_alive(x->child)) break;      /* its own answer is final; a killed worker is followed by another */
    }
    if (!s) {
        s = target_from_json(json_object_get(reply, "target"), target, e);
        json_decref(reply);
    }
    if (s)
        executor_close(x);
    else
        *out = x;
    return s;
}

void executor_close(struct executor *x)
{
    if (!x) return;
    child_free(x->child);
    mem_free(x);
}

/* Sends set-up to a worker that has the device open. */
static status send_setup(struct executor *x, struct setup_answer *out, struct err *e)
{
    json_t *reply;
    status s = ask(x, setup_request(x), SETUP_SECONDS, "setting the problem up", &reply, e);
    if (s) return s;
    read_setup_answer(reply, out);
    json_decref(reply);
    x->ready = true;
    return LATHE_OK;
}

/* Starts a fresh worker and brings it to `ready` (blocking). A worker killed on the way is followed by another; what it
 * reports itself is final. */
static status revive(struct executor *x, struct setup_answer *out, struct err *e)
{
    status s = LATHE_OK;
    for (int attempt = 0; attempt < REVIVALS; attempt++) {
        json_t *reply;
        child_kill(x->child);
        x->ready = false;
        s = child_start(x->child, e);
        if (s) return s;
        s = ask(x, json_pack("{s:s}", "op", "open"), OPEN_SECONDS, "opening the device again", &reply, e);
        if (!s) {
            json_decref(reply);
            s = send_setup(x, out, e);
        }
        if (!s || child_alive(x->child)) return s;
    }
    return s;
}

status executor_setup(struct executor *x, const struct bench_setup *setup, enum inputs inputs, uint64_t seed,
                      struct setup_answer *out, struct err *e)
{
    x->setup = setup;
    x->inputs = inputs;
    x->seed = seed;
    status s = child_alive(x->child) ? send_setup(x, out, e) : LATHE_DEVICE;
    return s && !child_alive(x->child) ? revive(x, out, e) : s;
}

status executor_inputs(struct executor *x, enum inputs inputs, uint64_t seed, struct setup_answer *out, struct err *e)
{
    x->inputs = inputs;
    x->seed = seed;
    if (!x->ready || !child_alive(x->child)) return revive(x, out, e);
    json_t *reply;
    json_t *request = json_pack("{s:s, s:s, s:I}", "op", "inputs", "inputs", inputs_name(inputs), "seed",
                                (json_int_t)seed);
    status s = ask(x, request, SETUP_SECONDS, "making new inputs", &reply, e);
    if (s) return child_alive(x->child) ? s : revive(x, out, e);
    read_setup_answer(reply, out);
    json_decref(reply);
    return LATHE_OK;
}

/* --- evaluation --- */

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

static void on_evaluated(void *ctx, const struct child_answer *a)
{
    struct executor *x = ctx;
    if (a->end != CHILD_REPLIED) {
        x->ready = false;
        if (a->end == CHILD_DIED) {
            fail_trial(x, OUTCOME_crash, a->text);
            return;
        }
        char text[120];
        snprintf(text, sizeof text, "did not end within %.3g s; the worker was killed", x->seconds);
        fail_trial(x, OUTCOME_timeout, text);
        return;
    }
    if (json_is_true(json_object_get(a->reply, "lost"))) {
        child_kill(x->child);
        x->ready = false;
    }
    struct result r;
    struct err e = {0};
    if (!json_is_true(json_object_get(a->reply, "ok"))) {
        const char *error = json_string_value(json_object_get(a->reply, "error"));
        fail_trial(x, OUTCOME_crash, error ? error : "the device worker gave no reason");
        return;
    }
    if (result_from_json(json_object_get(a->reply, "result"), &r, &e)) {
        fail_trial(x, OUTCOME_crash, e.text);
        return;
    }
    finish(x, &r, NULL);
    result_free(&r);
}

void executor_evaluate(struct executor *x, const struct evaluation *v, double seconds, executor_done done, void *ctx)
{
    x->done = done;
    x->ctx = ctx;
    x->seconds = seconds;
    if (!x->ready || !child_alive(x->child)) {
        struct err e = {0};
        struct setup_answer unused;
        if (revive(x, &unused, &e)) {
            finish(x, NULL, e.text);
            return;
        }
    }
    json_t *request = json_pack("{s:s, s:o}", "op", "evaluate", "evaluation", evaluation_to_json(v));
    child_send(x->child, request, seconds, on_evaluated, x);
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
    child_kill(x->child);
    x->ready = false;
}
