/* tune_args.h: what `lathe tune` may be given, and the texts of its help. */
#ifndef LATHE_CLI_TUNE_ARGS_H
#define LATHE_CLI_TUNE_ARGS_H

#include "campaign/campaign.h"
#include "cli/args/find_spec.h"
#include "console/help.h"
#include "console/options.h"

struct tune_args {
    struct spec_args spec;
    const char *device, *strategy, *db, *inputs, *objective, *delays;
    struct text_list kernels, baselines, options, tolerances;
    int64_t trials, seed, top, workers, resume, compile_memory, give_up;
    double seconds, time_limit, compile_seconds, drift;
    bool quiet, json, csv, sanitize, force;
    /* given, not the default: */
    bool has_device, has_strategy, has_seed, has_inputs, has_objective, has_top, has_time_limit, has_delays,
        has_give_up;
    enum delays when_delayed;           /* of `delays`, once that was read */
};

extern const struct option_row tune_options[];
extern const char tune_details[];
/* The strategies and classes of inputs that there are. */
void tune_help(struct help *h);

#endif
