/* contest_store.c: see contest.h: a run of a contest as a campaign in the database. */
#include "contest/contest.h"

#include "base/mem.h"
#include <math.h>

/* The device that was recorded, as a campaign on a replay has it. */
static struct target replayed_target(const struct recording *r)
{
    struct target t = r->target;
    snprintf(t.device, sizeof t.device, "replay");
    snprintf(t.name, sizeof t.name, "%.100s (replay)", *r->device ? r->device : "unknown device");
    snprintf(t.toolchain, sizeof t.toolchain, "%s", r->format);
    return t;
}

static status begin(struct store *store, const struct contest *c, int run, const char *version,
                    const char *command_line, int64_t *id, struct err *e)
{
    const struct contestant *k = &c->strategies[run % c->nstrategies];
    struct contest_space *s = &c->spaces[run / c->nstrategies % c->nspaces];
    struct target target = replayed_target(s->recording);
    struct strbuf options = {0};
    struct strategy *strategy;
    uint64_t seed = c->first_seed + (uint64_t)(run / c->nstrategies / c->nspaces);
    status st = strategy_open(k->name, k->options, k->noptions, &s->space, 1, seed, &strategy, e);
    if (st)
        return st;
    strategy_options_text(strategy, &options);
    struct campaign_record record = {.problem = s->problem,
                                     .target = &target,
                                     .strategy = strategy_name(strategy),
                                     .strategy_text = strategy_text(strategy),
                                     .strategy_options = sb_str(&options),
                                     .kernels = s->problem->kernels[0].name,
                                     .seed = seed,
                                     .budget_seconds = s->score.to * CONTEST_MARGIN,
                                     .tool_version = version,
                                     .command_line = command_line,
                                     .space_size = space_size(s->space)};
    st = store_campaign_begin(store, &record, id, e);
    strategy_close(strategy);
    sb_free(&options);
    return st;
}

static status add_trial(struct store *store, const struct contest_space *s, int64_t campaign, int64_t number,
                        int64_t at, struct value *slots, struct err *e)
{
    const struct recording *r = s->recording;
    const struct recorded *x = &r->configs[at];
    const config_choice *choice = r->choices + at * r->nparams;
    struct result result;
    int64_t id = 0;
    result_init(&result);
    result.outcome = x->outcome;
    snprintf(result.reason, sizeof result.reason, "%s", x->reason);
    result.time_ms = x->value_ms;
    result.stage = (struct stage_seconds){
        .compile = x->compile, .load = x->framework, .verify = x->validation, .measure = x->run};
    status st = space_slots(s->space, choice, slots, e);
    if (!st)
        st = store_trial_begin(store,
                               &(struct trial_record){.campaign = campaign, .number = number,
                                                      .kernel = &s->problem->kernels[0], .slots = slots,
                                                      .choice = choice, .image_key = ""},
                               &id, e);
    return st ? st : store_trial_end(store, id, &result, e);
}

static status add_all(struct store *store, const struct contest *c, int run, const struct contest_run *r,
                      const char *version, const char *command_line, struct err *e)
{
    const struct contest_space *s = &c->spaces[run / c->nstrategies % c->nspaces];
    int64_t id = 0;
    char note[300];
    struct value *slots = mem_zalloc((size_t)s->problem->kernels[0].scope.count + 1, sizeof *slots);
    status st = begin(store, c, run, version, command_line, &id, e);
    for (int64_t i = 0; i < r->evaluations && !st; i++)
        if (r->trace[i].recorded >= 0)      /* what is no member has no configuration to be kept */
            st = add_trial(store, s, id, i + 1, r->trace[i].recorded, slots, e);
    snprintf(note, sizeof note, "compared on %.150s, %.6g s of recorded time: nothing was measured", s->recording->path,
             r->elapsed);
    if (!st)
        st = store_campaign_end(store, id, "finished", note, e);
    mem_free(slots);
    return st;
}

status contest_store_run(struct store *store, const struct contest *c, int run, const struct contest_run *r,
                         const char *version, const char *command_line, struct err *e)
{
    status s = store_together_begin(store, e);
    return s ? s : store_together_end(store, add_all(store, c, run, r, version, command_line, e), e);
}
