/* cmd_export.c: `lathe export`: the best configuration, or one trial, as CUDA source or as a PyTorch module. */
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/export_code.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/select.h"
#include "cli/table.h"
#include <math.h>
#include <string.h>

struct export_args {
    struct selection selection;
    int64_t trial;
    const char *output, *format;
};

static const struct option_row export_options[] = {
    SELECTION_ROWS(struct export_args, selection),
    {"trial", .arg = "ID", .kind = OPTION_COUNT, .offset = offsetof(struct export_args, trial), .min = 1,
     .help = "this trial, instead of the best of those selected"},
    {"format", .arg = "FORMAT", .kind = OPTION_TEXT, .offset = offsetof(struct export_args, format), .initial = "cu",
     .help = "cu: CUDA source with a launcher; torch: a Python file with a ModelNew(nn.Module)"},
    {"output", .letter = 'o', .arg = "FILE", .kind = OPTION_TEXT, .offset = offsetof(struct export_args, output),
     .help = "where to write the source; - or nothing: standard output"},
    {0},
};

/* "atol=0.0001 rtol=0.0001 on inputs wide" */
static void conditions_text(struct strbuf *b, const json_t *trial)
{
    report_tolerance(b, json_object_get(trial, "tolerance"));
    if (strcmp(tree_text(trial, "inputs"), "default") != 0)
        sb_addf(b, " on inputs %s", tree_text(trial, "inputs"));
}

/* A winner among trials that were verified to different tolerances, or on different inputs, is one that the user has not
 * chosen. `trial` is that winner; others of its problem, size and device are looked at. */
static status check_conditions(struct query *q, const json_t *trial, const struct query_filter *chosen, struct err *e)
{
    struct query_filter f = *chosen;
    struct strbuf list = {0};
    const json_t *size = json_object_get(trial, "size");
    char **dims = mem_zalloc(json_object_size(size) + 1, sizeof *dims);
    const char *name;
    json_t *value, *conditions = NULL;
    f.ndims = 0;
    json_object_foreach((json_t *)size, name, value)
        dims[f.ndims++] = mem_printf("%s=%lld", name, (long long)json_integer_value(value));
    f.dims = (const char *const *)dims;
    f.problem = tree_text(trial, "problem");
    f.device = tree_text(trial, "device");
    status s = query_conditions(q, &f, &conditions, e);
    json_t *operators = json_object();
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const json_t *c = json_array_get(conditions, i);
        char operator[24];
        snprintf(operator, sizeof operator, "%lld", (long long)tree_int(c, "operator"));
        json_object_set_new(operators, operator, json_null());
        sb_add(&list, i ? "; " : "");
        conditions_text(&list, c);
    }
    if (s == LATHE_OK && json_object_size(operators) > 1)
        s = err_set(e, LATHE_USAGE,
                    "there are results of %zu different problems called %s: their specifications differ in tensors, "
                    "scalars, reference or epilogue\nchoose with --campaign or --trial (`lathe best` tells them apart)",
                    json_object_size(operators), f.problem);
    else if (s == LATHE_OK && json_array_size(conditions) > 1)
        s = err_set(e, LATHE_USAGE,
                    "there are results to more than one tolerance, or on more than one kind of inputs: %.800s\nchoose with "
                    "--tolerance, --inputs, --campaign or --trial",
                    sb_str(&list));
    for (int i = 0; i < f.ndims; i++)
        mem_free(dims[i]);
    mem_free(dims);
    json_decref(conditions);
    json_decref(operators);
    sb_free(&list);
    return s;
}

/* The trial to export: --trial, or the first of the best. */
static status choose(struct query *q, const struct export_args *args, int64_t *id, struct err *e)
{
    const struct selection *sel = &args->selection;
    if (args->trial) {
        if (sel->problem || sel->device || sel->kernel || sel->campaign || sel->sizes.count || sel->tolerances.count ||
            sel->inputs)
            return err_set(e, LATHE_USAGE,
                           "export: --trial already says which one\nleave out --problem, --size, --device, "
                           "--kernel, --tolerance, --inputs and --campaign, or leave out --trial");
        *id = args->trial;
        return LATHE_OK;
    }
    struct query_filter f;
    status s = selection_filter(sel, &f, e);
    if (s != LATHE_OK)
        return s;
    f.top = 1;
    json_t *best = NULL;
    s = query_best(q, &f, &best, e);
    if (s == LATHE_NOTHING || (s == LATHE_OK && json_array_size(best) == 0))
        s = selection_nothing(sel, q, e);
    else if (s == LATHE_OK)
        *id = tree_int(json_array_get(best, 0), "id");
    if (s == LATHE_OK && !sel->campaign)
        s = check_conditions(q, json_array_get(best, 0), &f, e);
    json_decref(best);
    return s;
}

/* Only what was verified, and may win, is handed out. */
static status check_exportable(const json_t *trial, struct err *e)
{
    long long id = (long long)tree_int(trial, "id");
    const char *outcome = tree_text(trial, "outcome"), *reason = tree_text(trial, "reason");
    if (!strcmp(tree_text(trial, "role"), "baseline"))
        return err_set(e, LATHE_NOTHING,
                       "trial %lld is a baseline (%s): there is nothing of it to export\n"
                       "`lathe best` lists what there is",
                       id, tree_text(trial, "kernel"));
    if (!strcmp(outcome, "inaccurate"))
        return err_set(e, LATHE_NOTHING,
                       "trial %lld is not exported: its outcome is inaccurate: %.600s\n"
                       "`lathe tune --tolerance` allows more",
                       id, reason);
    if (strcmp(outcome, "ok") != 0)
        return err_set(e, LATHE_NOTHING,
                       "trial %lld is not verified, so it is not exported: its outcome is %s%s%.600s\n"
                       "`lathe best` lists what there is",
                       id, *outcome ? outcome : "not known yet", *reason ? ": " : "", reason);
    if (!tree_true(trial, "eligible") && *reason)
        return err_set(e, LATHE_NOTHING,
                       "trial %lld may not win, so it is not exported: %.600s\n`lathe best` lists what there is", id, reason);
    if (!tree_true(trial, "eligible"))
        return err_set(e, LATHE_NOTHING,
                       "trial %lld is of kernel %s, which its specification shows but does not let win\n"
                       "`lathe best` lists what there is",
                       id, tree_text(trial, "kernel"));
    return LATHE_OK;
}

static void warn_if_blind(const json_t *trial)
{
    if (report_is_blind(trial))
        fprintf(stderr, "warning: how accurate trial %lld is is not known: its outputs do not tell products apart; "
                        "`lathe show %lld` says more\n",
                (long long)tree_int(trial, "id"), (long long)tree_int(trial, "campaign"));
}

/* The time is the one that the winner was chosen by. */
static void tell(const json_t *trial, const char *file)
{
    struct strbuf line = {0}, clean = {0};
    double cold = tree_number(trial, "cold_ms");
    sb_addf(&line, "wrote %s: trial %lld of campaign %lld, kernel %s, ", file, (long long)tree_int(trial, "id"),
            (long long)tree_int(trial, "campaign"), tree_text(trial, "kernel"));
    sb_addf(&line, "%.4g ms%s, ", isnan(cold) ? tree_number(trial, "time_ms") : cold, isnan(cold) ? "" : " cold");
    report_configuration(&line, json_object_get(trial, "configuration"));
    text_escape(&clean, sb_str(&line));
    fprintf(stderr, "%s\n", sb_str(&clean));
    sb_free(&line);
    sb_free(&clean);
}

static status export_run(const struct cli *cli, void *p, struct err *e)
{
    const struct export_args *args = p;
    bool torch = strcmp(args->format, "torch") == 0;
    if (!torch && strcmp(args->format, "cu") != 0)
        return err_set(e, LATHE_USAGE, "export: --format: expected cu or torch, got '%.100s'", args->format);
    struct query *q;
    status s = query_open(args->selection.db, &q, e);
    if (s != LATHE_OK)
        return s;
    int64_t id = 0;
    json_t *provenance = NULL;
    struct strbuf source = {0};
    s = choose(q, args, &id, e);
    if (s == LATHE_OK && (s = query_provenance(q, id, &provenance, e)) == LATHE_NOTHING)
        s = err_set(e, LATHE_NOTHING, "there is no trial %lld in %.300s\n`lathe best` and `lathe show` list trials",
                    (long long)id, args->selection.db);
    const json_t *trial = json_object_get(provenance, "trial");
    if (s == LATHE_OK)
        s = check_exportable(trial, e);
    if (s == LATHE_OK)
        s = export_code(provenance, args->selection.db, torch, &source, e);
    bool to_file = args->output && strcmp(args->output, "-") != 0;
    if (s == LATHE_OK && !to_file)
        s = out_text(sb_str(&source), source.len, e);
    else if (s == LATHE_OK && (s = file_write_atomic(args->output, sb_str(&source), source.len, e)) == LATHE_OK)
        tell(trial, args->output);
    if (s == LATHE_OK)
        warn_if_blind(trial);
    sb_free(&source);
    json_decref(provenance);
    query_close(q);
    return s;
}

const struct command command_export = {
    .name = "export",
    .summary = "writes the best configuration as CUDA source, or as a PyTorch module",
    .details = "The CUDA file has the parameters baked in, an extern \"C\" launcher, a query for its workspace, and says "
               "where it comes from. 'nvcc -DLATHE_SELFTEST winner.cu -o selftest && ./selftest' checks it (add "
               "-lcublas if it uses cuBLAS).\n\n"
               "--format torch: the file's ModelNew takes the place of the problem's PyTorch model, as the "
               "specification's `torch` describes it. It compiles the same source at its first call; where there is no "
               "compiler it launches the cubin that the export has compiled into it, at the size tuned; and PyTorch's own "
               "operations compute what neither can serve, with a warning.",
    .options = export_options,
    .args_size = sizeof(struct export_args),
    .run = export_run,
};
