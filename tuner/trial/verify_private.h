/* verify_private.h: what verify.c and verify_memory.c share. */
#ifndef LATHE_TRIAL_VERIFY_PRIVATE_H
#define LATHE_TRIAL_VERIFY_PRIVATE_H

#include "trial/evaluate.h"

/* The outcome, with a reason for people. */
status verify_wrong(struct result *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The guards of a buffer of the plan. */
struct guarded *verify_guard_of(const struct bench *b, const struct pipeline *p, int buffer);

#endif
