/* evaluate.h: one plan on a bench -> one result. In the device worker only.
 *
 * A candidate's failure is in the result. What a candidate broke (the device's context, memory that is not its own) is
 * not mended: the worker ends, and a fresh one takes over. */
#ifndef LATHE_TRIAL_EVALUATE_H
#define LATHE_TRIAL_EVALUATE_H

#include "trial/bench.h"

struct measure_options {
    enum regime regime;
    int min_samples, max_samples;   /* TRIAL */
    double max_seconds;             /* TRIAL: of sampling, once min_samples are there */
    double interval;                /* TRIAL: stop when the 95 % interval's half-width is below this share of the
                                       median */
    double unstable_above;          /* TRIAL: wider than this share at the end is `unstable`; 0: never */
    double incumbent_ms;            /* TRIAL: a first sample this many times slower stops the sampling; NaN: none */
    double hopeless;                /* the factor */
    double batch_below_ms;          /* TRIAL: time in batches what takes less, or is to be compared with such; 0:
                                       nothing */
    bool batches;                   /* COLD, SUSTAINED: the same of all that are compared */
    double cool_seconds;            /* TRIAL, COLD: pause after a sample that was throttled */
    int retakes;                    /* how many such are taken again at most */
    double energy_seconds;          /* TRIAL: back to back this long for the energy of a run; 0: not */
    double idle_seconds;            /* COLD: pause before the launches */
    int launches, skip;             /* COLD: how many, and how many of the first are left out */
    bool check_each;                /* TRIAL: compare the outputs after every run; the first wrong one ends it */
    double run_seconds;             /* SUSTAINED: back to back this long; the last 40 % count */
};
json_t *measure_options_to_json(const struct measure_options *o);
status measure_options_from_json(const json_t *j, struct measure_options *o, struct err *e);

struct evaluation {
    struct plan plan;               /* owned */
    struct plan varied;             /* owned; the same with the bench's other scalars; no steps: none */
    char *image;                    /* path; NULL if no launches */
    bool verify;                    /* run twice and check everything before timing; on check inputs first, if any */
    bool checked;                   /* the outputs are the problem's: they are right after the last timed run too */
    bool measure;
    bool measure_inexact;           /* time it even if it is `wrong` (a baseline shown with its error), and stay so */
    double endure_seconds;          /* after verifying, so long run and compared again and again; 0: not */
    struct measure_options options;
};
status evaluation_from_json(const json_t *j, struct evaluation *out, struct err *e);
json_t *evaluation_to_json(const struct evaluation *v);
void evaluation_free(struct evaluation *v);
/* Seconds that the method takes at most of an evaluation, however short a run is: sampling, pauses, runs back to back.
 * They are added to what the candidate may take. */
double evaluation_own_seconds(const struct evaluation *v);

/* False: the device is lost or its memory damaged, the worker must end after reporting. *out is always valid
 * (result_free). */
bool evaluate(struct bench *b, const struct evaluation *v, struct result *out);

/* verify.c: runs the pipeline twice over poisoned outputs, and on the timed inputs once more over what a run on other
 * inputs left; checks outputs, guards, inputs, determinism. Sets
 * out->verification, and out->outcome to `wrong` or `inaccurate` with a reason. *damaged: a guard or an input was
 * overwritten. */
status verify_pipeline(struct bench *b, struct pipeline *p, struct result *out, bool *damaged, struct err *e);
/* Of one that is right, or inaccurate: one run more, with the bench's other scalars: `varied` is in use, and the
 * arguments are those. `wrong`, with a reason and what was verified, unless it is as it was; else nothing changes. */
status verify_varied(struct bench *b, struct pipeline *p, struct result *out, bool *damaged, struct err *e);
/* Outputs as a later run left them, by the same rules; `wrong` with a reason that ends in `when` if they are not as
 * they were (right, or inaccurate). Else verification, outcome and reason stay. */
#define AFTER_TIMED_RUN "after a timed run"
status verify_later_run(struct bench *b, struct pipeline *p, const char *when, struct result *out, struct err *e);
/* endurance.c. Of one that is `ok`: up to ENDURE_RUNS runs more, in bursts of a fourth of the runs before, for about as
 * many seconds; after each burst the outputs of its last run are compared, and at last memory is looked at. */
enum { ENDURE_RUNS = 1000 };
status verify_endurance(struct bench *b, struct pipeline *p, double seconds, struct result *out, bool *damaged,
                        struct err *e);
/* Guards, inputs, references and workspace as they are; `wrong` with a reason, *damaged if the bench is not to be used
 * again. */
status verify_memory(struct bench *b, struct pipeline *p, struct result *out, bool *damaged, struct err *e);
/* measure.c. Whether two samples show that it cannot win: it was sampled no further. */
bool measure_is_hopeless(const struct samples *s, const struct measure_options *o);
/* Fills out->samples, out->telemetry; may set `unstable`. */
status measure_pipeline(struct bench *b, struct pipeline *p, const struct measure_options *o, struct result *out,
                        struct err *e);

#endif
