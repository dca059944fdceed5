/* report_best.c: see report.h: trials and baselines side by side, in columns, what all share said once. */
#include "cli/output/report.h"
#include "db/query.h"
#include "cli/output/report_cells.h"
#include "console/output.h"
#include "console/table.h"
#include "model/inputs.h"
#include <math.h>
#include <string.h>

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
    int rate = cells_decimals(rows, more, "tflops");
    if (rate != CELLS_POWERS)
        rate = low && rate > 3 ? rate - 3 : low ? 1 : rate;
    return (struct trial_layout){
        .problem = !cells_uniform(rows, more, "problem"),
        .operator = one_name_for_several(rows, more),
        .size = !cells_uniform(rows, more, "size"),
        .device = !cells_uniform(rows, more, "device"),
        .tolerance = !cells_uniform(rows, more, "tolerance"),
        .inputs = !cells_uniform(rows, more, "inputs"),
        .campaign = !cells_uniform(rows, more, "campaign"),
        .time = cells_decimals(rows, more, "time_ms"),
        .cold = cells_decimals(rows, more, "cold_ms"),
        .sustained = cells_decimals(rows, more, "sustained_ms"),
        .energy = cells_decimals(rows, more, "energy_mj"),
        .rate = rate,
        .rate_scale = low ? 1000 : 1,
        .gbps = cells_decimals(rows, more, "gbps"),
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
        cell_size(t, trial);
    if (l->device)
        table_cell(t, tree_text(trial, "device"));
    if (l->tolerance)
        cell_tolerance(t, trial);
    if (l->inputs)
        table_cell(t, tree_text(trial, "inputs"));
    table_cell(t, tree_text(trial, "kernel"));
    cell_number(t, trial, "time_ms", "%.*f", l->time);
    cell_number(t, trial, "cold_ms", "%.*f", l->cold);
    cell_number(t, trial, "sustained_ms", "%.*f", l->sustained);
    cell_number(t, trial, "energy_mj", "%.*f", l->energy);
    cell_number(t, trial, "speedup", "%.*fx", 2);
    cell_scaled(t, trial, "tflops", l->rate_scale, "%.*f", l->rate);
    if (l->bandwidth)
        cell_number(t, trial, "gbps", "%.*f", l->gbps);
    cell_number(t, trial, "error", "%.*e", 1);
    if (l->front) {
        table_cell(t, tree_text(json_object_get(trial, "configuration"), "FORMAT"));
        table_cell(t, tree_text(trial, "outcome"));
    }
    cell_configuration(t, trial, !l->front);
}

static void common_line(struct strbuf *b, const json_t *trial, const struct trial_layout *l)
{
    struct strbuf line = {0};
    if (!l->problem)
        sb_add(&line, tree_text(trial, "problem"));
    if (!l->size && json_object_size(json_object_get(trial, "size"))) {
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
    return verified && !report_is_recorded(trial) &&
           inputs_plain((enum inputs)inputs_parse(tree_text(trial, "inputs"))) && isnan(tree_number(trial, "error"));
}

bool report_is_far(const json_t *trial)
{
    return !strcmp(tree_text(trial, "outcome"), "ok") && !report_is_recorded(trial) &&
           inputs_plain((enum inputs)inputs_parse(tree_text(trial, "inputs"))) && tree_number(trial, "error") >= 1;
}

static void blind_line(struct strbuf *b, const char *db, const json_t *best)
{
    for (size_t i = 0; i < json_array_size(best); i++) {
        const json_t *trial = json_array_get(best, i);
        if (!report_is_blind(trial))
            continue;
        sb_addf(b, "\nwarning: no error where outputs do not tell products apart; `lathe show %lld",
                (long long)tree_int(trial, "campaign"));
        query_db_option(b, db);
        sb_add(b, "` says more\n");
        return;
    }
}

static void print_trials(struct strbuf *b, const json_t *best, const json_t *baselines, const char *db, bool front)
{
    struct trial_layout l = layout_of(best, baselines);
    l.front = front;
    const json_t *first = json_array_size(best) ? json_array_get(best, 0) : json_array_get(baselines, 0);
    if (db && first)
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
    table_pairs(t);
    for (size_t i = 0; i < json_array_size(best); i++) {
        char rank[24];
        snprintf(rank, sizeof rank, "%zu", i + 1);
        best_row(t, json_array_get(best, i), &l, rank);
    }
    for (size_t i = 0; i < json_array_size(baselines); i++)
        best_row(t, json_array_get(baselines, i), &l, "base");
    if (table_rows(t))
        table_print(t, text_columns(stdout), b);
    table_free(t);
    if (l.operator)
        sb_add(
            b,
            "\nwarning: one name stands for several problems: where 'operator' differs, tensors, scalars, reference or "
            "epilogue do, and times do not compare; --campaign lists one\n");
    if (db)
        blind_line(b, db, best);
}

void report_best(struct strbuf *b, const json_t *best, const json_t *baselines, const char *db)
{
    print_trials(b, best, baselines, db, false);
}

void report_front(struct strbuf *b, const json_t *front, const char *db)
{
    print_trials(b, front, NULL, db, true);
}
