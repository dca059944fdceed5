/* cmd_check.c: `lathe check`: compiles a random sample of each kernel's space, for targets that need not be here. */
#include "base/mem.h"
#include "campaign/check.h"
#include "cli/cli.h"
#include "cli/args/find_spec.h"
#include "console/output.h"
#include "cli/output/report.h"
#include "console/table.h"

struct check_args {
    struct spec_args spec;
    const char *kernel;
    struct text_list targets;
    int64_t sample, seed, workers;
    bool delays, json, csv, quiet;
};

#define AT(member) .offset = offsetof(struct check_args, member)
static const struct option_row check_options[] = {
    SPEC_ROW(struct check_args, spec, ""),
    {"kernel", .arg = "NAME", .kind = OPTION_TEXT, AT(kernel), .help = "only this kernel or baseline"},
    {"target", .arg = "ARCH", .kind = OPTION_TEXTS, AT(targets),
     .help = "compile for it: sm_80, sm_90a, sm_100, host, ...; may be repeated (default: sm_80, sm_90a and sm_100)"},
    {"sample", .arg = "N", .kind = OPTION_COUNT, AT(sample), .initial = "40", .min = 1, .max = 1000000000,
     .help = "configurations a kernel and target, drawn at random; all of them where there are no more"},
    {"seed", .arg = "N", .kind = OPTION_COUNT, AT(seed), .initial = "1", .help = "of the sample"},
    {"delays", .kind = OPTION_FLAG, AT(delays),
     .help = "compile as for the verification with warps that pause at random (tune, verify: --delays)"},
    SPEC_OPTION_ROWS(struct check_args, spec),
    {"compile-workers", .arg = "N", .kind = OPTION_COUNT, AT(workers), .min = 1, .max = 256,
     .help = "compilers at the same time (default: one a core)"},
    {"json", .kind = OPTION_FLAG, AT(json), .help = "an array of objects, one a kernel and target"},
    {"csv", .kind = OPTION_FLAG, AT(csv), .help = "the same with a header line (RFC 4180)"},
    {"quiet", .letter = 'q', .kind = OPTION_FLAG, AT(quiet), .help = "no progress on stderr"},
    {0},
};

struct checked {
    struct check_result *results; /* copies, in the order they came; each owns its arch */
    int count, cap;
    bool quiet;
};

static void on_result(void *ctx, const struct check_result *r)
{
    struct checked *c = ctx;
    MEM_GROW(c->results, c->count, c->cap);
    c->results[c->count] = *r;
    c->results[c->count++].arch = mem_strdup(r->arch);
    if (c->quiet)
        return;
    if (*r->skipped)
        note_line("%s %s: left out", r->kernel->name, r->arch);
    else if (r->empty)
        note_line("%s %s: no configuration is valid", r->kernel->name, r->arch);
    else
        note_line("%s %s: %d of %d compiled in %.1f s", r->kernel->name, r->arch, r->compiled, r->tried, r->seconds);
}

static double seconds_each(const struct check_result *r) { return r->tried ? r->seconds / r->tried : 0; }

static void print_text(const struct checked *c, struct strbuf *b)
{
    struct table *t = table_new();
    table_column(t, "kernel", TABLE_LEFT, 0);
    table_column(t, "target", TABLE_LEFT, 0);
    table_column(t, "valid", TABLE_RIGHT, 0);
    table_column(t, "tried", TABLE_RIGHT, 0);
    table_column(t, "compiled", TABLE_RIGHT, 0);
    table_column(t, "s each", TABLE_RIGHT, 0);
    for (int i = 0; i < c->count; i++) {
        const struct check_result *r = &c->results[i];
        table_cell(t, r->kernel->name);
        table_cell(t, r->arch);
        if (*r->skipped)
            table_cell(t, "not here");
        else
            table_cellf(t, "%llu", (unsigned long long)r->space_size);
        table_cellf(t, "%d", r->tried);
        table_cellf(t, "%d", r->compiled);
        table_cellf(t, "%.2f", seconds_each(r));
    }
    table_print(t, text_columns(stdout), b);
    table_free(t);
    for (int i = 0; i < c->count; i++) {
        const struct check_result *r = &c->results[i];
        if (*r->drawn)
            sb_addf(b, "\n%s, %s: %s\n", r->kernel->name, r->arch, r->drawn);
        if (*r->skipped || *r->first_failure)
            sb_addf(b, "\n%s, %s: %s\n", r->kernel->name, r->arch, *r->skipped ? r->skipped : r->first_failure);
    }
}

static status print_rows(const struct checked *c, bool csv, struct err *e)
{
    json_t *all = json_array();
    for (int i = 0; i < c->count; i++) {
        const struct check_result *r = &c->results[i];
        json_array_append_new(
            all, json_pack("{s:s, s:s, s:I, s:i, s:i, s:f, s:o, s:o, s:o}", "kernel", r->kernel->name, "target",
                           r->arch, "valid", (json_int_t)r->space_size, "tried", r->tried, "compiled", r->compiled,
                           "seconds", r->seconds, "failure", out_string(r->first_failure), "skipped",
                           out_string(r->skipped), "drawn", out_string(r->drawn)));
    }
    status s = csv ? report_csv_out(all, e) : out_json(all, e);
    json_decref(all);
    return s;
}

static status check_command(const struct cli *cli, void *p, struct err *e)
{
    static const char *const usual[] = {"sm_80", "sm_90a", "sm_100"};
    const struct check_args *args = p;
    struct problem *problem;
    status s = report_one_form("check", args->json, args->csv, e);
    if (s == LATHE_OK)
        s = spec_load(&args->spec, cli->self, &problem, e);
    if (s != LATHE_OK)
        return s;
    if ((s = problem_needs_kernels(problem, "check", e)) != LATHE_OK) {
        problem_free(problem);
        return s;
    }
    struct checked checked = {.quiet = args->quiet};
    struct check_request request = {
        .problem = problem,
        .kernel = args->kernel,
        .archs = args->targets.count ? (const char *const *)args->targets.items : usual,
        .narchs = args->targets.count ? args->targets.count : (int)(sizeof usual / sizeof usual[0]),
        .sample = (int)args->sample,
        .seed = (uint64_t)args->seed,
        .delays = args->delays,
        .workers = (int)args->workers,
        .self = cli->self,
        .on_result = on_result,
        .ctx = &checked,
    };
    bool failed;
    s = check_run(&request, &failed, e);
    if (s == LATHE_OK) {
        struct strbuf b = {0};
        status printed = LATHE_OK;
        if (args->json || args->csv) {
            printed = print_rows(&checked, args->csv, e);
        } else {
            print_text(&checked, &b);
            printed = out_report(&b, e);
        }
        s = printed;
        if (s == LATHE_OK && failed)
            s = err_set(e, LATHE_SPEC, "%s", ""); /* the results say it all */
    }
    for (int i = 0; i < checked.count; i++)
        mem_free((char *)checked.results[i].arch);
    mem_free(checked.results);
    problem_free(problem);
    return s;
}

const struct command command_check = {
    .name = "check",
    .summary = "compiles a sample of each kernel's configurations, for GPUs that need not be here",
    .details =
        "Exit code 2 if one does not compile, if a launch passes what its kernel's parameters do not take, or if it "
        "cannot be launched at that size: the table shows how many, and the first one's configuration and log; also if "
        "for a target no kernel that it can run has a valid configuration: then what refuses them. A "
        "specification's own reference kernel is compiled too, except with --kernel. "
        "Images go to the cache, and what is in the cache is not compiled again.",
    .options = check_options,
    .args_size = sizeof(struct check_args),
    .run = check_command,
};
