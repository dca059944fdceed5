/* tune_report.h: what `lathe tune` says on stdout when a campaign has ended. */
#ifndef LATHE_CLI_TUNE_REPORT_H
#define LATHE_CLI_TUNE_REPORT_H

#include "campaign/campaign.h"

struct tune_reported {
    const char *db;
    int64_t top;
    bool json, csv;
    bool nothing;  /* the campaign has no winner: nothing is recommended */
    bool of_kinds; /* one of several kinds of devices: CSV waits for tune_report_kinds, since it has one header line */
};

/* The campaign as it stands in the database: as text, its best trials as CSV, or as the last event. */
status tune_report(const struct tune_reported *r, int64_t id, struct err *e);
/* The winners of each kind of device, side by side, in a column each, and the baselines; ids: the kinds' campaigns,
 * 0: none was begun. JSON: an event with the ids. CSV: the best trials of all kinds. */
status tune_report_kinds(const struct tune_reported *r, const struct device_kinds *kinds, const int64_t *ids,
                         struct err *e);

#endif
