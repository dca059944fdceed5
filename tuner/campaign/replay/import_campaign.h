/* import_campaign.h: a recording as a campaign of the database, as if it had been tuned elsewhere: what is known of
 * each configuration, in the order in which they were tried.
 *
 * Its device is of the kind DEVICE_IMPORTED and has the recorded one's name with "(imported)": figures of an import
 * never meet measured ones of a device. Its problem is the recorded space alone, since a recording says nothing of the
 * kernel's source. What the file calls its kernel and device stands in the campaign's request. */
#ifndef LATHE_CAMPAIGN_IMPORT_CAMPAIGN_H
#define LATHE_CAMPAIGN_IMPORT_CAMPAIGN_H

#include "replay/recording.h"

struct import;

/* Nothing is kept until import_end, and then all of it or nothing. LATHE_STORE. */
status import_begin(const char *db, const char *version, const char *command_line, struct import **out, struct err *e);
/* LATHE_SPEC: names or values that a specification cannot have, so that import_add would refuse it. */
status import_check(const struct recording *r, struct err *e);
/* *id: of the new campaign. As import_check. */
status import_add(struct import *i, const struct recording *r, int64_t *id, struct err *e);
/* so_far: if it is not LATHE_OK, nothing is kept. Frees i, which may be NULL. */
status import_end(struct import *i, status so_far, struct err *e);

#endif
