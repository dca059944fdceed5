/* campaign.c: see campaign.h: the order of things. Opens store, device, compilers, spaces, strategy, in this order
 * (what is cheap and often wrong comes first), runs baselines, search and final, closes in reverse. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "campaign/earlier.h"
#include "campaign/internal.h"
#include "campaign/resume_impl.h"
#include "db/query.h"
#include "device/dev.h"
#include <math.h>
#include <string.h>

enum { DEFAULT_TRIALS = 100 };

/* --- opening --- */

/* How many trials the strategy is told that the pipeline takes: as many as there are compilers; more than a device can
 * run while one compiles would be proposed without results for nothing. A few keep the device busy where compiling is
 * quick. */
static int at_once(const struct campaign *c)
{
    enum { LEAST = 4, A_DEVICE = 16 };
    const int most = A_DEVICE * c->ndevices, compilers = c->request->told_compilers;
    if (compilers < 1 || compilers > most) return most;         /* < 1: begun before they were told */
    return compilers < LEAST ? LEAST : compilers;
}

static status open_strategy(struct campaign *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    struct space **spaces = mem_zalloc((size_t)c->nentrants, sizeof *spaces);
    for (int i = 0; i < c->nentrants; i++) spaces[i] = c->entrants[i].space;
    const char *text = NULL, *name = r->resumed ? resumption_strategy(r->resumed, &text) : r->strategy;
    if (!name) name = STRATEGY_DEFAULT;
    int n = c->nentrants;
    status s = strategy_open_text(name, text, r->options, r->noptions, spaces, n, r->seed, r->told_compilers,
                                  &c->strategy, e);
    char *unread = NULL;
    if (!s) strategy_set_parallel(c->strategy, at_once(c));
    if (!s)
        s = earlier_inform(r->db, r->told_before, r->resumed ? resumption_earlier(r->resumed) : NULL, c->problem,
                           &c->target, spaces, c->nentrants, c->strategy, &c->earlier, &unread, e);
    if (unread) campaign_note(c, "%s", unread);
    mem_free(unread);
    mem_free(spaces);
    return s;
}

static status record_campaign(struct campaign *c, struct err *e)
{
    const struct campaign_request *r = c->request;
    struct strbuf kernels = {0}, options = {0};
    char *devices = r->device || c->devices->remote ? devices_list(c) : NULL;
    char *request = request_text(r, devices, c->earlier);
    for (int i = 0; i < c->nentrants; i++) sb_addf(&kernels, "%s%s", i ? " " : "", c->entrants[i].kernel->name);
    strategy_options_text(c->strategy, &options);
    struct campaign_record record = {.problem = c->problem,
                                     .target = &c->target,
                                     .strategy = strategy_name(c->strategy),
                                     .strategy_text = strategy_text(c->strategy),
                                     .strategy_options = sb_str(&options),
                                     .kernels = sb_str(&kernels),
                                     .seed = r->seed,
                                     .inputs = r->inputs,
                                     .budget_trials = c->progress.budget_trials,
                                     .budget_seconds = c->progress.budget_seconds,
                                     .tool_version = r->version,
                                     .command_line = r->command_line,
                                     .request = request,
                                     .space_size = c->progress.space_size,
                                     .objective = r->objective};
    status s = store_campaign_begin(c->store, &record, &c->id, e);
    sb_free(&kernels);
    sb_free(&options);
    mem_free(request);
    mem_free(devices);
    return s;
}

static status resume_campaign(struct campaign *c, struct err *e)
{
    const struct resumption *r = c->request->resumed;
    status s = resumption_take_over(r, c->request, c->store, &c->differences, e);
    if (!s) c->id = resumption_id(r);
    if (!s && c->differences.len) campaign_note(c, "resumed though %s", sb_str(&c->differences));
    return s;
}

/* --- running --- */

/* The baselines of every device, one after another. */
struct baselines {
    struct campaign *c;
    int next;
};

static status next_baseline(void *ctx, struct trial_item *item, bool *any, struct err *e)
{
    static const config_choice none[64];
    struct baselines *b = ctx;
    struct campaign *c = b->c;
    (void)e;
    *any = b->next < c->nbaselines * c->ndevices;
    if (!*any) return LATHE_OK;
    *item = (struct trial_item){.entrant = &c->baselines[b->next % c->nbaselines], .choice = none, .slot = -1,
                                .number = -b->next, .device = &c->devices[b->next / c->nbaselines]};
    b->next++;
    return LATHE_OK;
}

static status run_baselines(struct campaign *c, struct err *e)
{
    struct baselines all = {.c = c};
    return trials_run(c, &(struct trial_feed){.ctx = &all, .next = next_baseline}, e);
}

/* Errors over outputs that are nearly constant would call any kernel accurate: that is said, and they are not kept. */
static status say_blind(struct campaign *c, const char *how, struct err *e)
{
    char note[400];
    snprintf(note, sizeof note,
             "outputs do not tell products apart: %s, so an error would say nothing and is not kept; give a tensor "
             "`check = ...` in the specification", how);
    c->blind = true;
    campaign_note(c, "warning: %s", note);
    return store_campaign_note(c->store, c->id, note, e);
}

/* By such a tolerance nearly any kernel is right. Errors are kept: they tell. */
static status say_lax(struct campaign *c, const char *output, struct err *e)
{
    char note[300];
    snprintf(note, sizeof note,
             "the tolerance is wider than the results are large: zeros in place of %s would be right, so look at "
             "errors; a smaller atol, or a limit `frobenius`, refuses what is wrong", output);
    campaign_note(c, "warning: %s", note);
    return store_campaign_note(c->store, c->id, note, e);
}

static status run_all(struct campaign *c, struct campaign_summary *out, struct err *e)
{
    struct setup_answer answer;
    status s = sharing_say(c, e);
    if (!s) s = bench_prepare(c, true, &answer, e);
    if (!s && c->request->objective == OBJECTIVE_ENERGY && !answer.energy)
        s = err_set(e, LATHE_USAGE,
                    "--objective energy: %s does not tell what energy it takes (a GPU's comes from NVML, from "
                    "Volta on; a machine's from /sys/class/powercap, which often only root may read)",
                    c->target.device);
    if (!s && *answer.blind) s = say_blind(c, answer.blind, e);
    if (!s && *answer.lax && !*answer.blind) s = say_lax(c, answer.lax, e);
    if (!s) s = campaign_phase_ended(c, PHASE_SETUP, e);
    if (s) return s;
    campaign_emit(c, &(struct campaign_event){.kind = CAMPAIGN_STARTED});
    c->progress.phase = "baselines";
    s = run_baselines(c, e);
    if (!s) s = campaign_phase_ended(c, PHASE_BASELINES, e);
    if (s) return s;
    c->progress.phase = "search";
    s = search_run(c, e);
    if (!s) s = drift_conclude(c, e);
    if (!s) s = campaign_phase_ended(c, PHASE_SEARCH, e);
    if (s) return s;
    if (c->interrupted || c->device_gone) return c->device_gone ? (*e = c->err, e->code) : LATHE_OK;
    if (!c->nleaders) return LATHE_OK;
    c->progress.phase = "final";
    if (c->request->top <= 0) out->winner_trial = c->leaders[0].id;
    if (c->request->top <= 0) return LATHE_OK;
    s = final_run(c, &out->winner_trial, e);
    return s ? s : campaign_phase_ended(c, PHASE_FINAL, e);
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
    status s = problem_check_size(c->problem, e);
    if (!s) s = entrants_check_names(r, e);
    if (!s) s = store_open(r->db, 60, &c->store, e);
    if (!s) s = campaign_open_workers(c, e);
    for (int i = 1; !s && r->resumed && i < c->ndevices; i++)
        resumption_compare(r->resumed, i, &c->devices[i].target, &c->differences);
    if (!s && r->resumed) s = resumption_check(r->resumed, r, &c->target, &c->differences, e);
    if (!s) s = entrants_open(c, e);
    if (!s) s = open_strategy(c, e);
    if (!s) s = r->resumed ? resume_campaign(c, e) : record_campaign(c, e);
    if (!s) s = devices_record(c, e);
    if (!s) store_patience(c->store, CAMPAIGN_PATIENCE, campaign_interrupted);
    return s;
}

static void close_all(struct campaign *c)
{
    strategy_close(c->strategy);
    entrants_close(c);
    campaign_close_workers(c);
    store_close(c->store);
    leaders_free(c->leaders, c->nleaders);
    leaders_free(c->measured_baselines, c->nmeasured_baselines);
    memo_free(&c->memo);
    sb_free(&c->differences);
    json_decref(c->earlier);
    mem_free(c->known);
    mem_free(c->refusal);
}

/* db: the option that a command needs. */
static status nothing_found(const struct campaign *c, const char *db, struct err *e)
{
    const struct campaign_progress *p = &c->progress;
    int refused = 0; /* by this final */
    for (int i = 0; i < c->nleaders; i++) refused += c->leaders[i].refused;
    if (c->refused_before && !c->nleaders)
        return err_set(e, LATHE_NOTHING,
                       "nothing won: all that may win was refused by an earlier final, on fresh inputs\n"
                       "`lathe show %lld%s` lists the reasons", (long long)c->id, db);
    if (refused && refused == c->nleaders)
        return err_set(e, LATHE_NOTHING,
                       "nothing won: the final verified the best%s again, on fresh inputs, and refused %s%s%.900s\n"
                       "`lathe show %lld%s` lists the reasons",
                       refused > 1 ? "" : " one", refused > 1 ? "all of them" : "it", c->refusal ? ": " : "",
                       c->refusal ? c->refusal : "", (long long)c->id, db);
    if (p->outcomes[OUTCOME_ok] && !c->nleaders)
        return err_set(e, LATHE_NOTHING,
                       "nothing can win: what is right is of kernels with `eligible = false`, and nothing else is\n"
                       "`lathe show %lld%s` lists all trials", (long long)c->id, db);
    if (p->trials)
        return err_set(e, LATHE_NOTHING, "no configuration was valid: `lathe show %lld%s` lists the reasons",
                       (long long)c->id, db);
    if (p->budget_seconds > 0 && clock_seconds() - c->started > p->budget_seconds)
        return err_set(e, LATHE_NOTHING,
                       "%g s were over before a first trial had ended: give --seconds more, or --trials",
                       p->budget_seconds);
    return err_set(e, LATHE_NOTHING, "the strategy %s ended without proposing a configuration",
                   strategy_name(c->strategy));
}

status campaign_run(const struct campaign_request *r, struct campaign_summary *out, struct err *e)
{
    struct campaign_request own = *r;
    *out = (struct campaign_summary){0};
    if (r->recording) return campaign_replay(r, out, e);
    if (own.compile_workers < 1) own.compile_workers = campaign_compilers();
    if (!own.told_compilers) own.told_compilers = own.compile_workers;
    struct campaign *c = mem_zalloc(1, sizeof *c);
    c->request = &own;
    c->problem = r->problem;
    c->started = clock_seconds() - (r->resumed ? resumption_seconds(r->resumed) : 0);
    c->phase_began = clock_seconds();
    c->next_number = 1;
    c->time_limit = r->time_limit > 0 ? r->time_limit : 60;
    c->best_seconds = NAN;
    c->leaders = mem_zalloc((size_t)campaign_most_leaders(r) + 1, sizeof *c->leaders);
    if (own.top < 1) own.top = 0;
    default_progress(c);

    status s = open_all(c, e);
    if (!s) s = run_all(c, out, e);
    if (s == LATHE_INTERRUPTED && campaign_interrupted() && c->id) {
        c->interrupted = true;
        s = LATHE_OK;
    }
    out->id = c->id;
    out->interrupted = c->interrupted;
    out->measured = c->progress.trials || c->nmeasured_baselines;
    bool nothing = !s && !c->interrupted && !out->winner_trial;
    bool gone = false;
    if (s && c->id && !r->resumed) {    /* refused before its first trial */
        struct err ignored = {0};
        (void)store_campaign_drop(c->store, c->id, &gone, &ignored);
        if (gone) out->id = 0;
    }
    if (c->id && !gone) {
        struct err ignored = {0};
        const char *state = s ? "failed" : c->interrupted ? "interrupted" : "finished";
        status ended = store_campaign_end(c->store, c->id, state, s ? e->text : NULL, s ? &ignored : e);
        if (!s) s = ended;
    }
    struct strbuf db = {0};
    query_db_option(&db, c->request->db);
    if (!s && nothing) s = nothing_found(c, sb_str(&db), e);
    sb_free(&db);
    out->elsewhere = store_lost(c->store);
    close_all(c);
    mem_free(c);
    return s;
}
