/* package.h: a request of the worker protocol (trial/worker.h) made ready for another host: the images that it names by
 * path travel with it, and are in the cache of that host afterwards. */
#ifndef LATHE_MPI_PACKAGE_H
#define LATHE_MPI_PACKAGE_H

#include "base/strbuf.h"
#include <jansson.h>

/* Appends the request's JSON and the files that it names; of one that is gone the name alone. LATHE_IO: one cannot be
 * read, or all are too large together; LATHE_INTERNAL: the line is not a JSON object. */
status package_write(const char *line, size_t len, struct strbuf *out, struct err *e);

/* The request, its images in `dir`, the host's cache: written there unless they are there already. New reference.
 * One that was not sent, and is not there either, is named all the same.
 * LATHE_INTERNAL: it is not whole, or names a file that is no image; LATHE_IO: it cannot be written. */
status package_read(const char *bytes, size_t len, const char *dir, json_t **out, struct err *e);

#endif
