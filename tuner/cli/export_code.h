/* export_code.h: a stored trial as code: what `lathe export` writes, and what a report shows. */
#ifndef LATHE_CLI_EXPORT_CODE_H
#define LATHE_CLI_EXPORT_CODE_H

#include "base/strbuf.h"
#include <jansson.h>
#include <stdbool.h>

/* Appends the code of a trial whose provenance (db/query.h) is given: CUDA source, or a PyTorch module, into which its
 * cubin is compiled where that can be done (else stderr says why not). db: the database's name, for messages. */
status export_code(const json_t *provenance, const char *db, bool torch, struct strbuf *out, struct err *e);

#endif
