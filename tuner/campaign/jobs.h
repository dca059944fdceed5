/* jobs.h: a configuration as a compile job. */
#ifndef LATHE_CAMPAIGN_JOBS_H
#define LATHE_CAMPAIGN_JOBS_H

#include "model/config.h"
#include "trial/compile_farm.h"

/* source: of the kernel, without what belongs to a configuration (campaign_source). Behind it the job's has the
 * questions whether its launches fit (model/signature.h). Free it with job_free, also after compile_farm_add. */
status job_make(const struct problem *p, const struct kernel *k, const char *source, const struct value *slots,
                struct compile_job *out, struct err *e);
void job_free(struct compile_job *job);

/* LATHE_SPEC, with the reason: it does not compile because a launch does not fit its kernel's signature. That is no
 * configuration's fault but the specification's. */
status job_refused(const struct problem *p, const struct kernel *k, const struct compile_answer *a, struct err *e);

#endif
