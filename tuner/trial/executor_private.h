/* executor_private.h: what executor.c and executor_climb.c share.
 *
 * The living worker climbs: CLOSED -> (open) -> OPEN -> (setup) -> READY and stale -> (inputs) -> READY, and if there
 * are other scalars -> (vary) -> READY, each arrow one request to the child; a worker that dies is followed by another,
 * which begins at CLOSED. Invariants: at most one request is in flight; READY means that the worker holds `setup`, and
 * unless `stale` with `inputs` of `seed`. */
#ifndef LATHE_TRIAL_EXECUTOR_PRIVATE_H
#define LATHE_TRIAL_EXECUTOR_PRIVATE_H

#include "device/others.h"
#include "trial/executor.h"

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
    double seconds, own_seconds;    /* what the candidate may take, and the method */
    bool measures;                  /* the evaluation measures: its result tells what was the candidate's */
    executor_done done;         /* NULL: none wanted */
    void *ctx;
};

/* executor_climb.c: begins a way to what is wanted, and at its end sends the evaluation, if there is one. */
void executor_climb(struct executor *x);

/* executor.c: the way ends, x->failure says why. */
void executor_give_up(struct executor *x);
/* The child's answer to the evaluation; ctx: the executor. */
void executor_evaluated(void *ctx, const struct child_answer *a);

#endif
