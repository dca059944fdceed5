/* delays.c: images whose warps pause at random (kernels/common/delays.cuh), on which a kernel that is right by luck of
 * its schedule is seen to be wrong. They are verified and never timed. */
#include "base/mem.h"
#include "campaign/internal.h"
#include "campaign/jobs.h"
#include "model/source.h"

bool delays_wanted(const struct campaign *c)
{
    return c->request->delays == DELAYS_YES || (c->request->delays == DELAYS_AUTO && campaign_on_gpu(c));
}

static void on_compiled(void *ctx, const struct compile_answer *a)
{
    struct delayed *d = ctx;
    if (a->end == COMPILE_DONE)
        d->image = mem_strdup(a->image);
    else
        d->why = mem_strdup(a->end == COMPILE_TIMED_OUT ? "it takes too long to compile" : a->text ? a->text : "");
}

status delays_add(struct campaign *c, const struct kernel *k, const char *source, const struct value *slots,
                  struct delayed *d, struct err *e)
{
    struct compile_job job;
    char *text = source_with_delays(source);
    status s = job_make(c->problem, k, text, slots, &job, e);
    mem_free(text);
    if (s) return s;
    compile_farm_add(c->farm, &job, on_compiled, d);
    job_free(&job);
    return LATHE_OK;
}

status delays_wait(struct campaign *c, struct err *e)
{
    while (compile_farm_pending(c->farm)) {
        uv_run(&c->loop, UV_RUN_ONCE);
        if (!campaign_interrupted()) continue;
        compile_farm_cancel(c->farm);
        c->interrupted = true;
        return err_set(e, LATHE_INTERRUPTED, "interrupted");
    }
    return LATHE_OK;
}

const char *delays_say_nothing(const struct result *r)
{
    return r->outcome == OUTCOME_resources || r->outcome == OUTCOME_launch ? r->reason : NULL;
}

void delayed_free(struct delayed *d)
{
    mem_free(d->image);
    mem_free(d->why);
}
