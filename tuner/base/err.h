/* err.h: how a function fails.
 *
 * Every function that can fail returns a `status` (0 is success) and takes a `struct err *` last, into which it writes
 * one message for a person: what, where, and what to do. The struct is the caller's; it owns no memory, so it needs no
 * clean-up and may be copied. Library code never prints and never exits: main.c does, once, from the err it receives.
 * A configuration that fails is not an error: see model/outcome.h.
 */
#ifndef LATHE_BASE_ERR_H
#define LATHE_BASE_ERR_H

#include <stdarg.h>

/* name, process exit code, what it is. The enum, status_name(), the manual's list of exit codes and --help all come
 * from this table. Exit codes are stable. */
#define STATUS_TABLE(X)                                                                                                \
    X(OK, 0, "success")                                                                                                \
    X(NOTHING, 1, "no valid configuration, or nothing in the database matches")                                        \
    X(USAGE, 2, "wrong command line")                                                                                  \
    X(SPEC, 2, "a specification is wrong")                                                                             \
    X(STRATEGY, 3, "a strategy failed")                                                                                \
    X(DEVICE, 4, "no usable device, or the device failed")                                                             \
    X(COMPILER, 5, "no usable compiler")                                                                               \
    X(STORE, 6, "the database cannot be opened, read or written")                                                      \
    X(IO, 7, "a file cannot be read or written")                                                                       \
    X(NOMEM, 8, "out of memory")                                                                                       \
    X(INTERNAL, 70, "a bug in lathe")                                                                                  \
    X(INTERRUPTED, 130, "interrupted")

typedef enum status {
#define X(name, exit_code, text) LATHE_##name,
    STATUS_TABLE(X)
#undef X
        STATUS_COUNT
} status;

struct err {
    status code;
    char text[2000];
};

/* Sets *e (which may be NULL) and returns `code`, so that a failing path is `return err_set(e, LATHE_IO, "...")`. */
status err_set(struct err *e, status code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the message already in *e; returns e->code. */
status err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *status_name(status s);      /* "OK", "USAGE", ... */
const char *status_text(status s);      /* the third column */
int status_exit_code(status s);

#endif
