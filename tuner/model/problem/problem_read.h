/* problem_read.h: access to the fields of a specification's tree, with errors that say where. Private to the files that
 * read a specification (problem_json*.c).
 *
 * A Lua table arrives as an array (positional items only) or as an object (named keys; "#" holds the positional items,
 * "tag" the constructor's name). struct table hides which. The tree read from is the problem's own copy, so texts and
 * tables may be borrowed from it for as long as the problem lives.
 */
#ifndef LATHE_MODEL_PROBLEM_READ_H
#define LATHE_MODEL_PROBLEM_READ_H

#include "model/problem/problem_internal.h"

/* Bounds on what a specification may hold. */
enum {
    MAX_NAME = 47,              /* characters; plan.h's names hold one more */
    MAX_FUNCTION = 95,          /* the same of a launch's function */
    MAX_DIMS = 16,
    MAX_SCALARS = 32,
    MAX_TENSORS = 32,
    MAX_KERNELS = 64,           /* baselines included */
    MAX_PARAMS = 64,
    MAX_VALUES = 4096,
    MAX_LETS = 128,
    MAX_CONSTRAINTS = 256,
    MAX_STEPS = 64,
    MAX_COMPUTES = 16,
};

struct reader {
    const char *path;                   /* the specification file, for messages */
    const char *const *include_dirs;    /* for sources */
    struct strbuf at;                   /* the field being read: "kernels.simt.grid[1]" */
    struct problem *p;                  /* being made */
    struct err *e;                      /* never NULL */
};

/* Goes down to a field and back up. After a failure the path stays where it was: nobody reads on. */
size_t at_enter(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void at_leave(struct reader *r, size_t mark);

/* LATHE_SPEC with "path: field: " before the message. */
status read_fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "expected EXPECTED, got ..." with what j is. */
status read_wrong(struct reader *r, const json_t *j, const char *expected);
/* Puts "path: field: " before a message that something else made. */
status read_because(struct reader *r, status s);

struct table_form {
    const char *written;                /* how it is written: "{ name, type, { shape } }" */
    const char *tag;                    /* the constructor it has, or NULL */
    int min_items, max_items;           /* positional ones */
    const char *const *keys;            /* named ones, NULL-terminated */
};

struct table {
    json_t *named;                      /* an object, or NULL */
    const json_t *items;                /* an array, or NULL */
    int nitems;
};

status read_table(struct reader *r, json_t *j, const struct table_form *form, struct table *out);
/* A list of `min` to `max` entries; absent (NULL) is an empty one. `entries` says how one is written. */
status read_list(struct reader *r, json_t *j, const char *entries, int min, int max, struct table *out);
json_t *table_item(const struct table *t, int i);
json_t *table_get(const struct table *t, const char *key);
/* The constructor's name of a tree node, "" if it has none. */
const char *node_tag(const json_t *j);

/* A text without NUL bytes; NULL if j is anything else. */
const char *node_text(const json_t *j);

status read_text(struct reader *r, const struct table *t, const char *key, char **out);         /* optional; a copy */
status read_flag(struct reader *r, const struct table *t, const char *key, bool *inout);        /* optional */
status read_amount(struct reader *r, const struct table *t, const char *key, bool required, double *inout); /* >= 0 */

/* An identifier of at most `max` characters. *out is a copy. */
status read_identifier(struct reader *r, const json_t *j, const char *what, int max, char **out);
/* A name: one of MAX_NAME characters, and it must mean nothing else in the formulas of kernel k (NULL: of the problem)
 * or in C++. */
status read_new_name(struct reader *r, const struct kernel *k, const json_t *j, const char *what, char **out);

/* What formulas, C++ or the code that lathe generates already use `name` for; NULL: nothing. */
const char *reserved_name(const char *name);

enum formula_want {
    WANT_INTEGER,
    WANT_NUMBER,                        /* integer or float */
    WANT_BOOLEAN,
    WANT_ANY,
};
/* A text, a number or a boolean, parsed, bound and checked. hint: NULL, or what names it may use, for the message. */
status read_formula(struct reader *r, const json_t *j, enum formula_want want, const struct scope *scope,
                    const char *hint, struct expr **out);
/* The same for an optional key: *out stays as it is when absent. */
status read_formula_key(struct reader *r, const struct table *t, const char *key, enum formula_want want,
                        const struct scope *scope, struct expr **out);
/* Refuses a formula that uses a slot in [from, to). */
status forbid_slots(struct reader *r, const struct expr *x, const struct scope *scope, int from, int to,
                    const char *hint);

/* Shared among problem_json*.c. Each reads one part of the tree into a struct that is zeroed. */

/* { name, type, { shape } }: its positional items only. kernel: whose workspace it is; NULL: the problem's. */
status read_tensor(struct reader *r, const struct kernel *k, const struct table *t, const struct scope *scope,
                   struct tensor *out);
/* The name of a tensor, or of k's workspace (k may be NULL), to a struct arg's index. */
status read_buffer_name(struct reader *r, const struct kernel *k, const json_t *j, int *out);
/* The three matrices and trans_a, trans_b; checks ranks and axes, not types. */
status read_gemm(struct reader *r, const struct kernel *k, const struct table *t, struct gemm *out);
/* NULL: identity. */
status read_epilogue(struct reader *r, const json_t *j);
status read_reference(struct reader *r, json_t *j);
status read_launch(struct reader *r, struct kernel *k, json_t *j, struct step *out);
status read_steps(struct reader *r, struct kernel *k, json_t *j);
/* NULL: nothing is said. After the tensors. */
status read_torch(struct reader *r, json_t *j);
status read_kernels(struct reader *r, json_t *candidates, json_t *baselines);
/* Each adds to the kernel's scope what later formulas may use. limits_only: `requires`. */
status read_params(struct reader *r, struct kernel *k, json_t *j);
status read_lets(struct reader *r, struct kernel *k, json_t *j);
status read_constraints(struct reader *r, struct kernel *k, json_t *j, bool limits_only, struct constraint **out,
                        int *count);
/* The problem that is a space alone. */
status read_space(struct reader *r);
/* No two macros of one name; every output is named by a step. */
status check_macros(struct reader *r, const struct kernel *k);
status check_outputs(struct reader *r, const struct kernel *k);
/* The reference that is a pipeline of its own: no name, no parameters. */
status read_reference_kernel(struct reader *r, json_t *j, struct kernel *k);

#endif
