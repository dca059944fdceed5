/* cmd_tune.c: `lathe tune`: what was asked for becomes the request of a campaign, which tune/tune_run.c runs and
 * reports, or of one for each kind of device (tune/tune_kinds.c). */
#include "cli/args/parse_inputs.h"
#include "cli/args/select.h"
#include "cli/cli.h"
#include "cli/output/recorded.h"
#include "cli/output/report.h"
#include "cli/tune/tune_args.h"
#include "cli/tune/tune_kinds.h"
#include "cli/tune/tune_replay.h"
#include "cli/tune/tune_resume.h"
#include "cli/tune/tune_run.h"
#include <string.h>

static struct campaign_request make_request(const struct cli *cli, const struct tune_args *args, struct problem *p,
                                            enum inputs inputs, const struct replay_input *replay)
{
    return (struct campaign_request){
        .self = cli->self,
        .version = cli->version,
        .command_line = cli->command_line,
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
        .db = select_stores(args->db) ? args->db : NULL,
        .compile_workers = (int)args->workers,
        .compile_seconds = args->compile_seconds,
        .compile_memory = args->compile_memory << 20,
        .time_limit = args->time_limit,
        .give_up = (int)args->give_up,
        .top = (int)args->top,
        .objective = (enum objective)objective_parse(args->objective),
        .delays = args->when_delayed,
        .drift_seconds = args->drift,
        .sanitize = args->sanitize,
    };
}

/* What only a real device can do. */
static status check_replay(const struct tune_args *args, enum inputs inputs, struct err *e)
{
    const char *what = args->sanitize                  ? "--sanitize"
                       : args->tolerances.count        ? "--tolerance"
                       : inputs != INPUTS_default      ? "--inputs"
                       : args->has_objective           ? "--objective"
                       : args->has_delays              ? "--delays"
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
    struct campaign_request request = make_request(cli, args, in.problem, inputs, &in);
    if (args->quiet && !args->json)     /* else they are events */
        recorded_tell_notes(in.recording);
    s = tune_run_campaign(args, &request, NULL, &summary, e);
    if (select_stores(args->db)) {
        s = tune_conclude(args, false, s, &summary, e);
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
    if (!select_stores(args->db))
        return err_set(e, LATHE_USAGE, "--resume: in which database is it?");
    struct resume_changes changes = {.trials = args->trials,
                                     .seconds = args->seconds,
                                     .top = args->has_top ? args->top : -1,
                                     .time_limit = args->has_time_limit ? args->time_limit : 0,
                                     .give_up = args->has_give_up ? args->give_up : -1,
                                     .workers = args->workers,
                                     .compile_seconds = args->compile_seconds,
                                     .compile_memory = args->compile_memory << 20,
                                     .has_delays = args->has_delays,
                                     .delays = args->when_delayed,
                                     .drift_seconds = args->drift,
                                     .force = args->force};
    struct resumption *r;
    status s = resume_load(args->db, args->resume, &changes, cli->self, &r, e);
    if (s != LATHE_OK)
        return s;
    struct campaign_summary summary = {0};
    struct campaign_request *request = resumption_request(r);
    request->self = cli->self;
    request->version = cli->version;
    request->command_line = cli->command_line;
    s = tune_conclude(args, false, tune_run_campaign(args, request, NULL, &summary, e), &summary, e);
    resumption_close(r);
    return s;
}

static status spec_missing(struct err *e)
{
    struct strbuf usage = {0};
    options_usage(&usage, "tune", tune_options);
    status s = err_set(e, LATHE_USAGE, "tune: SPEC is missing: %s\n%s", tune_options[0].help, sb_str(&usage));
    sb_free(&usage);
    return s;
}

/* The problem at its size, with the inputs and tolerances wanted; NULL after a failure. */
static status load_problem(const struct cli *cli, const struct tune_args *args, enum inputs *inputs,
                           struct problem **out, struct err *e)
{
    int one = 1;
    *out = NULL;
    status s = spec_load(&args->spec, cli->self, out, e);
    if (s != LATHE_OK)
        return s;
    s = problem_needs_kernels(*out, "a device", e);
    if (s == LATHE_OK)
        s = inputs_of_problem(*out, true, inputs, &one, e);
    for (int i = 0; i < args->tolerances.count && s == LATHE_OK; i++)
        if ((s = problem_set_tolerance(*out, args->tolerances.items[i], e)) != LATHE_OK)
            err_prefix(e, "--tolerance");
    if (s != LATHE_OK) {
        problem_free(*out);
        *out = NULL;
    }
    return s;
}

static status tune_devices(const struct cli *cli, const struct tune_args *args, enum inputs inputs, struct err *e)
{
    struct problem *problem;
    if (!args->spec.name)
        return spec_missing(e);
    if (!select_stores(args->db))
        return err_set(e, LATHE_USAGE, "--db none: what a device measures is stored; only a replay can do without");
    status s = load_problem(cli, args, &inputs, &problem, e);
    if (s != LATHE_OK)
        return s;
    struct campaign_summary summary = {0};
    struct campaign_request request = make_request(cli, args, problem, inputs, NULL);
    struct device_kinds kinds = {0};
    request.kinds = &kinds;
    s = tune_run_campaign(args, &request, NULL, &summary, e);
    s = kinds.count ? tune_kinds(args, &request, &kinds, e) : tune_conclude(args, false, s, &summary, e);
    device_kinds_free(&kinds);
    problem_free(problem);
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
        return err_set(e, LATHE_USAGE, "--force: it is for a campaign that is resumed\n"
                       "add --resume CAMPAIGN, or leave --force out");
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
    return replay_place(args->device) ? tune_replay(cli, args, inputs, e) : tune_devices(cli, args, inputs, e);
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
