/* executor.h: a device worker as the coordinator sees it: set up once, then one evaluation at a time; a worker that
 * dies, hangs or damaged its memory is replaced and set up again, and only its own trial pays. Nothing blocks but
 * executor_wait and executor_evaluate_wait, so several executors of one loop work side by side. */
#ifndef LATHE_TRIAL_EXECUTOR_H
#define LATHE_TRIAL_EXECUTOR_H

#include "trial/child.h"
#include "trial/evaluate.h"

struct executor;

/* Starts a worker that opens the device: executor_wait tells how that went. name: stands in its command line, for
 * `ps`. */
struct executor *executor_open(uv_loop_t *loop, const char *self, const char *device, const char *name);
void executor_close(struct executor *x);

/* Gives the reference used, the float32 GEMM's own error (NaN if unknown), the limit, of the inputs that are timed; for
 * scaled inputs its largest error over its scale, and the limit on that (else NaN). */
struct setup_answer {
    char reference[16];
    double sgemm_error, frobenius_limit, sgemm_scaled, scaled_limit;
    bool energy;                    /* the device tells what energy it takes */
    char blind[160];                /* bench_blind: an output that tells no products apart; "" if none */
    char lax[48];                   /* bench_lax: an output in whose place zeros would be right; "" if none */
    char unvaried[400];             /* why nothing is verified with other scalars, though there are some (no room, no
                                       numbers, a reference that fails with them); "" if it is */
};

/* Begins to set the problem up with these inputs. setup is borrowed until the executor is closed; NULL: the problem
 * that was set up before, with other inputs. A replaced worker has the same from then on. setup->seconds is the limit
 * for the reference; one that is the specification's kernel and crashes, again and again, or does not end:
 * LATHE_SPEC. */
void executor_prepare(struct executor *x, const struct bench_setup *setup, enum inputs inputs, uint64_t seed);
/* Waits until the device is open, and set up if that was asked for. What the worker reports itself is final; one that
 * dies is followed by another, a few times. stop (may be NULL) is asked at every turn of the loop; true cancels:
 * LATHE_INTERRUPTED. */
status executor_wait(struct executor *x, bool (*stop)(void *ctx), void *ctx, struct err *e);
/* What it is at while that is waited for, "computing the reference", and how long that may take. */
const char *executor_doing(const struct executor *x, double *seconds);
/* As the device described itself when it was opened; toolchain empty. */
const struct target *executor_target(const struct executor *x);
/* The other processes that used the device when its first worker opened it (others.h), and how many. */
int executor_others(const struct executor *x, const int **pids);
/* Of the last preparation that executor_wait waited for. */
const struct setup_answer *executor_answer(const struct executor *x);

/* result is borrowed during the call; NULL result: the device cannot be used any more, `text` says why. */
typedef void (*executor_done)(void *ctx, const struct result *r, const char *text);
/* One at a time, on a device that is set up. seconds: what the candidate may take; the outcome is `timeout` if the
 * evaluation takes longer than these and evaluation_own_seconds, or if it measures and all but measuring takes longer
 * than these. */
void executor_evaluate(struct executor *x, const struct evaluation *v, double seconds, executor_done done, void *ctx);
bool executor_busy(const struct executor *x);
/* The same, blocking. stop (may be NULL) is asked at every turn of the loop; true cancels: LATHE_INTERRUPTED, no
 * result. */
status executor_evaluate_wait(struct executor *x, const struct evaluation *v, double seconds, bool (*stop)(void *ctx),
                              void *ctx, struct result *out, struct err *e);
/* Kills the worker; an evaluation in flight is not called back. */
void executor_cancel(struct executor *x);

#endif
