/* replay_campaign.c: a campaign whose device is a recording: replay_search, with the store and the events of a
 * campaign.
 *
 * There are no workers, no baselines and no final: what was recorded cannot be measured again. The winner is the best
 * value. */
#include "base/clock.h"
#include "base/mem.h"
#include "campaign/earlier.h"
#include "campaign/internal.h"
#include "campaign/replay/replay_search.h"
#include "campaign/resume_impl.h"
#include <math.h>
#include <string.h>

enum { DEFAULT_TRIALS = 100 };
/* Trials are kept in transactions of so long: nothing was measured, and what a kill takes is replayed again. */
#define TOGETHER_SECONDS 0.5

struct replayed {
    const struct campaign_request *request;
    const struct kernel *kernel;
    struct target target;
    struct replay *replay;
    struct space *space;
    struct strategy *strategy;
    struct store *store;        /* NULL: none */
    struct value *slots;
    int64_t id, best_trial;
    json_t *earlier;            /* what earlier campaigns found, as the strategy was told */
    struct campaign_progress progress;
    double together;            /* clock_seconds when the open transaction began; 0: none is open */
    unsigned outcomes_seen;     /* bit o: a trial with outcome o was told of */
};

static void emit(struct replayed *c, struct campaign_event *ev)
{
    ev->campaign = c->id;
    ev->progress = &c->progress;
    if (c->request->on_event)
        c->request->on_event(c->request->ctx, ev);
}

static void note(struct replayed *c, const char *text)
{
    emit(c, &(struct campaign_event){.kind = CAMPAIGN_NOTE, .text = text});
}

/* --- opening --- */

/* The device that was recorded; limits as far as a lathe campaign recorded them. */
static void make_target(struct replayed *c)
{
    const struct recording *r = c->request->recording;
    c->target = r->target;
    snprintf(c->target.device, sizeof c->target.device, "replay");
    const char *name = *r->device ? r->device : "unknown device";
    bool again = strstr(name, "(replay)") != NULL;  /* a replay of a replay */
    snprintf(c->target.name, sizeof c->target.name, "%.100s%s", name, again ? "" : " (replay)");
    snprintf(c->target.toolchain, sizeof c->target.toolchain, "%s", r->format);
}

static status find_kernel(struct replayed *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    const struct problem *p = r->problem;
    int found = -1, candidates = 0;
    if (r->nbaselines)
        return err_set(e, LATHE_USAGE, "a recording has no baselines to time");
    if (r->nkernels > 1)
        return err_set(e, LATHE_USAGE, "a recording is of one kernel: name one");
    if (r->nkernels) {
        status s = problem_kernel_named(p, r->kernels[0], KERNEL_CANDIDATE, &found, e);
        if (s)
            return s;
    }
    for (int i = 0; i < p->nkernels && !r->nkernels; i++)
        if (!p->kernels[i].baseline && !p->kernels[i].left_out) {
            found = i;
            candidates++;
        }
    if (candidates > 1)
        found = problem_find_kernel(p, r->recording->kernel);
    if (found < 0)
        return err_set(e, LATHE_USAGE, "%s has several kernels, and a recording is of one: name it with --kernel",
                       p->name);
    c->kernel = &p->kernels[found];
    return !c->kernel->left_out ? LATHE_OK
                                : err_set(e, LATHE_NOTHING, "kernel %s is left out: %s", c->kernel->name,
                                          c->kernel->left_out);
}

static status open_space(struct replayed *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    const struct recording *recording = r->recording;
    status s = replay_open(recording, c->kernel, &c->replay, e);
    if (s)
        return s;
    s = r->recorded_space
            ? space_of_list(r->problem, c->kernel, &c->target, recording->choices, recording->nconfigs, &c->space, e)
            : space_open(r->problem, c->kernel, &c->target, &c->space, e);
    if (!s)
        c->progress.space_size = space_size(c->space);
    return s;
}

static status record_campaign(struct replayed *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    struct strbuf options = {0};
    char *request = request_text(r, r->device, c->earlier);
    strategy_options_text(c->strategy, &options);
    struct campaign_record record = {.problem = r->problem,
                                     .target = &c->target,
                                     .strategy = strategy_name(c->strategy),
                                     .strategy_text = strategy_text(c->strategy),
                                     .strategy_options = sb_str(&options),
                                     .kernels = c->kernel->name,
                                     .seed = r->seed,
                                     .inputs = r->inputs,
                                     .budget_trials = c->progress.budget_trials,
                                     .budget_seconds = c->progress.budget_seconds,
                                     .tool_version = r->version,
                                     .command_line = r->command_line,
                                     .request = request,
                                     .space_size = c->progress.space_size};
    status s = store_campaign_begin(c->store, &record, &c->id, e);
    sb_free(&options);
    mem_free(request);
    return s;
}

static status inform_strategy(struct replayed *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    char *unread;
    status s = earlier_inform(r->db, r->told_before, r->resumed ? resumption_earlier(r->resumed) : NULL, r->problem,
                              &c->target, &c->space, 1, c->strategy, &c->earlier, &unread, e);
    if (unread)
        note(c, unread);
    mem_free(unread);
    return s;
}

static status resume_campaign(struct replayed *c, struct err *e)
{
    const struct resumption *r = c->request->resumed;
    struct strbuf differences = {0};
    status s = resumption_check(r, c->request, &c->target, &differences, e);
    if (!s)
        s = resumption_take_over(r, c->request, c->store, &differences, e);
    if (!s)
        c->id = resumption_id(r);
    if (!s && differences.len)
        note(c, sb_str(&differences));
    sb_free(&differences);
    return s;
}

static status open_strategy(struct replayed *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    const char *text, *name;
    if (!r->resumed)
        return strategy_open(r->strategy ? r->strategy : STRATEGY_DEFAULT, r->options, r->noptions, &c->space, 1,
                             r->seed, &c->strategy, e);
    name = resumption_strategy(r->resumed, &text);
    return strategy_open_text(name, text, r->options, r->noptions, &c->space, 1, r->seed, 0, &c->strategy, e);
}

static status open_all(struct replayed *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    status s = find_kernel(c, e);
    if (!s)
        s = open_space(c, e);
    if (!s)
        s = open_strategy(c, e);
    if (!s && r->db)
        s = store_open(r->db, 60, &c->store, e);
    if (!s)
        s = inform_strategy(c, e);
    if (!s && c->store)
        s = r->resumed ? resume_campaign(c, e) : record_campaign(c, e);
    if (!s && c->store)
        store_patience(c->store, CAMPAIGN_PATIENCE, campaign_interrupted);
    c->slots = mem_zalloc((size_t)(s ? 0 : c->kernel->scope.count) + 1, sizeof *c->slots);
    return s;
}

/* --- trials --- */

static void make_result(const struct replayed *c, const struct replay_evaluation *v, struct result *r)
{
    const struct recorded *x = v->recorded;
    result_init(r);
    r->outcome = v->outcome;
    snprintf(r->reason, sizeof r->reason, "%s", v->reason ? v->reason : "");
    r->time_ms = v->value_ms;
    r->stage.total = v->seconds;
    if (!x)
        return;
    r->stage = (struct stage_seconds){
        .compile = x->compile, .load = x->framework, .verify = x->validation, .measure = x->run, .total = v->seconds};
    r->samples = (struct samples){.regime = REGIME_TRIAL, .ms = c->request->recording->samples + x->first_sample,
                                  .count = (int)x->nsamples};    /* borrowed */
    samples_summarise(&r->samples);
}

/* Takes the row of a trial that was recorded over; *ended: there is nothing to be added to it. */
static status recall(struct replayed *c, const struct replay_evaluation *v, const char *text, int64_t *id, bool *ended,
                     struct err *e)
{
    struct stored_trial was;
    bool found;
    *id = 0;
    *ended = false;
    status s = resumption_find(c->request->resumed, c->store, v->number, c->kernel->name, text, &was, &found, e);
    if (s || !found)
        return s;
    *id = was.id;
    *ended = was.outcome >= 0 && was.outcome != OUTCOME_skipped;
    if (*ended && (was.outcome != (int)v->outcome || (v->outcome == OUTCOME_ok && was.time_ms != v->value_ms)))
        s = err_set(e, LATHE_USAGE, "%s is not what it was: trial %lld was %s, %.9g ms, and is %s, %.9g ms",
                    c->request->recording->path, (long long)was.id, outcome_name((enum outcome)was.outcome),
                    was.time_ms, outcome_name(v->outcome), v->value_ms);
    sb_free(&was.configuration);
    return s;
}

static status keep(struct replayed *c, status so_far, struct err *e)
{
    if (!c->together)
        return so_far;
    c->together = 0;
    return store_together_end(c->store, so_far, e);
}

static status store_trial(struct replayed *c, const struct replay_evaluation *v, const char *text, struct result *r,
                          int64_t *id, bool *recorded, struct err *e)
{
    struct trial_record record = {.campaign = c->id, .number = v->number, .kernel = c->kernel, .slots = c->slots,
                                  .choice = v->choice, .image_key = ""};
    status s = recall(c, v, text, id, recorded, e);
    if (s || *recorded)
        return s;
    s = *id ? store_trial_again(c->store, *id, 0, e) : store_trial_begin(c->store, &record, id, e);
    return s ? s : store_trial_end(c->store, *id, r, e);
}

/* Only what is told or stored is made: the text of a configuration costs more than its evaluation. */
static status on_evaluation(void *ctx, const struct replay_evaluation *v, struct err *e)
{
    struct replayed *c = ctx;
    struct campaign_progress *p = &c->progress;
    bool best = v->outcome == OUTCOME_ok && !(p->best_ms <= v->value_ms);
    p->trials = v->number;
    p->seconds = v->elapsed;
    p->outcomes[v->outcome]++;
    bool first = !(c->outcomes_seen & 1u << v->outcome);
    if (!c->store && !best && !first && !c->request->every_trial && v->number % 4096)
        return LATHE_OK;
    c->outcomes_seen |= 1u << v->outcome;
    struct result r;
    struct strbuf text = {0};
    int64_t id = 0;
    status s = LATHE_OK;
    make_result(c, v, &r);
    if (space_slots(c->space, v->choice, c->slots, e))
        return e->code;
    config_print(&text, c->kernel, c->slots, v->choice);
    bool recorded = false;
    if (c->store && !c->together) {
        s = store_together_begin(c->store, e);
        c->together = s ? 0 : clock_seconds();
    }
    if (c->store && !s)
        s = store_trial(c, v, sb_str(&text), &r, &id, &recorded, e);
    if (s || (c->together && clock_seconds() - c->together > TOGETHER_SECONDS))
        s = keep(c, s, e);
    if (best) {
        p->best_ms = v->value_ms;
        snprintf(p->best_config, sizeof p->best_config, "%s", sb_str(&text));
        snprintf(p->best_kernel, sizeof p->best_kernel, "%s", c->kernel->name);
        c->best_trial = c->store ? id : v->number;
    }
    struct campaign_event ev = {.kind = CAMPAIGN_TRIAL, .trial = id, .number = v->number, .kernel = c->kernel,
                                .config = sb_str(&text), .result = &r, .recorded = recorded};
    emit(c, &ev);
    ev.kind = CAMPAIGN_INCUMBENT;
    if (best)
        emit(c, &ev);
    sb_free(&text);
    return s;
}

static bool is_interrupted(void *ctx)
{
    return campaign_interrupted();
}

static status run_search(struct replayed *c, struct replay_totals *totals, struct err *e)
{
    struct strbuf notes = {0};
    recording_notes(c->request->recording, &notes);
    for (char *line = notes.s, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        note(c, line);
    }
    sb_free(&notes);
    emit(c, &(struct campaign_event){.kind = CAMPAIGN_STARTED});
    c->progress.phase = "search";
    struct replay_search search = {.replay = c->replay,
                                   .strategy = c->strategy,
                                   .evaluations = c->progress.budget_trials,
                                   .seconds = c->progress.budget_seconds,
                                   .stop = is_interrupted,
                                   .on_evaluation = on_evaluation,
                                   .ctx = c};
    status s = keep(c, replay_search(&search, totals, e), e);
    if (s && campaign_interrupted()) {      /* the script itself was interrupted */
        totals->end = REPLAY_STOPPED;
        return LATHE_OK;
    }
    if (!s && totals->end == REPLAY_STALE)
        note(c, "the strategy proposed nothing new for a long time: ended");
    return s;
}

static status end_store(struct replayed *c, const struct replay_totals *t, status s, struct err *e)
{
    struct err ignored = {0};
    char told[300];
    snprintf(told, sizeof told, "replayed from %.150s, %.6g s of recorded time: nothing was measured",
             c->request->recording->path, t->elapsed);
    const char *state = s ? "failed" : t->end == REPLAY_STOPPED ? "interrupted" : "finished";
    status ended = store_campaign_end(c->store, c->id, state, s ? e->text : told, s ? &ignored : e);
    return s ? s : ended;
}

static status nothing_found(const struct replayed *c, struct err *e)
{
    if (!c->progress.trials)
        return err_set(e, LATHE_NOTHING, "the strategy %s ended without proposing a configuration",
                       strategy_name(c->strategy));
    return err_set(e, LATHE_NOTHING, "none of the %lld configurations tried is valid in the recording",
                   (long long)c->progress.trials);
}

status campaign_replay(const struct campaign_request *r, struct campaign_summary *out, struct err *e)
{
    struct replayed c = {.request = r};
    struct replay_totals totals = {0};
    struct campaign_progress *p = &c.progress;
    p->best_ms = p->baseline_ms = NAN;
    p->phase = "setting up";
    p->budget_trials = r->trials;
    p->budget_seconds = r->seconds;
    if (!p->budget_trials && p->budget_seconds <= 0)
        p->budget_trials = DEFAULT_TRIALS;
    make_target(&c);
    p->device = c.target.name;
    status s = open_all(&c, e);
    if (!s)
        s = run_search(&c, &totals, e);
    if (c.id)
        s = end_store(&c, &totals, s, e);
    out->id = c.id;
    out->winner_trial = c.best_trial;
    out->interrupted = totals.end == REPLAY_STOPPED;
    out->measured = c.progress.trials;
    out->elsewhere = store_lost(c.store);
    out->progress = c.progress;
    out->progress.device = NULL;                    /* lives no longer than this */
    if (!s && !c.best_trial && !out->interrupted)
        s = nothing_found(&c, e);
    mem_free(c.slots);
    json_decref(c.earlier);
    strategy_close(c.strategy);
    space_close(c.space);
    replay_close(c.replay);
    store_close(c.store);
    return s;
}
