/* stored.h: a stored trial as the model's nouns: its problem at its size, its kernel, its configuration, its device. */
#ifndef LATHE_CLI_STORED_H
#define LATHE_CLI_STORED_H

#include "model/config.h"
#include "model/target.h"

struct stored {
    struct problem *problem;
    const struct kernel *kernel;        /* of the problem */
    config_choice *choice;
    struct target target;
};

/* Of a trial's provenance (db/query.h). what: what it is wanted for, "an export", which needs its kernel's
 * source; NULL: nothing that does. db: the database, for messages. On failure nothing is left to free. */
status stored_open(const json_t *provenance, const char *what, const char *db, struct stored *out, struct err *e);
void stored_free(struct stored *s);

#endif
