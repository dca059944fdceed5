/* earlier.h: what earlier campaigns of a database found, given to a strategy as configurations of its spaces. */
#ifndef LATHE_CAMPAIGN_EARLIER_H
#define LATHE_CAMPAIGN_EARLIER_H

#include "model/problem.h"
#include "search/strategy/strategy.h"

/* The configuration of a kernel's space that one found elsewhere becomes: {name: value}, which may have names and
 * values that the kernel lacks, and lack some of its own. Parameters that both have keep their values where that is
 * valid; else, and for a number that is no value here, the nearest ones (space_nearest). exact: nothing is different.
 * False: no parameter is in both. */
bool earlier_match(const struct space *s, const json_t *configuration, config_choice *out, bool *exact);

/* Before the first ask: the strategy over `spaces` is told where it is, and of each kernel of the same name the best
 * that campaigns in the database found: nothing where db is NULL, nothing that was imported, and only for a replay what
 * was replayed. before: of campaigns with a smaller id alone; 0: of all. recorded: what it was told when the campaign
 * began, which is being resumed; NULL: the database is asked. *told: what it is told now, a new reference. A database
 * that cannot be read is no failure: *unread then says so (mem_free it), else it is NULL. Fails as strategy_inform. */
status earlier_inform(const char *db, int64_t before, const json_t *recorded, const struct problem *p,
                      const struct target *t, struct space *const *spaces, int nspaces, struct strategy *strategy,
                      json_t **told, char **unread, struct err *e);

#endif
