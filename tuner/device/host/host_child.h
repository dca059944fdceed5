/* host_child.h: runs one program to its end and keeps its words. */
#ifndef LATHE_DEVICE_HOST_CHILD_H
#define LATHE_DEVICE_HOST_CHILD_H

#include "base/strbuf.h"

enum { CHILD_OUTPUT = 64 * 1024 };

/* What only says its version is given so many seconds; a first start from a slow disk takes a few. */
enum { CHILD_VERSION_SECONDS = 10 };

/* Runs argv[0] (a path) with no shell and no input; the messages' language is English (LC_ALL=C). Appends what it wrote
 * to both its outputs, the first CHILD_OUTPUT bytes with a note of how much more there was. *code: its exit code, or
 * 128 + the signal that ended it. The program and all it starts die with the calling thread, or after `seconds` (0: it
 * takes what it takes); what it leaves running in a session of its own, as a compiler's server, is not waited for.
 * tmp: the folder for its temporary files, TMPDIR for it; NULL: where it likes. A killed GCC leaves its own there.
 * LATHE_COMPILER when it cannot be run, or does not end in time. */
status host_child_run(char *const argv[], const char *tmp, double seconds, struct strbuf *output, int *code,
                      struct err *e);

#endif
