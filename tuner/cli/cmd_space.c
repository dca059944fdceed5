/* cmd_space.c: `lathe space`: how large a specification's spaces are, what is in them, why a configuration is not. */
#include "base/mem.h"
#include "cli/cli.h"
#include "console/output.h"
#include "cli/output/report.h"
#include "cli/space/space_view.h"
#include "console/table.h"
#include <string.h>

#define AT(member) .offset = offsetof(struct space_args, member)
static const struct option_row space_options[] = {
    SPEC_ROW(struct space_args, spec, "; a search space in JSON"),
    {"count", .kind = OPTION_FLAG, AT(count), .help = "sizes, and which constraints refuse how many (the default)"},
    {"list", .kind = OPTION_FLAG, AT(list), .help = "every valid configuration, one a line: kernel, then name=value"},
    {"sample", .arg = "N", .kind = OPTION_COUNT, AT(sample), .min = 1, .max = 1000000000,
     .help = "N valid configurations of each kernel at random, each as likely as any other and none twice; of a space "
             "that is too large to build, drawn by rejection, at a rate that stderr tells"},
    {"seed", .arg = "N", .kind = OPTION_COUNT, AT(seed), .initial = "1", .help = "of the sample"},
    {"explain", .arg = "NAME=V,...", .kind = OPTION_TEXT, AT(explain),
     .help = "whether this configuration is valid, or what refuses it with which values; of a part of one, how many "
             "valid ones have it"},
    SPEC_OPTION_ROWS(struct space_args, spec),
    {"kernel", .arg = "NAME", .kind = OPTION_TEXT, AT(kernel), .help = "of this kernel only"},
    {"target", .arg = "TARGET", .kind = OPTION_TEXT, AT(target),
     .help = "whose limits count: cuda:N, host, or an architecture that need not be here, such as sm_90a (default: the "
             "first CUDA GPU, else host)"},
    {"json", .kind = OPTION_FLAG, AT(json), .help = "an object; with --list and --sample an array, one object a line"},
    {"csv", .kind = OPTION_FLAG, AT(csv),
     .help = "the kernels with their counts, or with --list and --sample the configurations, a column a parameter, "
             "with a header "
             "line (RFC 4180)"},
    {0},
};

static bool all_empty(const struct view *v)
{
    for (int i = 0; i < v->count; i++)
        if (v->members[i].space)
            return false;
    return true;
}

/* What refuses: the reason of an empty space, or the refusals of one that is not. mem_free. */
static char *refusals(const struct member *m)
{
    struct strbuf b = {0};
    sb_add(&b, m->refused ? m->refused : "");
    if (m->space)
        space_refusals(m->space, &b);
    while (b.len && b.s[b.len - 1] == '\n')
        b.s[--b.len] = 0;
    return sb_take(&b);
}

static json_t *lines_json(const char *text)
{
    json_t *lines = json_array();
    while (*text) {
        text += strspn(text, " ");
        size_t len = strcspn(text, "\n");
        json_array_append_new(lines, json_stringn(text, len));
        text += len + (text[len] == '\n');
    }
    return lines;
}

/* An integer as long as it is one exactly. */
static json_t *whole_number(double v)
{
    return v < 9e15 ? json_integer((json_int_t)v) : json_real(v);
}

static status count_rows(const struct view *v, bool csv, struct err *e)
{
    json_t *kernels = json_array(), *size = json_object();
    for (int i = 0; i < v->problem->ndims; i++)
        json_object_set_new(size, v->problem->dims[i].name, json_integer(v->problem->dims[i].value));
    for (int i = 0; i < v->count; i++) {
        const struct member *m = &v->members[i];
        char *why = refusals(m);
        json_t *cartesian = m->space ? whole_number(space_cartesian(m->space)) : json_null();
        json_int_t valid = m->space ? (json_int_t)space_size(m->space) : 0;
        json_int_t bytes = m->space ? (json_int_t)space_bytes(m->space) : 0;
        json_array_append_new(kernels, json_pack("{s:s, s:o, s:I, s:I, s:b, s:o}", "kernel", m->kernel->name,
                                                 "cartesian", cartesian, "valid", valid, "bytes", bytes, "runs_here",
                                                 m->space || m->empty, "refusals", lines_json(why)));
        mem_free(why);
    }
    json_t *j = json_pack("{s:s, s:o, s:s, s:s, s:o}", "problem", v->problem->name, "size", size, "target",
                          v->target.name, "arch", v->target.arch, "kernels", kernels);
    status s = csv ? report_csv_out(kernels, e) : out_json(j, e);
    json_decref(j);
    return s;
}

static void count_text(const struct view *v, struct strbuf *b)
{
    sb_addf(b, "%s%s", v->problem->name, v->problem->ndims ? " " : "");
    problem_size_text(v->problem, b);
    sb_addf(b, " on %s\n\n", v->target_text);
    struct table *t = table_new();
    table_column(t, "kernel", TABLE_LEFT, 0);
    table_column(t, "parameters", TABLE_RIGHT, 0);
    table_column(t, "combinations", TABLE_RIGHT, 0);
    table_column(t, "valid", TABLE_RIGHT, 0);
    table_column(t, "share", TABLE_RIGHT, 0);
    for (int i = 0; i < v->count; i++) {
        const struct member *m = &v->members[i];
        table_cell(t, m->kernel->name);
        table_cellf(t, "%d", m->kernel->nparams);
        if (m->space) {
            table_cellf(t, "%.15g", space_cartesian(m->space));
            table_cellf(t, "%llu", (unsigned long long)space_size(m->space));
            table_cellf(t, "%.3g %%", 100 * (double)space_size(m->space) / space_cartesian(m->space));
        } else {
            table_cell(t, "");
            table_cell(t, m->empty ? "0" : "not here");
            table_cell(t, "");
        }
    }
    table_print(t, text_columns(stdout), b);
    table_free(t);
    for (int i = 0; i < v->count; i++) {
        char *why = refusals(&v->members[i]);
        if (*why)
            sb_addf(b, "\n%s:\n%s%s\n", v->members[i].kernel->name, *why == ' ' ? "" : "  ", why);
        mem_free(why);
    }
}

/* Each kernel has its share of a message, in whole lines. */
static status nothing_valid(const struct view *v, struct err *e)
{
    enum { ROOM = 1300 };
    struct strbuf b = {0};
    for (int i = 0; i < v->count; i++) {
        const char *why = v->members[i].refused;
        int most = ROOM / v->count, n = (int)strlen(why);
        bool cut = n > most;
        for (n = cut ? most : n; cut && n > 0 && why[n] != '\n';)
            n--;
        sb_addf(&b, "\n%s: %.*s%s", v->members[i].kernel->name, cut && !n ? most : n, why,
                cut ? "\n  and more: --kernel shows one by one" : "");
    }
    err_set(e, LATHE_NOTHING, "%.300s has no valid configuration on %s%.1400s", v->problem->path, v->target_text,
            sb_str(&b));
    sb_free(&b);
    return LATHE_NOTHING;
}

static status space_run(const struct cli *cli, void *p, struct err *e)
{
    const struct space_args *args = p;
    if (args->count + args->list + (args->sample > 0) + (args->explain != NULL) > 1)
        return err_set(e, LATHE_USAGE,
                       "space: --count, --list, --sample and --explain exclude each other\ngive one of them");
    if (args->explain && args->csv)
        return err_set(e, LATHE_USAGE, "space: --explain is no table: give --json, or leave out --csv");
    status one = report_one_form("space", args->json, args->csv, e);
    if (one != LATHE_OK)
        return one;
    struct view v;
    status s = view_load(&v, cli->self, args, e);
    if (s == LATHE_OK && args->explain) {
        s = space_explain_run(&v, args, e);
    } else if (s == LATHE_OK && (s = view_open(&v, args, e)) == LATHE_OK) {
        if (all_empty(&v)) {
            s = nothing_valid(&v, e);
        } else if (args->list || args->sample) {
            s = space_list_run(&v, args, e);
        } else if (args->json || args->csv) {
            s = count_rows(&v, args->csv, e);
        } else {
            struct strbuf b = {0};
            count_text(&v, &b);
            s = out_report(&b, e);
        }
    }
    view_close(&v);
    return s;
}

const struct command command_space = {
    .name = "space",
    .summary = "counts, lists or explains the configurations of a specification's kernels",
    .details = "Exit code 1 if --explain's configuration is refused, or no configuration is valid.",
    .options = space_options,
    .args_size = sizeof(struct space_args),
    .run = space_run,
};
