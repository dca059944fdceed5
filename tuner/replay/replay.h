/* replay.h: a recording as a device: what a configuration of a kernel was recorded to be.
 *
 * The kernel is the recording's own, whose space is exactly what was recorded, or that of a specification with the same
 * parameters, whose configurations may be missing in the recording. */
#ifndef LATHE_REPLAY_REPLAY_H
#define LATHE_REPLAY_REPLAY_H

#include "model/problem.h"
#include "replay/recording.h"

/* A problem that is a space alone, with the recording's parameters and values in its order: the choices of its only
 * kernel are the recording's. Free with problem_free. LATHE_SPEC: names or values that a specification cannot have. */
status replay_problem(const struct recording *r, struct problem **out, struct err *e);
/* The recording's parameters as a specification has them: an array of [name, [values]]. New reference. */
json_t *replay_parameters(const struct recording *r);

struct replay;

/* r and k must outlive it. LATHE_SPEC: the kernel lacks a parameter of which more than one value is recorded, or has
 * one of more than one value that is not recorded. */
status replay_open(const struct recording *r, const struct kernel *k, struct replay **out, struct err *e);
void replay_close(struct replay *d);                /* NULL is fine */
/* The recorded configuration with these choices of the kernel's: its index, or -1: missing. */
int64_t replay_find(const struct replay *d, const config_choice *choice);
/* Seconds that a configuration which is missing is charged: the median of those that are there. */
double replay_missing_seconds(const struct replay *d);
const struct recording *replay_recording(const struct replay *d);

#endif
