/* cmd_compare.c: `lathe compare`: how good strategies are, by the published score, on recordings; or
 * what campaigns found. */
#include "base/mem.h"
#include "campaign/campaign.h"
#include "cli/cli.h"
#include "cli/args/select.h"
#include "cli/compare/compare_args.h"
#include "cli/compare/compare_campaigns.h"
#include "cli/compare/compare_view.h"
#include "cli/output/report.h"
#include "console/output.h"
#include "console/spark.h"
#include "cli/progress/signals.h"
#include <errno.h>
#include <string.h>

struct compare_args {
    struct text_list names, spaces, strategies;
    const char *kernel, *cutoff, *output, *db;
    int64_t seeds, seed, jobs;
    bool own_time, json, csv, quiet, has_seeds, has_seed, has_cutoff;
};

#define AT(member) .offset = offsetof(struct compare_args, member)
static const struct option_row compare_options[] = {
    {"NAME", .kind = OPTION_REST, AT(names),
     .help = "strategies, as --strategies has them; or numbers: campaigns of the database, which are shown side by "
             "side"},
    {"spaces", .arg = "FILE...", .kind = OPTION_LIST, AT(spaces),
     .help = "recordings, as `lathe recording` reads them; may be repeated"},
    {"strategies", .arg = "NAME[:K=V,...],...", .kind = OPTION_TEXTS, AT(strategies),
     .help = "strategies or .lua files, each with options after a colon: random,gp:batch=4,kappa=1; may be repeated "
             "(default: all that there are)"},
    {"seeds", .arg = "N", .kind = OPTION_COUNT, AT(seeds), .initial = "25", .min = 1, .max = 100000,
     .given = offsetof(struct compare_args, has_seeds), .help = "runs of each strategy on each space"},
    {"seed", .arg = "N", .kind = OPTION_COUNT, AT(seed), .initial = "1",
     .given = offsetof(struct compare_args, has_seed), .help = "the first of them"},
    {"cutoff", .arg = "P", .kind = OPTION_TEXT, AT(cutoff), .initial = "0.95",
     .given = offsetof(struct compare_args, has_cutoff),
     .help = "the range of the score ends where random search has come this far from the median to the optimum"},
    {"own-time", .kind = OPTION_FLAG, AT(own_time),
     .help = "put the strategies' own measured time on the clock, in place of the recorded one; results then differ "
             "from one call to the next"},
    {"kernel", .arg = "NAME", .kind = OPTION_TEXT, AT(kernel), .help = "of recordings that are lathe campaigns"},
    {"jobs", .letter = 'j', .arg = "N", .kind = OPTION_COUNT, AT(jobs), .min = 1, .max = 256,
     .help = "runs at the same time (default: one a core)"},
    {"output", .letter = 'o', .arg = "DIR", .kind = OPTION_TEXT, AT(output),
     .help = "write there scores.csv, pairs.csv, curves.csv, curves.svg, and traces.csv: every evaluation"},
    {"db", .arg = "FILE", .kind = OPTION_DATABASE, AT(db),
     .help = "of strategies: store each run there as a campaign (default none: nothing is stored); of campaigns: where "
             "they are (default " DEFAULT_DB ")"},
    {"json", .kind = OPTION_FLAG, AT(json), .help = "one JSON object; of campaigns an array"},
    {"csv", .kind = OPTION_FLAG, AT(csv), .help = "the scores, or the campaigns, with a header line (RFC 4180)"},
    {"quiet", .letter = 'q', .kind = OPTION_FLAG, AT(quiet), .help = "no progress on stderr"},
    {0},
};

struct comparing {
    struct contest contest;
    struct contestant *strategies;
    int nstrategies, cap;
    struct run_progress progress;
    const char *folder;         /* NULL: none */
    FILE *traces;
    char *traces_path;
    struct store *store;        /* NULL: none */
    const struct cli *cli;
};

static status read_strategies(struct comparing *c, const struct text_list *names, const struct text_list *lists,
                              struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < names->count && !s; i++)
        s = contestants_read(names->items[i], &c->strategies, &c->nstrategies, &c->cap, e);
    for (int i = 0; i < lists->count && !s; i++)
        s = contestants_read(lists->items[i], &c->strategies, &c->nstrategies, &c->cap, e);
    for (int i = 0; !lists->count && !names->count && i < strategy_count() && !s; i++)
        s = contestants_read(strategy_name_at(i), &c->strategies, &c->nstrategies, &c->cap, e);
    return s;
}

/* Files ----------------------------------------------------------------------------------------------------------*/

static status trace_failed(struct comparing *c, struct err *e)
{
    return err_set(e, LATHE_IO, "%s: cannot write: %s", c->traces_path, strerror(errno));
}

static status open_files(struct comparing *c, struct err *e)
{
    if (!c->folder)
        return LATHE_OK;
    status s = dir_make(c->folder, e);
    if (s)
        return s;
    c->traces_path = mem_printf("%s/traces.csv", c->folder);
    c->traces = fopen(c->traces_path, "w");
    if (!c->traces)
        return trace_failed(c, e);
    comparison_trace_header(c->traces);
    return LATHE_OK;
}

static status close_traces(struct comparing *c, struct err *e)
{
    bool bad = c->traces && ferror(c->traces);
    bad = (c->traces && fclose(c->traces)) || bad;
    c->traces = NULL;
    return bad ? trace_failed(c, e) : LATHE_OK;
}

static status write_one(const struct comparing *c, const char *name, struct strbuf *b, struct err *e)
{
    char *path = mem_printf("%s/%s", c->folder, name);
    status s = file_write_atomic(path, sb_str(b), b->len, e);
    mem_free(path);
    sb_free(b);
    return s;
}

static status write_files(const struct comparing *c, const struct comparison *view, struct err *e)
{
    struct strbuf scores = {0}, pairs = {0}, curves = {0}, svg = {0};
    if (!c->folder)
        return LATHE_OK;
    comparison_scores_csv(view, false, &scores);
    comparison_pairs_csv(view, &pairs);
    comparison_curves_csv(view, &curves);
    comparison_svg(view, &svg);
    status s = write_one(c, "scores.csv", &scores, e);
    status p = write_one(c, "pairs.csv", &pairs, s ? NULL : e);
    status k = write_one(c, "curves.csv", &curves, s || p ? NULL : e);
    status d = write_one(c, "curves.svg", &svg, s || p || k ? NULL : e);
    return s ? s : p ? p : k ? k : d;
}

/* Running --------------------------------------------------------------------------------------------------------*/

static status on_run(void *ctx, int run, const struct contest_run *r, struct err *e)
{
    struct comparing *c = ctx;
    if (c->traces)
        comparison_trace(c->traces, &c->contest, run, r);
    if (c->traces && ferror(c->traces))
        return trace_failed(c, e);
    return c->store ? contest_store_run(c->store, &c->contest, run, r, c->cli->version, c->cli->command_line, e)
                    : LATHE_OK;
}

static void on_progress(void *ctx, int done, int runs)
{
    struct comparing *c = ctx;
    run_progress_show(&c->progress, "runs", done, runs);
}

/* The tests of many strategies' pairs take longer than their runs. */
static void on_judging(void *ctx, enum contest_judging what, int done, int n)
{
    struct comparing *c = ctx;
    const char *name = what == CONTEST_TESTING ? "pairs of strategies tested" : "strategies scored";
    run_progress_show(&c->progress, name, done, n);
}

static bool stop_judging(void *ctx)
{
    return signals_count() > 0;
}

static status report(struct comparing *c, const struct compare_args *args, const struct contest_result *result,
                     double cutoff, struct err *e)
{
    struct comparison view = {&c->contest, result, cutoff};
    status s = write_files(c, &view, e);
    struct strbuf b = {0};
    if (!s && args->json) {
        json_t *j = comparison_json(&view);
        s = out_json(j, e);
        json_decref(j);
    } else if (!s && args->csv) {
        comparison_scores_csv(&view, true, &b);
        s = out_buffer(&b, e);
    } else if (!s) {
        comparison_text(&view, is_terminal(stdout), spark_utf8(), &b);
        s = out_report(&b, e);
    }
    return s;
}

static bool any_done(const struct contest *c)
{
    for (int i = 0; i < contest_count(c); i++)
        if (c->runs[i].done)
            return true;
    return false;
}

/* NOTE: the runs that Ctrl-C leaves are judged too, and that can be ended by itself. */
static status run_all(struct comparing *c, const struct compare_args *args, double cutoff, struct err *e)
{
    struct signals_before before;
    struct contest_result result = {0};
    struct err closing = {0};
    run_progress_init(&c->progress, stderr, args->quiet);
    signals_catch(&before);
    status s = contest_run(&c->contest, e);
    status closed = close_traces(c, &closing);
    if (!s && closed) {
        *e = closing;
        s = closed;
    }
    bool judged = !s && any_done(&c->contest);
    if (judged) {
        signals_forget();
        contest_judge(&c->contest, &result);
    }
    signals_restore(&before);
    run_progress_end(&c->progress);
    if (judged)
        s = report(c, args, &result, cutoff, e);
    contest_result_free(&result);
    if (!s && campaign_interrupted())
        s = err_set(e, LATHE_INTERRUPTED, "interrupted: what was done until then counts alone");
    return s;
}

static status compare_campaigns(const struct compare_args *args, struct err *e)
{
    const char *other = args->spaces.count       ? "--spaces"
                        : args->strategies.count ? "--strategies"
                        : args->output           ? "--output"
                        : args->own_time         ? "--own-time"
                        : args->kernel           ? "--kernel"
                        : args->has_seeds        ? "--seeds"
                        : args->has_seed         ? "--seed"
                        : args->has_cutoff       ? "--cutoff"
                        : args->jobs             ? "--jobs"
                                                 : NULL;
    if (other)
        return err_set(e, LATHE_USAGE, "compare: %s is for strategies, and %s is a campaign's number\n"
                       "give names of strategies, or leave %s out", other, args->names.items[0], other);
    struct campaigns_asked asked = {args->db ? args->db : DEFAULT_DB, &args->names, args->json, args->csv};
    return campaigns_compare(&asked, e);
}

static status compare_run(const struct cli *cli, void *p, struct err *e)
{
    const struct compare_args *args = p;
    struct comparing c = {.folder = args->output, .cli = cli};
    const char *db = args->db && select_stores(args->db) ? args->db : NULL;
    double cutoff;
    bool campaigns;
    status s = report_one_form("compare", args->json, args->csv, e);
    if (s)
        return s;
    s = campaigns_named(&args->names, &campaigns, e);
    if (s || campaigns)
        return s ? s : compare_campaigns(args, e);
    s = parse_cutoff(args->cutoff, &cutoff, e);
    if (!s)
        s = read_strategies(&c, &args->names, &args->strategies, e);
    if (!s && (int64_t)c.nstrategies * args->spaces.count * args->seeds > 10000000)
        s = err_set(e, LATHE_USAGE, "--seeds: more than 10000000 runs in all");
    if (!s)
        s = check_last_seed(args->seed, args->seeds, e);
    if (!s)
        s = contest_spaces_open(&args->spaces, args->kernel, cutoff, &c.contest.spaces, e);
    c.contest.nspaces = s ? 0 : args->spaces.count;
    c.contest.strategies = c.strategies;
    c.contest.nstrategies = c.nstrategies;
    c.contest.first_seed = (uint64_t)args->seed;
    c.contest.seeds = (int)args->seeds;
    c.contest.jobs = args->jobs ? (int)args->jobs : count_cores();
    c.contest.own_time = args->own_time;
    c.contest.traces = args->output || db;
    c.contest.on_run = on_run;
    c.contest.on_progress = on_progress;
    c.contest.on_judging = on_judging;
    c.contest.stop_judging = stop_judging;
    c.contest.ctx = &c;
    if (!s)
        s = open_files(&c, e);
    if (!s && db)
        s = store_open(db, 60, &c.store, e);
    if (!s)
        s = run_all(&c, args, cutoff, e);
    close_traces(&c, NULL);
    store_close(c.store);
    mem_free(c.traces_path);
    contest_free(&c.contest);
    contest_spaces_free(c.contest.spaces, c.contest.nspaces);
    contestants_free(c.strategies, c.nstrategies);
    return s;
}

static const char compare_details[] =
    "The score (docs/compare.md) is 0 for random search and 1 for finding the optimum at once; it is the mean over the "
    "spaces, and over the time from where random search begins to improve to where it has come --cutoff of the way. "
    "The same seeds give the same scores and the same files, whatever --jobs is; what the strategies' own time was is "
    "measured.\n"
    "Ctrl-C ends it with the runs that are done, and while pairs of strategies are tested with the tests that are; the "
    "exit code is 130.\n\n"
    "`lathe compare 3 5` shows what campaigns 3 and 5 found, a row each; 'of the first' is how many times as fast as "
    "the first one's best it is (of energy, how many times as little it takes).";

const struct command command_compare = {
    .name = "compare",
    .summary = "scores strategies on recordings, or shows campaigns side by side",
    .details = compare_details,
    .options = compare_options,
    .args_size = sizeof(struct compare_args),
    .run = compare_run,
};
