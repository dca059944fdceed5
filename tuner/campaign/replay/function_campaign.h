/* function_campaign.h: a campaign whose trials are calls of a function: any search that is not of kernels, such as that
 * of a strategy's own options. It is stored like others, on a device of kind replay: nothing is measured. */
#ifndef LATHE_CAMPAIGN_FUNCTION_CAMPAIGN_H
#define LATHE_CAMPAIGN_FUNCTION_CAMPAIGN_H

#include "model/problem.h"
#include "model/result.h"
#include "search/space/space.h"

struct function_campaign {
    struct problem *problem;        /* a space alone */
    const char *device;             /* what the values belong to, as the store names it */
    const char *strategy;           /* as campaign_request's */
    char *const *options;
    int noptions;
    int64_t trials;                 /* at least 1 */
    double seconds;                 /* of real time: no trial begins after it; 0: no limit */
    uint64_t seed;
    const char *db;                 /* NULL: nothing is stored */
    const char *version, *command_line;
    const char *note;               /* what its values are */
    /* Fills *out, which is initialised: outcome, reason, time_ms: what is minimised, positive, in ms for the store; and
     * its stages' seconds. slots are complete. LATHE_INTERRUPTED: the trial is skipped and the campaign ends. */
    status (*evaluate)(void *ctx, int64_t number, const struct kernel *k, const struct value *slots,
                       const config_choice *choice, struct result *out, struct err *e);
    void *ctx;
};
struct function_summary {
    int64_t id, trials;             /* id 0: not stored; trials: that ended */
    uint64_t space_size;
    bool interrupted;
};

/* A configuration that is proposed again is answered again, for nothing. Ends with the budget, the strategy, the space
 * or campaign_interrupt, which is no failure. */
status campaign_of_function(const struct function_campaign *f, struct function_summary *out, struct err *e);

#endif
