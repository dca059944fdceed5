/* space_view.h: what `lathe space` looks at: a specification at a size, on a target. Its answers are in
 * cmd_space.c (count), space_list.c and space_explain.c. */
#ifndef LATHE_CLI_SPACE_VIEW_H
#define LATHE_CLI_SPACE_VIEW_H

#include "cli/args/find_spec.h"
#include "search/space/space.h"

struct space_args {
    struct spec_args spec;
    const char *kernel, *target, *explain;
    bool count, list, json, csv;
    int64_t sample, seed;
};

/* One kernel of the specification on the target. */
struct member {
    const struct kernel *kernel;
    struct space *space; /* NULL: empty, or the target cannot run it */
    char *refused;       /* why not; NULL if it has configurations */
    bool empty;          /* no configuration is valid, as opposed to a target that does not do */
};

struct view {
    struct problem *problem;
    struct target target;
    char *target_text;      /* "NVIDIA H200 (sm_90a)" */
    struct member *members; /* filled by view_open */
    int count;
};

/* Loads the specification and picks the target; opens no space. view_close is needed afterwards even if it fails.
 * self: this program's path, as for spec_load. */
status view_load(struct view *v, const char *self, const struct space_args *args, struct err *e);
/* Opens the spaces of the kernels asked about. */
status view_open(struct view *v, const struct space_args *args, struct err *e);
void view_close(struct view *v);

/* Is this kernel asked about? Baselines only by name: they have nothing to choose. */
bool view_wants(const struct kernel *k, const struct space_args *args);

/* --list and --sample: all configurations of the opened spaces, or some of each at random, a line each. */
status space_list_run(const struct view *v, const struct space_args *args, struct err *e);

/* --explain: whether one configuration is valid, or what refuses it. LATHE_NOTHING without a message if refused. */
status space_explain_run(const struct view *v, const struct space_args *args, struct err *e);

#endif
