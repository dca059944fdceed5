/* tune_kinds.h: `lathe tune` on devices of unlike kinds: a campaign of each, all at the same time. */
#ifndef LATHE_CLI_TUNE_KINDS_H
#define LATHE_CLI_TUNE_KINDS_H

#include "cli/tune/tune_run.h"

/* request: of each campaign, but for its device and what they share (compilers). Reports each on stdout, then their
 * winners side by side. *e tells of every kind that did not simply succeed; the code is the worst: that of the first
 * kind that failed, else LATHE_INTERRUPTED, else LATHE_NOTHING. */
status tune_kinds(const struct tune_args *args, const struct campaign_request *request,
                  const struct device_kinds *kinds, struct err *e);

#endif
