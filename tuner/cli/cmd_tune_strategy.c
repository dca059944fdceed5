/* cmd_tune_strategy.c: `lathe tune-strategy`: the options of a strategy, searched by another one, and scored on
 * recordings. */
#include "base/mem.h"
#include "campaign/campaign.h"
#include "campaign/replay/function_campaign.h"
#include "cli/cli.h"
#include "cli/compare/compare_args.h"
#include "cli/output/report.h"
#include "console/output.h"
#include "cli/args/select.h"
#include "cli/progress/signals.h"
#include "cli/compare/tune_strategy.h"
#include <math.h>
#include <string.h>

#define LEAST 1e-6              /* of 1 - score: a strategy may take its logarithm */

struct tune_strategy_args {
    const char *name, *strategy, *kernel, *cutoff, *db;
    struct text_list spaces, tests, values, options;
    int64_t trials, seeds, seed, jobs;
    double seconds;
    bool json, csv, quiet;
};

#define AT(member) .offset = offsetof(struct tune_strategy_args, member)
static const struct option_row tune_strategy_options[] = {
    {"NAME", .kind = OPTION_NEEDED, AT(name), .help = "the strategy whose options are tuned, or a FILE.lua"},
    {"spaces", .arg = "FILE...", .kind = OPTION_LIST, AT(spaces), .help = "recordings to tune on; may be repeated"},
    {"test", .arg = "FILE...", .kind = OPTION_LIST, AT(tests),
     .help = "other recordings, on which the best options and the defaults are compared at the end"},
    {"values", .arg = "NAME=V,...", .kind = OPTION_PAIRS, AT(values),
     .help = "try these values of an option, one to leave it alone; may be repeated (default: a grid over its range)"},
    {"strategy", .arg = "NAME", .kind = OPTION_TEXT, AT(strategy), .initial = "gp",
     .help = "how to search the options"},
    {"option", .arg = "K=V", .kind = OPTION_PAIRS, AT(options), .help = "an option of that strategy; may be repeated"},
    {"trials", .arg = "N", .kind = OPTION_COUNT, AT(trials), .initial = "50", .min = 1, .max = 1000000,
     .help = "combinations to try"},
    {"seconds", .arg = "S", .kind = OPTION_SECONDS, AT(seconds), .help = "end after this long: 90, 1.5, 2m, 1h"},
    {"seeds", .arg = "N", .kind = OPTION_COUNT, AT(seeds), .initial = "25", .min = 1, .max = 100000,
     .help = "runs on each space for each combination"},
    {"seed", .arg = "N", .kind = OPTION_COUNT, AT(seed), .initial = "1",
     .help = "of the search, and the first of the runs'"},
    {"cutoff", .arg = "P", .kind = OPTION_TEXT, AT(cutoff), .initial = "0.95",
     .help = "of the score; see `lathe compare`"},
    {"kernel", .arg = "NAME", .kind = OPTION_TEXT, AT(kernel), .help = "of recordings that are lathe campaigns"},
    {"jobs", .letter = 'j', .arg = "N", .kind = OPTION_COUNT, AT(jobs), .min = 1, .max = 256,
     .help = "runs at the same time (default: one a core)"},
    {"db", .arg = "FILE", .kind = OPTION_DATABASE, AT(db), .initial = DEFAULT_DB,
     .help = "the database; none: nothing is stored"},
    {"json", .kind = OPTION_FLAG, AT(json), .help = "one JSON object"},
    {"csv", .kind = OPTION_FLAG, AT(csv),
     .help = "the combinations, best first, and the defaults, with a header line (RFC 4180)"},
    {"quiet", .letter = 'q', .kind = OPTION_FLAG, AT(quiet), .help = "no progress on stderr"},
    {0},
};

struct tuning {
    const struct tune_strategy_args *args;
    struct contest_space *spaces, *tests;
    struct options_space space;
    struct options_trial initial, *trials;
    int ntrials, cap;
    double best;                /* score so far; NaN */
};

/* What a score depends on, so that campaigns on other spaces are told apart. */
static status make_problem(struct tuning *t, struct err *e)
{
    const struct tune_strategy_args *args = t->args;
    struct strbuf of = {0};
    sb_addf(&of, "1 - score, to %s, %lld seeds from %lld on:", args->cutoff, (long long)args->seeds,
            (long long)args->seed);
    for (int i = 0; i < args->spaces.count; i++)
        sb_addf(&of, " %s", t->spaces[i].name);
    status s = options_space_problem(&t->space, sb_str(&of), e);
    sb_free(&of);
    return s;
}

/* Trials ---------------------------------------------------------------------------------------------------------*/

static struct contest contest_of(const struct tuning *t, bool test)
{
    const struct tune_strategy_args *args = t->args;
    return (struct contest){.spaces = test ? t->tests : t->spaces,
                            .nspaces = test ? args->tests.count : args->spaces.count,
                            .first_seed = (uint64_t)args->seed,
                            .seeds = (int)args->seeds,
                            .jobs = args->jobs ? (int)args->jobs : count_cores()};
}

static bool all_done(const struct contest *c)
{
    for (int i = 0; i < contest_count(c); i++)
        if (!c->runs[i].done)
            return false;
    return true;
}

/* Scores one combination, "name:option=value,...". */
static status score(const struct tuning *t, const char *text, struct options_trial *out, struct err *e)
{
    struct contest c = contest_of(t, false);
    int cap = 0;
    *out = (struct options_trial){.text = mem_strdup(text), .score = NAN};
    out->scores = mem_alloc((size_t)c.nspaces * sizeof *out->scores);
    for (int i = 0; i < c.nspaces; i++)
        out->scores[i] = NAN;
    status s = contestants_read(text, &c.strategies, &c.nstrategies, &cap, e);
    if (!s)
        s = contest_run(&c, e);
    if (!s && all_done(&c))
        out->score = contest_scores(&c, 0, out->scores);
    else if (!s)
        s = err_set(e, LATHE_INTERRUPTED, "interrupted");
    contest_free(&c);
    contestants_free(c.strategies, c.nstrategies);
    return s;
}

static void free_trial(struct options_trial *t)
{
    mem_free(t->text);
    mem_free(t->scores);
}

static void say(struct tuning *t, int64_t number, const struct options_trial *x)
{
    bool better = !(x->score <= t->best);
    if (better && !isnan(x->score))
        t->best = x->score;
    if (t->args->quiet)
        return;
    struct strbuf line = {0};
    if (number)
        sb_addf(&line, "%lld/%lld  ", (long long)number, (long long)t->args->trials);
    else
        sb_add(&line, "default  ");
    sb_addf(&line, isnan(x->score) ? "failed" : "score %.3f%s", x->score, better && number ? " *" : "");
    note_line("%s  %s", sb_str(&line), x->text);
    sb_free(&line);
}

static status evaluate(void *ctx, int64_t number, const struct kernel *k, const struct value *slots,
                       const config_choice *choice, struct result *out, struct err *e)
{
    struct tuning *t = ctx;
    struct strbuf text = {0};
    struct options_trial trial;
    options_space_text(&t->space, k, choice, &text);
    status s = score(t, sb_str(&text), &trial, e);
    sb_free(&text);
    if (s && s != LATHE_STRATEGY) {
        free_trial(&trial);
        return s;
    }
    out->outcome = s ? OUTCOME_crash : OUTCOME_ok;
    if (s)
        snprintf(out->reason, sizeof out->reason, "%.1500s", e->text);
    else
        out->time_ms = 1 - trial.score > LEAST ? 1 - trial.score : LEAST;
    MEM_GROW(t->trials, t->ntrials, t->cap);
    t->trials[t->ntrials++] = trial;
    say(t, number, &trial);
    return LATHE_OK;
}

/* At the end: the best options against the defaults where neither was chosen. */
static status once_more(const struct tuning *t, const char *best, bool test, struct contest *c,
                        struct contest_result *result, struct err *e)
{
    int cap = 0;
    *c = contest_of(t, test);
    c->first_seed += (uint64_t)c->seeds;
    status s = contestants_read(best, &c->strategies, &c->nstrategies, &cap, e);
    if (!s && strcmp(best, t->initial.text) != 0)
        s = contestants_read(t->initial.text, &c->strategies, &c->nstrategies, &cap, e);
    if (!s)
        s = contest_run(c, e);
    if (!s && !all_done(c))
        s = err_set(e, LATHE_INTERRUPTED, "interrupted");
    if (!s)
        contest_judge(c, result);
    return s;
}

static void free_contest(struct contest *c, struct contest_result *result)
{
    contest_result_free(result);
    contest_free(c);
    contestants_free(c->strategies, c->nstrategies);
}

/* The command ----------------------------------------------------------------------------------------------------*/

static status no_best(const struct tuning *t, bool interrupted, struct err *e)
{
    if (interrupted)
        return err_set(e, LATHE_INTERRUPTED, "interrupted: %s",
                       t->ntrials ? "every combination of options that was tried until then failed"
                                  : "no combination of options was tried to its end");
    if (t->ntrials)
        return err_set(e, LATHE_NOTHING, "every combination of options that was tried failed");
    return err_set(e, LATHE_NOTHING,
                   "%g s were over before a first combination of options was tried: give --seconds more, or --trials",
                   t->args->seconds);
}

static status report(const struct tuning *t, const struct function_summary *summary, struct err *e)
{
    struct contest again = {0}, test = {0};
    struct contest_result again_result = {0}, test_result = {0};
    struct options_report r = {.strategy = t->args->name,
                               .db = select_stores(t->args->db) ? t->args->db : NULL,
                               .campaign = (long long)summary->id,
                               .spaces = t->spaces,
                               .nspaces = t->args->spaces.count,
                               .seeds = (int)t->args->seeds,
                               .space_size = summary->space_size,
                               .initial = &t->initial,
                               .trials = t->trials,
                               .ntrials = t->ntrials};
    const struct options_trial *best = options_best(&r, -1);
    if (!best)
        return no_best(t, summary->interrupted, e);
    status s = LATHE_OK;
    if (!summary->interrupted) {
        s = once_more(t, best->text, false, &again, &again_result, e);
        if (!s) {
            r.again = &again;
            r.again_result = &again_result;
        }
        if (!s && t->args->tests.count)
            s = once_more(t, best->text, true, &test, &test_result, e);
        if (!s && t->args->tests.count) {
            r.test = &test;
            r.test_result = &test_result;
        }
    }
    bool interrupted = summary->interrupted || s == LATHE_INTERRUPTED;
    s = s == LATHE_INTERRUPTED ? LATHE_OK : s;
    struct strbuf b = {0};
    if (!s && t->args->json) {
        json_t *j = options_report_json(&r);
        s = out_json(j, e);
        json_decref(j);
    } else if (!s && t->args->csv) {
        json_t *rows = options_report_rows(&r);
        s = report_csv_out(rows, e);
        json_decref(rows);
    } else if (!s) {
        options_report_text(&r, &b);
        s = out_report(&b, e);
    }
    free_contest(&again, &again_result);
    free_contest(&test, &test_result);
    return !s && interrupted ? err_set(e, LATHE_INTERRUPTED, "interrupted: what was tried until then counts alone") : s;
}

static status search(const struct cli *cli, struct tuning *t, struct function_summary *summary, struct err *e)
{
    const struct tune_strategy_args *args = t->args;
    char device[64];
    snprintf(device, sizeof device, "%d recordings (replay)", args->spaces.count);
    struct strbuf initial = {0};
    options_space_text(&t->space, NULL, NULL, &initial);
    struct function_campaign f = {.problem = t->space.problem,
                                  .device = device,
                                  .strategy = args->strategy,
                                  .options = args->options.items,
                                  .noptions = args->options.count,
                                  .trials = args->trials,
                                  .seconds = args->seconds,
                                  .seed = (uint64_t)args->seed,
                                  .db = select_stores(args->db) ? args->db : NULL,
                                  .version = cli->version,
                                  .command_line = cli->command_line,
                                  .note = "times are 1 - score: nothing was measured",
                                  .evaluate = evaluate,
                                  .ctx = t};
    status s = score(t, sb_str(&initial), &t->initial, e);
    if (!s) {
        say(t, 0, &t->initial);
        t->best = NAN;
        s = campaign_of_function(&f, summary, e);
    }
    sb_free(&initial);
    return s;
}

/* What options were chosen on says nothing of how good they are elsewhere. */
static status check_tests(const struct tune_strategy_args *args, struct err *e)
{
    for (int i = 0; i < args->tests.count; i++)
        for (int k = 0; k < args->spaces.count; k++)
            if (!strcmp(args->tests.items[i], args->spaces.items[k]))
                return err_set(e, LATHE_USAGE, "--test: %.300s is among --spaces, too\n"
                               "leave it out of one of them: a test is on recordings that nothing was chosen on",
                               args->tests.items[i]);
    return LATHE_OK;
}

static status tune_strategy_run(const struct cli *cli, void *p, struct err *e)
{
    struct tuning t = {.args = p, .best = NAN};
    struct function_summary summary = {0};
    struct signals_before before;
    double cutoff;
    status s = report_one_form("tune-strategy", t.args->json, t.args->csv, e);
    if (!s)
        s = parse_cutoff(t.args->cutoff, &cutoff, e);
    if (!s)
        s = check_last_seed(t.args->seed, t.args->seeds, e);
    if (!s)
        s = check_tests(t.args, e);
    if (!s)
        s = contest_spaces_open(&t.args->spaces, t.args->kernel, cutoff, &t.spaces, e);
    if (!s && t.args->tests.count)
        s = contest_spaces_open(&t.args->tests, t.args->kernel, cutoff, &t.tests, e);
    if (!s)
        s = options_space_open(&t.space, t.args->name, &t.args->values, t.spaces[0].space, e);
    if (!s)
        s = make_problem(&t, e);
    signals_catch(&before);
    if (!s)
        s = search(cli, &t, &summary, e);
    if (!s)
        s = report(&t, &summary, e);
    signals_restore(&before);
    for (int i = 0; i < t.ntrials; i++)
        free_trial(&t.trials[i]);
    mem_free(t.trials);
    free_trial(&t.initial);
    options_space_close(&t.space);
    contest_spaces_free(t.spaces, t.args->spaces.count);
    contest_spaces_free(t.tests, t.args->tests.count);
    return s;
}

static const char tune_strategy_details[] =
    "A trial is a combination of options; its value is 1 - score (docs/compare.md), and the campaign is in the "
    "database like others. The report tells how good the choice is where it was not made: on each space, that of the "
    "options "
    "which are best on the others; on all of them with other seeds; and on the recordings of --test.";

const struct command command_tune_strategy = {
    .name = "tune-strategy",
    .summary = "searches for the best options of a strategy",
    .details = tune_strategy_details,
    .options = tune_strategy_options,
    .args_size = sizeof(struct tune_strategy_args),
    .run = tune_strategy_run,
};
