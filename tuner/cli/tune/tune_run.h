/* tune_run.h: one campaign of `lathe tune`, from its request to its report. */
#ifndef LATHE_CLI_TUNE_RUN_H
#define LATHE_CLI_TUNE_RUN_H

#include "campaign/campaign.h"
#include "cli/tune/tune_args.h"
#include "cli/tune/tune_events.h"

/* Runs it, with signals caught (signals.h) and shown going on stderr and, with --json, on stdout; sink: in place of
 * stderr, or NULL. Returns what campaign_run does, or that its lines could not be written. */
status tune_run_campaign(const struct tune_args *args, const struct campaign_request *request,
                         const struct tune_sink *sink, struct campaign_summary *summary, struct err *e);

/* s, summary, *e: what tune_run_campaign gave. Reports what is stored of the campaign, on stdout, and returns what the
 * command shall; what is known of a campaign that did not simply succeed is told with its failure. of_kinds: it is one
 * of several kinds' (struct tune_reported). */
status tune_conclude(const struct tune_args *args, bool of_kinds, status s, const struct campaign_summary *summary,
                     struct err *e);

#endif
