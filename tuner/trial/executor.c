/* executor.c: see executor.h.
 *
 * The living worker climbs: CLOSED -> (open) -> OPEN -> (setup) -> READY and stale -> (inputs) -> READY, and if there
 * are other scalars -> (vary) -> READY, each arrow one request to the child; a worker that dies is followed by another, which begins at CLOSED. `advance` sends what is next on the way to what is wanted,
 * and is called when something is wanted and after every reply. Invariants: at most one request is in flight; READY
 * means that the worker holds `setup`, and unless `stale` with `inputs` of `seed`. */
#include "trial/executor.h"
#include "base/mem.h"
#include "device/others.h"
#include "trial/cache.h"
#include <math.h>
#include <string.h>

enum { OPEN_SECONDS = 120, SETUP_SECONDS = 600, REVIVALS = 3 };
enum level { CLOSED, OPEN, READY };

struct executor {
    uv_loop_t *loop;
    struct child *child;
    const struct bench_setup *setup;    /* NULL: nothing is to be set up yet */
    enum inputs inputs;
    uint64_t seed;
    enum level level;
    bool stale;                 /* READY with other inputs than those wanted */
    bool to_vary;               /* READY, and the reference with other scalars is still to be computed */
    bool died_varied;           /* a worker died at that */
    char unvaried[400];         /* why it cannot be: it is not tried again; "": it can, as far as is known */
    bool climbing;              /* on its way; else it is where it shall be, or `failure` says why not */
    int starts;                 /* workers that were started on this way */
    struct err failure;
    struct target target;
    bool opened;                /* once: the rest of a worker that was killed is no other process */
    int others[OTHERS_MOST], nothers;
    struct setup_answer answer;
    json_t *evaluation;         /* wanted next; NULL: none, or in flight */
    double seconds;             /* its limit */
    executor_done done;         /* NULL: none wanted */
    void *ctx;
};

static void advance(struct executor *x);

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

/* The way ends here: x->failure says why. */
static void give_up(struct executor *x)
{
    x->climbing = false;
    json_decref(x->evaluation);
    x->evaluation = NULL;
    if (x->done) finish(x, NULL, x->failure.text);
}

/* --- the way up --- */

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
    out->energy = json_is_true(json_object_get(reply, "energy"));
    out->sgemm_error = number_of(reply, "sgemm_error");
    out->sgemm_scaled = number_of(reply, "sgemm_scaled");
    out->scaled_limit = number_of(reply, "scaled_limit");
    out->frobenius_limit = json_number_value(json_object_get(reply, "frobenius_limit"));
}

const char *executor_doing(const struct executor *x, double *seconds)
{
    *seconds = x->level == CLOSED ? OPEN_SECONDS : x->level == OPEN ? SETUP_SECONDS : x->setup->seconds;
    return x->level == CLOSED ? "opening the device"
           : x->level == OPEN ? "setting the problem up"
           : x->to_vary       ? "computing the reference with other scalars"
                              : "computing the reference";
}

static void read_others(struct executor *x, const json_t *list)
{
    size_t i;
    const json_t *pid;
    if (!x->opened)
        json_array_foreach((json_t *)list, i, pid)
            if (x->nothers < OTHERS_MOST) x->others[x->nothers++] = (int)json_integer_value(pid);
    x->opened = true;
}

static status take_reply(struct executor *x, const json_t *reply)
{
    if (!json_is_true(json_object_get(reply, "ok"))) {
        const char *error = json_string_value(json_object_get(reply, "error"));
        int code = (int)json_integer_value(json_object_get(reply, "status"));
        return err_set(&x->failure, code > 0 && code < STATUS_COUNT ? (status)code : LATHE_DEVICE, "%s",
                       error ? error : "no reason given");
    }
    if (x->level == CLOSED) {
        status s = target_from_json(json_object_get(reply, "target"), &x->target, &x->failure);
        if (s) return s;
        read_others(x, json_object_get(reply, "others"));
        x->level = OPEN;
        return LATHE_OK;
    }
    if (x->level == OPEN) {
        x->level = READY;
        x->stale = true;
        x->to_vary = false;
        return LATHE_OK;
    }
    if (x->to_vary) {
        const char *unvaried = json_string_value(json_object_get(reply, "unvaried"));
        snprintf(x->answer.unvaried, sizeof x->answer.unvaried, "%s", unvaried ? unvaried : "");
        x->to_vary = false;
        return LATHE_OK;
    }
    read_setup_answer(reply, &x->answer);
    snprintf(x->answer.unvaried, sizeof x->answer.unvaried, "%s", x->unvaried);
    x->stale = false;
    x->to_vary = x->setup->scalars && !*x->unvaried;
    return LATHE_OK;
}

/* Why the way ends, unless another worker gets further. */
static void note_failure(struct executor *x, const struct child_answer *a)
{
    char whose[600] = "";
    double seconds;
    const char *doing = executor_doing(x, &seconds);
    if (x->level == READY) bench_setup_blame(x->setup, whose, sizeof whose);
    if (a->end == CHILD_DIED && *whose)
        err_set(&x->failure, LATHE_SPEC, "%s crashes: %s\nthe device works: it ran lathe's own kernels before", whose,
                a->text);
    else if (a->end == CHILD_DIED)
        err_set(&x->failure, LATHE_DEVICE, "the device worker failed while %s: %s", doing, a->text);
    else if (*whose)
        err_set(&x->failure, LATHE_SPEC,
                "%s did not end within %.4g s\nit may take ten times --time-limit: does it end? then give a larger one",
                whose, seconds);
    else
        err_set(&x->failure, LATHE_DEVICE, "%s did not end within %.4g s%s", doing, seconds,
                x->level == READY ? ": give a larger --time-limit, ten times of which it may take" : "");
}

/* Whether candidates are verified without other scalars from now on, since the reference fails with them: it was
 * written for the specification's. A worker may die of something else, so the first time counts for nothing. */
static bool leave_unvaried(struct executor *x, const struct child_answer *a)
{
    char why[190];
    if (!x->to_vary) return false;
    if (a->reply) {
        const char *error = json_string_value(json_object_get(a->reply, "error"));
        if (json_integer_value(json_object_get(a->reply, "status")) != LATHE_SPEC || !error) return false;
        snprintf(x->unvaried, sizeof x->unvaried, "%.*s", (int)strcspn(error, "\n"), error);
        child_kill(x->child);       /* what crashed on a GPU took its context along */
        return true;
    }
    if (a->end == CHILD_DIED && !x->died_varied) {
        x->died_varied = true;
        return false;
    }
    if (a->end == CHILD_DIED) snprintf(why, sizeof why, "crashes: %.170s", a->text);
    else snprintf(why, sizeof why, "did not end within %.4g s", x->setup->seconds);
    snprintf(x->unvaried, sizeof x->unvaried, "with %.190s the reference %s", x->setup->scalars, why);
    return true;
}

static void on_climbed(void *ctx, const struct child_answer *a)
{
    struct executor *x = ctx;
    if (leave_unvaried(x, a)) {
        x->level = CLOSED;
        x->to_vary = false;
    } else if (a->reply) {
        if (take_reply(x, a->reply)) {
            give_up(x);         /* its own answer is final; a killed worker is followed by another */
            return;
        }
    } else {
        bool slow = a->end == CHILD_TIMED_OUT && x->level == READY;
        note_failure(x, a);
        x->level = CLOSED;
        if (slow) {             /* it would be as slow again */
            give_up(x);
            return;
        }
    }
    advance(x);
}

static json_t *setup_request(const struct executor *x)
{
    if (x->level == READY)
        return json_pack("{s:s, s:s, s:I}", "op", "inputs", "inputs", inputs_name(x->inputs), "seed",
                         (json_int_t)x->seed);
    return json_pack("{s:s, s:o}", "op", "setup", "setup", bench_setup_to_json(x->setup));
}

static void on_evaluated(void *ctx, const struct child_answer *a)
{
    struct executor *x = ctx;
    if (a->end != CHILD_REPLIED) {
        x->level = CLOSED;
        if (a->end == CHILD_DIED) {
            fail_trial(x, OUTCOME_crash, a->text);
            return;
        }
        char text[120];
        snprintf(text, sizeof text, "did not end within %.3g s; the worker was killed", x->seconds);
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
    if (json_is_true(json_object_get(a->reply, "lost"))) {
        child_kill(x->child);
        x->level = CLOSED;
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

/* A fresh worker in place of one that is dead. False: there is none to be had. */
static bool start(struct executor *x)
{
    x->level = CLOSED;
    if (x->starts++ == REVIVALS) return false;
    child_kill(x->child);
    return !child_start(x->child, &x->failure);
}

static void advance(struct executor *x)
{
    x->climbing = true;
    if (!child_alive(x->child) && !start(x)) {
        give_up(x);
        return;
    }
    if (x->level == CLOSED) {
        child_send(x->child, json_pack("{s:s}", "op", "open"), OPEN_SECONDS, on_climbed, x);
    } else if (x->setup && (x->level == OPEN || x->stale)) {
        double seconds;
        executor_doing(x, &seconds);
        child_send(x->child, setup_request(x), seconds, on_climbed, x);
    } else if (x->to_vary) {
        child_send(x->child, json_pack("{s:s}", "op", "vary"), x->setup->seconds, on_climbed, x);
    } else {
        x->climbing = false;
        x->failure.code = LATHE_OK;
        if (!x->evaluation) return;
        json_t *request = json_pack("{s:s, s:o}", "op", "evaluate", "evaluation", x->evaluation);
        x->evaluation = NULL;
        child_send(x->child, request, x->seconds, on_evaluated, x);
    }
}

/* --- what is wanted --- */

static void climb(struct executor *x)
{
    x->starts = 0;
    x->failure = (struct err){0};
    advance(x);
}

struct executor *executor_open(uv_loop_t *loop, const char *self, const char *device, const char *name)
{
    const char *args[] = {"device", device, name, NULL};
    struct executor *x = mem_zalloc(1, sizeof *x);
    x->loop = loop;
    x->child = child_new(loop, self, args);
    climb(x);
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
    climb(x);
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
    x->evaluation = evaluation_to_json(v);
    use_images(x, v);
    climb(x);
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
