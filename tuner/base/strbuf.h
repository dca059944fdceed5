/* strbuf.h: a growable string, and the few file helpers everything needs.
 * A strbuf starts as {0}; sb_free() releases it; sb_take() gives the string away (free with mem_free). Always
 * NUL-terminated once anything was added. */
#ifndef LATHE_BASE_STRBUF_H
#define LATHE_BASE_STRBUF_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *s;
    size_t len, cap;
};

void sb_add(struct strbuf *b, const char *s);
void sb_addn(struct strbuf *b, const char *s, size_t n);
void sb_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *sb_str(const struct strbuf *b);         /* "" when empty; valid until the next call that changes b */
char *sb_take(struct strbuf *b);
void sb_free(struct strbuf *b);

/* Appends a field of CSV (RFC 4180), quoted where it has to be, or begins or ends with a blank. */
void sb_csv(struct strbuf *b, const char *field);

/* Appends text of n bytes made valid UTF-8: each byte that is no part of it becomes U+FFFD. */
void utf8_clean(struct strbuf *b, const char *text, size_t n);
char *utf8_copy(const char *text);                  /* the same of a whole string; mem_free it */
/* Bytes of the byte order mark that a text of n bytes begins with, as editors and Excel write it: 3, or 0. */
size_t utf8_mark(const char *text, size_t n);

/* Whole file as a NUL-terminated string (mem_free it). len may be NULL. Fails with LATHE_IO naming the path; a
 * directory, a pipe or a device, or a file over 256 MiB, is refused. */
status file_read(const char *path, char **text, size_t *len, struct err *e);

/* Writes to a temporary name in the same directory, fsyncs, renames: afterwards the file is whole or absent. What a
 * link points to is replaced, not the link; what is no regular file (a pipe, a terminal), and what a dangling link
 * names, is written to as it is. */
status file_write_atomic(const char *path, const void *data, size_t len, struct err *e);

bool file_is_same(const char *a, const char *b);     /* two names of one file that is there */
bool file_exists(const char *path);
/* The file that `path` leads to by links, there or not: relative to the current folder where it is below that. As it was
 * given where no link is followed, or where it is no regular file; mem_free it. */
char *file_resolve(const char *path);
/* Who opens a pipe waits for its writer, and who reads a device may wait for ever: what is no regular file is LATHE_IO,
 * "PATH: is a pipe, expected WHAT" ("a file"). What is not there is LATHE_OK: opening it says so. */
status file_check_regular(const char *path, const char *what, struct err *e);
status dir_make(const char *path, struct err *e);   /* mkdir -p */
char *path_join(const char *dir, const char *name); /* mem_free it; an absolute name is returned as it is */
char *path_dirname(const char *path);               /* mem_free it */

/* The candidate nearest to `word` by edit distance, or NULL if none is near (distance over 2 and over a third of its
 * length, or nothing in common): for "did you mean". Swapped neighbours count as one edit. */
const char *nearest_word(const char *word, const char *const *candidates, int n);

#endif
