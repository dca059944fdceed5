/* check.c: see check.h. One compile farm a target; results are told kernel by kernel. */
#include "campaign/check.h"
#include "base/mem.h"
#include "campaign/jobs.h"
#include "model/plan.h"
#include "model/source.h"
#include "trial/compile_farm.h"
#include <string.h>
#include <unistd.h>

struct checking {
    const struct check_request *request;
    uv_loop_t *loop;
    struct compile_farm *farm;
    struct target target;
    struct check_result *result;
    bool no_compiler, failed;
    bool any, any_empty;            /* spaces with a member, and without, of what could be tuned */
};

struct one {
    struct checking *c;
    const struct kernel *k;
    char *text;                 /* the configuration */
};

static void on_compiled(void *ctx, const struct compile_answer *a)
{
    struct one *one = ctx;
    struct check_result *r = one->c->result;
    r->tried++;
    r->seconds += a->seconds;
    if (a->end == COMPILE_DONE) r->compiled++;
    if (a->end == COMPILE_FAILED) one->c->no_compiler = true;
    struct err why = {0};
    const char *text = job_refused(one->c->request->problem, one->k, a, &why) ? why.text : a->text ? a->text : "";
    if (a->end != COMPILE_DONE && !*r->first_failure)
        snprintf(r->first_failure, sizeof r->first_failure, "%.400s: %.1100s", one->text, text);
    mem_free(one->text);
    mem_free(one);
}

/* Can it be launched? One that can't counts as tried, and is not compiled. */
static bool launches(struct checking *c, const struct kernel *k, const struct value *slots, const char *text)
{
    struct plan plan;
    struct err why = {0};
    if (!plan_build(c->request->problem, k, slots, &plan, &why)) {
        plan_free(&plan);
        return true;
    }
    c->result->tried++;
    if (!*c->result->first_failure)
        snprintf(c->result->first_failure, sizeof c->result->first_failure, "%.400s: %.1100s", text, why.text);
    return false;
}

static status queue_one(struct checking *c, const struct space *space, uint64_t index, const char *source,
                        struct err *e)
{
    const struct kernel *k = space_kernel(space);
    config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    struct compile_job job;
    space_at(space, index, choice);
    kernel_slots_fixed(c->request->problem, k, &c->target, slots);
    status s = kernel_slots_config(k, choice, slots, e);
    if (!s) s = job_make(c->request->problem, k, source, slots, &job, e);
    if (!s) {
        struct strbuf text = {0};
        config_print(&text, k, slots, choice);
        if (launches(c, k, slots, sb_str(&text))) {
            struct one *one = mem_zalloc(1, sizeof *one);
            *one = (struct one){c, k, sb_take(&text)};
            compile_farm_add(c->farm, &job, on_compiled, one);
        }
        sb_free(&text);
        job_free(&job);
    }
    mem_free(choice);
    mem_free(slots);
    return s;
}

static status check_space(struct checking *c, const struct space *space, struct err *e)
{
    const struct kernel *k = space_kernel(space);
    struct strbuf source = {0};
    status s = source_epilogue(c->request->problem, &source, e);
    sb_add(&source, k->source ? k->source : "");
    if (c->request->delays) {
        char *delayed = source_with_delays(sb_str(&source));
        sb_free(&source);
        source = (struct strbuf){0};
        sb_add(&source, delayed);
        mem_free(delayed);
    }
    struct rng rng;
    rng_seed(&rng, c->request->seed);
    uint64_t size = space_size(space), sample = (uint64_t)c->request->sample;
    c->result->space_size = size;
    for (uint64_t i = 0; i < (size < sample ? size : sample) && !s; i++)
        s = queue_one(c, space, size <= sample ? i : space_random(space, &rng), sb_str(&source), e);
    while (compile_farm_pending(c->farm)) uv_run(c->loop, UV_RUN_ONCE);
    sb_free(&source);
    return s;
}

/* A baseline has one configuration and no space to speak of: the same path serves it. */
static status check_kernel(struct checking *c, const struct kernel *k, struct err *e)
{
    struct check_result result = {.kernel = k, .arch = c->target.arch};
    c->result = &result;
    struct space *space = NULL;
    struct space_draw draw;
    status s = k->left_out ? err_set(e, LATHE_NOTHING, "%s", k->left_out)
                           : space_open_sampled(c->request->problem, k, &c->target, c->request->seed, NULL, &space, &draw, e);
    struct strbuf why = {0};
    if (s == LATHE_NOTHING && (k->left_out || !kernel_runs_on(c->request->problem, k, &c->target, &why))) {
        snprintf(result.skipped, sizeof result.skipped, "%.390s", e->text);
        s = LATHE_OK;
    } else if (s == LATHE_NOTHING) {
        result.empty = true;
        snprintf(result.first_failure, sizeof result.first_failure, "%.1500s", e->text);
        s = LATHE_OK;
    } else if (!s) {
        if (draw.tried > 0) space_draw_explain(&why, space, &draw);
        snprintf(result.drawn, sizeof result.drawn, "%s", sb_str(&why));
        s = check_space(c, space, e);
        space_close(space);
    }
    sb_free(&why);
    if (!s) c->request->on_result(c->request->ctx, &result);
    if (!s && c->no_compiler) s = err_set(e, LATHE_COMPILER, "%s", result.first_failure);
    c->failed |= result.compiled < result.tried;
    if (!k->baseline || c->request->kernel) {
        c->any |= result.space_size > 0;
        c->any_empty |= result.empty;
    }
    return s;
}

static status check_arch(const struct check_request *r, uv_loop_t *loop, const char *arch, bool *failed, struct err *e)
{
    struct checking c = {.request = r, .loop = loop};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int workers = r->workers > 0 ? r->workers : cores > 0 ? (int)cores : 1;
    status s = target_named(arch, &c.target, e);
    struct compile_limits limits = {.seconds = 300};
    if (!s) s = compile_farm_open(loop, r->self, workers, c.target.arch, false, limits, &c.farm, e);
    for (int i = 0; i < r->problem->nkernels && !s; i++) {
        const struct kernel *k = &r->problem->kernels[i];
        if (!k->source || (r->kernel && strcmp(r->kernel, k->name) != 0)) continue;
        s = check_kernel(&c, k, e);
    }
    *failed |= c.any_empty && !c.any;
    if (!s && !r->kernel && r->problem->reference.kind == REFERENCE_KERNEL)
        s = check_kernel(&c, r->problem->reference.kernel, e);
    *failed |= c.failed;
    compile_farm_close(c.farm);
    return s;
}

status check_run(const struct check_request *r, bool *failed, struct err *e)
{
    uv_loop_t loop;
    *failed = false;
    status s = child_loop_open(&loop, e);
    if (s) return s;
    if (r->kernel) s = problem_kernel_named(r->problem, r->kernel, KERNEL_ANY, NULL, e);
    for (int i = 0; i < r->narchs && !s; i++) s = check_arch(r, &loop, r->archs[i], failed, e);
    for (int i = 0; i < 2000 && uv_loop_close(&loop); i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
    return s;
}
