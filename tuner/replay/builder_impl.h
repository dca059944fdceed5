/* builder_impl.h: what a recording in the making is, for the two files that make it. */
#ifndef LATHE_REPLAY_BUILDER_IMPL_H
#define LATHE_REPLAY_BUILDER_IMPL_H

#include "replay/builder.h"

struct builder_param {
    char *name;
    bool listed;
    struct value *values;       /* strings are owned */
    int nvalues, cap;
    int last;                   /* the value asked for last: entries often repeat it */
};

struct builder {
    struct recording *r;
    struct builder_param params[RECORDING_PARAMS_MAX];
    int nparams;
    uint64_t cap_configs, cap_samples;
    char **texts;
    int ntexts, cap_texts;
};

#endif
