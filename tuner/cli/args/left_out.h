/* left_out.h: says on stderr that something faster is left out, for the final of another campaign refused its like. */
#ifndef LATHE_CLI_LEFT_OUT_H
#define LATHE_CLI_LEFT_OUT_H

#include "db/query.h"

/* Of what passes the filter at the problem, size, device, tolerance and inputs of `first`, the best that is left; of
 * all that passes it where there is none (NULL). One line, of the fastest. */
status left_out_tell(struct query *q, const struct query_filter *f, const json_t *first, struct err *e);

#endif
