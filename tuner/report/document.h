/* document.h: everything that a report shows, as one JSON document (docs/report.md). */
#ifndef LATHE_REPORT_DOCUMENT_H
#define LATHE_REPORT_DOCUMENT_H

#include "base/strbuf.h"
#include "db/query.h"

struct document_request {
    const int64_t *campaigns;           /* ids, 0 for the newest */
    int ncampaigns;
    const char *tool_version;
    /* The code of a trial whose query_provenance is given, for `source`: what `lathe export` would write; db: the
     * database. On failure its message is shown in the code's place. NULL: none is shown. */
    status (*source)(const json_t *provenance, const char *db, struct strbuf *out, struct err *e);
};

/* New reference. LATHE_NOTHING: there is no such campaign. */
status document_make(struct query *q, const struct document_request *r, json_t **out, struct err *e);

/* Of a campaign as query_report gives it, an array of what importance.h says of each kernel with enough trials:
 * {kernel, trials, fit, alone: [{name, share, deviation}], pairs: [{a, b, share}]}, the largest shares first. Times are
 * compared by their logarithm. */
json_t *document_importance(const json_t *campaign);

/* Gives a campaign of query_report `ceilings`, the different ones that its trials have, an array of {unit, products,
 * from, unit_tflops, peak_tflops} (as in explain.h), and the column `ceiling`: of each trial the place there, -1 where
 * its specification cannot say. provenance: of any of its trials; NULL: it has none. */
void document_ceilings(json_t *campaign, const json_t *provenance);

#endif
