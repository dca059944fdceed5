/* cmd_tune.c: `lathe tune`: runs a campaign, shows it going, and reports what it found.
 *
 * From the campaign's start to its end signals are caught (signals.h). Nothing is lost by the second one: every trial
 * told of is in the database. */
#include "campaign/campaign.h"
#include "cli/cli.h"
#include "cli/args/find_spec.h"
#include "console/output.h"
#include "console/parse.h"
#include "cli/args/parse_inputs.h"
#include "cli/progress/progress.h"
#include "cli/args/select.h"
#include "cli/progress/signals.h"
#include "cli/tune/tune_events.h"
#include "cli/tune/tune_replay.h"
#include "cli/tune/tune_report.h"
#include "cli/tune/tune_resume.h"
#include "cli/output/report.h"
#include <string.h>

struct tune_args {
    struct spec_args spec;
    const char *device, *strategy, *db, *inputs, *objective, *delays;
    struct text_list kernels, baselines, options, tolerances;
    int64_t trials, seed, top, workers, resume, compile_memory;
    double seconds, time_limit, compile_seconds, drift;
    bool quiet, json, csv, sanitize, force;
    bool has_device, has_strategy, has_seed, has_inputs, has_objective, has_top, has_time_limit;
    enum delays when_delayed;
};

#define AT(member) .offset = offsetof(struct tune_args, member)
static const struct option_row tune_options[] = {
    {"SPEC", .kind = OPTION_WANTED, AT(spec.name),
     .help = "a specification file, its folder with a spec.lua, or a name in kernels/; a recording needs none"},
    {"kernel", .arg = "NAME", .kind = OPTION_TEXTS, AT(kernels),
     .help = "tune this kernel; may be repeated (default: every one that the device can run)"},
    {"baseline", .arg = "NAME", .kind = OPTION_TEXTS, AT(baselines),
     .help = "time this baseline beside; may be repeated (default: the specification's usual ones)"},
    {"device", .arg = "DEVICE", .kind = OPTION_TEXT, AT(device),
     .help = "cuda:N, host, mpi:N (of an MPI rank), several with commas between, cuda:all, mpi:all, or replay:FILE, a "
             "recording (default: mpi:all under mpirun, else the first CUDA GPU, else host)",
     .given = offsetof(struct tune_args, has_device)},
    {"strategy", .arg = "NAME", .kind = OPTION_TEXT, AT(strategy), .initial = STRATEGY_DEFAULT,
     .help = "how to search: one of those below, or a FILE.lua",
     .given = offsetof(struct tune_args, has_strategy)},
    {"option", .arg = "K=V", .kind = OPTION_PAIRS, AT(options), .help = "an option of the strategy; may be repeated"},
    {"trials", .arg = "N", .kind = OPTION_COUNT, AT(trials), .min = 1, .max = 1000000000,
     .help = "end after N trials (default: 100 if --seconds is not given either)"},
    {"seconds", .arg = "S", .kind = OPTION_SECONDS, AT(seconds), .help = "end after this long: 90, 1.5, 2m, 1h"},
    {"seed", .arg = "N", .kind = OPTION_COUNT, AT(seed), .initial = "1",
     .help = "of the search: the same seed proposes the same configurations",
     .given = offsetof(struct tune_args, has_seed)},
    SPEC_OPTION_ROWS(struct tune_args, spec),
    {"tolerance", .arg = "NAME=V", .kind = OPTION_PAIRS, AT(tolerances),
     .help = "another limit than the specification's: atol, rtol, times_sgemm_error, frobenius; may be repeated"},
    {"inputs", .arg = "CLASS", .kind = OPTION_TEXT, AT(inputs), .initial = "default",
     .help = "what to verify and time on, one of those below",
     .given = offsetof(struct tune_args, has_inputs)},
    {"objective", .arg = "NAME", .kind = OPTION_TEXT, AT(objective), .initial = "time",
     .help = "what to look for the least of: time, or energy (of one run, where the device tells it)",
     .given = offsetof(struct tune_args, has_objective), .choices = "time|energy"},
    {"top", .arg = "N", .kind = OPTION_COUNT, AT(top), .initial = "5", .max = 1000,
     .help = "how many of the best are measured and verified again at the end; 0: none",
     .given = offsetof(struct tune_args, has_top)},
    {"delays", .arg = "WHEN", .kind = OPTION_TEXT, AT(delays), .initial = "auto",
     .help = "verify the best also compiled so that warps pause at random, which finds races: auto (on GPUs), yes, no",
     .choices = "auto|yes|no"},
    {"drift", .arg = "S", .kind = OPTION_SECONDS, AT(drift), .initial = "30",
     .help = "how often a baseline is timed again during the search, to see whether the device drifts"},
    {"compile-workers", .arg = "N", .kind = OPTION_COUNT, AT(workers), .min = 1, .max = 256,
     .help = "compilers at the same time (default: one a core, less one)"},
    {"compile-limit", .arg = "S", .kind = OPTION_SECONDS, AT(compile_seconds),
     .help = "how long compiling one configuration may take (default 120)"},
    {"compile-memory", .arg = "MIB", .kind = OPTION_COUNT, AT(compile_memory), .min = 16, .max = 1 << 24,
     .help = "memory that each process of a compiler may allocate (default: its share of three quarters of the "
             "machine's)"},
    {"time-limit", .arg = "S", .kind = OPTION_SECONDS, AT(time_limit), .initial = "60",
     .help = "how long one configuration may take before it is killed; a reference kernel may take ten times as long",
     .given = offsetof(struct tune_args, has_time_limit)},
    {"resume", .arg = "CAMPAIGN", .kind = OPTION_COUNT, AT(resume), .min = 1,
     .help = "go on with a campaign of the database that was interrupted, killed or failed, or that is to have more "
             "trials"},
    {"force", .kind = OPTION_FLAG, AT(force),
     .help = "with --resume: although device, driver, compiler, lathe or specification are not what they were"},
    {"sanitize", .kind = OPTION_FLAG, AT(sanitize),
     .help = "host device: build kernels with the address and undefined-behaviour sanitizers"},
    {"db", .arg = "FILE", .kind = OPTION_TEXT, AT(db), .initial = DEFAULT_DB,
     .help = "the database; none: a replay stores nothing"},
    {"json", .kind = OPTION_FLAG, AT(json),
     .help = "what happens, as one JSON object a line; the last one is the result"},
    {"csv", .kind = OPTION_FLAG, AT(csv), .help = "the best of it at the end, with a header line (RFC 4180)"},
    {"quiet", .letter = 'q', .kind = OPTION_FLAG, AT(quiet), .help = "no progress on stderr"},
    {0},
};

static void strategies_help(struct help *h)
{
    enum { MAX_OPTIONS = 32 };
    struct strategy_option options[MAX_OPTIONS];
    help_heading(h, "strategies (--strategy), and their options (--option)");
    for (int i = 0; i < strategy_count(); i++) {
        const char *name = strategy_name_at(i);
        help_row(h, name, strategy_summary_at(i));
        int n = strategy_declared_options(name, options, MAX_OPTIONS);
        for (int k = 0; k < n && k < MAX_OPTIONS; k++) {
            const struct strategy_option *o = &options[k];
            struct strbuf left = {0}, right = {0};
            sb_addf(&left, "  %s=%s", o->name, o->text_default);
            sb_addf(&right, "%s%s%s", o->help, *o->help && *o->range ? ": " : "", o->range);
            help_row(h, sb_str(&left), sb_str(&right));
            sb_free(&left);
            sb_free(&right);
        }
    }
}

static void tune_help(struct help *h)
{
    strategies_help(h);
    inputs_help(h);
}

static const char tune_details[] =
    "Ctrl-C ends the campaign with what it has: the result is printed and the exit code is 130. A second Ctrl-C ends "
    "it at once. Either way, everything measured is in the database.\n"
    "--resume goes on exactly where a campaign was, with what it was begun with: the same specification, sources, "
    "strategy, options, seed, device, tolerance and inputs, as they were recorded. --trials, --seconds (of all "
    "together), --top, --time-limit, --drift and how it compiles may be given anew.\n"
    "Devices of unlike kinds are not mixed: each kind has a campaign of its own, one after the other, with the whole "
    "of --trials and --seconds, and the winners are shown side by side. Each is resumed by its own number.\n"
    "Exit code 1: no configuration was valid; the table says why.";

static bool is_stored(const struct tune_args *args)
{
    return strcmp(args->db, "none") != 0;
}

static status run_campaign(const struct cli *cli, const struct tune_args *args, const struct campaign_request *request,
                           struct campaign_summary *summary, struct err *e)
{
    struct tune_events events;
    struct campaign_request r = *request;
    tune_events_init(&events, &r, args->quiet, args->json);
    r.every_trial = args->json;
    r.self = cli->self;
    r.version = cli->version;
    r.command_line = cli->command_line;
    r.on_event = tune_event;
    r.ctx = &events;
    struct signals_before before;
    signals_catch(&before);
    status s = campaign_run(&r, summary, e);
    signals_restore(&before);
    struct err unwritten = {0};
    status written = tune_events_end(&events, &unwritten);
    return s ? s : written ? (*e = unwritten, written) : LATHE_OK;
}

static struct campaign_request make_request(const struct tune_args *args, struct problem *p, enum inputs inputs,
                                            const struct replay_input *replay)
{
    return (struct campaign_request){
        .problem = p,
        .kernels = (const char *const *)args->kernels.items,
        .nkernels = args->kernels.count,
        .baselines = (const char *const *)args->baselines.items,
        .nbaselines = args->baselines.count,
        .device = args->device,
        .recording = replay ? replay->recording : NULL,
        .recorded_space = replay && replay->recorded_space,
        .strategy = args->strategy,
        .options = args->options.items,
        .noptions = args->options.count,
        .trials = args->trials,
        .seconds = args->seconds,
        .seed = (uint64_t)args->seed,
        .inputs = inputs,
        .spec = replay ? NULL : p->path,
        .settings = args->spec.settings.items,
        .nsettings = args->spec.settings.count,
        .db = is_stored(args) ? args->db : NULL,
        .compile_workers = (int)args->workers,
        .compile_seconds = args->compile_seconds,
        .compile_memory = args->compile_memory << 20,
        .time_limit = args->time_limit,
        .top = (int)args->top,
        .objective = (enum objective)objective_parse(args->objective),
        .delays = args->when_delayed,
        .drift_seconds = args->drift,
        .sanitize = args->sanitize,
    };
}

/* What is known of a campaign that did not simply succeed is told with its failure. */
static status conclude(const struct tune_args *args, bool of_kinds, status s, const struct campaign_summary *summary,
                       struct err *e)
{
    long long id = (long long)summary->id;
    if (id <= 0)
        return s;
    if (s == LATHE_OK || s == LATHE_NOTHING) {
        struct err failure = {0};
        struct tune_reported r = {args->db, args->top, args->json, args->csv, s == LATHE_NOTHING, of_kinds};
        status reported = tune_report(&r, summary->id, &failure);
        if (reported != LATHE_OK) {
            *e = failure;
            return reported;
        }
        if (summary->interrupted)
            return err_set(e, LATHE_INTERRUPTED,
                           "interrupted; what was measured is campaign %lld of %s\n`lathe tune --resume %lld --db %s` "
                           "goes on with it",
                           id, args->db, id, args->db);
        return s;
    }
    struct err failure = *e, unwritten = {0};
    if (args->json)
        tune_events_failure(summary->id, &failure, &unwritten);
    return err_set(e, s, "%.1500s\n%s: campaign %lld of %.300s", failure.text,
                   summary->measured ? "what was measured is kept" : "nothing was measured before that", id, args->db);
}

/* Devices of unlike kinds: a campaign of each, one after the other, since a kind's compilers and launches would be in
 * the way of another's. An interruption ends the one that runs, and those behind it are not begun. The first failure
 * is the command's; the kinds after it have their campaigns all the same. */
static status tune_kinds(const struct cli *cli, const struct tune_args *args, const struct campaign_request *request,
                         const struct device_kinds *kinds, struct err *e)
{
    int64_t ids[CAMPAIGN_MOST_DEVICES] = {0};
    status first = LATHE_OK;
    bool interrupted = false;
    for (int i = 0; i < kinds->count && !interrupted; i++) {
        struct campaign_request r = *request;
        struct campaign_summary summary = {0};
        struct err own = {0};
        r.device = kinds->lists[i];
        r.kinds = NULL;
        if (!args->quiet && !args->json)
            fprintf(stderr, "%skind %d of %d: --device %s\n", i ? "\n" : "", i + 1, kinds->count, kinds->lists[i]);
        status s = conclude(args, true, run_campaign(cli, args, &r, &summary, &own), &summary, &own);
        ids[i] = summary.id;
        interrupted = summary.interrupted;
        if (s != LATHE_OK && first == LATHE_OK) {
            first = s;
            *e = own;
            if (i + 1 < kinds->count || i)
                err_prefix(e, "--device %.200s", kinds->lists[i]);
        }
    }
    struct tune_reported r = {args->db, args->top, args->json, args->csv, false, true};
    struct err own = {0};
    status told = tune_report_kinds(&r, kinds, ids, &own);
    return first ? first : told ? (*e = own, told) : LATHE_OK;
}

/* What only a real device can do. */
static status check_replay(const struct tune_args *args, enum inputs inputs, struct err *e)
{
    const char *what = args->sanitize                  ? "--sanitize"
                       : args->tolerances.count        ? "--tolerance"
                       : inputs != INPUTS_default      ? "--inputs"
                       : args->has_objective           ? "--objective"
                       : args->baselines.count         ? "--baseline"
                                                       : NULL;
    return what ? err_set(e, LATHE_USAGE, "%s: nothing is run where a recording is replayed", what) : LATHE_OK;
}

static status tune_replay(const struct cli *cli, const struct tune_args *args, enum inputs inputs, struct err *e)
{
    struct replay_input in;
    struct campaign_summary summary = {0};
    status s = check_replay(args, inputs, e);
    if (s == LATHE_OK)
        s = replay_load(replay_place(args->device), args->kernels.count ? args->kernels.items[0] : NULL, &args->spec,
                        cli->self, &in, e);
    if (s != LATHE_OK)
        return s;
    struct campaign_request request = make_request(args, in.problem, inputs, &in);
    s = run_campaign(cli, args, &request, &summary, e);
    if (is_stored(args)) {
        s = conclude(args, false, s, &summary, e);
    } else if (s == LATHE_OK || s == LATHE_NOTHING) {
        struct err failure = {0};
        if (summary.progress.trials && replay_report(&in, &summary, args->json, args->csv, &failure) != LATHE_OK)
            s = (*e = failure, failure.code);
        else if (summary.interrupted)
            s = err_set(e, LATHE_INTERRUPTED, "interrupted");
    }
    replay_input_free(&in);
    return s;
}

/* What a campaign that is resumed cannot be given. */
static const char *not_with_resume(const struct tune_args *a)
{
    return a->spec.name             ? "SPEC"
           : a->kernels.count       ? "--kernel"
           : a->baselines.count     ? "--baseline"
           : a->has_device          ? "--device"
           : a->has_strategy        ? "--strategy"
           : a->options.count       ? "--option"
           : a->has_seed            ? "--seed"
           : a->spec.sizes.count    ? "--size"
           : a->spec.wheres.count   ? "--where"
           : a->spec.settings.count ? "--set"
           : a->tolerances.count    ? "--tolerance"
           : a->has_inputs          ? "--inputs"
           : a->has_objective       ? "--objective"
           : a->sanitize            ? "--sanitize"
                                    : NULL;
}

static status tune_resume(const struct cli *cli, const struct tune_args *args, struct err *e)
{
    const char *not = not_with_resume(args);
    if (not)
        return err_set(e, LATHE_USAGE, "%s: a campaign that is resumed goes on with what it was begun with", not);
    if (!is_stored(args))
        return err_set(e, LATHE_USAGE, "--resume: in which database is it?");
    struct resume_changes changes = {.trials = args->trials,
                                     .seconds = args->seconds,
                                     .top = args->has_top ? args->top : -1,
                                     .time_limit = args->has_time_limit ? args->time_limit : 0,
                                     .workers = args->workers,
                                     .compile_seconds = args->compile_seconds,
                                     .compile_memory = args->compile_memory << 20,
                                     .delays = args->when_delayed,
                                     .drift_seconds = args->drift,
                                     .force = args->force};
    struct resumption *r;
    status s = resume_load(args->db, args->resume, &changes, cli->self, &r, e);
    if (s != LATHE_OK)
        return s;
    struct campaign_summary summary = {0};
    s = conclude(args, false, run_campaign(cli, args, resumption_request(r), &summary, e), &summary, e);
    resumption_close(r);
    return s;
}

static status tune_run(const struct cli *cli, void *p, struct err *e)
{
    struct tune_args *args = p;
    if (report_one_form("tune", args->json, args->csv, e) != LATHE_OK ||
        parse_delays(args->delays, &args->when_delayed, e) != LATHE_OK)
        return e->code;
    if (args->resume)
        return tune_resume(cli, args, e);
    if (args->force)
        return err_set(e, LATHE_USAGE, "--force: of --resume");
    for (int i = 0; i < args->options.count; i++)
        if (!strchr(args->options.items[i], '=') || args->options.items[i][0] == '=')
            return err_set(e, LATHE_USAGE,
                           "--option: '%.200s' is not a name and a value\nexpected K=V, for example "
                           "kind=hamming; `lathe help tune` lists the options of each strategy",
                           args->options.items[i]);
    enum inputs inputs;
    status s = parse_inputs(args->inputs, &inputs, e);
    enum objective objective;
    if (s == LATHE_OK)
        s = parse_objective(args->objective, &objective, e);
    if (s != LATHE_OK)
        return s;
    if (replay_place(args->device))
        return tune_replay(cli, args, inputs, e);
    if (!args->spec.name) {
        struct strbuf usage = {0};
        options_usage(&usage, "tune", tune_options);
        s = err_set(e, LATHE_USAGE, "tune: SPEC is missing: %s\n%s", tune_options[0].help, sb_str(&usage));
        sb_free(&usage);
        return s;
    }
    if (!is_stored(args))
        return err_set(e, LATHE_USAGE, "--db none: what a device measures is stored; only a replay can do without");
    struct problem *problem;
    s = spec_load(&args->spec, cli->self, &problem, e);
    if (s != LATHE_OK)
        return s;
    int one = 1;
    s = problem_needs_kernels(problem, "a device", e);
    if (s == LATHE_OK)
        s = inputs_of_problem(problem, true, &inputs, &one, e);
    for (int i = 0; i < args->tolerances.count && s == LATHE_OK; i++)
        if ((s = problem_set_tolerance(problem, args->tolerances.items[i], e)) != LATHE_OK)
            err_prefix(e, "--tolerance");
    if (s != LATHE_OK) {
        problem_free(problem);
        return s;
    }
    struct campaign_summary summary = {0};
    struct campaign_request request = make_request(args, problem, inputs, NULL);
    struct device_kinds kinds = {0};
    request.kinds = &kinds;
    s = run_campaign(cli, args, &request, &summary, e);
    s = kinds.count ? tune_kinds(cli, args, &request, &kinds, e) : conclude(args, false, s, &summary, e);
    device_kinds_free(&kinds);
    problem_free(problem);
    return s;
}

const struct command command_tune = {
    .name = "tune",
    .summary = "searches for the fastest configuration of a specification's kernels",
    .details = tune_details,
    .options = tune_options,
    .args_size = sizeof(struct tune_args),
    .more_help = tune_help,
    .run = tune_run,
};
