/* timing.h: what measure.c times: one run of a pipeline, or a batch of runs; once, or back to back. Private to
 * measuring. */
#ifndef LATHE_TRIAL_TIMING_H
#define LATHE_TRIAL_TIMING_H

#include "trial/evaluate.h"

/* What stands between two marks. A batch is one graph where the device has such, else it is queued run by run. */
struct timed_unit {
    int runs;                       /* 1: one run; more: a batch */
    struct dev_graph *graph;        /* NULL: none */
    bool flush;                     /* the L2 is overwritten before, where it is taken alone */
};

/* A batch of `runs`, ready to be taken. What cannot be a graph (a library call that may not be recorded) is none. */
status unit_open(struct bench *b, struct pipeline *p, int runs, struct timed_unit *out, struct err *e);
void unit_close(struct bench *b, struct timed_unit *u);

/* Outputs are filled with NaN, the L2 is overwritten if u->flush, then the unit once, alone. *ms: of one run. While it
 * runs, out->telemetry takes the clock and the reasons that hold it down; *throttled: there was one of
 * THROTTLE_REASONS. */
status unit_take(struct bench *b, struct pipeline *p, const struct timed_unit *u, struct result *out, double *ms,
                 bool *throttled, struct err *e);

/* Queues `count` units (at most DEV_MARKS / 2), each between two marks of its own, waits, and gives the time of one run
 * of each in ms[]. Outputs are filled with NaN before each, outside the marks: no unit finds its work done. */
status unit_burst(struct bench *b, struct pipeline *p, const struct timed_unit *u, int count, struct result *out,
                  double *ms, bool *throttled, struct err *e);

/* Units back to back for `seconds`, and at least three. */
struct busy {
    struct samples all;             /* one a unit */
    double total_ms;                /* of all runs that were timed */
    double energy_mj;               /* of one run, the filling of outputs between included; NaN: not known */
    int energy_launches;            /* runs that it is the mean of */
};
/* unit_ms: about what a unit takes. The energy is of what runs after `settle` seconds. samples_free(&out->all). On a
 * bad time (bad_time) it ends early, with LATHE_OK. */
status unit_keep_busy(struct bench *b, struct pipeline *p, const struct timed_unit *u, double unit_ms, double seconds,
                      double settle, struct result *out, struct busy *busy, struct err *e);

/* A zero, negative or non-finite time: then out->outcome is `unstable`, with a reason. */
bool bad_time(double ms, struct result *out);

#endif
