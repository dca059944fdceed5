/* export_set.h: what the exports of several configurations (--format c, bundle) are made of. */
#ifndef LATHE_CLI_EXPORT_SET_H
#define LATHE_CLI_EXPORT_SET_H

#include "cli/export/export_trials.h"

struct export_set {
    struct export_trial **trials;       /* each where it was opened: their inputs point into them */
    int n, cap;
    struct export_variant *variants;    /* those that were compiled; the last may be the fallback */
    int nvariants;
    struct export_fallback fallback;
    json_t *seen;                       /* "size on device" of those that are there */
    json_t *left_out;                   /* kernels with GEMM steps */
};

/* The best of each size and device of those selected, or `trial` (0: none), compiled; says on stderr what was left out.
 * name: of the export, borrowed; NULL: the usual one. LATHE_USAGE: of several problems; LATHE_COMPILER: none compiles.
 * If it fails there is nothing to close. The set must stay where it is. */
status export_set_open(struct query *q, const struct selection *sel, int64_t trial, const char *name,
                       struct export_set *out, struct err *e);
/* "wrote FILES: 2 configurations, ...", and a line each, on stderr. */
void export_set_tell(const struct export_set *set, const char *files);
/* Warns of those that were in no final. */
void export_set_warn(const struct export_set *set);
void export_set_close(struct export_set *set);

#endif
