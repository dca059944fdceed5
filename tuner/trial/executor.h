/* executor.h: the device worker as the coordinator sees it: set up once, then one evaluation at a time; a worker that
 * dies, hangs or damaged its memory is replaced and set up again, and only its own trial pays. */
#ifndef LATHE_TRIAL_EXECUTOR_H
#define LATHE_TRIAL_EXECUTOR_H

#include "trial/child.h"
#include "trial/evaluate.h"

struct executor;

/* Starts a worker and opens the device (blocking). target: filled, toolchain left empty. */
status executor_open(uv_loop_t *loop, const char *self, const char *device, struct executor **out,
                     struct target *target, struct err *e);
void executor_close(struct executor *x);

/* Sets the problem up (blocking). setup is borrowed until the executor is closed. Gives the reference used, the float32
 * GEMM's own error (NaN if unknown), the limit, of the inputs that are timed; for scaled inputs its largest error over
 * its scale, and the limit on that (else NaN). */
struct setup_answer {
    char reference[16];
    double sgemm_error, frobenius_limit, sgemm_scaled, scaled_limit;
    char blind[160];                /* bench_blind: an output that tells no products apart; "" if none */
};
status executor_setup(struct executor *x, const struct bench_setup *setup, enum inputs inputs, uint64_t seed,
                      struct setup_answer *out, struct err *e);
/* Makes new inputs (blocking); a replaced worker uses these from then on. */
status executor_inputs(struct executor *x, enum inputs inputs, uint64_t seed, struct setup_answer *out, struct err *e);

/* result is borrowed during the call; NULL result: the device cannot be used any more, `text` says why. */
typedef void (*executor_done)(void *ctx, const struct result *r, const char *text);
/* One at a time. seconds: limit for the evaluation, beyond which the outcome is `timeout`. */
void executor_evaluate(struct executor *x, const struct evaluation *v, double seconds, executor_done done, void *ctx);
bool executor_busy(const struct executor *x);
/* The same, blocking. stop (may be NULL) is asked at every turn of the loop; true cancels: LATHE_INTERRUPTED, no result. */
status executor_evaluate_wait(struct executor *x, const struct evaluation *v, double seconds, bool (*stop)(void *ctx),
                              void *ctx, struct result *out, struct err *e);
/* Kills the worker; an evaluation in flight is not called back. */
void executor_cancel(struct executor *x);

#endif
