/* export_campaign.h: a campaign in the forms of other tuners: all its trials, and no code. */
#ifndef LATHE_CLI_EXPORT_CAMPAIGN_H
#define LATHE_CLI_EXPORT_CAMPAIGN_H

#include "cli/args/select.h"
#include "replay/recording.h"

/* The names of the forms: "t4", ...; -1: none of them. */
int export_form(const char *format);
/* The selection's campaign, default the newest, and kernel, default the only one; the rest of the selection, trial and
 * name must be empty, and into_database false: LATHE_USAGE. output: NULL and "-" are standard output. */
status export_campaign(const struct selection *sel, int64_t trial, const char *name, bool into_database,
                       enum recording_form form,
                       const char *output, struct err *e);

#endif
