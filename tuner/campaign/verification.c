/* verification.c: see verification.h. A campaign without a store: its workers, its bench; every configuration is
 * compiled first, then each class of inputs is set up once and all configurations run on it; on the first also with
 * warps that pause at random (delays.c). */
#include "base/mem.h"
#include "base/rng.h"
#include "campaign/internal.h"
#include "campaign/jobs.h"
#include "campaign/verification.h"
#include <math.h>
#include <string.h>

struct verifying;

struct subject {
    struct verifying *v;
    struct value *slots;
    config_choice *choice;
    char *text;
    json_t *configuration;
    struct evaluation evaluation;
    struct delayed delayed;
    struct result compiled;             /* `ok`, or why it cannot run on any inputs */
};

struct verifying {
    const struct verification_request *request;
    struct campaign *c;
    const struct kernel *k;
    struct subject *subjects;
    int n;
    struct err wrong;                   /* a launch that does not fit its kernel */
};

/* --- which configurations --- */

static status add_subject(struct verifying *v, const config_choice *choice, struct err *e)
{
    struct subject *s = &v->subjects[v->n];
    *s = (struct subject){.v = v, .choice = config_copy(v->k, choice)};
    v->n++;
    result_init(&s->compiled);
    status st = campaign_slots(v->c, v->k, s->choice, &s->slots, e);
    if (st) return st;
    struct strbuf text = {0};
    config_print(&text, v->k, s->slots, s->choice);
    s->text = mem_strdup(sb_str(&text));
    sb_free(&text);
    s->configuration = config_to_json(v->k, s->slots, s->choice);
    return LATHE_OK;
}

static status add_given(struct verifying *v, struct err *e)
{
    const struct kernel *k = v->k;
    config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
    status s = config_from_text(k, v->request->config, choice, e);
    if (s) err_prefix(e, "--config");
    if (!s) s = add_subject(v, choice, e);
    struct strbuf why = {0};
    if (!s && !kernel_allows(k, v->subjects[0].slots, &why))
        s = err_set(e, LATHE_NOTHING, "kernel %s refuses %s here: %.1000s", k->name, v->subjects[0].text, sb_str(&why));
    sb_free(&why);
    mem_free(choice);
    return s;
}

/* Members of the space, each once, in the order drawn. */
static status add_sample(struct verifying *v, struct err *e)
{
    const struct kernel *k = v->k;
    struct space *space;
    struct space_draw draw;
    status s = space_open_sampled(v->c->problem, k, &v->c->target, v->request->seed, NULL, &space, &draw, e);
    if (s) return s;
    if (draw.tried > 0) {
        struct strbuf drawn = {0};
        space_draw_explain(&drawn, space, &draw);
        campaign_note(v->c, "%s", sb_str(&drawn));
        sb_free(&drawn);
    }
    uint64_t size = space_size(space), sample = (uint64_t)v->request->sample;
    bool whole = size <= sample;
    config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
    struct rng rng;
    rng_seed(&rng, v->request->seed);
    for (uint64_t i = 0; i < (whole ? size : 4 * sample) && (uint64_t)v->n < sample && !s; i++) {
        space_at(space, whole ? i : space_random(space, &rng), choice);
        bool again = false;
        for (int x = 0; x < v->n && !again; x++) again = config_equal(k, choice, v->subjects[x].choice);
        if (!again) s = add_subject(v, choice, e);
    }
    mem_free(choice);
    space_close(space);
    return s;
}

/* --- compiling --- */

static void cannot_run(struct subject *s, enum outcome outcome, const char *text)
{
    s->compiled.outcome = outcome;
    snprintf(s->compiled.reason, sizeof s->compiled.reason, "%.1590s", text ? text : "");
}

static void on_compiled(void *ctx, const struct compile_answer *a)
{
    struct subject *s = ctx;
    struct verifying *v = s->v;
    struct err why = {0};
    if (job_refused(v->c->problem, v->k, a, &why) && !v->wrong.code) v->wrong = why;
    if (a->end == COMPILE_DONE)
        s->evaluation.image = mem_strdup(a->image);
    else
        cannot_run(s, a->end == COMPILE_TIMED_OUT ? OUTCOME_timeout : OUTCOME_compile, a->text);
}

static status compile_one(struct verifying *v, struct subject *s, const char *source, struct err *e)
{
    struct err own = {0};
    struct compile_job job;
    s->compiled.outcome = OUTCOME_ok;
    s->evaluation.verify = true;
    if (plan_build(v->c->problem, v->k, s->slots, &s->evaluation.plan, &own)) {
        cannot_run(s, OUTCOME_launch, own.text);
        return LATHE_OK;
    }
    if (!source) return LATHE_OK;
    status st = job_make(v->c->problem, v->k, source, s->slots, &job, e);
    if (st) return st;
    compile_farm_add(v->c->farm, &job, on_compiled, s);
    job_free(&job);
    return delays_wanted(v->c) ? delays_add(v->c, v->k, source, s->slots, &s->delayed, e) : LATHE_OK;
}

static status compile_all(struct verifying *v, struct err *e)
{
    char *source = NULL;
    if (v->k->source && !(source = campaign_source(v->c->problem, v->k, e))) return e->code;
    status s = LATHE_OK;
    for (int i = 0; i < v->n && !s; i++) s = compile_one(v, &v->subjects[i], source, e);
    while (compile_farm_pending(v->c->farm)) uv_run(&v->c->loop, UV_RUN_ONCE);
    mem_free(source);
    if (!s && v->wrong.code) *e = v->wrong;
    return s ? s : v->wrong.code;
}

/* --- running --- */

static void set_errors(struct verification_result *told, const struct setup_answer *measure)
{
    const struct verification *v = &told->result->verification;
    bool plain = inputs_plain(told->inputs);
    double limit = plain ? measure->frobenius_limit : measure->scaled_limit;
    told->error = !v->done ? NAN : plain ? v->frobenius : v->scaled;
    told->sgemm_error = plain ? measure->sgemm_error : measure->sgemm_scaled;
    told->limit = limit > 0 ? limit : NAN;
}

static status evaluate_one(struct verifying *v, struct subject *s, bool delayed, struct result *r, struct err *e)
{
    char *image = s->evaluation.image;
    if (delayed) s->evaluation.image = s->delayed.image;
    double seconds = (delayed ? DELAYED_LIMITS : 1) * v->c->time_limit;
    status st = LATHE_OK;
    for (int i = 0; i < (delayed ? DELAYED_TRIES : 1) && !st; i++) {
        if (i && r->outcome != OUTCOME_ok) break;
        if (i) result_free(r);
        st = executor_evaluate_wait(v->c->devices->executor, &s->evaluation, seconds, NULL, NULL, r, e);
    }
    s->evaluation.image = image;
    return st;
}

/* False: with delays it could not be tried, which says nothing of it. */
static bool was_tried(const struct verifying *v, const struct subject *s, bool delayed, const struct result *r)
{
    const char *why = delayed ? delays_say_nothing(r) : NULL;
    if (why) campaign_note(v->c, "%s was not verified with delays: %.300s", s->text, why);
    return !why;
}

static status verify_one(struct verifying *v, struct subject *s, enum inputs inputs, bool delayed,
                         const struct setup_answer *measure, struct err *e)
{
    struct verification_result told = {.inputs = inputs, .delayed = delayed, .config = s->text,
                                       .configuration = s->configuration, .result = &s->compiled};
    struct result r;
    bool runs = s->compiled.outcome == OUTCOME_ok;
    if (delayed && !s->delayed.image) {
        if (s->delayed.why)
            campaign_note(v->c, "%s was not verified with delays: %.300s", s->text, s->delayed.why);
        return LATHE_OK;
    }
    if (runs) {
        status st = evaluate_one(v, s, delayed, &r, e);
        if (st) return st;
        told.result = &r;
    }
    if (was_tried(v, s, delayed, told.result)) {
        set_errors(&told, measure);
        v->request->on_result(v->request->ctx, &told);
    }
    if (runs) result_free(&r);
    return LATHE_OK;
}

static status verify_all(struct verifying *v, struct err *e)
{
    const struct verification_request *r = v->request;
    struct setup_answer measure;
    status s = bench_prepare(v->c, false, &measure, e);
    for (int x = 0; x < v->n && !s; x++)
        if (v->subjects[x].compiled.outcome == OUTCOME_ok)
            campaign_vary(v->c, v->k, v->subjects[x].slots, &v->subjects[x].evaluation);
    for (int i = 0; i < r->ninputs && !s; i++) {
        uint64_t seed = splitmix64(r->seed ^ (0x1a7e + (uint64_t)r->inputs[i]));
        if (i) {
            executor_prepare(v->c->devices->executor, NULL, r->inputs[i], seed);
            s = executor_wait(v->c->devices->executor, NULL, NULL, e);
            measure = *executor_answer(v->c->devices->executor);
            if (!s && *measure.unvaried)
                campaign_note(v->c, "inputs %s: nothing is verified with other scalars: %s", inputs_name(r->inputs[i]),
                              measure.unvaried);
        }
        if (s) err_prefix(e, "inputs %s", inputs_name(r->inputs[i]));
        for (int x = 0; x < v->n && !s; x++) s = verify_one(v, &v->subjects[x], r->inputs[i], false, &measure, e);
        for (int x = 0; x < v->n && !s && !i; x++) s = verify_one(v, &v->subjects[x], r->inputs[i], true, &measure, e);
    }
    return s;
}

static void on_event(void *ctx, const struct campaign_event *ev)
{
    const struct verification_request *r = ctx;
    if (ev->kind == CAMPAIGN_NOTE) r->on_note(r->ctx, ev->text);
}

static void free_subjects(struct verifying *v)
{
    for (int i = 0; i < v->n; i++) {
        struct subject *s = &v->subjects[i];
        evaluation_free(&s->evaluation);
        delayed_free(&s->delayed);
        result_free(&s->compiled);
        json_decref(s->configuration);
        mem_free(s->slots);
        mem_free(s->choice);
        mem_free(s->text);
    }
    mem_free(v->subjects);
}

status verification_run(const struct verification_request *r, struct err *e)
{
    int kernel;
    status s = problem_kernel_named(r->problem, r->kernel, KERNEL_ANY, &kernel, e);
    if (s) return s;
    struct campaign_request own = {.problem = r->problem, .device = r->device, .seed = r->seed, .inputs = r->inputs[0],
                                   .compile_workers = r->compile_workers, .self = r->self, .sanitize = r->sanitize,
                                   .delays = r->delays, .on_event = on_event, .ctx = (void *)r};
    struct campaign *c = mem_zalloc(1, sizeof *c);
    c->request = &own;
    c->problem = r->problem;
    c->time_limit = r->time_limit;
    struct verifying v = {.request = r, .c = c, .k = &r->problem->kernels[kernel]};
    v.subjects = mem_zalloc((size_t)r->sample + 1, sizeof *v.subjects);
    if (!v.k->checked)
        s = err_set(e, LATHE_USAGE, "%s does not give the problem's output, so there is nothing to verify", v.k->name);
    if (!s) s = problem_check_size(r->problem, e);
    if (!s) s = campaign_open_workers(c, e);
    if (!s && c->ndevices > 1) s = err_set(e, LATHE_USAGE, "--device %s: verifying takes one device", r->device);
    if (!s) s = r->config ? add_given(&v, e) : add_sample(&v, e);
    if (!s) s = compile_all(&v, e);
    if (!s) s = verify_all(&v, e);
    campaign_close_workers(c);
    free_subjects(&v);
    mem_free(c);
    return s;
}
