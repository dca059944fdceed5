/* report.c: trials and campaigns as tables. Times in one column have the same number of decimals, so that they can be
 * compared by eye: as many as give the smallest three significant digits behind its first. */
#include "cli/report.h"
#include "console/table.h"
#include "model/inputs.h"
#include <math.h>
#include <string.h>

/* Widths of the reasons where nothing else limits them: a compiler's log is thousands of characters, of which the first
 * tell most. --json has it whole. */
enum { REASON_WIDTH = 500, TRIAL_REASON_WIDTH = 100, TRIAL_REASON_TERMINAL = 60 };

double tree_number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

int64_t tree_int(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

const char *tree_text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

bool tree_true(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_true(v) || (json_is_integer(v) && json_integer_value(v) != 0);
}

static void add_value(struct strbuf *b, const json_t *v)
{
    if (json_is_string(v))
        sb_add(b, json_string_value(v));
    else if (json_is_boolean(v))
        sb_add(b, json_is_true(v) ? "true" : "false");
    else if (json_is_integer(v))
        sb_addf(b, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        sb_addf(b, "%.15g", json_real_value(v));
}

static void add_pairs(struct strbuf *b, const json_t *object)
{
    const char *key, *separator = "";
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        sb_addf(b, "%s%s=", separator, key);
        add_value(b, value);
        separator = " ";
    }
}

void report_size(struct strbuf *b, const json_t *size)
{
    add_pairs(b, size);
}

void report_tolerance(struct strbuf *b, const json_t *tolerance)
{
    const char *limit, *separator = "";
    json_t *value;
    json_object_foreach((json_t *)tolerance, limit, value)
    {
        if (json_number_value(value) == 0 && strcmp(limit, "atol") != 0 && strcmp(limit, "rtol") != 0)
            continue;
        sb_addf(b, "%s%s=%g", separator, limit, json_number_value(value));
        separator = " ";
    }
}

void report_configuration(struct strbuf *b, const json_t *configuration)
{
    add_pairs(b, configuration);
}

/* The same for every row of both arrays? key "size" is compared as a tree. */
static bool uniform(const json_t *rows, const json_t *more, const char *key)
{
    const json_t *first = NULL;
    for (int part = 0; part < 2; part++) {
        const json_t *array = part ? more : rows;
        for (size_t i = 0; i < json_array_size(array); i++) {
            const json_t *v = json_object_get(json_array_get(array, i), key);
            if (first && !json_equal((json_t *)first, (json_t *)v))
                return false;
            first = v;
        }
    }
    return true;
}

/* Decimals for a column of positive numbers: four significant digits for the smallest of them. */
static int decimals(const json_t *rows, const json_t *more, const char *key)
{
    double least = INFINITY;
    for (int part = 0; part < 2; part++) {
        const json_t *array = part ? more : rows;
        for (size_t i = 0; i < json_array_size(array); i++) {
            double v = tree_number(json_array_get(array, i), key);
            if (v > 0 && v < least)
                least = v;
        }
    }
    if (!isfinite(least))
        return 3;
    int d = 3 - (int)floor(log10(least));
    return d < 1 ? 1 : d > 7 ? 7 : d;
}

static void scaled_cell(struct table *t, const json_t *row, const char *key, double scale, const char *fmt, int precision)
{
    double v = scale * tree_number(row, key);
    char text[64] = "";
    if (!isnan(v))
        snprintf(text, sizeof text, fmt, precision, v);
    table_cell(t, text);
}

static void number_cell(struct table *t, const json_t *row, const char *key, const char *fmt, int precision)
{
    scaled_cell(t, row, key, 1, fmt, precision);
}

static void size_cell(struct table *t, const json_t *row)
{
    struct strbuf b = {0};
    report_size(&b, json_object_get(row, "size"));
    table_cell(t, sb_str(&b));
    sb_free(&b);
}

static void tolerance_cell(struct table *t, const json_t *row)
{
    struct strbuf b = {0};
    if (report_is_recorded(row))
        sb_add(&b, "not verified here");
    else
        report_tolerance(&b, json_object_get(row, "tolerance"));
    table_cell(t, sb_str(&b));
    sb_free(&b);
}

/* A trial that is not ok (a baseline may be shown all the same) has its outcome behind its configuration, if `tell`. */
static void configuration_cell(struct table *t, const json_t *row, bool tell)
{
    struct strbuf b = {0};
    report_configuration(&b, json_object_get(row, "configuration"));
    if (tell && strcmp(tree_text(row, "outcome"), "ok") != 0 && *tree_text(row, "outcome"))
        sb_addf(&b, "%s(%s)", b.len ? " " : "", tree_text(row, "outcome"));
    table_cell(t, sb_str(&b));
    sb_free(&b);
}

/* Do rows of one problem's name compute different things? */
static bool one_name_for_several(const json_t *rows, const json_t *more)
{
    json_t *operators = json_object(); /* by name */
    bool found = false;
    for (int part = 0; part < 2 && !found; part++) {
        const json_t *array = part ? more : rows;
        for (size_t i = 0; i < json_array_size(array) && !found; i++) {
            const json_t *row = json_array_get(array, i), *operator = json_object_get(row, "operator");
            const json_t *before = json_object_get(operators, tree_text(row, "problem"));
            found = before && !json_equal((json_t *)before, (json_t *)operator);
            json_object_set(operators, tree_text(row, "problem"), (json_t *)operator);
        }
    }
    json_decref(operators);
    return found;
}

/* Which of the descriptive columns a table of trials needs, and the decimals of its numbers. */
struct trial_layout {
    bool problem, operator, size, device, tolerance, inputs, campaign, front;
    int time, cold, sustained, energy, rate, gbps;
    double rate_scale; /* of TFLOP/s: 1000 where all are so low that GFLOP/s are shown */
    bool bandwidth;    /* so few FLOPs a byte that GB/s tell more */
};

enum { FEW_FLOPS_A_BYTE = 4 };
#define LOW_TFLOPS 0.1

static double largest(const json_t *rows, const json_t *more, const char *key)
{
    double most = NAN;
    for (int part = 0; part < 2; part++) {
        const json_t *array = part ? more : rows;
        for (size_t i = 0; i < json_array_size(array); i++)
            most = fmax(most, tree_number(json_array_get(array, i), key));
    }
    return most;
}

static struct trial_layout layout_of(const json_t *rows, const json_t *more)
{
    double tflops = largest(rows, more, "tflops"), gbps = largest(rows, more, "gbps");
    bool low = tflops < LOW_TFLOPS;
    int rate = decimals(rows, more, "tflops") - (low ? 3 : 0);
    return (struct trial_layout){
        .problem = !uniform(rows, more, "problem"),
        .operator = one_name_for_several(rows, more),
        .size = !uniform(rows, more, "size"),
        .device = !uniform(rows, more, "device"),
        .tolerance = !uniform(rows, more, "tolerance"),
        .inputs = !uniform(rows, more, "inputs"),
        .campaign = !uniform(rows, more, "campaign"),
        .time = decimals(rows, more, "time_ms"),
        .cold = decimals(rows, more, "cold_ms"),
        .sustained = decimals(rows, more, "sustained_ms"),
        .energy = decimals(rows, more, "energy_mj"),
        .rate = rate < 1 ? 1 : rate,
        .rate_scale = low ? 1000 : 1,
        .gbps = decimals(rows, more, "gbps"),
        .bandwidth = 1000 * tflops < FEW_FLOPS_A_BYTE * gbps,
    };
}

static void best_row(struct table *t, const json_t *trial, const struct trial_layout *l, const char *rank)
{
    table_cell(t, rank);
    table_cellf(t, "%lld", (long long)tree_int(trial, "id"));
    if (l->campaign)
        table_cellf(t, "%lld", (long long)tree_int(trial, "campaign"));
    if (l->problem)
        table_cell(t, tree_text(trial, "problem"));
    if (l->operator)
        table_cellf(t, "%lld", (long long)tree_int(trial, "operator"));
    if (l->size)
        size_cell(t, trial);
    if (l->device)
        table_cell(t, tree_text(trial, "device"));
    if (l->tolerance)
        tolerance_cell(t, trial);
    if (l->inputs)
        table_cell(t, tree_text(trial, "inputs"));
    table_cell(t, tree_text(trial, "kernel"));
    number_cell(t, trial, "time_ms", "%.*f", l->time);
    number_cell(t, trial, "cold_ms", "%.*f", l->cold);
    number_cell(t, trial, "sustained_ms", "%.*f", l->sustained);
    number_cell(t, trial, "energy_mj", "%.*f", l->energy);
    number_cell(t, trial, "speedup", "%.*fx", 2);
    scaled_cell(t, trial, "tflops", l->rate_scale, "%.*f", l->rate);
    if (l->bandwidth)
        number_cell(t, trial, "gbps", "%.*f", l->gbps);
    number_cell(t, trial, "error", "%.*e", 1);
    if (l->front) {
        table_cell(t, tree_text(json_object_get(trial, "configuration"), "FORMAT"));
        table_cell(t, tree_text(trial, "outcome"));
    }
    configuration_cell(t, trial, !l->front);
}

static void common_line(struct strbuf *b, const json_t *trial, const struct trial_layout *l)
{
    struct strbuf line = {0};
    if (!l->problem)
        sb_add(&line, tree_text(trial, "problem"));
    if (!l->size) {
        sb_add(&line, line.len ? " " : "");
        report_size(&line, json_object_get(trial, "size"));
    }
    if (!l->device)
        sb_addf(&line, "%son %s", line.len ? " " : "", tree_text(trial, "device"));
    if (!l->campaign)
        sb_addf(&line, "%scampaign %lld", line.len ? ", " : "", (long long)tree_int(trial, "campaign"));
    if (!l->tolerance && json_object_get(trial, "tolerance")) {
        sb_add(&line, line.len ? ", " : "");
        if (report_is_recorded(trial)) {
            sb_add(&line, "recorded, not verified here");
        } else {
            sb_add(&line, "verified to ");
            report_tolerance(&line, json_object_get(trial, "tolerance"));
        }
    }
    if (!l->inputs && strcmp(tree_text(trial, "inputs"), "default") != 0 && *tree_text(trial, "inputs"))
        sb_addf(&line, "%son inputs %s", line.len ? ", " : "", tree_text(trial, "inputs"));
    if (line.len)
        sb_addf(b, "%s\n\n", sb_str(&line));
    sb_free(&line);
}

bool report_is_recorded(const json_t *trial)
{
    const char *kind = tree_text(trial, "device_kind");
    return !strcmp(kind, "imported") || !strcmp(kind, "replay");
}

bool report_is_blind(const json_t *trial)
{
    const char *outcome = tree_text(trial, "outcome");
    bool verified = !strcmp(outcome, "ok") || !strcmp(outcome, "inaccurate");
    return verified && !report_is_recorded(trial) && inputs_plain((enum inputs)inputs_parse(tree_text(trial, "inputs"))) &&
           isnan(tree_number(trial, "error"));
}

static void blind_line(struct strbuf *b, const json_t *best)
{
    for (size_t i = 0; i < json_array_size(best); i++) {
        const json_t *trial = json_array_get(best, i);
        if (!report_is_blind(trial))
            continue;
        sb_addf(b, "\nwarning: no error where outputs do not tell products apart; `lathe show %lld` says more\n",
                (long long)tree_int(trial, "campaign"));
        return;
    }
}

static void print_trials(struct strbuf *b, const json_t *best, const json_t *baselines, bool common, bool front)
{
    struct trial_layout l = layout_of(best, baselines);
    l.front = front;
    const json_t *first = json_array_size(best) ? json_array_get(best, 0) : json_array_get(baselines, 0);
    if (common && first)
        common_line(b, first, &l);
    struct table *t = table_new();
    table_column(t, "rank", TABLE_RIGHT, 0);
    table_column(t, "trial", TABLE_RIGHT, 0);
    if (l.campaign)
        table_column(t, "campaign", TABLE_RIGHT, 0);
    if (l.problem)
        table_column(t, "problem", TABLE_LEFT, 0);
    if (l.operator)
        table_column(t, "operator", TABLE_RIGHT, 0);
    if (l.size)
        table_column(t, "size", TABLE_LEFT, 0);
    if (l.device)
        table_column(t, "device", TABLE_LEFT, 0);
    if (l.tolerance)
        table_column(t, "tolerance", TABLE_LEFT, 0);
    if (l.inputs)
        table_column(t, "inputs", TABLE_LEFT, 0);
    table_column(t, "kernel", TABLE_LEFT, 0);
    table_column(t, "time ms", TABLE_RIGHT, 0);
    table_column(t, "cold ms", TABLE_RIGHT, 0);
    table_optional(t);
    table_column(t, "sustained ms", TABLE_RIGHT, 0);
    table_optional(t);
    table_column(t, "energy mJ", TABLE_RIGHT, 0);
    table_optional(t);
    table_column(t, "speed-up", TABLE_RIGHT, 0);
    table_optional(t);
    table_column(t, l.rate_scale > 1 ? "GFLOP/s" : "TFLOP/s", TABLE_RIGHT, 0);
    table_optional(t);
    if (l.bandwidth) {
        table_column(t, "GB/s", TABLE_RIGHT, 0);
        table_optional(t);
    }
    table_column(t, "error", TABLE_RIGHT, 0);
    if (front) {
        table_column(t, "format", TABLE_LEFT, 0);
        table_optional(t);
        table_column(t, "outcome", TABLE_LEFT, 0);
    }
    table_column(t, "configuration", TABLE_LEFT, 0);
    for (size_t i = 0; i < json_array_size(best); i++) {
        char rank[24];
        snprintf(rank, sizeof rank, "%zu", i + 1);
        best_row(t, json_array_get(best, i), &l, rank);
    }
    for (size_t i = 0; i < json_array_size(baselines); i++)
        best_row(t, json_array_get(baselines, i), &l, "base");
    table_print(t, b);
    table_free(t);
    if (l.operator)
        sb_add(b, "\nwarning: one name stands for several problems: where 'operator' differs, tensors, scalars, reference or "
                  "epilogue do, and times do not compare; --campaign lists one\n");
    if (common)
        blind_line(b, best);
}

void report_best(struct strbuf *b, const json_t *best, const json_t *baselines, bool common)
{
    print_trials(b, best, baselines, common, false);
}

void report_front(struct strbuf *b, const json_t *front)
{
    print_trials(b, front, NULL, true, true);
}

static void outcome_counts(struct strbuf *b, const json_t *outcomes)
{
    const char *name, *separator = "";
    json_t *count;
    json_object_foreach((json_t *)outcomes, name, count)
    {
        if (json_integer_value(count) == 0)
            continue;
        sb_addf(b, "%s%lld %s", separator, (long long)json_integer_value(count), name);
        separator = ", ";
    }
    if (!*separator)
        sb_add(b, "none");
}

void report_campaign(struct strbuf *b, const json_t *campaign)
{
    sb_addf(b, "campaign %lld: %s", (long long)tree_int(campaign, "id"), tree_text(campaign, "problem"));
    if (json_object_size(json_object_get(campaign, "size")))
        sb_add(b, " ");
    report_size(b, json_object_get(campaign, "size"));
    sb_addf(b, " on %s, strategy %s", tree_text(campaign, "device"), tree_text(campaign, "strategy"));
    if (*tree_text(campaign, "options"))
        sb_addf(b, " (%s)", tree_text(campaign, "options"));
    sb_addf(b, ", seed %lld\n", (long long)tree_int(campaign, "seed"));
    if (json_object_get(campaign, "tolerance") && !report_is_recorded(campaign)) {
        sb_add(b, "tolerance ");
        report_tolerance(b, json_object_get(campaign, "tolerance"));
        sb_addf(b, ", inputs %s\n", tree_text(campaign, "inputs"));
    }
    const json_t *restrictions = json_object_get(campaign, "restrictions");
    for (size_t i = 0; i < json_array_size(restrictions); i++)
        sb_addf(b, "only where %s\n", json_string_value(json_array_get(restrictions, i)));
    sb_addf(b, "%s", tree_text(campaign, "state"));
    double seconds = tree_number(campaign, "seconds");
    if (!isnan(seconds))
        sb_addf(b, " after %.1f s", seconds);
    const json_t *trials = json_object_get(campaign, "trials"); /* the trials themselves, or how many */
    long long count = json_is_array(trials) ? (long long)json_array_size(trials) : json_integer_value(trials);
    sb_addf(b, "; %lld trial%s: ", count, count == 1 ? "" : "s");
    outcome_counts(b, json_object_get(campaign, "outcomes"));
    sb_add(b, "\n");
    if (*tree_text(campaign, "note"))
        sb_addf(b, "%s: %s\n", strcmp(tree_text(campaign, "state"), "failed") ? "warning" : "reason",
                tree_text(campaign, "note"));
}

void report_reasons(struct strbuf *b, const json_t *reasons, int columns)
{
    struct table *t = table_new();
    table_column(t, "outcome", TABLE_LEFT, 0);
    table_column(t, "count", TABLE_RIGHT, 0);
    table_column(t, "reason", TABLE_LEFT, columns > 40 ? columns - 20 : columns ? 20 : REASON_WIDTH);
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const json_t *r = json_array_get(reasons, i);
        table_cell(t, tree_text(r, "outcome"));
        table_cellf(t, "%lld", (long long)tree_int(r, "count"));
        table_cell(t, tree_text(r, "reason"));
    }
    if (table_rows(t))
        table_print(t, b);
    table_free(t);
}

void report_trials(struct strbuf *b, const json_t *trials, int64_t total, int columns)
{
    size_t n = json_array_size(trials);
    int digits = decimals(trials, NULL, "time_ms");
    struct table *t = table_new();
    table_column(t, "number", TABLE_RIGHT, 0);
    table_column(t, "trial", TABLE_RIGHT, 0);
    table_column(t, "kernel", TABLE_LEFT, 0);
    table_column(t, "outcome", TABLE_LEFT, 0);
    table_column(t, "time ms", TABLE_RIGHT, 0);
    table_column(t, "error", TABLE_RIGHT, 0);
    table_column(t, "configuration", TABLE_LEFT, 0);
    table_column(t, "reason", TABLE_LEFT, columns ? TRIAL_REASON_TERMINAL : TRIAL_REASON_WIDTH);
    table_optional(t);
    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(trials, i);
        table_cellf(t, "%lld", (long long)tree_int(r, "number"));
        table_cellf(t, "%lld", (long long)tree_int(r, "id"));
        table_cell(t, tree_text(r, "kernel"));
        table_cell(t, tree_text(r, "outcome"));
        number_cell(t, r, "time_ms", "%.*f", digits);
        number_cell(t, r, "error", "%.*e", 1);
        configuration_cell(t, r, false);
        table_cell(t, tree_text(r, "reason"));
    }
    if (total > (int64_t)n)
        sb_addf(b, "the last %zu of %lld trials (all of them with --all):\n", n, (long long)total);
    if (table_rows(t))
        table_print(t, b);
    table_free(t);
}

void report_campaigns(struct strbuf *b, const json_t *campaigns)
{
    int best = decimals(campaigns, NULL, "best_ms"), baseline = decimals(campaigns, NULL, "baseline_ms");
    static const char *const texts[] = {"created", "problem", "size", "device", "strategy", "state"};
    struct table *t = table_new();
    table_column(t, "campaign", TABLE_RIGHT, 0);
    for (int i = 0; i < 6; i++)
        table_column(t, texts[i], TABLE_LEFT, 0);
    table_column(t, "trials", TABLE_RIGHT, 0);
    table_column(t, "ok", TABLE_RIGHT, 0);
    table_column(t, "best ms", TABLE_RIGHT, 0);
    table_column(t, "baseline ms", TABLE_RIGHT, 0);
    table_column(t, "speed-up", TABLE_RIGHT, 0);
    table_optional(t);
    for (size_t i = 0; i < json_array_size(campaigns); i++) {
        const json_t *c = json_array_get(campaigns, i);
        table_cellf(t, "%lld", (long long)tree_int(c, "id"));
        for (int k = 0; k < 6; k++)
            if (strcmp(texts[k], "size") == 0)
                size_cell(t, c);
            else
                table_cell(t, tree_text(c, texts[k]));
        table_cellf(t, "%lld", (long long)tree_int(c, "trials"));
        table_cellf(t, "%lld", (long long)tree_int(c, "ok"));
        number_cell(t, c, "best_ms", "%.*f", best);
        number_cell(t, c, "baseline_ms", "%.*f", baseline);
        number_cell(t, c, "speedup", "%.*fx", 2);
    }
    table_print(t, b);
    table_free(t);
}
