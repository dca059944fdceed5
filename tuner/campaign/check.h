/* check.h: does a specification compile, and can it be launched? A random sample of each kernel's space, and the
 * specification's reference kernel, for targets that need not be here. */
#ifndef LATHE_CAMPAIGN_CHECK_H
#define LATHE_CAMPAIGN_CHECK_H

#include "model/problem.h"
#include "search/space/space.h"

struct check_result {
    const struct kernel *kernel;
    const char *arch;
    uint64_t space_size;            /* where drawn says something, of those that stand for the space */
    char drawn[1200];               /* why it is not whole, and how its members were drawn; "": it is */
    bool empty;                     /* the target can run the kernel, and no configuration is valid */
    int tried, compiled;
    double seconds;                 /* compiler's time, summed over what was not cached */
    /* configuration, and log or what its launch lacks; of an empty space, what refuses; "" if none */
    char first_failure[1600];
    char skipped[400];              /* why the kernel is not for this target, "" if it is */
};

struct check_request {
    struct problem *problem;
    const char *kernel;             /* NULL: all */
    const char *const *archs;       /* "sm_80", "sm_90a", "sm_100", "host" */
    int narchs;
    int sample;                     /* configurations a kernel and target; the whole space if it is smaller */
    uint64_t seed;
    bool delays;                    /* as they are compiled to be verified with pauses (kernels/common/delays.cuh) */
    int workers;                    /* 0: one a core */
    const char *self;
    void (*on_result)(void *ctx, const struct check_result *r);
    void *ctx;
};

/* *failed: something did not compile or has no plan (model/plan.h) at the problem's size; or on some target spaces are
 * empty, and none but baselines has a member, so that nothing could be tuned there. Results say which. */
status check_run(const struct check_request *r, bool *failed, struct err *e);

#endif
