/* gzip_rest.h: what stands behind a file's compressed data, which zlib's reading passes over without a word. */
#ifndef LATHE_REPLAY_GZIP_REST_H
#define LATHE_REPLAY_GZIP_REST_H

#include <stdbool.h>

/* Of a gzip file that could be read to its end: whether anything but zeros (padding) and further compressed data stands
 * behind its data. Reads it once more. */
bool gzip_has_rest(const char *path);

#endif
