/* export_trials.h: the trials that `lathe export` is about, read from the database. */
#ifndef LATHE_CLI_EXPORT_TRIALS_H
#define LATHE_CLI_EXPORT_TRIALS_H

#include "console/options.h"
#include "cli/args/select.h"
#include "cli/args/stored.h"
#include "export/export.h"

struct export_trial {
    json_t *provenance;                 /* query_provenance's */
    const json_t *trial;                /* its part */
    struct stored stored;
    struct export_input in;             /* borrows from the rest: the struct must stay where it is */
};

/* `trial`, or (0) the best of those selected. note, if not NULL: where the selection leaves several problems or sizes,
 * the best of the newest campaign's, and what to say of the others, to be freed (NULL: nothing). LATHE_NOTHING: there
 * is none; LATHE_USAGE: an option too many, or trials that were verified to different tolerances or on different
 * inputs, so that the user has not chosen. */
status export_choose(struct query *q, const struct selection *sel, int64_t trial, int64_t *id, char **note,
                     struct err *e);
/* Warns of a winner that was in no final. */
void export_warn_no_final(const json_t *trial);

/* query_best; where the filter wants what was measured here and there is none, *f no longer does: of what was recorded
 * elsewhere it is said later why that is no code. */
status export_query_best(struct query *q, struct query_filter *f, json_t **best, struct err *e);

/* LATHE_NOTHING where there is no such trial, or it is not verified, or may not win. name: of the launcher, borrowed;
 * NULL: the usual one. db: for messages. Close it if this succeeds. */
status export_trial_open(struct query *q, int64_t id, const char *db, const char *name, struct export_trial *out,
                         struct err *e);
/* The same of a provenance (db/query.h), which may be anyone's trial. */
status export_trial_read(json_t *provenance, const char *db, const char *name, struct export_trial *out, struct err *e);
void export_trial_close(struct export_trial *t);

/* The part of export_choose that looks for conditions, for one trial of a filter's. */
status export_check_conditions(struct query *q, const json_t *trial, const struct query_filter *chosen, struct err *e);

/* export_image.c: the configuration compiled for `arch` ("sm_90a"; "compute_80": PTX) into memory, which mem_free
 * frees. LATHE_OK also where the source is refused: then *image stays NULL, and *why, to be freed likewise, is the
 * compiler's reason. LATHE_COMPILER: there is no compiler. */
status export_image(const struct export_input *in, const char *arch, char **image, size_t *len, char **why,
                    struct err *e);

/* The same as PTX for capability `sm`, 90, and later ones, of a configuration that was tuned for that GPU alone
 * (sm_90a). *why is also set, and *image stays NULL, where what the GPU alone has makes a difference: where the source
 * does not assemble without it, or compiles to other code (an #if), which nobody has verified. */
status export_image_later(const struct export_input *in, int sm, char **image, size_t *len, char **why, struct err *e);

/* export_c_files.c: --format c. `output`: a directory, or the two files' name without .c and .h. */
status export_c_files(struct query *q, const struct selection *sel, int64_t trial, const char *name, const char *output,
                      struct err *e);
/* --format bundle. `output`: the file; "-": standard output; NULL: the database itself. version: of this program. */
status export_bundle_file(struct query *q, const struct selection *sel, int64_t trial, const char *version,
                          const char *output, struct err *e);

#endif
