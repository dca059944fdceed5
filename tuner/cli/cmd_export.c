/* cmd_export.c: `lathe export`: the best configuration, or one trial, in one of the formats of export/export.h. */
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/export/export_campaign.h"
#include "cli/export/export_trials.h"
#include "console/output.h"
#include "cli/output/report.h"
#include <math.h>
#include <string.h>

struct export_args {
    struct selection selection;
    int64_t trial;
    const char *output, *format, *name;
    bool into_database;
};

static const struct option_row export_options[] = {
    SELECTION_ROWS(struct export_args, selection),
    {"trial", .arg = "ID", .kind = OPTION_COUNT, .offset = offsetof(struct export_args, trial), .min = 1,
     .help = "this trial, instead of the best of those selected"},
    {"format", .arg = "FORMAT", .kind = OPTION_TEXT, .offset = offsetof(struct export_args, format), .initial = "cu",
     .choices = "cu|c|bundle|torch|json|t4|kernel-tuner|csv",
     .help = "cu: CUDA source with a launcher; c: a C source and header for the driver API, of several sizes and "
             "devices; bundle: the same as one file for liblathe; torch: a Python file with a ModelNew(nn.Module); "
             "json: all that is known of it. Of a whole campaign, for other tuners: t4, kernel-tuner, csv"},
    {"name", .arg = "NAME", .kind = OPTION_TEXT, .offset = offsetof(struct export_args, name),
     .help = "what the launcher is called; default: lathe_ and the problem's name"},
    {"into-database", .kind = OPTION_FLAG, .offset = offsetof(struct export_args, into_database),
     .help = "--format bundle: keep it in the database itself, which liblathe then opens"},
    {"output", .letter = 'o', .arg = "FILE", .kind = OPTION_TEXT, .offset = offsetof(struct export_args, output),
     .help = "where to write it; - or nothing: standard output. --format c: FILE.c and FILE.h, or in the directory "
             "FILE. t4, kernel-tuner, csv: compressed if FILE ends in .gz"},
    {0},
};

static status make_torch(struct query *q, const struct export_input *in, struct strbuf *out, struct err *e)
{
    char *data = NULL, *why_not = NULL;
    size_t len = 0;
    struct err none = {0};
    const char *cannot = export_torch_no_image(in);
    if (!cannot && export_image(in, in->target->arch, &data, &len, &why_not, &none) != LATHE_OK)
        cannot = none.text;
    if (cannot)
        why_not = mem_strdup(cannot);
    if (why_not)
        note_line("no cubin in the file: %s", why_not);
    struct export_image image = {.data = data, .len = len, .why_not = why_not};
    status s = export_torch(in, &image, out, e);
    mem_free(data);
    mem_free(why_not);
    return s;
}

static void warn_if_blind(const json_t *trial, const char *db)
{
    struct strbuf option = {0};
    query_db_option(&option, db);
    if (report_is_blind(trial))
        note_line("warning: how accurate trial %lld is is not known: its outputs do not tell products apart; "
                  "`lathe show %lld%s` says more",
                  (long long)tree_int(trial, "id"), (long long)tree_int(trial, "campaign"), sb_str(&option));
    if (report_is_far(trial))
        note_line("warning: trial %lld " REPORT_FAR, (long long)tree_int(trial, "id"));
    sb_free(&option);
}

/* The time is the one that the winner was chosen by. */
static void tell(const json_t *trial, const char *file)
{
    struct strbuf line = {0};
    double cold = tree_number(trial, "cold_ms");
    sb_addf(&line, "wrote %s: trial %lld of campaign %lld, kernel %s", file, (long long)tree_int(trial, "id"),
            (long long)tree_int(trial, "campaign"), tree_text(trial, "kernel"));
    sb_addf(&line, ", %.4g ms%s", isnan(cold) ? tree_number(trial, "time_ms") : cold, isnan(cold) ? "" : " cold");
    if (json_object_size(json_object_get(trial, "configuration"))) {
        sb_add(&line, ", ");
        report_configuration(&line, json_object_get(trial, "configuration"));
    }
    note_line("%s", sb_str(&line));
    sb_free(&line);
}

static status make_cu(struct query *q, const struct export_input *in, struct strbuf *out, struct err *e)
{
    return export_cu(in, out, e);
}

static status make_json(struct query *q, const struct export_input *in, struct strbuf *out, struct err *e)
{
    json_t *campaign = NULL, *document = NULL;
    const json_t *trial = json_object_get(in->provenance, "trial");
    status s = query_campaign(q, tree_int(trial, "campaign"), &campaign, e);
    if (s == LATHE_OK) {
        json_object_del(campaign, "trials");
        s = export_json(in, campaign, &document, e);
    }
    if (s == LATHE_OK)
        s = json_pretty(out, document, e);
    json_decref(campaign);
    json_decref(document);
    return s;
}

typedef status (*make_function)(struct query *q, const struct export_input *in, struct strbuf *out, struct err *e);
static const struct {
    const char *name;
    make_function make;
} formats[] = {{"cu", make_cu}, {"torch", make_torch}, {"json", make_json}};

enum { FORMATS = sizeof formats / sizeof *formats };

static make_function find_format(const char *name, struct err *e)
{
    const char *names[FORMATS + 2 + RECORDING_FORMS];
    int n = 0;
    for (int i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].make;
        names[n++] = formats[i].name;
    }
    names[n++] = "c";
    names[n++] = "bundle";
    for (int f = 0; f < RECORDING_FORMS; f++)
        names[n++] = recording_form_name((enum recording_form)f);
    const char *near = nearest_word(name, names, n);
    err_set(e, LATHE_USAGE,
            "export: --format: expected cu, c, bundle, torch or json, or of a campaign t4, kernel-tuner or csv; got "
            "'%.100s'%s%s%s", name,
            near ? "\ndid you mean '" : "", near ? near : "", near ? "'?" : "");
    return NULL;
}

static status write_source(const struct strbuf *source, const char *file, const json_t *trial, struct err *e)
{
    if (!file || strcmp(file, "-") == 0)
        return out_text(sb_str(source), source->len, e);
    status s = file_write_atomic(file, sb_str(source), source->len, e);
    if (s == LATHE_OK)
        tell(trial, file);
    return s;
}

static status export_one(struct query *q, const struct export_args *args, make_function make, struct err *e)
{
    const char *db = args->selection.db;
    struct export_trial t;
    struct strbuf source = {0};
    char *note = NULL;
    int64_t id = 0;
    status s = export_choose(q, &args->selection, args->trial, &id, &note, e);
    if (s == LATHE_OK)
        s = export_trial_open(q, id, db, args->name, &t, e);
    if (s != LATHE_OK) {
        mem_free(note);
        return s;
    }
    s = export_check_name(&t.in, false, e);
    if (s == LATHE_OK)
        s = make(q, &t.in, &source, e);
    if (s != LATHE_OK && s != LATHE_USAGE)
        err_prefix(e, "%.200s, trial %lld", db, (long long)id);
    if (s == LATHE_OK)
        s = write_source(&source, args->output, t.trial, e);
    if (s == LATHE_OK && note)
        note_line("%s", note);
    if (s == LATHE_OK) {
        warn_if_blind(t.trial, db);
        export_warn_no_final(t.trial);
    }
    mem_free(note);
    sb_free(&source);
    export_trial_close(&t);
    return s;
}

static status export_run(const struct cli *cli, void *p, struct err *e)
{
    const struct export_args *args = p;
    bool driver = strcmp(args->format, "c") == 0, bundle = strcmp(args->format, "bundle") == 0;
    int form = export_form(args->format);
    if (form >= 0)
        return export_campaign(&args->selection, args->trial, args->name, args->into_database,
                               (enum recording_form)form, args->output, e);
    make_function make = driver || bundle ? NULL : find_format(args->format, e);
    if (!driver && !bundle && !make)
        return LATHE_USAGE;
    if (args->name && (bundle || strcmp(args->format, "json") == 0))
        return err_set(e, LATHE_USAGE, "export: --format %s has no launcher that --name would be the name of\n"
                                       "leave out --name", args->format);
    if (args->into_database && (!bundle || args->output))
        return err_set(e, LATHE_USAGE,
                       "export: --into-database is for --format bundle, and then there is no other file\n"
                       "leave out %s",
                       bundle ? "-o" : "--into-database");
    struct query *q;
    status s = query_open(args->selection.db, &q, e);
    if (s != LATHE_OK)
        return s;
    if (driver)
        s = export_c_files(q, &args->selection, args->trial, args->name, args->output, e);
    else if (bundle)
        s = export_bundle_file(q, &args->selection, args->trial, cli->version,
                               args->into_database ? NULL : args->output ? args->output : "-", e);
    else
        s = export_one(q, args, make, e);
    query_close(q);
    return s;
}

const struct command command_export = {
    .name = "export",
    .summary = "writes the best configuration as code, or a campaign for other tuners",
    .details =
        "The CUDA file has the parameters baked in, an extern \"C\" launcher, a query for its workspace, and says "
        "where it comes from. Where --problem, --size, --device and --campaign leave several problems, sizes or "
        "devices, it is the newest "
        "campaign's, as for `lathe explain` and `lathe report`, and that is said; so is that a winner was in no final, "
        "and what is left out since a final of another campaign refused it. "
        "'nvcc -DLATHE_SELFTEST winner.cu -o selftest && ./selftest' checks it (add "
        "-lcublas if it uses cuBLAS). Files of different --name, of other sizes say, link into one program.\n\n"
        "--format c: FILE.c and FILE.h (-o FILE), for a program that links with -lcuda alone: the best of each "
        "size and device of one problem, compiled, and a plain kernel for every other size. NAME_launch takes the "
        "nearest that the device can run and whose constraints hold. Results were verified at the sizes tuned; at "
        "others they are as right as those constraints are.\n\n"
        "--format bundle: the same as one file, which a program opens with liblathe (docs/liblathe.md); "
        "--into-database keeps it in the database, which is then what the program opens.\n\n"
        "--format torch: the file's ModelNew takes the place of the problem's PyTorch model, as the "
        "specification's `torch` describes it. It compiles the same source at its first call; where there is no "
        "compiler it launches the cubin that the export has compiled into it, at the size tuned; and PyTorch's own "
        "operations compute what neither can serve, with a warning.\n\n"
        "--format json: one document with the trial, its campaign, device, plan, source and samples (docs/json.md).\n\n"
        "--format t4, kernel-tuner, csv: all trials of one kernel of a campaign (--campaign N, default the newest; "
        "--kernel) in the auto-tuning community's T4 format, as a cache of Kernel Tuner, or as a table. `lathe import` "
        "reads them.\n\n"
        "More, with what to type: docs/export.md.",
    .options = export_options,
    .args_size = sizeof(struct export_args),
    .run = export_run,
};
