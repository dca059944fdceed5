/* cmd_verify.c: `lathe verify`: is a kernel right on inputs of other kinds than those it is tuned on? */
#include "base/mem.h"
#include "campaign/verification.h"
#include "cli/cli.h"
#include "cli/args/find_spec.h"
#include "console/output.h"
#include "cli/output/report.h"
#include "cli/args/parse_inputs.h"
#include "console/table.h"
#include <math.h>
#include <string.h>

struct verify_args {
    struct spec_args spec;
    const char *kernel, *config, *device, *delays;
    struct text_list inputs, tolerances;
    int64_t sample, seed, workers;
    double time_limit;
    bool json, csv, quiet, sanitize;
};

#define AT(member) .offset = offsetof(struct verify_args, member)
static const struct option_row verify_options[] = {
    SPEC_ROW(struct verify_args, spec, ""),
    {"kernel", .arg = "NAME", .kind = OPTION_TEXT, AT(kernel), .help = "this kernel or baseline; needed"},
    {"config", .arg = "NAME=V,...", .kind = OPTION_TEXT, AT(config), .help = "this configuration, instead of a sample"},
    {"sample", .arg = "N", .kind = OPTION_COUNT, AT(sample), .initial = "8", .min = 1, .max = 100000,
     .help = "configurations drawn at random; all of them where there are no more"},
    {"inputs", .arg = "CLASS,...", .kind = OPTION_TEXTS, AT(inputs),
     .help = "classes of inputs, below; may be repeated (default: all)"},
    SPEC_OPTION_ROWS(struct verify_args, spec),
    {"device", .arg = "DEVICE", .kind = OPTION_TEXT, AT(device),
     .help = "cuda:N or host (default: the first CUDA GPU, else host)"},
    {"tolerance", .arg = "NAME=V", .kind = OPTION_PAIRS, AT(tolerances),
     .help = "another limit than the specification's: atol, rtol, times_sgemm_error, frobenius; may be repeated"},
    {"delays", .arg = "WHEN", .kind = OPTION_TEXT, AT(delays), .initial = "auto",
     .help =
         "the first class again, compiled so that warps pause at random, which finds races: auto (on GPUs), yes, no",
     .choices = "auto|yes|no"},
    {"seed", .arg = "N", .kind = OPTION_COUNT, AT(seed), .initial = "1", .help = "of sample and inputs"},
    {"time-limit", .arg = "S", .kind = OPTION_SECONDS, AT(time_limit), .initial = "60",
     .help = "how long one verification may take before it is killed; a reference kernel may take ten times as long"},
    {"compile-workers", .arg = "N", .kind = OPTION_COUNT, AT(workers), .min = 1, .max = 256,
     .help = "compilers at the same time (default: one a core, less one)"},
    {"sanitize", .kind = OPTION_FLAG, AT(sanitize),
     .help = "host device: build kernels with the address and undefined-behaviour sanitizers"},
    {"json", .kind = OPTION_FLAG, AT(json), .help = "an array of objects, one a class and configuration"},
    {"csv", .kind = OPTION_FLAG, AT(csv), .help = "the same with a header line (RFC 4180)"},
    {"quiet", .letter = 'q', .kind = OPTION_FLAG, AT(quiet), .help = "no progress on stderr"},
    {0},
};

/* What is kept of one class. */
struct class_result {
    enum inputs inputs;
    bool delayed;
    int tried, ok;
    double worst;               /* the largest error, infinite for a NaN; NaN if nothing ran */
    double sgemm_error, limit;  /* as in struct verification_result */
};

struct verified {
    struct class_result classes[INPUTS_COUNT + 1];  /* the first twice, if with delays */
    int count;
    json_t *results;            /* in the order they came */
    const char *kernel;
    bool quiet;
    bool moved;                 /* the reference is a kernel: elements are measured by how perturbed inputs move them */
};

static void on_note(void *ctx, const char *text)
{
    const struct verified *v = ctx;
    if (!v->quiet)
        note_line("%s", text);
}

static const char DELAYED[] = ", warps delayed";

static void on_result(void *ctx, const struct verification_result *r)
{
    struct verified *v = ctx;
    const struct class_result *last = v->count ? &v->classes[v->count - 1] : NULL;
    if (!last || last->inputs != r->inputs || last->delayed != r->delayed)
        v->classes[v->count++] = (struct class_result){.inputs = r->inputs, .delayed = r->delayed, .worst = NAN,
                                                    .sgemm_error = r->sgemm_error, .limit = r->limit};
    struct class_result *c = &v->classes[v->count - 1];
    const struct verification *q = &r->result->verification;
    c->tried++;
    c->ok += r->result->outcome == OUTCOME_ok;
    bool nan = q->done && isnan(r->error) && r->result->outcome != OUTCOME_ok;     /* nothing is worse */
    double error = nan ? INFINITY : r->error;
    if (error > c->worst || isnan(c->worst))
        c->worst = error;
    json_array_append_new(v->results,
                          json_pack("{s:s, s:b, s:s, s:O, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:b}",
                                    "inputs", inputs_name(r->inputs), "delays", (int)r->delayed, "kernel", v->kernel,
                                    "configuration", r->configuration, "text", r->config, "outcome",
                                    outcome_name(r->result->outcome), "reason", out_string(r->result->reason),
                                    "measure", inputs_plain(r->inputs) ? "frobenius" : "scaled", "error",
                                    out_number(r->error), "sgemm_error", out_number(r->sgemm_error), "limit",
                                    out_number(r->limit), "max_abs", out_number(q->done ? q->max_abs : NAN),
                                    "mismatches", (json_int_t)q->mismatches, "elements", (json_int_t)q->elements,
                                    "deterministic", (int)q->deterministic));
    if (!v->quiet && r->result->outcome != OUTCOME_ok)
        note_line("%s%s: %s %s: %s", inputs_name(r->inputs), r->delayed ? DELAYED : "", v->kernel, r->config,
                  outcome_name(r->result->outcome));
}

static void error_cell(struct table *t, double v)
{
    if (isnan(v))
        table_cell(t, "");
    else
        table_cellf(t, "%.2g", v);
}

static void print_classes(const struct verified *v, struct strbuf *b)
{
    struct table *t = table_new();
    table_column(t, "inputs", TABLE_LEFT, 0);
    table_column(t, "tried", TABLE_RIGHT, 0);
    table_column(t, "ok", TABLE_RIGHT, 0);
    table_column(t, "worst error", TABLE_RIGHT, 0);
    table_column(t, "SGEMM's", TABLE_RIGHT, 0);
    table_column(t, "limit", TABLE_RIGHT, 0);
    table_column(t, "measured", TABLE_LEFT, 0);
    for (int i = 0; i < v->count; i++) {
        const struct class_result *c = &v->classes[i];
        table_cellf(t, "%s%s", inputs_name(c->inputs), c->delayed ? DELAYED : "");
        table_cellf(t, "%d", c->tried);
        table_cellf(t, "%d", c->ok);
        error_cell(t, c->worst);
        error_cell(t, c->sgemm_error);
        error_cell(t, c->limit);
        const char *element = v->moved ? "each element, by perturbed inputs" : "each element";
        table_cell(t, inputs_plain(c->inputs) ? "over all" : element);
    }
    table_print(t, text_columns(stdout), b);
    table_free(t);
}

static int print_failures(const struct verified *v, struct strbuf *b)
{
    enum { REASON_WIDTH = 300 };
    struct table *t = table_new();
    table_column(t, "inputs", TABLE_LEFT, 0);
    table_column(t, "outcome", TABLE_LEFT, 0);
    table_column(t, "configuration", TABLE_LEFT, 0);
    table_pairs(t);
    table_column(t, "reason", TABLE_LEFT, REASON_WIDTH);
    size_t i;
    json_t *r;
    json_array_foreach(v->results, i, r)
    {
        if (!strcmp(json_string_value(json_object_get(r, "outcome")), "ok"))
            continue;
        static const char *const keys[] = {"outcome", "text", "reason"};
        table_cellf(t, "%s%s", json_string_value(json_object_get(r, "inputs")),
                    json_is_true(json_object_get(r, "delays")) ? DELAYED : "");
        for (int k = 0; k < 3; k++)
            table_cell(t, json_string_value(json_object_get(r, keys[k])));
    }
    int rows = table_rows(t);
    if (rows) {
        sb_add(b, "\n");
        table_print(t, text_columns(stdout), b);
    }
    table_free(t);
    return rows;
}

static status report(const struct verified *v, bool json, bool csv, struct err *e)
{
    struct strbuf b = {0};
    print_classes(v, &b);
    int failures = print_failures(v, &b);
    status s;
    if (json || csv) {
        s = csv ? report_csv_out(v->results, e) : out_json(v->results, e);
        sb_free(&b);
    } else {
        s = out_report(&b, e);
    }
    return s == LATHE_OK && failures ? err_set(e, LATHE_NOTHING, "%s", "") : s;
}

static status verify_run(const struct cli *cli, void *p, struct err *e)
{
    const struct verify_args *args = p;
    enum inputs inputs[INPUTS_COUNT];
    int ninputs;
    if (!args->kernel)
        return err_set(e, LATHE_USAGE, "verify: --kernel is missing\n`lathe space %.100s` lists the kernels",
                       args->spec.name);
    status s = report_one_form("verify", args->json, args->csv, e);
    enum delays delays = DELAYS_AUTO;
    if (s == LATHE_OK)
        s = parse_delays(args->delays, &delays, e);
    if (s == LATHE_OK)
        s = parse_inputs_list(&args->inputs, inputs, &ninputs, e);
    struct problem *problem = NULL;
    if (s == LATHE_OK)
        s = spec_load(&args->spec, cli->self, &problem, e);
    if (s == LATHE_OK)
        s = problem_needs_kernels(problem, "verify", e);
    if (s == LATHE_OK)
        s = inputs_of_problem(problem, args->inputs.count > 0, inputs, &ninputs, e);
    for (int i = 0; i < args->tolerances.count && s == LATHE_OK; i++)
        if ((s = problem_set_tolerance(problem, args->tolerances.items[i], e)) != LATHE_OK)
            err_prefix(e, "--tolerance");
    struct verified v = {.results = json_array(), .kernel = args->kernel, .quiet = args->quiet,
                         .moved = problem && problem->reference.kind == REFERENCE_KERNEL};
    struct verification_request r = {.problem = problem, .kernel = args->kernel, .config = args->config,
                                     .sample = args->config ? 1 : (int)args->sample, .device = args->device,
                                     .inputs = inputs, .ninputs = ninputs, .seed = (uint64_t)args->seed,
                                     .time_limit = args->time_limit, .compile_workers = (int)args->workers,
                                     .self = cli->self, .sanitize = args->sanitize, .delays = delays,
                                     .on_note = on_note,
                                     .on_result = on_result, .ctx = &v};
    if (s == LATHE_OK)
        s = verification_run(&r, e);
    if (s == LATHE_OK)
        s = report(&v, args->json, args->csv, e);
    json_decref(v.results);
    if (problem)
        problem_free(problem);
    return s;
}

const struct command command_verify = {
    .name = "verify",
    .summary = "checks a kernel on hard inputs: of all magnitudes, exact, with NaN and infinities",
    .details =
        "Errors stand beside those of the float32 GEMM on the same inputs, and the limit is as many times them as "
        "the tolerance's times_sgemm_error says. Where magnitudes differ much, each element's error is taken "
        "relative to sum |x| |w|; a NaN or an infinity must stand exactly where the float32 GEMM has it. A "
        "reference that is a kernel stands for that GEMM, and an element's error is taken relative to its size and "
        "to how far it moves when all inputs are a little other, which takes five more runs of the reference. On a "
        "GPU, the first class is tried once more with warps that pause at random, which finds races. "
        "docs/method.md tells more.\n"
        "Exit code 1: something was not right; the second table says what.",
    .options = verify_options,
    .args_size = sizeof(struct verify_args),
    .more_help = inputs_help,
    .run = verify_run,
};
