/* cmd_doctor.c: `lathe doctor`: what lathe can use on this machine, what is missing, what to do about it. */
#include "cli/cli.h"
#include "cli/find_spec.h"
#include "cli/output.h"
#include "cli/table.h"
#include "device/dev.h"
#include "device/probe.h"
#include "search/strategy/strategy.h"
#include <string.h>

struct doctor_args {
    bool json;
};

static const struct option_row doctor_options[] = {
    {"json", .kind = OPTION_FLAG, .offset = offsetof(struct doctor_args, json), .help = "one JSON object"},
    {0},
};

enum { MAX_PROBES = 48 };

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

/* What lathe itself brings, in the same form as what it finds. */
static void add_own(const char *self, struct probe *probes, int *n)
{
    struct strbuf b = {0};
    int count = specifications(self, &b);
    add_probe(probes, n, "specifications", count > 0, count ? sb_str(&b) : "no kernels directory with specifications",
              "run lathe from its source folder, or set LATHE_KERNELS to a kernels directory");
    sb_free(&b);
    for (int i = 0; i < strategy_count(); i++)
        sb_addf(&b, "%s%s", i ? ", " : "", strategy_name_at(i));
    add_probe(probes, n, "strategies", strategy_count() > 0, sb_str(&b),
              "this binary was built without strategies: build it again");
    sb_free(&b);
}

static status print_json(const struct cli *cli, const struct probe *probes, int n, bool cuda, bool host,
                         const char *device, struct err *e)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:b, s:s, s:s}", "what", probes[i].what, "found", (int)probes[i].found,
                                        "detail", probes[i].detail, "advice", probes[i].advice));
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
    table_print(t, b);
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

static status doctor_run(const struct cli *cli, void *p, struct err *e)
{
    const struct doctor_args *args = p;
    struct probe probes[MAX_PROBES];
    int n = probe_all(probes, MAX_PROBES - 2);
    bool cuda = cuda_usable(probes, n), host = host_usable(probes, n);
    add_own(cli->self, probes, &n);
    char device[24];
    dev_default(device);
    status s;
    if (args->json) {
        s = print_json(cli, probes, n, cuda, host, device, e);
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
    .details = "Exit code 0 if at least one device is usable, else 4.",
    .options = doctor_options,
    .args_size = sizeof(struct doctor_args),
    .run = doctor_run,
};
