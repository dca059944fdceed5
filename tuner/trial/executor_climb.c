/* executor_climb.c: a worker is brought where it shall be (executor_private.h): `advance` sends what is next on the
 * way, and is called when something is wanted and after every reply. */
#include "trial/executor_private.h"
#include <math.h>
#include <string.h>

enum { OPEN_SECONDS = 120, SETUP_SECONDS = 600, REVIVALS = 3 };

/* --- replies --- */

static double number_of(const json_t *reply, const char *key)
{
    const json_t *v = json_object_get(reply, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static void read_setup_answer(const json_t *reply, struct setup_answer *out)
{
    const char *reference = json_string_value(json_object_get(reply, "reference"));
    const char *blind = json_string_value(json_object_get(reply, "blind"));
    const char *lax = json_string_value(json_object_get(reply, "lax"));
    snprintf(out->reference, sizeof out->reference, "%s", reference ? reference : "");
    snprintf(out->blind, sizeof out->blind, "%s", blind ? blind : "");
    snprintf(out->lax, sizeof out->lax, "%s", lax ? lax : "");
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

static void advance(struct executor *x);

static void on_climbed(void *ctx, const struct child_answer *a)
{
    struct executor *x = ctx;
    if (leave_unvaried(x, a)) {
        x->level = CLOSED;
        x->to_vary = false;
    } else if (a->reply) {
        if (take_reply(x, a->reply)) {
            executor_give_up(x);         /* its own answer is final; a killed worker is followed by another */
            return;
        }
    } else {
        bool slow = a->end == CHILD_TIMED_OUT && x->level == READY;
        note_failure(x, a);
        x->level = CLOSED;
        if (slow) {             /* it would be as slow again */
            executor_give_up(x);
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
        executor_give_up(x);
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
        child_send(x->child, request, x->seconds + x->own_seconds, executor_evaluated, x);
    }
}

void executor_climb(struct executor *x)
{
    x->starts = 0;
    x->failure = (struct err){0};
    advance(x);
}
