/* serve.h: a configuration at another size, with other scalars or on another device than it was tuned for. */
#ifndef LATHE_MODEL_SERVE_H
#define LATHE_MODEL_SERVE_H

#include "model/plan.h"

/* Whether the kernel's source has a let as a macro, or may have, so that it was compiled for the value that the let had
 * then. */
bool kernel_let_is_compiled_in(const struct kernel *k, int let);

/* The plan of a configuration at p's size and with p's scalars, with the device's limits. tuned: its slots where it was
 * tuned, complete: parameters stay as they are there; lets are evaluated again. LATHE_NOTHING, with the reason, where
 * it does not serve: a dimension is no int, a requirement or a constraint refuses (not one that only restricts the
 * search), a let that was compiled in has another value, or there is no plan (model/plan.h). To be freed with
 * plan_free. */
status serve_plan(const struct problem *p, const struct kernel *k, const struct value *tuned,
                  const struct target *device, struct plan *out, struct err *e);

#endif
