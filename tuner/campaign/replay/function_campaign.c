/* function_campaign.c: see function_campaign.h. */
#include "campaign/replay/function_campaign.h"

#include "base/clock.h"
#include "base/mem.h"
#include "campaign/internal.h"
#include "campaign/replay/memo.h"
#include <math.h>

struct called {
    const struct function_campaign *f;
    struct function_summary *out;
    const struct kernel *kernel;
    struct target target;
    struct space *space;
    struct strategy *strategy;
    struct store *store;
    struct value *slots;
    struct memo memo;               /* -> answers */
    struct answer *answers;         /* one a trial; each is said to have cost a second, so that a seed repeats */
    int64_t cap, stale;
    double started;
};

static status record_campaign(struct called *c, struct err *e)
{
    const struct function_campaign *f = c->f;
    struct strbuf options = {0};
    strategy_options_text(c->strategy, &options);
    struct campaign_record record = {.problem = f->problem,
                                     .target = &c->target,
                                     .strategy = strategy_name(c->strategy),
                                     .strategy_text = strategy_text(c->strategy),
                                     .strategy_options = sb_str(&options),
                                     .kernels = c->kernel->name,
                                     .seed = f->seed,
                                     .budget_trials = f->trials,
                                     .budget_seconds = f->seconds,
                                     .tool_version = f->version,
                                     .command_line = f->command_line,
                                     .space_size = space_size(c->space)};
    status s = store_campaign_begin(c->store, &record, &c->out->id, e);
    sb_free(&options);
    return s ? s : store_campaign_note(c->store, c->out->id, f->note, e);
}

static status open_all(struct called *c, struct err *e)
{
    const struct function_campaign *f = c->f;
    c->kernel = &f->problem->kernels[0];
    snprintf(c->target.device, sizeof c->target.device, "replay");
    snprintf(c->target.name, sizeof c->target.name, "%s", f->device);
    snprintf(c->target.toolchain, sizeof c->target.toolchain, "lathe %.100s", f->version);
    status s = space_open(f->problem, c->kernel, &c->target, &c->space, e);
    if (!s)
        s = strategy_open(f->strategy, f->options, f->noptions, &c->space, 1, f->seed, &c->strategy, e);
    if (!s && f->db)
        s = store_open(f->db, 60, &c->store, e);
    if (!s && c->store)
        s = record_campaign(c, e);
    if (!s) {
        c->slots = mem_zalloc((size_t)c->kernel->scope.count + 1, sizeof *c->slots);
        c->out->space_size = space_size(c->space);
    }
    return s;
}

static status call(struct called *c, const struct proposal *p, int64_t number, struct result *r, struct err *e)
{
    struct err failure = {0};
    int64_t id = 0;
    struct trial_record record = {.campaign = c->out->id, .number = number, .kernel = c->kernel, .slots = c->slots,
                                  .choice = p->choice, .image_key = ""};
    status s = space_slots(c->space, p->choice, c->slots, e);
    if (!s && c->store)
        s = store_trial_begin(c->store, &record, &id, e);
    if (s)
        return s;
    double start = clock_seconds();
    status called = c->f->evaluate(c->f->ctx, number, c->kernel, c->slots, p->choice, r, &failure);
    if (called)
        r->outcome = OUTCOME_skipped;
    else if (r->stage.measure == 0)
        r->stage.measure = clock_seconds() - start;
    if (c->store)
        s = store_trial_end(c->store, id, r, e);
    if (called)
        *e = failure;
    return called ? called : s;
}

static status answer(struct called *c, const struct proposal *p, struct err *e)
{
    const struct answer not_a_member = {.outcome = OUTCOME_constraint, .value = NAN, .measured = NAN};
    int64_t known = p->index < 0 ? -1 : memo_find(&c->memo, 0, (uint64_t)p->index);
    if (p->index < 0 || known >= 0) {
        c->stale++;
        strategy_tell(c->strategy, p->number, known >= 0 ? &c->answers[known] : &not_a_member);
        return LATHE_OK;
    }
    struct result r;
    result_init(&r);
    status s = call(c, p, c->out->trials + 1, &r, e);
    if (!s) {
        MEM_GROW(c->answers, c->out->trials, c->cap);
        struct answer *a = &c->answers[c->out->trials];
        double value = r.outcome == OUTCOME_ok ? r.time_ms : NAN;
        *a = (struct answer){.outcome = r.outcome, .value = value, .measured = value, .seconds = 1};
        memo_put(&c->memo, 0, (uint64_t)p->index, c->out->trials++);
        c->stale = 0;
        strategy_tell(c->strategy, p->number, a);
    }
    result_free(&r);
    return s;
}

static bool is_over(const struct called *c)
{
    const struct function_campaign *f = c->f;
    return campaign_interrupted() || c->out->trials >= f->trials || c->stale >= STRATEGY_NOTHING_NEW ||
           (f->seconds > 0 && clock_seconds() - c->started >= f->seconds) ||
           (uint64_t)c->out->trials == c->out->space_size;
}

static status run(struct called *c, struct err *e)
{
    while (!is_over(c)) {
        const struct proposal *batch;
        int n;
        status s = strategy_ask(c->strategy, &batch, &n, e);
        for (int i = 0; i < n && !s && !is_over(c); i++)
            s = answer(c, &batch[i], e);
        if (s || !n)
            return s;
    }
    return LATHE_OK;
}

status campaign_of_function(const struct function_campaign *f, struct function_summary *out, struct err *e)
{
    struct called c = {.f = f, .out = out, .started = clock_seconds()};
    *out = (struct function_summary){0};
    status s = open_all(&c, e);
    if (!s)
        s = run(&c, e);
    out->interrupted = campaign_interrupted() && (!s || s == LATHE_INTERRUPTED);
    if (out->interrupted)
        s = LATHE_OK;
    if (out->id) {
        struct err ignored = {0};
        const char *state = s ? "failed" : out->interrupted ? "interrupted" : "finished";
        status ended = store_campaign_end(c.store, out->id, state, s ? e->text : NULL, s ? &ignored : e);
        s = s ? s : ended;
    }
    mem_free(c.slots);
    mem_free(c.answers);
    memo_free(&c.memo);
    strategy_close(c.strategy);
    space_close(c.space);
    store_close(c.store);
    return s;
}
