/* cmd_doctor.c: `lathe doctor`: what lathe can use on this machine, what is missing, what to do about it. */
#include "campaign/selftest.h"
#include "cli/cli.h"
#include "cli/args/find_spec.h"
#include "console/output.h"
#include "cli/progress/signals.h"
#include "cli/output/report.h"
#include "console/table.h"
#include "device/dev.h"
#include "device/probe.h"
#include "report/page.h"
#include "report/serve.h"
#include "search/strategy/strategy.h"
#include <string.h>

struct doctor_args {
    bool json, csv, selftest, has_time_limit;
    const char *device;
    double time_limit;
};

static const struct option_row doctor_options[] = {
    {"json", .kind = OPTION_FLAG, .offset = offsetof(struct doctor_args, json), .help = "one JSON object"},
    {"csv", .kind = OPTION_FLAG, .offset = offsetof(struct doctor_args, csv),
     .help = "what is found and what is missing, or --selftest's trials, with a header line (RFC 4180)"},
    {"selftest", .kind = OPTION_FLAG, .offset = offsetof(struct doctor_args, selftest),
     .help = "run a trial of each outcome on a device (ok, compile, resources, launch, timeout, crash, wrong, "
             "inaccurate, on a GPU unstable), and say whether each was told as what it is"},
    {"device", .arg = "DEVICE", .kind = OPTION_TEXT, .offset = offsetof(struct doctor_args, device),
     .help = "with --selftest: cuda:N, host, or several with commas (default: the first CUDA GPU, else host)"},
    {"time-limit", .arg = "S", .kind = OPTION_SECONDS, .offset = offsetof(struct doctor_args, time_limit),
     .initial = "10", .help = "with --selftest: when the trial that never ends is killed",
     .given = offsetof(struct doctor_args, has_time_limit)},
    {0},
};

enum { MAX_PROBES = 48, OWN_PROBES = 4 };

static bool found(const struct probe *probes, int n, const char *prefix)
{
    for (int i = 0; i < n; i++)
        if (!strncmp(probes[i].what, prefix, strlen(prefix)) && probes[i].found)
            return true;
    return false;
}

static bool cuda_usable(const struct probe *probes, int n)
{
    return found(probes, n, "CUDA driver") && found(probes, n, "GPU") && found(probes, n, "NVRTC") &&
           found(probes, n, "cuBLAS");
}

static bool host_usable(const struct probe *probes, int n)
{
    return found(probes, n, "host compiler");
}

/* "linear, other (in kernels), mine (in /home/me/kernels)" */
static int specifications(const char *self, struct strbuf *b)
{
    struct text_list dirs = {0};
    int count = 0;
    spec_directories(self, &dirs);
    for (int i = 0; i < dirs.count; i++) {
        struct text_list names = {0};
        spec_names(dirs.items[i], &names);
        for (int k = 0; k < names.count; k++, count++)
            sb_addf(b, "%s%s", count ? ", " : "", names.items[k]);
        if (names.count)
            sb_addf(b, " (in %s)", dirs.items[i]);
        text_list_free(&names);
    }
    text_list_free(&dirs);
    return count;
}

static void add_probe(struct probe *probes, int *n, const char *what, bool ok, const char *detail, const char *advice)
{
    if (*n >= MAX_PROBES)
        return;
    struct probe *p = &probes[(*n)++];
    *p = (struct probe){.found = ok};
    snprintf(p->what, sizeof p->what, "%s", what);
    snprintf(p->detail, sizeof p->detail, "%s", detail);
    snprintf(p->advice, sizeof p->advice, "%s", ok ? "" : advice);
}

/* What pages with charts need. */
static void add_pages(struct probe *probes, int *n)
{
    bool charts = page_has_charts(), http = serve_has_library();
    struct strbuf advice = {0};
    sb_addf(&advice, "Needed for `lathe report` and `lathe serve`: %s", page_charts_advice);
    add_probe(probes, n, "chart library", charts,
              charts ? "Apache ECharts, in this program" : "this lathe was built without it (Apache ECharts)",
              sb_str(&advice));
    sb_free(&advice);
    sb_addf(&advice, "Needed for `lathe serve`: %s", serve_library_advice);
    add_probe(probes, n, "libmicrohttpd", http, http ? "libmicrohttpd.so.12" : "no libmicrohttpd.so.12",
              sb_str(&advice));
    sb_free(&advice);
}

/* What lathe itself brings, in the same form as what it finds. */
static void add_own(const char *self, struct probe *probes, int *n)
{
    struct strbuf b = {0};
    int count = specifications(self, &b);
    add_probe(probes, n, "specifications", count > 0, count ? sb_str(&b) : "no kernels directory with specifications",
              "run lathe from its source folder, keep share/lathe/kernels beside the bin folder that it was "
              "installed in, or set LATHE_KERNELS to a kernels directory");
    sb_free(&b);
    for (int i = 0; i < strategy_count(); i++)
        sb_addf(&b, "%s%s", i ? ", " : "", strategy_name_at(i));
    add_probe(probes, n, "strategies", strategy_count() > 0, sb_str(&b),
              "this binary was built without strategies: build it again");
    sb_free(&b);
    add_pages(probes, n);
}

static json_t *probes_json(const struct probe *probes, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:b, s:o, s:o}", "what", probes[i].what, "found", (int)probes[i].found,
                                        "detail", out_string(probes[i].detail), "advice",
                                        out_string(probes[i].advice)));
    return list;
}

static status print_csv(const struct probe *probes, int n, struct err *e)
{
    json_t *list = probes_json(probes, n);
    status s = report_csv_out(list, e);
    json_decref(list);
    return s;
}

static status print_json(const struct cli *cli, const struct probe *probes, int n, bool cuda, bool host,
                         const char *device, struct err *e)
{
    json_t *list = probes_json(probes, n);
    json_t *j = json_pack("{s:s, s:o, s:b, s:b, s:s?}", "version", cli->version, "found", list, "cuda_usable",
                          (int)cuda, "host_usable", (int)host, "default_device", cuda || host ? device : NULL);
    status s = out_json(j, e);
    json_decref(j);
    return s;
}

static void print_text(const struct probe *probes, int n, bool cuda, bool host, const char *device, struct strbuf *b)
{
    struct table *t = table_new();
    table_column(t, "", TABLE_LEFT, 0);
    table_column(t, "what", TABLE_LEFT, 0);
    table_column(t, "found", TABLE_LEFT, 0);
    for (int i = 0; i < n; i++) {
        table_cell(t, probes[i].found ? "ok" : "missing");
        table_cell(t, probes[i].what);
        table_cell(t, probes[i].detail);
    }
    table_print(t, text_columns(stdout), b);
    table_free(t);
    bool first = true;
    for (int i = 0; i < n; i++) {
        if (probes[i].found || !*probes[i].advice)
            continue;
        sb_add(b, first ? "\nwhat to do:\n" : "");
        first = false;
        sb_addf(b, "  %s: %s\n", probes[i].what, probes[i].advice);
    }
    sb_addf(b, "\ncuda devices: %s; host device: %s\n", cuda ? "usable" : "not usable", host ? "usable" : "not usable");
    if (cuda || host)
        sb_addf(b, "default device: %s\n", device);
}

/* --- the self-test --- */

struct outcomes_seen {
    json_t *list;
    int tried, right;
};

static void note_trial(void *ctx, enum outcome meant, const struct result *r)
{
    struct outcomes_seen *seen = ctx;
    bool right = r->outcome == meant;
    seen->tried++;
    seen->right += right;
    json_array_append_new(seen->list,
                          json_pack("{s:s, s:s, s:b, s:o}", "meant", outcome_name(meant), "outcome",
                                    outcome_name(r->outcome), "right", (int)right, "reason", out_string(r->reason)));
}

static void selftest_text(const struct outcomes_seen *seen, struct strbuf *b)
{
    enum { WIDTH = 90 };
    struct table *t = table_new();
    table_column(t, "", TABLE_LEFT, 0);
    table_column(t, "meant", TABLE_LEFT, 0);
    table_column(t, "outcome", TABLE_LEFT, 0);
    table_column(t, "reason", TABLE_LEFT, WIDTH);
    for (size_t i = 0; i < json_array_size(seen->list); i++) {
        const json_t *x = json_array_get(seen->list, i);
        table_cell(t, tree_true(x, "right") ? "ok" : "NOT RIGHT");
        table_cell(t, tree_text(x, "meant"));
        table_cell(t, tree_text(x, "outcome"));
        table_cell(t, tree_text(x, "reason"));
    }
    table_print(t, text_columns(stdout), b);
    table_free(t);
    sb_addf(b, "\n%d of %d outcomes were told as what they are\n", seen->right, seen->tried);
}

static status selftest(const struct cli *cli, const struct doctor_args *args, struct err *e)
{
    struct outcomes_seen seen = {.list = json_array()};
    struct selftest t = {.device = args->device, .time_limit = args->time_limit, .self = cli->self,
                         .version = cli->version, .on_trial = note_trial, .ctx = &seen};
    struct signals_before before;
    signals_catch(&before);
    status s = selftest_run(&t, e);
    signals_restore(&before);
    bool right = t.meant && seen.right == t.meant;
    if (s == LATHE_OK && !right && signals_count())    /* what did not run tells nothing of the device */
        s = err_set(e, LATHE_INTERRUPTED, "interrupted: the self-test did not come to its end");
    if (s == LATHE_OK && args->json) {
        json_t *j = json_pack("{s:O, s:b}", "selftest", seen.list, "right", (int)right);
        s = out_json(j, e);
        json_decref(j);
    } else if (s == LATHE_OK && args->csv) {
        s = report_csv_out(seen.list, e);
    } else if (s == LATHE_OK) {
        struct strbuf b = {0};
        selftest_text(&seen, &b);
        s = out_report(&b, e);
    }
    json_decref(seen.list);
    if (s == LATHE_OK && !right)
        return err_set(e, LATHE_DEVICE, "self-test: %d of %d outcomes were told as what they are, %d did not run\n"
                       "what this device says of failed configurations is not to be trusted", seen.right, t.meant,
                       t.meant - seen.tried);
    return s;
}

static status doctor_run(const struct cli *cli, void *p, struct err *e)
{
    const struct doctor_args *args = p;
    if (report_one_form("doctor", args->json, args->csv, e) != LATHE_OK)
        return e->code;
    if (args->selftest)
        return selftest(cli, args, e);
    const char *alone = args->device ? "--device" : args->has_time_limit ? "--time-limit" : NULL;
    if (alone)
        return err_set(e, LATHE_USAGE, "%s: only --selftest runs something on a device\n"
                       "add --selftest, or leave %s out", alone, alone);
    struct probe probes[MAX_PROBES];
    int n = probe_all(probes, MAX_PROBES - OWN_PROBES);
    bool cuda = cuda_usable(probes, n), host = host_usable(probes, n);
    add_own(cli->self, probes, &n);
    char device[24];
    dev_default(device);
    status s;
    if (args->json) {
        s = print_json(cli, probes, n, cuda, host, device, e);
    } else if (args->csv) {
        s = print_csv(probes, n, e);
    } else {
        struct strbuf b = {0};
        print_text(probes, n, cuda, host, device, &b);
        s = out_report(&b, e);
    }
    if (s == LATHE_OK && !cuda && !host)
        return err_set(e, LATHE_DEVICE,
                       "no device is usable\nthe host device needs a C++ compiler (Debian: apt install g++)");
    return s;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "says what lathe can use on this machine, what is missing, and what to do",
    .details = "Exit code 0 if at least one device is usable, else 4; with --selftest 0 if every outcome was told "
               "as what it is, else 4.",
    .options = doctor_options,
    .args_size = sizeof(struct doctor_args),
    .run = doctor_run,
};
