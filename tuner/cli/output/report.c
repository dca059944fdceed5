/* report.c: trials and campaigns as tables. Times in one column have the same number of decimals, so that they can be
 * compared by eye: as many as give the smallest three significant digits behind its first. */
#include "cli/output/report.h"
#include "cli/output/report_cells.h"
#include "console/output.h"
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

bool report_seconds(struct strbuf *b, const json_t *campaign)
{
    double recorded = tree_number(campaign, "recorded_seconds"),
           seconds = isnan(recorded) ? tree_number(campaign, "seconds") : recorded;
    if (!isnan(seconds))
        sb_addf(b, seconds > 0 && seconds < 1 ? "%.2g" : "%.1f", seconds);
    return !isnan(seconds);
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
    sb_addf(b, ", seed %lld%s\n", (long long)tree_int(campaign, "seed"),
            strcmp(tree_text(campaign, "objective"), "energy") ? "" : ", for the least energy");
    if (json_object_get(campaign, "tolerance") && !report_is_recorded(campaign)) {
        sb_add(b, "tolerance ");
        report_tolerance(b, json_object_get(campaign, "tolerance"));
        sb_addf(b, ", inputs %s\n", tree_text(campaign, "inputs"));
    }
    const json_t *restrictions = json_object_get(campaign, "restrictions");
    for (size_t i = 0; i < json_array_size(restrictions); i++)
        sb_addf(b, "only where %s\n", json_string_value(json_array_get(restrictions, i)));
    sb_addf(b, "%s", tree_text(campaign, "state"));
    struct strbuf took = {0};
    if (report_seconds(&took, campaign))
        sb_addf(b, " after %s s%s", sb_str(&took), report_is_recorded(campaign) ? " of recorded time" : "");
    sb_free(&took);
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
        table_print(t, text_columns(stdout), b);
    table_free(t);
}

void report_trials(struct strbuf *b, const json_t *trials, int64_t total, int columns)
{
    size_t n = json_array_size(trials);
    int digits = cells_decimals(trials, NULL, "time_ms");
    struct table *t = table_new();
    table_column(t, "number", TABLE_RIGHT, 0);
    table_column(t, "trial", TABLE_RIGHT, 0);
    table_column(t, "kernel", TABLE_LEFT, 0);
    table_column(t, "outcome", TABLE_LEFT, 0);
    table_column(t, "time ms", TABLE_RIGHT, 0);
    table_column(t, "error", TABLE_RIGHT, 0);
    table_column(t, "configuration", TABLE_LEFT, 0);
    table_pairs(t);
    table_column(t, "reason", TABLE_LEFT, columns ? TRIAL_REASON_TERMINAL : TRIAL_REASON_WIDTH);
    table_optional(t);
    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(trials, i);
        table_cellf(t, "%lld", (long long)tree_int(r, "number"));
        table_cellf(t, "%lld", (long long)tree_int(r, "id"));
        table_cell(t, tree_text(r, "kernel"));
        table_cell(t, tree_text(r, "outcome"));
        cell_number(t, r, "time_ms", "%.*f", digits);
        cell_number(t, r, "error", "%.*e", 1);
        cell_configuration(t, r, false);
        table_cell(t, tree_text(r, "reason"));
    }
    if (total > (int64_t)n)
        sb_addf(b, "the last %zu of %lld trials (all of them with --all):\n", n, (long long)total);
    if (table_rows(t))
        table_print(t, text_columns(stdout), b);
    table_free(t);
}

void report_campaigns(struct strbuf *b, const json_t *campaigns)
{
    int best = cells_decimals(campaigns, NULL, "best_ms"), baseline = cells_decimals(campaigns, NULL, "baseline_ms");
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
                cell_size(t, c);
            else
                table_cell(t, tree_text(c, texts[k]));
        table_cellf(t, "%lld", (long long)tree_int(c, "trials"));
        table_cellf(t, "%lld", (long long)tree_int(c, "ok"));
        cell_number(t, c, "best_ms", "%.*f", best);
        cell_number(t, c, "baseline_ms", "%.*f", baseline);
        cell_number(t, c, "speedup", "%.*fx", 2);
    }
    table_print(t, text_columns(stdout), b);
    table_free(t);
}
