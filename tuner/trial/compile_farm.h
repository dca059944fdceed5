/* compile_farm.h: compile workers and the queue before them. A job whose image is in the cache costs no compile. Jobs
 * are started in the order added; their callbacks come from the event loop, in the order they end. A compiler that dies
 * may have been killed from outside (kill, the system short of memory): its job is compiled once more, in a fresh
 * worker, and only then is its end COMPILE_CRASHED. */
#ifndef LATHE_TRIAL_COMPILE_FARM_H
#define LATHE_TRIAL_COMPILE_FARM_H

#include "base/hash.h"
#include "trial/child.h"

struct compile_farm;

struct compile_job {
    const char *source, *name;      /* copied */
    char **defines;                 /* copied */
    int ndefines;
};

enum compile_end { COMPILE_DONE, COMPILE_REFUSED, COMPILE_TIMED_OUT, COMPILE_CRASHED, COMPILE_FAILED };
struct compile_answer {
    enum compile_end end;           /* FAILED: no compiler can be had; text says what to do */
    const char *image;              /* path, when done */
    const char *key;
    const char *text;               /* the log, or what happened */
    double seconds;
    bool cached;
};
typedef void (*compile_done)(void *ctx, const struct compile_answer *a);

/* What one compile may take. A compiler that needs more memory says so itself, or dies. */
struct compile_limits {
    double seconds;
    int cores_kept;                 /* for those who launch: compilers stay off so many, where enough are left */
    int64_t memory;                 /* bytes that each of its processes may allocate; 0: no limit */
};

/* Asks a first worker for the toolchain (blocking): LATHE_COMPILER if there is none. */
status compile_farm_open(uv_loop_t *loop, const char *self, int workers, const char *arch, bool sanitize,
                         struct compile_limits limits, struct compile_farm **out, struct err *e);
void compile_farm_close(struct compile_farm *f);
const char *compile_farm_toolchain(const struct compile_farm *f);

void compile_farm_add(struct compile_farm *f, const struct compile_job *job, compile_done done, void *ctx);
/* Jobs added and not yet called back. */
int compile_farm_pending(const struct compile_farm *f);
/* Drops every job (no callback) and kills what runs. */
void compile_farm_cancel(struct compile_farm *f);

#endif
