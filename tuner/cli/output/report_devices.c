/* report_devices.c: a campaign on several devices: who took part, and the final of each, in columns of their own. */
#include "cli/output/report.h"
#include "console/output.h"
#include "console/table.h"
#include <math.h>
#include <string.h>

/* What the final of a device measured of a trial; NaN: nothing. */
static double cold_on(const json_t *trial, const char *device)
{
    const json_t *finals = json_object_get(trial, "finals");
    for (size_t i = 0; i < json_array_size(finals); i++)
        if (!strcmp(tree_text(json_array_get(finals, i), "device"), device))
            return tree_number(json_array_get(finals, i), "cold_ms");
    return NAN;
}

/* Of the baselines, which come device by device in one order, those of this one. */
static const json_t *baseline_on(const json_t *baselines, const char *kernel, const char *device)
{
    for (size_t i = 0; i < json_array_size(baselines); i++) {
        const json_t *b = json_array_get(baselines, i);
        if (!strcmp(tree_text(b, "kernel"), kernel) && !strcmp(tree_text(b, "ran_on"), device))
            return b;
    }
    return NULL;
}

static void row(struct table *t, const json_t *devices, const json_t *baselines, const json_t *trial, bool baseline)
{
    const char *kernel = tree_text(trial, "kernel");
    if (baseline)
        table_cell(t, "base");
    else
        table_cellf(t, "%lld", (long long)tree_int(trial, "id"));
    table_cell(t, kernel);
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const char *device = tree_text(json_array_get(devices, i), "name");
        double ms = cold_on(baseline ? baseline_on(baselines, kernel, device) : trial, device);
        if (isnan(ms))
            table_cell(t, "");
        else
            table_cellf(t, "%.4g", ms);
    }
}

static bool any_final(const json_t *best)
{
    for (size_t i = 0; i < json_array_size(best); i++)
        if (json_array_size(json_object_get(json_array_get(best, i), "finals")))
            return true;
    return false;
}

static void finals(struct strbuf *b, const json_t *devices, const json_t *best, const json_t *baselines)
{
    struct table *t = table_new();
    table_column(t, "trial", TABLE_RIGHT, 0);
    table_column(t, "kernel", TABLE_LEFT, 0);
    for (size_t i = 0; i < json_array_size(devices); i++)
        table_column(t, tree_text(json_array_get(devices, i), "name"), TABLE_RIGHT, 0);
    for (size_t i = 0; i < json_array_size(best); i++)
        if (json_array_size(json_object_get(json_array_get(best, i), "finals")))
            row(t, devices, baselines, json_array_get(best, i), false);
    const char *first = tree_text(json_array_get(devices, 0), "name");
    for (size_t i = 0; i < json_array_size(baselines); i++)
        if (!strcmp(tree_text(json_array_get(baselines, i), "ran_on"), first))
            row(t, devices, baselines, json_array_get(baselines, i), true);
    sb_add(b, "\ncold ms on each device:\n");
    table_print(t, text_columns(stdout), b);
    table_free(t);
}

void report_devices(struct strbuf *b, const json_t *campaign, const json_t *best)
{
    const json_t *devices = json_object_get(campaign, "devices");
    if (json_array_size(devices) < 2)
        return;
    sb_add(b, "\ndevices:");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *d = json_array_get(devices, i);
        sb_addf(b, "%s %s %lld trials", i ? "," : "", tree_text(d, "name"), (long long)tree_int(d, "trials"));
        if (*tree_text(d, "taken_out"))
            sb_add(b, " (taken out)");
    }
    sb_add(b, "\n");
    if (any_final(best))
        finals(b, devices, best, json_object_get(campaign, "baselines"));
}
