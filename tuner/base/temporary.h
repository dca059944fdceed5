/* temporary.h: folders for what a command needs for the time being, "lathe-WHAT-XXXXXX" in $TMPDIR or /tmp.
 *
 * Invariant: while its process lives, a folder is locked (flock), however that process ends; so one that is not locked
 * belongs to nobody, and the next that is made takes such away. */
#ifndef LATHE_BASE_TEMPORARY_H
#define LATHE_BASE_TEMPORARY_H

#include "base/err.h"

struct temporary {
    char *path;
    int lock;                   /* the folder, open; not inherited by other programs */
};

/* For temporary files: $TMPDIR, or /tmp. */
const char *temporary_place(void);

/* A folder that only this user can enter, in `place` (NULL: temporary_place); what: "selftest", "export", "recording"
 * or "mpi". Before that, those of the place that this user's ended processes left are taken away. LATHE_IO: it cannot
 * be made, and *t needs no temporary_remove. Nothing but files and sockets may be put into it. */
status temporary_make(const char *place, const char *what, struct temporary *t, struct err *e);
/* With what is in it. Of {0}: nothing. */
void temporary_remove(struct temporary *t);

#endif
