/* scalars.h: other values of a problem's scalars, which a launcher takes and a kernel must not have for granted:
 * candidates are verified with them too (docs/method.md). */
#ifndef LATHE_MODEL_SCALARS_H
#define LATHE_MODEL_SCALARS_H

#include "model/plan.h"

/* Whether a scalar may have another value without anything but floats being another: shapes, constraints, whatever a
 * configuration and its launches are, and indices in the epilogue. */
bool scalar_varies(const struct problem *p, int scalar);

/* p with other values of the scalars that vary, of the same sign and about the same size, and in the same order. False:
 * there is none, and nothing in *out. Borrows all else from p; freed with scalars_free alone. */
bool scalars_vary(const struct problem *p, struct problem *out);
void scalars_free(struct problem *varied);
/* "slope = 0.0075, s = 1.5": those whose values are not p's. */
void scalars_text(const struct problem *p, const struct problem *varied, struct strbuf *b);
/* "steps, count": those that keep their value, as more than floats depends on them; nothing if all may vary. */
void scalars_kept_text(const struct problem *p, struct strbuf *b);

/* The plan of a configuration with the other values. tuned: its slots with p's, complete; plan: its plan with those.
 * False: there is none that differs in floats alone, and nothing in *out. */
bool scalars_plan(const struct problem *varied, const struct kernel *k, const struct value *tuned,
                  const struct target *device, const struct plan *plan, struct plan *out);

#endif
