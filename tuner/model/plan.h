/* plan.h: a configuration made concrete: buffers and launches with every expression evaluated. This is all a device
 * worker ever sees; it knows no specification and no Lua.
 *
 * Buffers 0 .. ntensors-1 are the problem's tensors, the rest the configuration's workspace (those whose `when` holds;
 * the others have count 0).
 */
#ifndef LATHE_MODEL_PLAN_H
#define LATHE_MODEL_PLAN_H

#include "model/config.h"

enum { PLAN_MAX_ARGS = 32 };
enum plan_role { PLAN_INPUT, PLAN_OUTPUT, PLAN_WORKSPACE };

struct plan_buffer {
    char name[48];
    enum dtype dtype;
    enum plan_role role;
    int rank;
    int64_t shape[MAX_RANK];
    int64_t count;              /* elements; 0: not needed */
    enum fill_kind fill;
    double fill_a, fill_b;
    bool has_check;             /* of an input: other values, on which candidates are verified besides */
    enum fill_kind check;
    double check_a, check_b;
    enum zero_kind zero;
};

/* A buffer, row-major, as the tensor memory accelerator sees it: see model/problem.h. */
struct plan_tensor_map {
    int rank;                   /* 0: the buffer has count 0, and the map is all zeros */
    int64_t shape[MAX_RANK];    /* elements, the innermost axis last */
    int32_t box[MAX_RANK];
    int swizzle, l2;            /* bytes */
};

enum plan_arg_kind { PLAN_BUFFER, PLAN_I32, PLAN_I64, PLAN_F32, PLAN_F64, PLAN_STRUCT, PLAN_TENSOR_MAP };
struct plan_arg {
    enum plan_arg_kind kind;
    int buffer;                 /* PLAN_BUFFER, PLAN_TENSOR_MAP; one of count 0 is passed as a null pointer */
    int64_t i;
    double f;
    struct plan_tensor_map map;
    struct plan_arg *fields;    /* PLAN_STRUCT (the epilogue): its members in order, none of them a struct; with no
                                   members it is an empty C++ struct, whose size is 1 */
    int nfields;
};

struct plan_window {            /* the access policy of a launch for a buffer's lines in the L2 */
    bool on;                    /* false: none, and the rest means nothing */
    int buffer;
    enum l2_property hit, miss;
    double ratio;
};

struct plan_step {
    enum step_kind kind;
    /* launch */
    char function[96];
    uint32_t grid[3], block[3], cluster[3];         /* cluster all 0: none */
    uint32_t shared;
    bool programmatic;                              /* never of the first step */
    struct plan_window window;
    struct plan_arg *args;
    int nargs;
    /* gemm: row-major C[m,n] = op(A) op(B), op(A) is m x k */
    int a, b, c;
    bool trans_a, trans_b;
    enum gemm_compute compute;
    int64_t m, n, k;
};

struct plan {
    struct plan_buffer *buffers;
    int nbuffers, ntensors;
    struct plan_step *steps;
    int nsteps;
};

/* Builds the plan of a configuration: steps whose `when` does not hold are left out. slots are complete for (kernel,
 * config). Fails with LATHE_SPEC when an expression is no integer, negative, or beyond what a launch can take (grid x
 * 2^31-1, y and z 65535, block 1024 threads and z 64, cluster 16 blocks that divide the grid, shared memory 2^31 bytes,
 * an argument's type, plan_tensor_map_check), when matrices do not match, when the first step is programmatic, or when
 * no step is left; the message names step and field. If it fails there is nothing to free. */
status plan_build(const struct problem *p, const struct kernel *k, const struct value *slots, struct plan *out,
                  struct err *e);
/* The epilogue's struct as an argument; its fields are freed with the plan it is put into. */
status plan_epilogue_arg(const struct problem *p, struct plan_arg *out, struct err *e);
/* What CUDA wants of a tiled tensor map: LATHE_SPEC and the field's name if it would refuse it, or if the shape has
 * more elements than the buffer. */
status plan_tensor_map_check(const struct plan_tensor_map *m, const struct plan_buffer *b, struct err *e);
/* Only the problem's tensors, no steps. */
status plan_tensors(const struct problem *p, struct plan *out, struct err *e);
void plan_free(struct plan *plan);

int64_t plan_buffer_bytes(const struct plan_buffer *b);
int64_t plan_bytes(const struct plan *plan);        /* all buffers */

json_t *plan_to_json(const struct plan *plan);      /* new reference */
status plan_from_json(const json_t *j, struct plan *out, struct err *e);

#endif
