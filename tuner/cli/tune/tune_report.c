/* tune_report.c: see tune_report.h. */
#include "cli/tune/tune_report.h"
#include "console/output.h"
#include "cli/output/report.h"
#include "cli/args/left_out.h"
#include "cli/args/select.h"
#include "console/table.h"
#include "cli/tune/tune_events.h"
#include "db/query.h"
#include <math.h>
#include <string.h>

/* --- one campaign --- */

static void print_report(struct strbuf *b, const json_t *campaign, const json_t *best, const struct tune_reported *r)
{
    long long id = (long long)tree_int(campaign, "id");
    report_campaign(b, campaign);
    const json_t *baselines = json_object_get(campaign, "baselines");
    sb_add(b, json_array_size(best) + json_array_size(baselines) ? "\n" : "");
    if (r->nothing && json_array_size(best))
        sb_add(b, "no winner; these are right in their trials, and were in no final:\n");
    report_best(b, best, baselines, NULL);
    report_devices(b, campaign, best);
    if (r->nothing && json_array_size(json_object_get(campaign, "reasons"))) {
        sb_add(b, "\n");
        report_reasons(b, json_object_get(campaign, "reasons"), is_terminal(stdout) ? terminal_columns(stdout) : 0);
    }
    struct strbuf drift = {0};
    report_drift(&drift, campaign);
    if (drift.len)
        sb_addf(b, "\n%s", sb_str(&drift));
    sb_free(&drift);
    sb_addf(b, "\ndatabase %s, campaign %lld\n", r->db, id);
    bool exports = json_array_size(best) && !r->nothing && !report_is_recorded(campaign);
    sb_addf(b, exports ? "next: lathe export --campaign %lld" : "next: lathe show %lld", id);
    query_db_option(b, r->db);
    sb_add(b, exports ? " -o winner.cu\n" : "\n");
}

static struct query_filter best_of(const struct tune_reported *r, int64_t id)
{
    return (struct query_filter){.campaign = id, .top = r->top > 0 ? (int)r->top : 5};
}

/* The campaign as it stands in the database, on stdout. */
status tune_report(const struct tune_reported *r, int64_t id, struct err *e)
{
    struct query *q;
    status s = query_open(r->db, &q, e);
    if (s != LATHE_OK)
        return s;
    json_t *campaign = NULL, *best = NULL;
    struct query_filter f = best_of(r, id);
    s = query_campaign_summary(q, id, &campaign, e);
    if (s == LATHE_OK)
        s = query_best(q, &f, &best, e);
    if (s == LATHE_NOTHING && campaign) { /* no valid configuration: a report all the same */
        best = best ? best : json_array();
        s = LATHE_OK;
    }
    if (s == LATHE_OK && r->json) {
        json_object_set(campaign, "best", best);
        s = tune_events_result(campaign, e);
    } else if (s == LATHE_OK && r->csv) {
        s = r->of_kinds ? LATHE_OK : report_csv_out(best, e);
    } else if (s == LATHE_OK) {
        struct strbuf b = {0};
        print_report(&b, campaign, best, r);
        s = out_report(&b, e);
    }
    if (s == LATHE_OK)
        s = left_out_tell(q, &f, json_array_get(best, 0), e);
    json_decref(campaign);
    json_decref(best);
    query_close(q);
    return s;
}

/* --- several kinds of devices --- */

struct column {
    const char *list;
    json_t *campaign, *best;        /* NULL: there is no such campaign; best: its winner, NULL: none */
};

static status read_column(struct query *q, int64_t id, struct column *c, struct err *e)
{
    json_t *best = NULL;
    struct query_filter f = {.campaign = id, .top = 1};
    status s = id ? query_campaign_summary(q, id, &c->campaign, e) : LATHE_OK;
    if (s == LATHE_OK && id)
        s = query_best(q, &f, &best, e);
    if (s == LATHE_NOTHING)
        s = LATHE_OK;
    c->best = json_incref(json_array_get(best, 0));
    json_decref(best);
    return s;
}

/* Measured by the final where there was one. */
static void time_cell(struct table *t, const json_t *trial)
{
    double cold = tree_number(trial, "cold_ms"), v = isnan(cold) ? tree_number(trial, "time_ms") : cold;
    if (isnan(v))
        table_cell(t, "-");
    else
        table_cellf(t, "%.4g", v);
}

static void speedup_cell(struct table *t, const json_t *trial)
{
    double v = tree_number(trial, "speedup");
    if (isnan(v))
        table_cell(t, "-");
    else
        table_cellf(t, "%.2fx", v);
}

static void int_cell(struct table *t, const json_t *tree, const char *key)
{
    if (tree)
        table_cellf(t, "%lld", (long long)tree_int(tree, key));
    else
        table_cell(t, "-");
}

static void text_cell(struct table *t, const json_t *tree, const char *key)
{
    const char *text = tree_text(tree, key);
    table_cell(t, *text ? text : "-");
}

/* A kind's first device's time of this baseline. */
static const json_t *baseline_of(const struct column *c, const char *kernel)
{
    const json_t *list = json_object_get(c->campaign, "baselines");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!strcmp(tree_text(json_array_get(list, i), "kernel"), kernel))
            return json_array_get(list, i);
    return NULL;
}

/* Is it the first of its name, over all columns? A baseline of several devices, or kinds, is one row. */
static bool is_new(const struct column *columns, int column, size_t at, const char *kernel)
{
    for (int i = 0; i <= column; i++) {
        const json_t *list = json_object_get(columns[i].campaign, "baselines");
        for (size_t k = 0; k < json_array_size(list) && (i < column || k < at); k++)
            if (!strcmp(tree_text(json_array_get(list, k), "kernel"), kernel))
                return false;
    }
    return true;
}

static void baseline_rows(struct table *t, const struct column *columns, int n)
{
    for (int i = 0; i < n; i++) {
        const json_t *list = json_object_get(columns[i].campaign, "baselines");
        for (size_t k = 0; k < json_array_size(list); k++) {
            const char *kernel = tree_text(json_array_get(list, k), "kernel");
            if (!is_new(columns, i, k, kernel))
                continue;
            table_cellf(t, "%s ms", kernel);
            for (int j = 0; j < n; j++) time_cell(t, baseline_of(&columns[j], kernel));
        }
    }
}

static void print_columns(struct strbuf *b, const struct column *columns, int n)
{
    enum { WIDEST = 44 };
    struct table *t = table_new();
    table_column(t, "device", TABLE_LEFT, 0);
    for (int i = 0; i < n; i++) table_column(t, columns[i].list, TABLE_LEFT, WIDEST);
    table_cell(t, "kind");
    for (int i = 0; i < n; i++) text_cell(t, columns[i].campaign, "device");
    table_cell(t, "campaign");
    for (int i = 0; i < n; i++) int_cell(t, columns[i].campaign, "id");
    table_cell(t, "winner");
    for (int i = 0; i < n; i++) int_cell(t, columns[i].best, "id");
    table_cell(t, "kernel");
    for (int i = 0; i < n; i++) text_cell(t, columns[i].best, "kernel");
    table_cell(t, "configuration");
    for (int i = 0; i < n; i++) text_cell(t, columns[i].best, "text");
    table_cell(t, "time ms");
    for (int i = 0; i < n; i++) time_cell(t, columns[i].best);
    table_cell(t, "speed-up");
    for (int i = 0; i < n; i++) speedup_cell(t, columns[i].best);
    baseline_rows(t, columns, n);
    sb_add(b, "\neach kind of device by itself; times of different kinds are of different campaigns:\n");
    table_print(t, text_columns(stdout), b);
    table_free(t);
}

static status kinds_csv(const struct tune_reported *r, const int64_t *ids, int n, struct err *e)
{
    struct query *q;
    status s = query_open(r->db, &q, e);
    if (s != LATHE_OK)
        return s;
    json_t *rows = json_array();
    for (int i = 0; i < n && s == LATHE_OK; i++) {
        struct query_filter f = best_of(r, ids[i]);
        json_t *best = NULL;
        s = ids[i] ? query_best(q, &f, &best, e) : LATHE_OK;
        if (s == LATHE_NOTHING) /* of this kind */
            s = LATHE_OK;
        json_array_extend(rows, best);
        json_decref(best);
    }
    if (s == LATHE_OK)
        s = report_csv_out(rows, e);
    json_decref(rows);
    query_close(q);
    return s;
}

status tune_report_kinds(const struct tune_reported *r, const struct device_kinds *kinds, const int64_t *ids,
                         struct err *e)
{
    if (r->json)
        return tune_events_kinds(kinds, ids, e);
    if (r->csv)
        return kinds_csv(r, ids, kinds->count, e);
    struct column columns[CAMPAIGN_MOST_DEVICES] = {0};
    struct query *q;
    status s = query_open(r->db, &q, e);
    if (s != LATHE_OK)
        return s;
    for (int i = 0; i < kinds->count && s == LATHE_OK; i++) {
        columns[i].list = kinds->lists[i];
        s = read_column(q, ids[i], &columns[i], e);
    }
    struct strbuf b = {0};
    if (s == LATHE_OK) {
        print_columns(&b, columns, kinds->count);
        s = out_report(&b, e);
    }
    for (int i = 0; i < kinds->count; i++) {
        json_decref(columns[i].campaign);
        json_decref(columns[i].best);
    }
    query_close(q);
    return s;
}
