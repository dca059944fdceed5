/* child.h: a worker process as the coordinator sees it: one request at a time, one answer or one death.
 *
 * The callback is called exactly once a request, from the event loop, with a reply, or with what happened instead.
 * After a death or a time-out the process is gone (killed if need be) and child_alive() is false; child_start() begins
 * a fresh one. uv.h is used here and in the two files above this one (compile_farm.c, executor.c) and campaign/. */
#ifndef LATHE_TRIAL_CHILD_H
#define LATHE_TRIAL_CHILD_H

#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

/* A loop for children; LATHE_IO: too few files may be open for it, and it is not to be closed. */
status child_loop_open(uv_loop_t *loop, struct err *e);

struct child;

enum child_end { CHILD_REPLIED, CHILD_DIED, CHILD_TIMED_OUT };
struct child_answer {
    enum child_end end;
    json_t *reply;              /* REPLIED: borrowed */
    const char *text;           /* DIED: "killed by signal 11 (Segmentation fault); last words: ..." */
};
typedef void (*child_done)(void *ctx, const struct child_answer *a);

/* self: path of this binary; args: what follows `worker`, NULL-terminated. No process yet. */
struct child *child_new(uv_loop_t *loop, const char *self, const char *const *args);
/* Starts the process if it is not alive. */
status child_start(struct child *c, struct err *e);
bool child_alive(const struct child *c);
bool child_busy(const struct child *c);
/* The child must be alive and not busy. Takes over `request`. seconds <= 0: no limit. An answer that is there counts,
 * whatever the clock says, and time in which this process was held up (stopped, asleep, busy) counts a quarter
 * second. */
void child_send(struct child *c, json_t *request, double seconds, child_done done, void *ctx);
/* Seconds of its limit that the request has taken so far, counted like that; to be asked until it is called back, or
 * then. One without a limit: 0. */
double child_spent(const struct child *c);
/* Kills the process; a request in flight is not called back. */
void child_kill(struct child *c);
/* Kills and frees; runs the loop until its handles are closed. */
void child_free(struct child *c);

#endif
