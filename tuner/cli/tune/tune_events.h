/* tune_events.h: `lathe tune --json`: what happens in a campaign as one JSON object a line on stdout, for other
 * programs (docs/json.md). */
#ifndef LATHE_CLI_TUNE_EVENTS_H
#define LATHE_CLI_TUNE_EVENTS_H

#include "campaign/campaign.h"
#include "cli/progress/progress.h"

/* Another process that shows the campaign. */
struct tune_sink {
    struct progress_sink progress;
    void (*begun)(void *ctx, int64_t campaign);     /* once it has a number, before any other word of it; ctx:
                                                       progress.ctx */
};

struct tune_events {
    struct progress progress;   /* for people, on stderr */
    const struct tune_sink *sink;   /* NULL: none; borrowed */
    bool begun;                 /* the sink was told */
    const struct campaign_request *request;
    bool json;
    struct err failed;          /* writing a line failed: no more are written */
};

void tune_events_init(struct tune_events *t, const struct campaign_request *r, bool quiet, bool json,
                      const struct tune_sink *sink);
void tune_event(void *tune_events, const struct campaign_event *ev);    /* struct campaign_request's on_event */
/* The live line is gone from then on. What writing the lines met. */
status tune_events_end(struct tune_events *t, struct err *e);

/* The last line: the result's own keys, after "event": "campaign_ended". */
status tune_events_result(const json_t *result, struct err *e);
/* The last line where there were several kinds of devices: "kinds", each with its devices and its campaign. */
status tune_events_kinds(const struct device_kinds *kinds, const int64_t *ids, struct err *e);
/* The last line where there is no result: "campaign_failed". */
status tune_events_failure(int64_t campaign, const struct err *why, struct err *e);

#endif
