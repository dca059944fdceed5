/* report_pace.c: how fast a campaign went, where its time went, how far its baselines drifted. */
#include "cli/output/report.h"
#include "console/output.h"
#include "console/table.h"
#include <math.h>
#include <string.h>

static void phase(struct strbuf *b, const json_t *phases, const char *key, const char *name)
{
    double s = tree_number(phases, key);
    if (!isnan(s))
        sb_addf(b, ", %s %.1f s", name, s);
}

void report_pace(struct strbuf *b, const json_t *campaign)
{
    static const struct {
        const char *key, *note;
    } stages[] = {{"strategy", ""}, {"compile", "beside the device"}, {"load", ""}, {"verify", ""}, {"measure", ""},
                  {"store", ""}};
    const json_t *pace = json_object_get(campaign, "pace"), *phases = json_object_get(pace, "phases");
    double search = tree_number(phases, "search"), trials = tree_number(pace, "trials_per_minute") * search / 60;
    if (!(search > 0) || !(trials > 0))
        return;
    sb_addf(b, "search %.1f s: %.1f trials a minute, the device busy %.0f %% of the time", search,
            tree_number(pace, "trials_per_minute"), 100 * tree_number(pace, "device_share"));
    phase(b, phases, "setup", "setting up");
    phase(b, phases, "baselines", "baselines");
    phase(b, phases, "final", "final");
    sb_add(b, "\n");
    if (!isnan(tree_number(pace, "throttled")))
        sb_addf(b, "%lld of %lld samples were taken while the clock was held down\n",
                (long long)tree_int(pace, "throttled"), (long long)tree_int(pace, "samples"));
    struct table *t = table_new();
    table_column(t, "stage", TABLE_LEFT, 0);
    table_column(t, "seconds", TABLE_RIGHT, 0);
    table_column(t, "of the search", TABLE_RIGHT, 0);
    table_column(t, "ms a trial", TABLE_RIGHT, 0);
    table_column(t, "", TABLE_LEFT, 0);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        double s = tree_number(json_object_get(pace, "stages"), stages[i].key);
        if (isnan(s))
            continue;
        table_cell(t, stages[i].key);
        table_cellf(t, "%.2f", s);
        table_cellf(t, "%.1f %%", 100 * s / search);
        table_cellf(t, "%.2f", 1000 * s / trials);
        table_cell(t, stages[i].note);
    }
    table_print(t, text_columns(stdout), b);
    table_free(t);
}

void report_drift(struct strbuf *b, const json_t *campaign)
{
    const json_t *drift = json_object_get(campaign, "drift");
    for (size_t i = 0; i < json_array_size(drift); i++) {
        const json_t *d = json_array_get(drift, i);
        const char *when = tree_text(d, "phase");
        bool search = !strcmp(when, "search");
        sb_addf(b, "drift of %s in %s%s: timed %lld times, %+.2f to %+.2f %% of %s %.4g ms, at the end %+.2f %%\n",
                tree_text(d, "kernel"), search ? "the search" : "the final, ", search ? "" : when,
                (long long)tree_int(d, "count"), 100 * tree_number(d, "least"), 100 * tree_number(d, "most"),
                search ? "its trial's" : "the first round's", tree_number(d, "first_ms"), 100 * tree_number(d, "last"));
    }
}
