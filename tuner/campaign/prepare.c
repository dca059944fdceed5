/* prepare.c: the device worker made ready: the verifier compiled with the problem's epilogue, inputs and reference
 * there. */
#include "base/mem.h"
#include "base/rng.h"
#include "campaign/internal.h"
#include "campaign/jobs.h"
#include "model/scalars.h"
#include "trial/reference.h"
#include <string.h>

/* A reference may take so many times the limit of an evaluation; lathe's own, which ends in any case, at least so
 * long. */
enum { REFERENCE_LIMITS = 10, GEMM_SECONDS = 600 };

struct support {
    const struct problem *problem;
    const struct kernel *kernel;    /* NULL: lathe's own */
    struct err unfit;
    bool over;
    char *image, *text;
    enum compile_end end;
};

static void on_support(void *ctx, const struct compile_answer *a)
{
    struct support *s = ctx;
    s->over = true;
    s->end = a->end;
    s->image = a->end == COMPILE_DONE ? mem_strdup(a->image) : NULL;
    s->text = mem_strdup(a->text);
    if (s->kernel) job_refused(s->problem, s->kernel, a, &s->unfit);
}

status campaign_compile(struct campaign *c, const struct compile_job *job, const struct kernel *k, char **image,
                        struct err *e)
{
    struct support s = {.problem = c->problem, .kernel = k};
    compile_farm_add(c->farm, job, on_support, &s);
    while (!s.over) {
        uv_run(&c->loop, UV_RUN_ONCE);
        if (s.over || !campaign_interrupted()) continue;
        compile_farm_cancel(c->farm);
        c->interrupted = true;
        return err_set(e, LATHE_INTERRUPTED, "interrupted while %s was compiled", job->name);
    }
    *image = s.image;
    if (s.end == COMPILE_FAILED)
        err_set(e, LATHE_COMPILER, "%s", s.text);
    else if (s.end == COMPILE_CRASHED || s.end == COMPILE_TIMED_OUT)
        err_set(e, LATHE_COMPILER, "%s: %.1500s", job->name, s.text);
    else if (s.unfit.code)
        *e = s.unfit;
    else if (s.end != COMPILE_DONE)
        err_set(e, LATHE_SPEC, "%s does not compile: %.1500s", job->name, s.text ? s.text : "");
    mem_free(s.text);
    return s.image ? LATHE_OK : e->code;
}

static status compile_now(struct campaign *c, const char *source, const char *name, char **image, struct err *e)
{
    return campaign_compile(c, &(struct compile_job){.source = source, .name = name}, NULL, image, e);
}

static status compile_reference(struct campaign *c, const struct kernel *k, char **image, struct err *e)
{
    static const config_choice none[1];
    struct value *slots = NULL;
    struct compile_job job;
    char *source = campaign_source(c->problem, k, e);
    status s = source ? campaign_slots(c, k, none, &slots, e) : e->code;
    if (!s) s = job_make(c->problem, k, source, slots, &job, e);
    if (!s) {
        struct compile_job named = job;
        named.name = "the reference kernel";
        s = campaign_compile(c, &named, k, image, e);
        job_free(&job);
    }
    mem_free(slots);
    mem_free(source);
    return s;
}

/* Candidates are verified with other scalars too, if the problem has some that may vary. */
static void setup_varied(struct campaign *c)
{
    const struct problem *p = c->problem;
    struct bench_setup *b = &c->setup;
    struct strbuf text = {0}, kept = {0};
    struct err why;
    scalars_kept_text(p, &kept);
    if (kept.len)
        campaign_note(c,
                      "verified with one value alone of %s: a shape, a constraint, a launch or an index depends on it",
                      sb_str(&kept));
    sb_free(&kept);
    if (!scalars_vary(p, &c->varied)) return;
    if (reference_plans(&c->varied, &c->target, &b->varied, &why)) {
        campaign_note(c, "nothing is verified with other scalars: %s", why.text);
        scalars_free(&c->varied);
        return;
    }
    scalars_text(p, &c->varied, &text);
    b->scalars = mem_strdup(sb_str(&text));
    sb_free(&text);
}

void campaign_vary(const struct campaign *c, const struct kernel *k, const struct value *slots, struct evaluation *v)
{
    if (c->setup.scalars && k->checked) (void)scalars_plan(&c->varied, k, slots, &c->target, &v->plan, &v->varied);
}

static status setup_plans(const struct problem *p, const struct target *t, struct bench_setup *b, struct err *e)
{
    status s = reference_plans(p, t, &b->plans, e);
    if (s) return s;
    const struct gemm *g = &p->reference.gemm;
    b->operands = p->reference.kind == REFERENCE_GEMM
                      ? (struct operands){g->a, g->b, p->reference.bias, g->trans_a, g->trans_b}
                      : (struct operands){-1, -1, -1, false, false};
    return LATHE_OK;
}

static bool is_there(const char *image) { return image && file_exists(image); }

static void replace(char **image, char *with)
{
    mem_free(*image);
    *image = with;
}

status bench_images(struct campaign *c, struct err *e)
{
    const struct problem *p = c->problem;
    struct bench_setup *b = &c->setup;
    status s = LATHE_OK;
    char *image = NULL, *text;
    if (!is_there(b->support_image)) {
        s = reference_source(p, &text, e);
        if (s) return s;
        s = compile_now(c, text, "the verifier with this problem's epilogue", &image, e);
        if (!s) replace(&b->support_image, image);
        mem_free(text);
    }
    if (s || p->reference.kind != REFERENCE_KERNEL || is_there(b->reference_image)) return s;
    s = compile_reference(c, p->reference.kernel, &image, e);
    if (!s) replace(&b->reference_image, image);
    return s;
}

status bench_prepare(struct campaign *c, bool check, struct setup_answer *answer, struct err *e)
{
    const struct problem *p = c->problem;
    struct bench_setup *b = &c->setup;
    b->tolerance = p->tolerance;
    b->seconds = REFERENCE_LIMITS * c->time_limit;
    if (p->reference.kind == REFERENCE_GEMM && b->seconds < GEMM_SECONDS) b->seconds = GEMM_SECONDS;
    b->check = check && problem_has_check(p) && c->request->inputs == INPUTS_default;
    status s = bench_images(c, e);
    if (!s) s = plan_tensors(p, &b->tensors, e);
    if (!s) s = setup_plans(p, &c->target, b, e);
    if (s) return s;
    setup_varied(c);
    s = devices_prepare(c, b, splitmix64(c->request->seed ^ 0x1a7e), answer, e);
    if (s == LATHE_SPEC) err_prefix(e, "%s", p->name);
    if (s) return s;
    if (*answer->unvaried) campaign_note(c, "nothing is verified with other scalars: %s", answer->unvaried);
    if (!strcmp(answer->reference, "sgemm"))
        campaign_note(c, "no room for an fp64 reference on this device: verified against the float32 GEMM");
    return LATHE_OK;
}
