/* cmd_explain.c: `lathe explain`: what limits a trial, and what its neighbours measured. */
#include "base/mem.h"
#include "cli/cli.h"
#include "console/output.h"
#include "console/parse.h"
#include "cli/output/report.h"
#include "cli/args/newest.h"
#include "cli/args/select.h"
#include "cli/args/stored.h"
#include "console/table.h"
#include "report/explain.h"
#include "report/occupancy.h"
#include <math.h>
#include <string.h>

struct explain_args {
    const char *trial, *problem, *db;
    int64_t top;
    bool json, csv;
};

#define AT(member) .offset = offsetof(struct explain_args, member)
static const struct option_row explain_options[] = {
    {"TRIAL", .kind = OPTION_WANTED, AT(trial),
     .help = "a trial's number; without it, the best of the newest campaign that was measured here"},
    {"problem", .arg = "NAME", .kind = OPTION_TEXT, AT(problem),
     .help = "the best of the newest campaign of this problem that has a verified configuration"},
    {"top", .arg = "N", .kind = OPTION_COUNT, AT(top), .initial = "10", .min = 1, .help = "so many neighbours"},
    OPTION_DB(struct explain_args, db),
    {"json", .kind = OPTION_FLAG, AT(json), .help = "everything as JSON, all neighbours"},
    {"csv", .kind = OPTION_FLAG, AT(csv), .help = "all neighbours with a header line (RFC 4180)"},
    {0},
};

static const char *limit_text(const char *name)
{
    for (int l = 0; l < OCCUPANCY_LIMITS; l++)
        if (strcmp(occupancy_limit_name((enum occupancy_limit)l), name) == 0)
            return occupancy_limit_text((enum occupancy_limit)l);
    return name;
}

static void print_trial(struct strbuf *b, const json_t *trial)
{
    double cold = tree_number(trial, "cold_ms"), ms = isnan(cold) ? tree_number(trial, "time_ms") : cold;
    sb_addf(b, "trial %lld of campaign %lld: %s, %s on %s\n", (long long)tree_int(trial, "id"),
            (long long)tree_int(trial, "campaign"), tree_text(trial, "kernel"), tree_text(trial, "problem"),
            tree_text(trial, "device"));
    const char *reason = tree_text(trial, "reason");
    if (json_object_size(json_object_get(trial, "configuration"))) {
        sb_add(b, "  ");
        report_configuration(b, json_object_get(trial, "configuration"));
        sb_add(b, "\n");
    }
    sb_addf(b, "  %s", tree_text(trial, "outcome"));
    int len = (int)strlen(reason); /* a compiler's message ends its line */
    while (len > 0 && (reason[len - 1] == '\n' || reason[len - 1] == ' '))
        len--;
    if (len)
        sb_addf(b, ": %.*s", len, reason);
    if (!isnan(ms))
        sb_addf(b, ", %.4g ms%s", ms, isnan(cold) ? "" : " cold");
    if (!isnan(tree_number(trial, "speedup")))
        sb_addf(b, ", %.3f times the first baseline's speed", tree_number(trial, "speedup"));
    sb_add(b, "\n");
}

/* Which figures of a roofline are not there, and who gives them. */
static void print_missing(struct strbuf *b, const json_t *r)
{
    static const struct {
        const char *key, *text;
    } figures[] = {{"f32_tflops", "the device's peak rate"},
                   {"peak_gbps", "the device's memory bandwidth"},
                   {"flops", "the problem's FLOPs (`flops` in its specification)"},
                   {"bytes", "the problem's bytes (`bytes` in its specification)"}};
    int missing = 0;
    sb_add(b, "  not placed on the roofline: ");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (isnan(tree_number(r, figures[i].key)))
            sb_addf(b, "%s%s", missing++ ? ", " : "", figures[i].text);
    sb_addf(b, " %s not recorded\n", missing == 1 ? "is" : "are");
}

/* "the tensor cores' rate in bf16" */
static void add_units(struct strbuf *b, const json_t *r, const char *what)
{
    const char *unit = tree_text(r, "unit");
    if (strcmp(unit, unit_name(UNIT_f32)) == 0)
        sb_addf(b, "the float32 units' %s", what);
    else
        sb_addf(b, "the tensor cores' %s in %s", what, unit);
}

static bool assumed(const json_t *r)
{
    return strcmp(tree_text(r, "unit_from"), ceiling_from_name(CEILING_ASSUMED)) == 0;
}

static void print_bound(struct strbuf *b, const json_t *r)
{
    const char *bound = tree_text(r, "bound");
    double intensity = tree_number(r, "intensity");
    sb_addf(b, "  %.4g FLOPs and %.4g bytes: %.4g FLOPs a byte, ", tree_number(r, "flops"), tree_number(r, "bytes"),
            intensity);
    if (strcmp(bound, "compute") == 0) {
        sb_add(b, "so ");
        add_units(b, r, "rate");
        sb_add(b, assumed(r) ? " would bound it\n" : " bounds it\n");
    } else if (*bound)
        sb_add(b, "so memory's bandwidth bounds it\n");
    else
        sb_addf(b, "for which memory's bandwidth allows %.4g TFLOP/s\n",
                intensity * tree_number(r, "peak_gbps") / 1000);
}

static void print_compute_share(struct strbuf *b, const json_t *trial, const json_t *r)
{
    double products = tree_number(r, "products"), share = tree_number(r, "of_peak");
    sb_addf(b, "  %.4g TFLOP/s, ", tree_number(trial, "tflops"));
    if (!*tree_text(r, "unit")) {
        double floats = tree_number(r, "f32_tflops");
        if (tree_number(trial, "tflops") > floats)
            sb_addf(b, "more than the float32 units' peak of %.4g: it computes with others, which its specification "
                    "does not name, so that peak is no ceiling\n", floats);
        else
            sb_add(b, "of a peak that is not known\n");
        return;
    }
    if (isnan(share)) {
        sb_add(b, "of ");
        add_units(b, r, "peak");
        sb_add(b, ", which is not known for this device\n");
        return;
    }
    sb_addf(b, "%.1f %% of ", 100 * share);
    if (products != 1)
        sb_addf(b, "%.4g, ", tree_number(r, "peak_tflops"));
    add_units(b, r, "peak");
    sb_addf(b, " of %.4g", tree_number(r, "unit_tflops"));
    if (products != 1)
        sb_addf(b, " over %.4g products each", products);
    if (assumed(r))
        sb_add(b, " (its specification names no others)");
    sb_add(b, share > 1 ? ": it uses others, or does less than its specification's `flops`\n" : "\n");
}

static void print_roofline(struct strbuf *b, const json_t *trial, const json_t *r)
{
    double memory = tree_number(r, "of_bandwidth"), all = tree_number(r, "of_roofline");
    sb_add(b, "\nceilings\n");
    if (isnan(tree_number(r, "f32_tflops")) || isnan(tree_number(r, "peak_gbps")) ||
        isnan(tree_number(r, "intensity"))) {
        print_missing(b, r);
        return;
    }
    print_bound(b, r);
    if (isnan(tree_number(trial, "tflops")))
        return;
    print_compute_share(b, trial, r);
    sb_addf(b, "  %.4g GB/s, %.1f %% of the bandwidth of %.4g%s\n", tree_number(trial, "gbps"), 100 * memory,
            tree_number(r, "peak_gbps"),
            memory > 1 ? ": caches hold part of its bytes, or it moves less than its specification's `bytes`" : "");
    if (!isnan(all))
        sb_addf(b, "  %.1f %% of the roofline\n", 100 * all);
}

/* counted: registers are known; several: of a pipeline's launches the largest. */
static void print_launch(struct strbuf *b, const json_t *launch, bool counted, bool several)
{
    sb_addf(b, "  %s: %lld blocks of %lld threads, %lld bytes of dynamic shared memory\n",
            tree_text(launch, "function"), (long long)tree_int(launch, "blocks"),
            (long long)tree_int(launch, "threads"), (long long)tree_int(launch, "shared_bytes"));
    const json_t *by = json_object_get(launch, "blocks_by");
    const char *name, *limiter = tree_text(launch, "limiter");
    json_t *blocks;
    if (!json_is_object(by)) {
        if (counted && several)
            sb_add(b, "    how many an SM holds is not known: only the pipeline's largest registers and static shared "
                   "memory are recorded\n");
        return;
    }
    sb_addf(b, "    an SM holds %s%lld (occupancy %.1f %%), limited by the %s; by the others it would hold",
            several ? "at least " : "", (long long)tree_int(launch, "resident"), 100 * tree_number(launch, "occupancy"),
            limit_text(limiter));
    json_object_foreach((json_t *)by, name, blocks)
        if (strcmp(name, limiter) != 0 && json_integer_value(blocks) < INT32_MAX)
            sb_addf(b, " %lld (%s)", (long long)json_integer_value(blocks), name);
    double waves = tree_number(launch, "waves");
    if (!isnan(waves) && waves > 0)
        sb_addf(b, "\n    %.2f waves: the last keeps the device %.0f %% busy", waves,
                100 * (waves == ceil(waves) ? 1 : waves - floor(waves)));
    sb_add(b, "\n");
}

static void print_resources(struct strbuf *b, const json_t *trial, const json_t *launches)
{
    size_t i;
    json_t *launch;
    sb_add(b, "\nresources\n");
    if (!json_is_integer(json_object_get(trial, "registers")) && !json_array_size(launches))
        sb_add(b, "  not known\n");
    bool counted = json_is_integer(json_object_get(trial, "registers"));
    if (counted)
        sb_addf(b, "  %lld registers a thread\n", (long long)tree_int(trial, "registers"));
    if (tree_int(trial, "local_bytes") > 0)
        sb_addf(b, "  %lld bytes of local memory a thread: spilled registers, or arrays that are indexed at run time\n",
                (long long)tree_int(trial, "local_bytes"));
    else if (json_is_integer(json_object_get(trial, "local_bytes")))
        sb_add(b, "  no local memory: nothing is spilled\n");
    if (!isnan(tree_number(trial, "occupancy")))
        sb_addf(b, "  occupancy %.1f %% by the driver\n", 100 * tree_number(trial, "occupancy"));
    json_array_foreach(launches, i, launch) print_launch(b, launch, counted, json_array_size(launches) > 1);
}

static void value_text(struct strbuf *b, const json_t *value)
{
    if (json_is_null(value))
        sb_add(b, "not active");
    else if (json_is_string(value))
        sb_add(b, json_string_value(value));
    else
        json_line(b, value);
}

static void print_neighbours(struct strbuf *b, const json_t *list, int64_t top)
{
    struct table *t = table_new();
    size_t n = json_array_size(list), faster = 0;
    for (size_t i = 0; i < n; i++)
        faster += tree_number(json_array_get(list, i), "ratio") < 1 &&
                  json_is_true(json_object_get(json_array_get(list, i), "eligible"));
    sb_addf(b, "\nneighbours that were tried: %zu differ in one parameter, %zu of them faster\n", n, faster);
    table_column(t, "trial", TABLE_RIGHT, 0);
    table_column(t, "parameter", TABLE_LEFT, 0);
    table_column(t, "from", TABLE_RIGHT, 0);
    table_column(t, "to", TABLE_RIGHT, 0);
    table_column(t, "time ms", TABLE_RIGHT, 0);
    table_column(t, "ratio", TABLE_RIGHT, 0);
    table_column(t, "outcome", TABLE_LEFT, 0);
    for (size_t i = 0; i < n && (int64_t)i < top; i++) {
        const json_t *one = json_array_get(list, i);
        struct strbuf from = {0}, to = {0};
        value_text(&from, json_object_get(one, "from"));
        value_text(&to, json_object_get(one, "to"));
        table_cellf(t, "%lld", (long long)tree_int(one, "trial"));
        table_cell(t, tree_text(one, "parameter"));
        table_cell(t, sb_str(&from));
        table_cell(t, sb_str(&to));
        table_cellf(t, isnan(tree_number(one, "time_ms")) ? "" : "%.4g", tree_number(one, "time_ms"));
        table_cellf(t, isnan(tree_number(one, "ratio")) ? "" : "%.3f", tree_number(one, "ratio"));
        table_cellf(t, "%s%s", tree_text(one, "outcome"),
                    !strcmp(tree_text(one, "outcome"), "ok") && !json_is_true(json_object_get(one, "eligible"))
                        ? ", may not win"
                        : "");
        sb_free(&from);
        sb_free(&to);
    }
    if (n)
        table_print(t, text_columns(stdout), b);
    table_free(t);
}

static status print_all(const json_t *x, const struct explain_args *args, struct err *e)
{
    const json_t *trial = json_object_get(x, "trial");
    struct strbuf b = {0};
    if (args->json)
        return out_json(x, e);
    if (args->csv)
        return report_csv_rows_out(json_object_get(x, "neighbours"),
                                   "trial,parameter,from,to,outcome,time_ms,ratio,eligible", e);
    print_trial(&b, trial);
    print_roofline(&b, trial, json_object_get(x, "roofline"));
    print_resources(&b, trial, json_object_get(x, "launches"));
    print_neighbours(&b, json_object_get(x, "neighbours"), args->top);
    return out_report(&b, e);
}

/* The launches of a stored trial, of which a baseline of the library's has none of its own, and its ceiling. */
static status plan_of(const struct stored *t, struct plan *plan, struct ceiling *ceiling, struct err *e)
{
    struct value *slots = mem_zalloc((size_t)t->kernel->scope.count + 1, sizeof *slots);
    kernel_slots_fixed(t->problem, t->kernel, &t->target, slots);
    status s = kernel_slots_config(t->kernel, t->choice, slots, e);
    if (s == LATHE_OK)
        s = ceiling_of(t->problem, t->kernel, &t->target, slots, ceiling, e);
    if (s == LATHE_OK)
        s = plan_build(t->problem, t->kernel, slots, plan, e);
    mem_free(slots);
    return s;
}

/* Of what was recorded elsewhere no launches are known, nor what computes. */
static status explain_stored(struct query *q, const json_t *trial, const struct stored *t,
                             const struct explain_args *args, struct err *e)
{
    struct plan plan;
    struct ceiling ceiling = {.from = CEILING_UNKNOWN};
    bool runs = !t->problem->space_alone;
    json_t *x = NULL;
    status s = runs ? plan_of(t, &plan, &ceiling, e) : LATHE_OK;
    if (s != LATHE_OK)
        return s;
    s = explain_make(q, trial, t->kernel, runs ? &plan : NULL, &ceiling, &t->target, &x, e);
    if (s == LATHE_OK)
        s = print_all(x, args, e);
    json_decref(x);
    if (runs)
        plan_free(&plan);
    return s;
}

static status explain_trial(struct query *q, int64_t id, const struct explain_args *args, struct err *e)
{
    json_t *provenance = NULL;
    struct stored t;
    status s = query_provenance(q, id, &provenance, e);
    if (s == LATHE_NOTHING) {
        struct strbuf db = {0};
        query_db_option(&db, args->db);
        err_set(e, LATHE_NOTHING, "there is no trial %lld in %.300s\n`lathe show N%.300s` lists a campaign's",
                (long long)id, args->db, sb_str(&db));
        sb_free(&db);
        return LATHE_NOTHING;
    }
    if (s == LATHE_OK)
        s = stored_open(provenance, NULL, args->db, &t, e);
    if (s == LATHE_OK) {
        s = explain_stored(q, json_object_get(provenance, "trial"), &t, args, e);
        stored_free(&t);
    }
    json_decref(provenance);
    return s;
}

/* LATHE_NOTHING: what was imported or replayed is explained only where it is named. */
static status none_measured(struct query *q, const struct explain_args *args, struct err *e)
{
    json_t *campaigns = NULL;
    status s = query_campaigns(q, &campaigns, e);
    size_t n = json_array_size(campaigns);
    struct strbuf db = {0};
    query_db_option(&db, args->db);
    if (s == LATHE_OK && n)
        s = err_set(e, LATHE_NOTHING,
                    "nothing in %.300s was measured here: what there is was imported or replayed\n"
                    "`lathe explain TRIAL%.300s` takes a trial of that: `lathe show %lld%.300s` lists them, with their "
                    "numbers",
                    args->db, sb_str(&db), (long long)tree_int(json_array_get(campaigns, n - 1), "id"), sb_str(&db));
    else if (s == LATHE_OK)
        s = err_set(e, LATHE_NOTHING, "%.300s has no campaigns\nrun `lathe tune%.300s` first", args->db, sb_str(&db));
    sb_free(&db);
    json_decref(campaigns);
    return s;
}

/* The newest campaign; of a problem the newest that has a verified configuration of it. */
static status newest_campaign(struct query *q, const struct explain_args *args, int64_t *campaign, struct err *e)
{
    const struct selection sel = {.problem = args->problem, .db = args->db};
    struct query_filter f;
    struct newest n;
    if (!args->problem) {
        status found = query_newest(q, campaign, e);
        return found == LATHE_NOTHING ? none_measured(q, args, e) : found;
    }
    status s = selection_filter(&sel, &f, e);
    if (s == LATHE_OK)
        s = newest_find(q, &f, &n, e);
    if (s != LATHE_OK)
        return s;
    *campaign = n.campaign;
    newest_free(&n);
    return *campaign ? LATHE_OK : selection_nothing(&sel, q, e);
}

/* The best of it. */
static status newest_best(struct query *q, const struct explain_args *args, int64_t *id, struct err *e)
{
    json_t *best = NULL;
    struct query_filter f = {.top = 1};
    status s = newest_campaign(q, args, &f.campaign, e);
    if (s == LATHE_OK)
        s = query_best(q, &f, &best, e);
    struct strbuf db = {0};
    query_db_option(&db, args->db);
    if (s == LATHE_OK && json_array_size(best) == 0)
        s = err_set(e, LATHE_NOTHING,
                    "campaign %lld of %.300s has no verified configuration\ngive a trial's number: `lathe show "
                    "%lld%.300s` lists them",
                    (long long)f.campaign, args->db, (long long)f.campaign, sb_str(&db));
    sb_free(&db);
    *id = tree_int(json_array_get(best, 0), "id");
    json_decref(best);
    return s;
}

static status explain_run(const struct cli *cli, void *p, struct err *e)
{
    const struct explain_args *args = p;
    int64_t id = 0;
    status s = args->trial ? parse_count("TRIAL", args->trial, 1, INT64_MAX, &id, e) : LATHE_OK;
    struct query *q;
    if (s == LATHE_OK && args->trial && args->problem)
        s = err_set(e, LATHE_USAGE, "explain: TRIAL already says which one\nleave out --problem, or the number");
    if (s == LATHE_OK)
        s = report_one_form("explain", args->json, args->csv, e);
    if (s != LATHE_OK || (s = query_open(args->db, &q, e)) != LATHE_OK)
        return s;
    if (!args->trial)
        s = newest_best(q, args, &id, e);
    if (s == LATHE_OK)
        s = explain_trial(q, id, args, e);
    query_close(q);
    return s;
}

const struct command command_explain = {
    .name = "explain",
    .summary = "says what limits a trial, and what its neighbours measured",
    .details = "Occupancy and what limits it are computed by NVIDIA's rules from the launches, the registers and the "
               "shared memory; of a "
               "pipeline of several launches, the largest. Neighbours are trials of the same campaign and kernel that "
               "differ in "
               "one parameter.",
    .options = explain_options,
    .args_size = sizeof(struct explain_args),
    .run = explain_run,
};
