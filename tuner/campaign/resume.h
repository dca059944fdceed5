/* resume.h: a recorded campaign that goes on.
 *
 * The strategy is deterministic for its seed and what it is told, so it is run again from its beginning, and told what
 * was recorded, until it proposes what was not: from there on the campaign is what it would have been. It goes on with
 * its own specification, sources, strategy, options, seed, tolerance and inputs, as they were recorded, not as they are
 * on the disk now. */
#ifndef LATHE_CAMPAIGN_RESUME_H
#define LATHE_CAMPAIGN_RESUME_H

#include "campaign/campaign.h"

/* Reads campaign `id` of the database at `db`, and opens its recording if it has one. An older database is brought up
 * to date. LATHE_NOTHING: there is none; LATHE_STORE, LATHE_SPEC, LATHE_IO: it cannot be read back. */
status resumption_open(const char *db, int64_t id, struct resumption **out, struct err *e);
void resumption_close(struct resumption *r);        /* NULL is fine */

/* Its request, to be completed with self, version, command line and events; budgets, top, time limit and workers may be
 * changed. All else is borrowed from r. */
struct campaign_request *resumption_request(struct resumption *r);
const char *resumption_state(const struct resumption *r);   /* as recorded */
int64_t resumption_trials(const struct resumption *r);      /* the largest number that was given */
double resumption_seconds(const struct resumption *r);      /* that it took so far */
double resumption_counted(const struct resumption *r);      /* by its budget: recorded ones, of a replay */

/* What the specification is now, where it can still be read, differs from what was recorded: says in *what which
 * kernels do, or that something else does. False: it is the same. */
bool resumption_differs(const struct resumption *r, const struct problem *now, struct strbuf *what);

#endif
