/* reference.h: what the device worker runs to know the right answer, as plans over the problem's tensors.
 *
 * The reference plan leaves the exact outputs, in double, in a workspace buffer named "ref.NAME" for output NAME; a
 * reference kernel leaves them in the outputs themselves. The sgemm plan leaves in the output what a GEMM of the
 * tensors' own type with sums in float32 and an exact epilogue gives, rounded to the output's type: its error against
 * the reference is the yardstick of tolerance.times_sgemm_error. The scale plan leaves what an error of each element of
 * output NAME is relative to, sum |x| |w| as the epilogue passes it on, in "scale.NAME", in double. */
#ifndef LATHE_TRIAL_REFERENCE_H
#define LATHE_TRIAL_REFERENCE_H

#include "model/plan.h"

struct reference_plans {
    struct plan reference, sgemm, scale;    /* the last two have no steps when the reference is a kernel */
};

/* image: the functions of kernels/common/verify.cu and inputs.cu. Freed with reference_plans_free. `target` and the
 * reference kernel's slots serve only REFERENCE_KERNEL. */
status reference_plans(const struct problem *p, const struct target *t, struct reference_plans *out, struct err *e);
void reference_plans_free(struct reference_plans *p);

/* The text of verify.cu and inputs.cu behind the problem's LatheEpilogueRef: compiled once a campaign. mem_free it. */
status reference_source(const struct problem *p, char **text, struct err *e);

#endif
