/* campaign.c: see campaign.h. Opens store, device, compilers, spaces, strategy, in this order (what is cheap and often
 * wrong comes first), runs baselines, search and final, closes in reverse. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "campaign/internal.h"
#include "device/dev.h"
#include "model/source.h"
#include "trial/reference.h"
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_TRIALS = 100, TICK_MS = 200, COMPILE_SECONDS = 120 };

/* Set by a signal handler, read between turns of the loop; a process runs one campaign at a time. */
static volatile sig_atomic_t interrupt_flag;

void campaign_interrupt(void)
{
    interrupt_flag = 1;
    strategy_interrupt();
}

void campaign_emit(struct campaign *c, struct campaign_event *ev)
{
    c->progress.seconds = clock_seconds() - c->started;
    ev->campaign = c->id;
    ev->progress = &c->progress;
    if (c->request->on_event) c->request->on_event(c->request->ctx, ev);
}

void campaign_note(struct campaign *c, const char *fmt, ...)
{
    char text[2000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    campaign_emit(c, &(struct campaign_event){.kind = CAMPAIGN_NOTE, .text = text});
}

bool campaign_must_stop(struct campaign *c)
{
    if (interrupt_flag) c->interrupted = true;
    double limit = c->progress.budget_seconds;
    return c->interrupted || c->device_gone || c->err.code || (limit > 0 && clock_seconds() - c->started > limit);
}

static void on_tick(uv_timer_t *timer)
{
    struct campaign *c = timer->data;
    if (c->id) campaign_emit(c, &(struct campaign_event){.kind = CAMPAIGN_TICK});
}

/* --- opening --- */

static char *full_source(const struct problem *p, const struct kernel *k, struct err *e)
{
    struct strbuf b = {0};
    if (source_epilogue(p, &b, e)) {
        sb_free(&b);
        return NULL;
    }
    sb_add(&b, k->source);
    return sb_take(&b);
}

static bool wanted(const struct campaign_request *r, const struct kernel *k)
{
    for (int i = 0; i < r->nkernels; i++)
        if (!strcmp(r->kernels[i], k->name)) return true;
    return !r->nkernels && !k->baseline;
}

static status check_kernel_names(const struct campaign_request *r, struct err *e)
{
    for (int i = 0; i < r->nkernels; i++) {
        int at = problem_find_kernel(r->problem, r->kernels[i]);
        if (at >= 0 && !r->problem->kernels[at].baseline) continue;
        struct strbuf b = {0};
        for (int k = 0; k < r->problem->nkernels; k++)
            if (!r->problem->kernels[k].baseline) sb_addf(&b, " %s", r->problem->kernels[k].name);
        err_set(e, LATHE_USAGE, "%s has no kernel \"%s\" to tune; it has:%s", r->problem->name, r->kernels[i], sb_str(&b));
        sb_free(&b);
        return e->code;
    }
    return LATHE_OK;
}

/* Whether the device meets a kernel's requirements; says why not. */
static bool can_run(struct campaign *c, const struct kernel *k, struct strbuf *why)
{
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    kernel_slots_fixed(c->problem, k, &c->target, slots);
    bool can = true;
    for (int i = 0; i < k->nrequires && can; i++) {
        struct err e = {0};
        if (expr_eval_bool(k->requires[i].expr, slots, &can, &e)) can = false;
        if (!can) expr_explain(why, k->requires[i].expr, slots);
        if (!can && k->requires[i].reason) sb_addf(why, " (%s)", k->requires[i].reason);
    }
    mem_free(slots);
    return can;
}

static status add_entrant(struct campaign *c, const struct kernel *k, struct err *e)
{
    struct strbuf why = {0};
    bool can = can_run(c, k, &why);
    if (!can && c->request->nkernels && !k->baseline)
        err_set(e, LATHE_NOTHING, "kernel %s cannot run on %s: %s", k->name, c->target.device, sb_str(&why));
    else if (!can)
        campaign_note(c, "kernel %s is left out: %s cannot run it: %s", k->name, c->target.device, sb_str(&why));
    sb_free(&why);
    if (!can) return c->request->nkernels && !k->baseline ? e->code : LATHE_OK;

    struct entrant *x = k->baseline ? &c->baselines[c->nbaselines] : &c->entrants[c->nentrants];
    *x = (struct entrant){.kernel = k};
    if (k->source && !(x->source = full_source(c->problem, k, e))) return e->code;
    if (k->baseline) {
        c->nbaselines++;
        return LATHE_OK;
    }
    c->nentrants++;
    status s = space_open(c->problem, k, &c->target, &x->space, e);
    if (s == LATHE_NOTHING && c->request->nkernels == 0) {
        campaign_note(c, "kernel %s is left out: %s", k->name, e->text);
        mem_free(c->entrants[--c->nentrants].source);
        return LATHE_OK;
    }
    if (!s) c->progress.space_size += space_size(x->space);
    return s;
}

static status open_entrants(struct campaign *c, struct err *e)
{
    const struct problem *p = c->problem;
    status s = check_kernel_names(c->request, e);
    if (s) return s;
    c->entrants = mem_zalloc((size_t)p->nkernels + 1, sizeof *c->entrants);
    c->baselines = mem_zalloc((size_t)p->nkernels + 1, sizeof *c->baselines);
    for (int i = 0; i < p->nkernels && !s; i++) {
        const struct kernel *k = &p->kernels[i];
        if (k->baseline || wanted(c->request, k)) s = add_entrant(c, k, e);
    }
    if (!s && !c->nentrants)
        return err_set(e, LATHE_NOTHING, "%s has no kernel with a valid configuration for %s at this size", p->name,
                       c->target.device);
    return s;
}

static status open_strategy(struct campaign *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    struct space **spaces = mem_zalloc((size_t)c->nentrants, sizeof *spaces);
    for (int i = 0; i < c->nentrants; i++) spaces[i] = c->entrants[i].space;
    status s = strategy_open(r->strategy ? r->strategy : "local", r->options, r->noptions, spaces, c->nentrants, r->seed,
                             &c->strategy, e);
    mem_free(spaces);
    return s;
}

static status record_campaign(struct campaign *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    struct strbuf kernels = {0}, options = {0};
    for (int i = 0; i < c->nentrants; i++) sb_addf(&kernels, "%s%s", i ? " " : "", c->entrants[i].kernel->name);
    strategy_options_text(c->strategy, &options);
    struct campaign_record record = {.problem = c->problem,
                                     .target = &c->target,
                                     .strategy = strategy_name(c->strategy),
                                     .strategy_text = strategy_text(c->strategy),
                                     .strategy_options = sb_str(&options),
                                     .kernels = sb_str(&kernels),
                                     .seed = r->seed,
                                     .budget_trials = c->progress.budget_trials,
                                     .budget_seconds = c->progress.budget_seconds,
                                     .tool_version = r->version,
                                     .command_line = r->command_line,
                                     .space_size = c->progress.space_size};
    status s = store_campaign_begin(c->store, &record, &c->id, e);
    sb_free(&kernels);
    sb_free(&options);
    return s;
}

/* --- the bench --- */

struct support {
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
}

/* Compiles one source and waits. The image's path in *image. */
static status compile_now(struct campaign *c, const char *source, const char *name, char **image, struct err *e)
{
    struct support s = {0};
    struct compile_job job = {.source = source, .name = name};
    compile_farm_add(c->farm, &job, on_support, &s);
    while (!s.over) uv_run(&c->loop, UV_RUN_ONCE);
    *image = s.image;
    if (s.end == COMPILE_FAILED)
        err_set(e, LATHE_COMPILER, "%s", s.text);
    else if (s.end != COMPILE_DONE)
        err_set(e, LATHE_SPEC, "%s does not compile: %.1500s", name, s.text ? s.text : "");
    mem_free(s.text);
    return s.image ? LATHE_OK : e->code;
}

static status open_bench(struct campaign *c, struct err *e)
{
    const struct problem *p = c->problem;
    struct bench_setup *b = &c->setup;
    b->tolerance = p->tolerance;
    char *text;
    status s = reference_source(p, &text, e);
    if (s) return s;
    s = compile_now(c, text, "the verifier with this problem's epilogue", &b->support_image, e);
    mem_free(text);
    if (!s && p->reference.kind == REFERENCE_KERNEL) {
        char *source = full_source(p, p->reference.kernel, e);
        s = source ? compile_now(c, source, "the reference kernel", &b->reference_image, e) : e->code;
        mem_free(source);
    }
    if (!s) s = plan_tensors(p, &b->tensors, e);
    if (!s) s = reference_plans(p, &c->target, &b->reference, &b->sgemm, e);
    struct setup_answer answer;
    if (!s) s = executor_setup(c->executor, b, splitmix64(c->request->seed ^ 0x1a7e), &answer, e);
    if (s) return s;
    if (!strcmp(answer.reference, "sgemm"))
        campaign_note(c, "no room for an fp64 reference on this device: verified against the float32 GEMM");
    return LATHE_OK;
}

/* --- running --- */

static status run_baselines(struct campaign *c, struct err *e)
{
    struct batch_item *items = mem_zalloc((size_t)c->nbaselines + 1, sizeof *items);
    static const config_choice none[64];
    for (int i = 0; i < c->nbaselines; i++)
        items[i] = (struct batch_item){.entrant = &c->baselines[i], .space = -1, .index = -1, .choice = none, .number = -i};
    status s = trials_run(c, items, c->nbaselines, e);
    mem_free(items);
    return s;
}

enum { NOTHING_NEW = 10000 };

static status run_search(struct campaign *c, struct err *e)
{
    struct campaign_progress *p = &c->progress;
    int64_t stale = 0;
    while (!campaign_must_stop(c) && (!p->budget_trials || p->trials < p->budget_trials)) {
        const struct proposal *batch;
        int n;
        status s = strategy_ask(c->strategy, &batch, &n, e);
        if (s && interrupt_flag) return LATHE_OK;
        if (s || !n) return s;
        struct batch_item *items = mem_zalloc((size_t)n, sizeof *items);
        for (int i = 0; i < n; i++)
            items[i] = (struct batch_item){.entrant = &c->entrants[batch[i].space], .space = batch[i].space,
                                           .index = batch[i].index, .choice = batch[i].choice, .why = batch[i].why};
        int64_t before = p->trials;
        s = trials_run(c, items, n, e);
        for (int i = 0; i < n && !s; i++) {
            int64_t slot = items[i].slot;
            struct answer a = {.outcome = OUTCOME_skipped, .value = NAN};
            if (slot >= 0 && c->known[slot].ended)
                a = (struct answer){c->known[slot].outcome, c->known[slot].value, c->known[slot].seconds};
            strategy_tell(c->strategy, i, &a);
        }
        mem_free(items);
        if (s) return s;
        stale = p->trials > before ? 0 : stale + n;
        if (stale >= NOTHING_NEW) {
            campaign_note(c, "the strategy proposed nothing new %lld times in a row: ended", (long long)stale);
            return LATHE_OK;
        }
        uv_run(&c->loop, UV_RUN_NOWAIT);
    }
    return LATHE_OK;
}

static status run_all(struct campaign *c, struct campaign_summary *out, struct err *e)
{
    status s = open_bench(c, e);
    if (s) return s;
    campaign_emit(c, &(struct campaign_event){.kind = CAMPAIGN_STARTED});
    c->progress.phase = "baselines";
    s = run_baselines(c, e);
    c->progress.phase = "search";
    if (!s) s = run_search(c, e);
    if (s) return s;
    if (c->interrupted || c->device_gone) return c->device_gone ? (*e = c->err, e->code) : LATHE_OK;
    if (!c->nleaders) return LATHE_OK;
    out->winner_trial = c->leaders[0].id;
    c->progress.phase = "final";
    if (c->request->top > 0) s = final_run(c, &out->winner_trial, e);
    return s;
}

static void default_progress(struct campaign *c)
{
    struct campaign_progress *p = &c->progress;
    p->best_ms = p->baseline_ms = NAN;
    p->device = c->target.name;
    p->phase = "setting up";
    p->budget_trials = c->request->trials;
    p->budget_seconds = c->request->seconds;
    if (!p->budget_trials && p->budget_seconds <= 0) p->budget_trials = DEFAULT_TRIALS;
}

static status open_all(struct campaign *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    char device[24];
    snprintf(device, sizeof device, "%s", r->device ? r->device : "");
    if (!r->device) dev_default(device);
    status s = problem_check_size(c->problem, e);
    if (!s) s = check_kernel_names(r, e);
    if (!s) s = store_open(r->db, 60, &c->store, e);
    if (s) return s;
    uv_loop_init(&c->loop);
    uv_timer_init(&c->loop, &c->tick);
    c->tick.data = c;
    uv_timer_start(&c->tick, on_tick, TICK_MS, TICK_MS);
    c->loop_open = true;
    s = executor_open(&c->loop, r->self, device, &c->executor, &c->target, e);
    if (s) return s;
    s = compile_farm_open(&c->loop, r->self, r->compile_workers, c->target.arch, r->sanitize, COMPILE_SECONDS, &c->farm, e);
    if (s) return s;
    snprintf(c->target.toolchain, sizeof c->target.toolchain, "%s", compile_farm_toolchain(c->farm));
    s = open_entrants(c, e);
    if (!s) s = open_strategy(c, e);
    if (!s) s = record_campaign(c, e);
    return s;
}

static void close_loop(struct campaign *c)
{
    if (!c->loop_open) return;
    uv_close((uv_handle_t *)&c->tick, NULL);
    /* killed workers are reaped; one that cannot be (a hung driver) is left behind after two seconds */
    for (double start = clock_seconds(); uv_loop_close(&c->loop) && clock_seconds() - start < 2;) {
        uv_run(&c->loop, UV_RUN_NOWAIT);
        clock_sleep(0.001);
    }
}

static void free_leaders(struct leader *list, int n)
{
    for (int i = 0; i < n; i++) {
        mem_free(list[i].choice);
        mem_free(list[i].image);
    }
    mem_free(list);
}

static void close_all(struct campaign *c)
{
    strategy_close(c->strategy);
    for (int i = 0; i < c->nentrants; i++) {
        space_close(c->entrants[i].space);
        mem_free(c->entrants[i].source);
    }
    for (int i = 0; i < c->nbaselines; i++) mem_free(c->baselines[i].source);
    mem_free(c->entrants);
    mem_free(c->baselines);
    executor_close(c->executor);
    compile_farm_close(c->farm);
    close_loop(c);
    store_close(c->store);
    bench_setup_free(&c->setup);
    free_leaders(c->leaders, c->nleaders);
    free_leaders(c->measured_baselines, c->nmeasured_baselines);
    memo_free(&c->memo);
    mem_free(c->known);
}

static int default_workers(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 2 ? (int)cores - 1 : 1;
}

status campaign_run(const struct campaign_request *r, struct campaign_summary *out, struct err *e)
{
    struct campaign_request own = *r;
    if (own.compile_workers < 1) own.compile_workers = default_workers();
    struct campaign *c = mem_zalloc(1, sizeof *c);
    c->request = &own;
    c->problem = r->problem;
    c->started = clock_seconds();
    c->next_number = 1;
    c->time_limit = r->time_limit > 0 ? r->time_limit : 60;
    c->leaders = mem_zalloc((size_t)(r->top > 0 ? r->top : 1) + 1, sizeof *c->leaders);
    if (own.top < 1) own.top = 0;
    default_progress(c);
    *out = (struct campaign_summary){0};
    interrupt_flag = 0;

    status s = open_all(c, e);
    if (!s) s = run_all(c, out, e);
    out->id = c->id;
    out->interrupted = c->interrupted;
    bool nothing = !s && !c->interrupted && !isfinite(c->progress.best_ms);
    if (c->id) {
        struct err ignored = {0};
        const char *state = s ? "failed" : c->interrupted ? "interrupted" : "finished";
        status ended = store_campaign_end(c->store, c->id, state, s ? e->text : NULL, s ? &ignored : e);
        if (!s) s = ended;
    }
    if (!s && nothing) s = err_set(e, LATHE_NOTHING, "no configuration was valid: `lathe show %lld` lists the reasons",
                                   (long long)c->id);
    close_all(c);
    mem_free(c);
    return s;
}
