/* internal.h: the exporter's parts. Everything is printed from the same expressions that the tuner evaluated, with
 * parameters, limits and what follows from them folded in; what is left are the dimensions and scalars. */
#ifndef LATHE_EXPORT_INTERNAL_H
#define LATHE_EXPORT_INTERNAL_H

#include "export/export.h"

enum export_helper {
    HELPER_FITS,
    HELPER_LAUNCH,
    HELPER_CLUSTER,
    HELPER_PROGRAMMATIC,
    HELPER_WINDOW,
    HELPER_TENSOR_MAP,
    HELPER_GEMM,
    HELPER_INT,
    HELPER_SIZE,
    HELPER_UNDEFINED,
};

/* What launch code is written in: C++ for CUDA's runtime (cu, torch), or C11 for its driver (c). */
struct export_dialect {
    bool driver;
    const char *success, *invalid, *result;     /* cudaSuccess, cudaErrorInvalidValue, cudaError_t */
    const char *attribute;                      /* cudaLaunchAttribute */
    const char *map; /* the type of a tensor map, and what it begins as: "LatheTensorMap", "{}" */
    const char *no_map;
};
extern const struct export_dialect export_runtime, export_driver;

struct exporter {
    const struct export_dialect *say;
    const struct export_input *in;
    const struct problem *p;
    const struct kernel *k;
    struct value *slots;            /* of the configuration at the tuned size */
    struct value *known; /* the same without what depends on dims and scalars (VALUE_NONE there); in C for the
                            driver also without what depends on limits, which are those of the device it runs on */
    struct expr_range *ranges;      /* one a slot: what it may be where every dimension is an int above 0 */
    struct strbuf *out;
    const char *function;           /* "lathe_linear" */
    const char *space;              /* the namespace of all but the launcher: "lathe_linear_code" */
    unsigned uses, printed;         /* sets of 1 << enum export_helper: called by the code so far, there already */
    const char *comment;            /* what begins a comment: "//" or "#" */
};

/* Everything but what prints. Call export_close whether or not it fails. */
status export_open(const struct export_input *in, const struct export_dialect *say, const char *comment,
                   struct strbuf *out, struct exporter *x, struct err *e);
void export_close(struct exporter *x);
/* Sets x->ranges, from x->known. */
void export_find_ranges(struct exporter *x);
/* Where the winner comes from, as a comment. */
void export_provenance(struct exporter *x);
/* The macros that the kernel is compiled with: defined, or undefined again. */
status export_parameters(struct exporter *x, bool begin, struct err *e);
/* The C++ and CUDA text: parameters, epilogue, kernels, launcher. */
status export_source(struct exporter *x, struct err *e);

/* export_space.c. Sets function and space; LATHE_USAGE if in->name can be no launcher's. */
status export_name(struct exporter *x, struct err *e);
/* Begins and ends the namespace: "namespace lathe_linear_code {". */
void export_space_open(struct exporter *x);
void export_space_close(struct exporter *x);
/* A kernel's text, within the open namespace. */
void export_kernel_text(struct exporter *x, const char *source);

/* export_macros.c: before and after a text whose macros are not to be seen behind it. pop frees what push gave. */
struct export_macros;
struct export_macros *export_macros_push(struct exporter *x, const char *text);
void export_macros_pop(struct exporter *x, struct export_macros *m);

/* An expression of a kernel scope as C, which is of a launcher: what has no value, as what is divided by zero, sets its
 * variable EXPORT_UNDEFINED. */
#define EXPORT_UNDEFINED "lathe_undefined"
status export_expr(struct exporter *x, const struct expr *e, struct err *err);
/* An expression of the problem scope. */
status export_problem_expr(struct exporter *x, const struct expr *e, struct err *err);
/* "int64_t M, int64_t N, int64_t K" */
void export_dim_params(struct exporter *x);
/* The same and the scalars: "int64_t M, int64_t N, int64_t K, float s" */
void export_size_params(struct exporter *x);
/* "    const float s = (float)2.5;" for each scalar, as the specification has it. */
void export_own_scalars(struct exporter *x);

/* export_tensors.c: what refuses a size at which a tensor is none, or larger than any memory. */
status export_tensor_checks(struct exporter *x, struct err *e);
/* "const long long lathe_extent[2] = {...};" */
status export_extent(struct exporter *x, const struct tensor *t, struct err *e);

/* export_launch.c: the layout of the workspace, the workspace query and the launcher. */
status export_launcher(struct exporter *x, struct err *e);
/* The launcher's parameters, and the same names as arguments. */
void export_launcher_params(struct exporter *x);

/* export_c_launch.c: what only the C for the driver has: the names of the kernels that a configuration launches, in the
 * order of its steps; a step's arguments as variables, and the call. */
enum { EXPORT_MAX_FUNCTIONS = 64 };
int export_functions(const struct exporter *x, const char *names[EXPORT_MAX_FUNCTIONS]);
int export_function_index(const struct exporter *x, const char *name);
status export_driver_launch(struct exporter *x, int step, bool attributes, struct err *e);
/* The members of struct LatheEpilogue, each in a line, and an initialiser for it. */
void export_epilogue_members(struct exporter *x);
void export_epilogue_value(struct exporter *x);

/* Whether a formula (NULL: true) is decided already for this configuration, whatever the size, and how. */
enum export_decided { DEPENDS, ALWAYS, NEVER };
enum export_decided export_decide(const struct exporter *x, const struct expr *formula);

/* export_steps.c. First what must hold before anything runs, with the tensor maps, then the calls. */
status export_step_checks(struct exporter *x, struct err *e);
status export_steps(struct exporter *x, struct err *e);
const struct tensor *export_buffer_tensor(const struct exporter *x, int i);
/* Tensor or workspace buffer i as a pointer of its type. */
void export_buffer(struct exporter *x, int i);

/* export_attributes.c: what a launch says beside its extents. step, at: from 0. */
/* The variables of a launch's tensor maps, at the launcher's top; one's name; and the code that makes it. */
void export_map_variables(struct exporter *x, int step);
void export_map_name(struct exporter *x, int step, int at);
status export_map(struct exporter *x, int step, int at, struct err *e);
/* What fills `attribute` and counts `attributes`; *count: how many there may be. begun: the variable that says whether
 * a step of this call has been queued; NULL: one has. */
status export_attributes(struct exporter *x, const struct launch *l, const char *begun, int *count, struct err *e);

/* export_helpers.c: the functions that launchers call. */
/* The name of a helper; notes that it is needed. */
const char *export_helper(struct exporter *x, enum export_helper helper);
/* export_c_helpers.c: the text of the function of that name in C for the driver. */
const char *export_driver_helper(enum export_helper helper);
/* Prints those that are needed and not there yet. */
void export_helpers(struct exporter *x);
/* The text of all of them. */
void export_all_helpers(struct strbuf *b);
/* The headers that any of them needs. */
void export_includes(struct exporter *x);
bool export_has_gemm(const struct kernel *k);

/* export_variant.c. "kernel simt, BM=128 ..., tuned for M=128 N=... on NVIDIA H200 (sm_90a)" */
void export_variant_text(const struct export_variant *v, const struct exporter *x, struct strbuf *b);
/* LATHE_USAGE: they are of different operators: one list of arguments does not serve both. */
status export_alike(const struct problem *a, const struct problem *b, struct err *e);

/* export_sizes.c: up to EXPORT_SIZES different sizes that the configuration serves, dimensions in order; gives how
 * many. */
enum { EXPORT_SIZES = 8, EXPORT_MAX_DIMS = 16 };
int export_sizes(const struct exporter *x, int64_t (*out)[EXPORT_MAX_DIMS]);

/* export_exact.c: the loop in double over vectors lathe_h_NAME of the inputs, into lathe_r_NAME of the output. */
status export_exact_gemm(struct exporter *x, struct err *e);

/* export_selftest.c: main() under LATHE_SELFTEST. */
status export_selftest(struct exporter *x, struct err *e);

#endif
