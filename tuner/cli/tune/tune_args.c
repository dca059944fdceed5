/* tune_args.c: see tune_args.h. */
#include "cli/tune/tune_args.h"

#include "cli/args/parse_inputs.h"
#include "cli/args/select.h"
#include "search/strategy/strategy.h"

#define AT(member) .offset = offsetof(struct tune_args, member)
const struct option_row tune_options[] = {
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
     .given = offsetof(struct tune_args, has_delays), .choices = "auto|yes|no"},
    {"drift", .arg = "S", .kind = OPTION_SECONDS, AT(drift), .initial = "30",
     .help = "how often a baseline is timed again during the search, to see whether the device drifts"},
    {"compile-workers", .arg = "N", .kind = OPTION_COUNT, AT(workers), .min = 1, .max = 256,
     .help = "compilers at the same time, for all devices together (default: one a core, less one); strategies ask for "
             "as many configurations at once, up to 16"},
    {"compile-limit", .arg = "S", .kind = OPTION_SECONDS, AT(compile_seconds),
     .help = "how long compiling one configuration may take (default 120)"},
    {"compile-memory", .arg = "MIB", .kind = OPTION_COUNT, AT(compile_memory), .min = 16, .max = 1 << 24,
     .help = "memory that each process of a compiler may allocate (default: its share of three quarters of the "
             "machine's)"},
    {"time-limit", .arg = "S", .kind = OPTION_SECONDS, AT(time_limit), .initial = "60",
     .help = "how long one configuration may take, besides what measuring takes by itself, before it is killed; a "
             "reference kernel may take ten times as long",
     .given = offsetof(struct tune_args, has_time_limit)},
    {"give-up", .arg = "N", .kind = OPTION_COUNT, AT(give_up), .initial = "20", .max = 1000000,
     .help = "and not longer than N (a whole number) times what the best so far took to be verified and measured, but "
             "2 s at least; 0: only --time-limit",
     .given = offsetof(struct tune_args, has_give_up)},
    {"resume", .arg = "CAMPAIGN", .kind = OPTION_COUNT, AT(resume), .min = 1,
     .help = "go on with a campaign of the database that was interrupted, killed or failed, or that is to have more "
             "trials"},
    {"force", .kind = OPTION_FLAG, AT(force),
     .help = "with --resume: although device, driver, compiler, lathe or specification are not what they were"},
    {"sanitize", .kind = OPTION_FLAG, AT(sanitize),
     .help = "host device: build kernels with the address and undefined-behaviour sanitizers"},
    {"db", .arg = "FILE", .kind = OPTION_DATABASE, AT(db), .initial = DEFAULT_DB,
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

void tune_help(struct help *h)
{
    strategies_help(h);
    inputs_help(h);
}

const char tune_details[] =
    "Ctrl-C ends the campaign with what it has: the result is printed and the exit code is 130. A second Ctrl-C ends "
    "it at once. Either way, everything measured is in the database.\n"
    "--resume goes on exactly where a campaign was, with what it was begun with: the same specification, sources, "
    "strategy, options, seed, device, tolerance and inputs, as they were recorded. --trials, --seconds (of all "
    "together), --top, --delays, --time-limit, --give-up, --drift and how it compiles may be given anew.\n"
    "Devices of unlike kinds are not mixed: each kind has a campaign of its own, all at the same time, with the "
    "whole of --trials and --seconds, and the winners are shown side by side. They share the compilers. Each is "
    "resumed by its own number.\n"
    "Exit code 1: no configuration was valid; the table says why.";
