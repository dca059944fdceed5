/* export_code.h: a stored trial as code, for a report: what `lathe export` writes. */
#ifndef LATHE_CLI_EXPORT_CODE_H
#define LATHE_CLI_EXPORT_CODE_H

#include "base/strbuf.h"
#include <jansson.h>

/* Appends the CUDA source of a trial whose provenance (db/query.h) is given. db: the database's name, for messages. */
status export_code(const json_t *provenance, const char *db, struct strbuf *out, struct err *e);

#endif
