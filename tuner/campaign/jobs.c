/* jobs.c: a configuration as a compile job, and what the compiler's refusal of it means. */
#include "base/mem.h"
#include "campaign/jobs.h"
#include "model/signature.h"
#include "model/source.h"

status job_make(const struct problem *p, const struct kernel *k, const char *source, const struct value *slots,
                struct compile_job *out, struct err *e)
{
    char **defines;
    int n;
    status s = source_defines(k, slots, &defines, &n, e);
    if (s) return s;
    struct strbuf text = {0};
    sb_add(&text, source);
    signature_ask(p, k, slots, &text);
    *out = (struct compile_job){.source = sb_take(&text), .name = mem_printf("%s/%s.cu", p->name, k->name),
                                .defines = defines, .ndefines = n};
    return LATHE_OK;
}

void job_free(struct compile_job *job)
{
    source_defines_free(job->defines, job->ndefines);
    mem_free((char *)job->source);
    mem_free((char *)job->name);
}

status job_refused(const struct problem *p, const struct kernel *k, const struct compile_answer *a, struct err *e)
{
    return a->end == COMPILE_REFUSED ? signature_answer(p, k, a->text, e) : LATHE_OK;
}
