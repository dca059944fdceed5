/* verification.h: `lathe verify`: configurations of one kernel on inputs of many kinds (model/inputs.h). Nothing is
 * timed and nothing stored. */
#ifndef LATHE_CAMPAIGN_VERIFICATION_H
#define LATHE_CAMPAIGN_VERIFICATION_H

#include "campaign/campaign.h"
#include "model/inputs.h"
#include "model/problem.h"
#include "model/result.h"

struct verification_result {
    enum inputs inputs;
    bool delayed;                           /* compiled so that warps pause at random */
    const char *config;                     /* canonical text */
    const json_t *configuration;            /* {name: value} */
    const struct result *result;            /* its outcome: ok, inaccurate, wrong, or why it did not run */
    /* Plain inputs are measured by the relative Frobenius error, the others by the largest error over its scale. NaN:
     * not known, not finite, no limit. */
    double error, sgemm_error, limit;       /* the configuration's, the float32 GEMM's on these inputs, and what it may
                                               be */
};

struct verification_request {
    struct problem *problem;                /* sizes and tolerance already set */
    const char *kernel;                     /* a candidate, or a baseline that is checked */
    const char *config;                     /* "NAME=V,..."; NULL: a sample */
    int sample;                             /* configurations drawn at random; the whole space if it is smaller */
    const char *device;                     /* NULL: dev_default() */
    const enum inputs *inputs;              /* in this order */
    int ninputs;                            /* 1 or more */
    enum delays delays;                     /* whether the first class is tried once more with such pauses */
    uint64_t seed;                          /* of sample and inputs */
    double time_limit;                      /* seconds one verification may take */
    int compile_workers;                    /* 0: one a core */
    const char *self;
    bool sanitize;
    void (*on_note)(void *ctx, const char *text);
    void (*on_result)(void *ctx, const struct verification_result *r);  /* class by class */
    void *ctx;
};

/* LATHE_OK also when some are not right: on_result was told. LATHE_NOTHING: the configuration, or every one, is refused
 * by a constraint. */
status verification_run(const struct verification_request *r, struct err *e);

#endif
