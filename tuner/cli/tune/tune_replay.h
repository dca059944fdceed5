/* tune_replay.h: `lathe tune --device replay:FILE`: from the command line to the recording and the problem, and the
 * report where nothing is stored. */
#ifndef LATHE_CLI_TUNE_REPLAY_H
#define LATHE_CLI_TUNE_REPLAY_H

#include "campaign/campaign.h"
#include "cli/args/find_spec.h"

/* The FILE[#CAMPAIGN] of a device "replay:FILE[#CAMPAIGN]"; NULL: another device, or device is NULL. */
const char *replay_place(const char *device);

struct replay_input {
    struct recording *recording;
    struct problem *problem;
    bool recorded_space;        /* no specification was named: the space is what was recorded */
};

/* kernel: of a lathe campaign's, or NULL. A specification that is a JSON file with constraints alone is over the
 * recording's parameters. */
status replay_load(const char *place, const char *kernel, const struct spec_args *spec, const char *self,
                   struct replay_input *out, struct err *e);
void replay_input_free(struct replay_input *in);

/* What a replay found, on stdout: as text, one JSON object, or the best as CSV (docs/json.md). */
status replay_report(const struct replay_input *in, const struct campaign_summary *summary, bool json, bool csv,
                     struct err *e);

#endif
