/* tune_resume.h: `lathe tune --resume`: the recorded campaign, and what of it may be changed. */
#ifndef LATHE_CLI_TUNE_RESUME_H
#define LATHE_CLI_TUNE_RESUME_H

#include "campaign/resume.h"

struct resume_changes {         /* of its request; 0: as it was */
    int64_t trials;
    double seconds;
    int64_t top;                /* -1: as it was */
    double time_limit;
    int64_t give_up;            /* -1: as it was */
    int64_t workers;
    double compile_seconds;
    int64_t compile_memory;
    double drift_seconds;       /* always */
    bool has_delays;            /* false: as it was */
    enum delays delays;
    bool force;
};

/* LATHE_USAGE: it has ended and nothing is left of its budget; or its specification is another on the disk now, and the
 * changes do not force it. */
status resume_load(const char *db, int64_t id, const struct resume_changes *changes, const char *self,
                   struct resumption **out, struct err *e);

#endif
