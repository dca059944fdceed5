/* problem.h: a specification as plain data: the problem, and the kernels that may solve it.
 *
 * A struct problem is made by problem_from_json (model/problem/problem_json.c), owns everything it points to, and is freed with
 * problem_free. It does not change afterwards except by problem_set_* and problem_restrict. Formulas have scopes:
 *
 *   problem scope: dims, scalars                                      (tensor shapes, fills, flops, bytes)
 *   kernel scope:  dims, scalars, limits, params, lets, in this order (everything in a kernel)
 *   epilogue scope: dims, scalars, "z", one index name a dimension of the output (lower case of the dimension's name),
 *                  then every input tensor of the problem with its rank
 *
 * Limits are the device's numbers that constraints may use, LIMIT_TABLE below.
 */
#ifndef LATHE_MODEL_PROBLEM_H
#define LATHE_MODEL_PROBLEM_H

#include "model/dtype.h"
#include "expr/expr.h"
#include "model/target.h"
#include "model/tolerance.h"
#include "model/torch_model.h"
#include <jansson.h>

enum { MAX_RANK = 4 };

struct dim {
    char *name;
    int64_t value;                                  /* >= 1 */
};

struct scalar {
    char *name;
    double value;
};

enum fill_kind { FILL_UNIFORM, FILL_NORMAL };       /* uniform [a, b); normal mean a, deviation b */
/* workspace: garbage; zeroed before the first launch, and the pipeline leaves it zero; zeroed, in the timed region,
 * every time */
enum zero_kind { ZERO_NEVER, ZERO_ONCE, ZERO_EACH };

struct tensor {
    char *name;
    enum dtype dtype;
    int rank;
    struct expr *shape[MAX_RANK];
    bool output;
    enum fill_kind fill;                            /* inputs only */
    struct expr *fill_a, *fill_b;
    enum fill_kind check;                           /* inputs only: what candidates are verified on besides */
    struct expr *check_a, *check_b;                 /* NULL: nothing, it keeps its fill */
    struct expr *when;                              /* workspace only, NULL = always */
    enum zero_kind zero;                            /* workspace only */
};

struct param {
    char *name, *help;
    enum value_type type;                           /* of all its values */
    struct value *values;                           /* in the order written, distinct */
    int nvalues;
    struct expr *when;                              /* NULL: always active. An inactive parameter has its first value */
};

struct let {
    char *name;
    struct expr *expr;
};

struct constraint {
    struct expr *expr;                              /* boolean */
    char *reason;                                   /* NULL, or why, for people */
    bool search;                                    /* restricts the search: a configuration that it refuses is right,
                                                       and an export serves such sizes */
};

/* How the tensor memory accelerator sees a buffer: CUDA's tiled tensor map, not interleaved, zeros outside. */
struct tensor_map {
    int rank;                                       /* of shape if there is one, else of the buffer */
    struct expr *shape[MAX_RANK];                   /* shape[0] NULL: the buffer's own */
    struct expr *box[MAX_RANK];                     /* elements, one an axis in the order of the shape */
    struct expr *swizzle, *l2;                      /* bytes; literal 0 if missing */
};

enum arg_kind { ARG_TENSOR, ARG_EXPR, ARG_EPILOGUE, ARG_TENSOR_MAP };
enum arg_type { ARG_I32, ARG_I64, ARG_F32, ARG_F64 };
struct arg {
    enum arg_kind kind;
    int tensor;                                     /* index into tensors, or ntensors + index into workspace */
    struct expr *expr;
    enum arg_type type;                             /* of an expression: I32 for integers, F32 for floats unless said */
    struct tensor_map *map;                         /* of ARG_TENSOR_MAP, owned */
};

/* What the L2 does with a line of a window: in CUDA's order. */
#define L2_PROPERTY_TABLE(X) X(normal) X(streaming) X(persisting)
enum l2_property {
#define X(name) L2_##name,
    L2_PROPERTY_TABLE(X)
#undef X
        L2_PROPERTY_COUNT
};
const char *l2_property_name(enum l2_property p);
int l2_property_parse(const char *name);            /* -1 if unknown */

struct l2_window {                                  /* the launch's access policy for one buffer */
    int tensor;                                     /* as struct arg's */
    enum l2_property hit, miss;
    struct expr *ratio;                             /* of the lines that are hits, 0 to 1; literal 1 if missing */
    struct expr *when;                              /* NULL = always */
};

struct launch {
    char *function;
    struct expr *grid[3], *block[3], *cluster[3];   /* missing ones are literal 1; cluster[0] NULL: no cluster */
    struct expr *shared;                            /* dynamic shared memory, bytes; literal 0 if missing */
    struct expr *programmatic;                      /* may begin before the step before it has ended; NULL: no */
    struct l2_window *l2_window;                    /* NULL: none; owned */
    struct arg *args;
    int nargs;
};

/* float32 or double throughout; or float32 matrices rounded to a narrower type first, and summed in float32 */
enum gemm_compute { GEMM_F32, GEMM_TF32, GEMM_F64, GEMM_BF16, GEMM_F16 };
struct gemm {                                       /* row-major C[m,n] = op(A) op(B); shapes are the tensors' */
    int a, b, c;                                    /* as struct arg's tensor */
    bool trans_a, trans_b;
    enum gemm_compute compute;
};

enum step_kind { STEP_LAUNCH, STEP_GEMM };
struct step {
    enum step_kind kind;
    struct expr *when;                              /* NULL = always */
    struct launch launch;
    struct gemm gemm;
};

/* What computes: float32 multiply-add units, or tensor cores that multiply numbers of a format and sum in float32. */
#define UNIT_TABLE(X) X(f32) X(tf32) X(f16) X(bf16)
enum unit {
#define X(name) UNIT_##name,
    UNIT_TABLE(X)
#undef X
        UNIT_COUNT
};
const char *unit_name(enum unit u);
int unit_parse(const char *name);                   /* -1 if unknown */

struct computes {                                   /* with which unit a kernel does the problem's FLOPs */
    enum unit unit;
    struct expr *products;                          /* of the unit, for one of the problem; NULL: 1 */
    struct expr *when;                              /* NULL = always */
};

struct kernel {
    char *name, *summary;
    char *source_path;                              /* as found on disk, NULL if no launch */
    char *source;                                   /* assembled text, every quoted include inlined: source.h */
    struct constraint *requires;                    /* over limits only: whether the device can run it at all */
    int nrequires;
    struct param *params;
    int nparams;
    struct let *lets;
    int nlets;
    struct constraint *constraints;
    int nconstraints;
    struct tensor *workspace;
    int nworkspace;
    struct step *steps;
    int nsteps;
    struct computes *computes;                      /* the first whose `when` holds counts; none: see ceiling.h */
    int ncomputes;
    bool baseline;                                  /* timed for comparison; exactly one configuration */
    bool eligible;                                  /* a baseline never is; a candidate may be shown but not win */
    bool checked;                                   /* false: output is not the problem's (a GEMM alone) */
    bool usual;                                     /* a baseline; false: timed only where it is asked for by name */
    char *left_out;                                 /* NULL, or why problem_restrict lets it take no part */
    struct scope scope;
    int first_limit, first_param, first_let;        /* slots */
};

enum reference_kind { REFERENCE_GEMM, REFERENCE_KERNEL };
struct reference {
    enum reference_kind kind;
    struct gemm gemm;                               /* GEMM: z = op(A) op(B) + bias, then the epilogue in double */
    int bias;                                       /* tensor index, -1: none */
    struct kernel *kernel;                          /* KERNEL: plain CUDA pipeline that writes the outputs */
};

struct problem {
    char *name, *summary;
    bool space_alone;                               /* one kernel of parameters, lets and constraints, and nothing to
                                                       run: no dims, tensors, reference, steps, and no limits in its
                                                       scope */
    char *path;                                     /* the specification file */
    json_t *json;                                   /* the specification as read, with sources embedded: what the store
                                                       keeps and problem_from_json reads back without any file */
    struct dim *dims;
    int ndims;
    struct scalar *scalars;
    int nscalars;
    struct tensor *tensors;
    int ntensors;
    struct expr *epilogue;                          /* NULL: identity */
    struct scope epilogue_scope;
    int epilogue_z, epilogue_index, epilogue_tensor; /* slots: z, first index name, first tensor */
    char *index_names[MAX_RANK];                    /* of the output's elements, in the epilogue: "m", "n" */
    int output;                                     /* the output, a tensor index; -1 when there are several */
    struct reference reference;
    struct tolerance tolerance;
    struct expr *flops, *bytes;                     /* NULL: not known */
    struct kernel *kernels;
    int nkernels;
    struct torch_model *torch;                      /* NULL: nothing is said */
    json_t *restrictions;                           /* an array: the formulas that problem_restrict was given */
    struct scope scope;
};

/* json: a specification tree (docs/specification.md), copied. path: the specification file, for messages; its directory
 * is where relative source paths start. A kernel with a "source_text" is taken from there and no file is opened.
 * include_dirs: see source.h; may be NULL. Errors (LATHE_SPEC) name `path` and the field
 * ("kernels.simt.params.BM[3]"; positions count from 1). */
status problem_from_json(const json_t *json, const char *path, const char *const *include_dirs, struct problem **out,
                         struct err *e);
void problem_free(struct problem *p);

/* LATHE_USAGE, naming the file and `what` needs one ("check"), if there is nothing to run. */
status problem_needs_kernels(const struct problem *p, const char *what, struct err *e);

int problem_find_kernel(const struct problem *p, const char *name);     /* -1 */
enum kernel_role { KERNEL_CANDIDATE = 1, KERNEL_BASELINE = 2, KERNEL_ANY = 3 };
/* As problem_find_kernel, but LATHE_USAGE with the names of such kernels, and the nearest; also for one that is left
 * out. out may be NULL. */
status problem_kernel_named(const struct problem *p, const char *name, enum kernel_role role, int *out, struct err *e);
int problem_find_dim(const struct problem *p, const char *name);
int problem_find_tensor(const struct problem *p, const char *name);
bool problem_has_check(const struct problem *p);                        /* some tensor has check values */

/* --size NAME=VALUE. Refuses (LATHE_USAGE) unknown names (with the nearest), values < 1 and sizes that
 * problem_check_size refuses: then the size stays what it was. */
status problem_set_dim(struct problem *p, const char *name, int64_t value, struct err *e);
/* Tensors of more than 2^60 bytes, shapes that do not fit the reference, fills that make no sense: LATHE_SPEC. */
status problem_check_size(const struct problem *p, struct err *e);

/* The shape at the sizes in slots (the tensor's scope) and its product. Fails with LATHE_SPEC on an axis that is
 * negative, or 0 unless it is workspace, and on more than 2^60 bytes. */
status tensor_shape(const struct tensor *t, const struct value *slots, bool workspace, int64_t shape[MAX_RANK],
                    int64_t *count, struct err *e);

/* --tolerance "rtol=1e-3": tolerance_parse on the problem's own. LATHE_USAGE also where times_sgemm_error has no GEMM
 * to be a multiple of; then the tolerance stays what it was. */
status problem_set_tolerance(struct problem *p, const char *text, struct err *e);

/* --where: a boolean formula over a kernel's scope becomes one more constraint of each candidate here, and not in the
 * json. Candidates that lack a name in it take no part, baselines do. LATHE_USAGE: not such a formula, or no candidate
 * is left (with the names, and the nearest); then the problem is of no more use. */
status problem_restrict(struct problem *p, const char *text, struct err *e);

/* values for the problem scope; slots must hold scope.count values */
void problem_slots(const struct problem *p, struct value *slots);
status problem_flops(const struct problem *p, double *flops, double *bytes, struct err *e); /* NaN if not known */
void problem_size_text(const struct problem *p, struct strbuf *b);      /* "M=128 N=32768 K=32768" */

#endif
