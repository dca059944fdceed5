/* plan_args.h: the arguments of one launch of a plan as drivers take them: an array of pointers, one a parameter. */
#ifndef LATHE_MODEL_PLAN_ARGS_H
#define LATHE_MODEL_PLAN_ARGS_H

#include "model/plan.h"

enum { PLAN_TENSOR_MAP_BYTES = 128 };

struct plan_args {
    void **args;
    unsigned char *bytes;       /* what they point into, each at a multiple of 16 */
};

/* address[i]: where the plan's buffer i lies; 0: nowhere. A tensor map's place is all zeros: the caller makes the map
 * there. step: a launch. Freed with plan_args_free. */
void plan_args_make(const struct plan_step *step, const uint64_t *address, struct plan_args *out);
void plan_args_free(struct plan_args *a);

/* How many bytes a kernel's parameter must have to take the argument: a struct's are those of C++. */
size_t plan_arg_bytes(const struct plan_arg *a);

#endif
