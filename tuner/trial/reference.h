/* reference.h: what the device worker runs to know the right answer, as plans over the problem's tensors.
 *
 * The reference plan leaves the exact outputs, in double, in a workspace buffer named "ref.NAME" for output NAME; a
 * reference kernel leaves them in the outputs themselves. The sgemm plan leaves in the output what a GEMM of the
 * tensors' own type with sums in float32 and an exact epilogue gives, rounded to the output's type: its error against
 * the reference is the yardstick of tolerance.times_sgemm_error. */
#ifndef LATHE_TRIAL_REFERENCE_H
#define LATHE_TRIAL_REFERENCE_H

#include "model/plan.h"

/* image: the functions of kernels/common/verify.cu. Both plans are freed with plan_free. *sgemm has no steps when the
 * reference is a kernel. `target` and the reference kernel's slots serve only REFERENCE_KERNEL. */
status reference_plans(const struct problem *p, const struct target *t, struct plan *reference, struct plan *sgemm,
                       struct err *e);

/* The text of verify.cu behind the problem's LatheEpilogueRef: compiled once a campaign. mem_free it. */
status reference_source(const struct problem *p, char **text, struct err *e);

#endif
