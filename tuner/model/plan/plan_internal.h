/* plan_internal.h: what the files that build a plan share. Private to model/. */
#ifndef LATHE_MODEL_PLAN_INTERNAL_H
#define LATHE_MODEL_PLAN_INTERNAL_H

#include "model/plan.h"
#include "model/problem/problem_internal.h"

struct builder {
    const struct problem *p;
    const struct kernel *k;             /* NULL: the problem's tensors only */
    const struct value *slots;
    struct plan *plan;
    struct err *e;
};

/* An integer from low to high; `field` is its name in the message. */
status plan_eval_range(struct builder *b, const struct expr *x, const char *field, int64_t low, int64_t high,
                       int64_t *out);
/* An argument that is a tensor map. */
status plan_tensor_map(struct builder *b, const struct arg *a, struct plan_arg *out);
/* A launch with every expression evaluated, into the plan's next step. The plan's buffers are there already. */
status plan_launch(struct builder *b, const struct launch *l, struct plan_step *out);

/* The words of a plan's JSON, in the order of their enums, ended by NULL. */
extern const char *const plan_role_names[], *const plan_fill_names[], *const plan_zero_names[];
extern const char *const plan_step_names[], *const plan_compute_names[], *const plan_arg_names[];

#endif
