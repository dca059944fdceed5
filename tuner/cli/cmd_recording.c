/* cmd_recording.c: `lathe recording`: what a recording holds, and the facts that scores of strategies are made from. */
#include "cli/cli.h"
#include "cli/export/export_campaign.h"
#include "console/output.h"
#include "cli/output/report.h"
#include "replay/recording.h"
#include "score/score.h"
#include <string.h>

struct recording_args {
    const char *file, *kernel, *output, *format;
    bool json, csv, has_format;
};

static const struct option_row recording_options[] = {
    {"FILE", .kind = OPTION_NEEDED, .offset = offsetof(struct recording_args, file),
     .help = "a recording, compressed or not, or a lathe database as FILE[#CAMPAIGN]"},
    {"kernel", .arg = "NAME", .kind = OPTION_TEXT, .offset = offsetof(struct recording_args, kernel),
     .help = "of a campaign's kernels (default: the only one)"},
    {"output", .letter = 'o', .arg = "FILE", .kind = OPTION_TEXT, .offset = offsetof(struct recording_args, output),
     .help = "write it, too; compressed if FILE ends in .gz"},
    {"format", .arg = "FORMAT", .kind = OPTION_TEXT, .offset = offsetof(struct recording_args, format), .initial = "t4",
     .choices = "t4|kernel-tuner|csv",
     .help = "what -o writes: t4 (T4 results), kernel-tuner (a cache of Kernel Tuner), csv",
     .given = offsetof(struct recording_args, has_format)},
    {"json", .kind = OPTION_FLAG, .offset = offsetof(struct recording_args, json), .help = "one JSON object"},
    {"csv", .kind = OPTION_FLAG, .offset = offsetof(struct recording_args, csv),
     .help = "the figures as one row, with a header line (RFC 4180); the configurations: --format csv -o FILE"},
    {0},
};

static const double cutoffs[] = {0.5, 0.8, 0.9, 0.95, 0.99};
enum { CUTOFFS = sizeof cutoffs / sizeof *cutoffs };

static const int evaluations[] = {1, 2, 3, 5, 10, 20, 50, 100, 200, 400};
enum { EVALUATIONS = sizeof evaluations / sizeof *evaluations };

static json_t *params_json(const struct recording *r)
{
    json_t *params = json_object();
    for (int i = 0; i < r->nparams; i++) {
        json_t *values = json_array();
        for (int v = 0; v < r->params[i].nvalues; v++)
            json_array_append_new(values, value_to_json(r->params[i].values[v]));
        json_object_set_new(params, r->params[i].name, values);
    }
    return params;
}

static json_t *outcomes_json(const struct recording *r)
{
    json_int_t counts[OUTCOME_COUNT] = {0};
    json_t *outcomes = json_object();
    for (uint64_t i = 0; i < r->nconfigs; i++)
        counts[r->configs[i].outcome]++;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        json_object_set_new(outcomes, outcome_name((enum outcome)i), json_integer(counts[i]));
    return outcomes;
}

static json_t *recording_json(const struct recording *r, const struct recording_summary *s)
{
    json_t *to = json_object(), *after = json_object(), *notes = json_array();
    for (int i = 0; i < CUTOFFS; i++) {
        char key[16];
        snprintf(key, sizeof key, "%g", cutoffs[i]);
        json_object_set_new(to, key, s->valid ? json_integer((json_int_t)recording_evaluations_to(s, cutoffs[i]))
                                              : json_null());
    }
    for (int i = 0; s->valid && i < EVALUATIONS; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", evaluations[i]);
        json_object_set_new(after, key, out_number(score_baseline(s->sorted, s->valid, (uint64_t)evaluations[i])));
    }
    struct strbuf b = {0};
    recording_notes(r, &b);
    for (char *line = b.s, *end; line && (end = strchr(line, '\n')); line = end + 1)
        json_array_append_new(notes, json_stringn(line, (size_t)(end - line)));
    sb_free(&b);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "path",
                     r->path, "format", r->format, "kernel", r->kernel, "device", r->device, "size", r->size,
                     "parameters", params_json(r), "configurations", (json_int_t)s->configs, "valid",
                     (json_int_t)s->valid, "outcomes", outcomes_json(r), "best_ms", out_number(s->best), "median_ms",
                     out_number(s->median), "mean_cost", out_number(s->mean_cost), "median_cost",
                     out_number(s->median_cost), "evaluations_to", to, "random_search_ms", after, "samples",
                     (json_int_t)r->nsamples, "notes", notes);
}

static void recording_text(const struct recording *r, const struct recording_summary *s, struct strbuf *b)
{
    sb_addf(b, "%s: %s, kernel %s on %s%s%s\n", r->path, r->format, *r->kernel ? r->kernel : "unknown",
            *r->device ? r->device : "an unknown device", *r->size ? ", size " : "", r->size);
    sb_addf(b, "%llu configurations:", (unsigned long long)s->configs);
    json_t *outcomes = outcomes_json(r), *count;
    const char *name, *comma = "";
    json_object_foreach(outcomes, name, count) {
        if (json_integer_value(count)) {
            sb_addf(b, "%s %s %lld", comma, name, (long long)json_integer_value(count));
            comma = ",";
        }
    }
    json_decref(outcomes);
    sb_addf(b, "; %llu samples\n", (unsigned long long)r->nsamples);
    for (int i = 0; i < r->nparams; i++) {
        sb_addf(b, "  %s:", r->params[i].name);
        for (int v = 0; v < r->params[i].nvalues && v < 20; v++) {
            sb_add(b, " ");
            value_print(b, r->params[i].values[v]);
        }
        sb_add(b, r->params[i].nvalues > 20 ? " ...\n" : "\n");
    }
    if (s->valid)
        sb_addf(b, "best %.6f ms, median %.6f ms", s->best, s->median);
    else
        sb_add(b, "none is valid");
    sb_addf(b, "; a trial costs %.4f s in the mean, %.4f s in the median\n", s->mean_cost, s->median_cost);
    if (s->valid)
        sb_add(b, "evaluations that random search needs to come that far from the median to the best:");
    for (int i = 0; s->valid && i < CUTOFFS; i++)
        sb_addf(b, "%s %g: %llu%s", i ? "," : "", cutoffs[i],
                (unsigned long long)recording_evaluations_to(s, cutoffs[i]), i < CUTOFFS - 1 ? "" : "\n");
    recording_notes(r, b);
}

static status unknown_form(const char *name, struct err *e)
{
    const char *names[RECORDING_FORMS];
    for (int f = 0; f < RECORDING_FORMS; f++)
        names[f] = recording_form_name((enum recording_form)f);
    const char *near = nearest_word(name, names, RECORDING_FORMS);
    return err_set(e, LATHE_USAGE, "recording: --format: expected t4, kernel-tuner or csv, got '%.100s'%s%s%s", name,
                   near ? "\ndid you mean '" : "", near ? near : "", near ? "'?" : "");
}

static status recording_run(const struct cli *cli, void *p, struct err *e)
{
    const struct recording_args *args = p;
    struct recording *r;
    struct recording_summary summary;
    struct strbuf b = {0};
    int form = export_form(args->format);
    if (report_one_form("recording", args->json, args->csv, e) != LATHE_OK)
        return e->code;
    if (form < 0)
        return unknown_form(args->format, e);
    if (args->has_format && !args->output)
        return err_set(e, LATHE_USAGE, "recording: --format is of the file that -o writes\n"
                       "add -o FILE, or leave --format out");
    if (args->output && !strcmp(args->output, "-"))
        return err_set(e, LATHE_USAGE, "recording: -o -: standard output has what is said of the recording\n"
                       "give -o the name of a file");
    if (args->output && file_is_same(args->file, args->output))
        return err_set(e, LATHE_USAGE, "recording: -o %s: that is the recording itself, of which another format may "
                       "hold less\ngive another name", args->output);
    status s = recording_open(args->file, args->kernel, &r, e);
    if (s != LATHE_OK)
        return s;
    recording_summarise(r, &summary);
    if (args->output)
        s = recording_write(r, (enum recording_form)form, args->output, e);
    if (s == LATHE_OK && (args->json || args->csv)) {
        json_t *j = recording_json(r, &summary), *rows = json_pack("[O*]", j);
        s = !j           ? err_set(e, LATHE_IO, "%s: a name in it is no UTF-8 text", r->path)
            : args->csv ? report_csv_out(rows, e)
                        : out_json(j, e);
        json_decref(rows);
        json_decref(j);
    } else if (s == LATHE_OK) {
        recording_text(r, &summary, &b);
        s = out_report(&b, e);
    }
    recording_summary_free(&summary);
    recording_free(r);
    return s;
}

const struct command command_recording = {
    .name = "recording",
    .summary = "says what a recording of a tuner holds",
    .details =
        "Reads Kernel Tuner's caches, T4 results, KTT's output, CSV and lathe's databases, as `lathe tune --device "
        "replay:FILE` does. A trial's cost is its compile, validation, framework, recorded strategy and run times.",
    .options = recording_options,
    .args_size = sizeof(struct recording_args),
    .run = recording_run,
};
