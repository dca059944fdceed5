/* compare_campaigns.c: see compare_campaigns.h. */
#include "cli/compare/compare_campaigns.h"
#include "cli/args/select.h"
#include "cli/output/report.h"
#include "cli/output/report_cells.h"
#include "console/output.h"
#include "console/parse.h"
#include "console/spark.h"
#include "db/query.h"
#include <math.h>
#include <string.h>

static bool is_number(const char *word) { return !word[strspn(word, "0123456789")]; }

status campaigns_named(const struct text_list *words, bool *named, struct err *e)
{
    int numbers = 0, number = 0, other = 0;
    for (int i = 0; i < words->count; i++) {
        bool is = is_number(words->items[i]);
        numbers += is;
        *(is ? &number : &other) = i;
    }
    *named = numbers > 0;
    if (numbers == 0 || numbers == words->count)
        return LATHE_OK;
    return err_set(e, LATHE_USAGE, "compare: %s is a campaign's number, and '%s' is none\n"
                   "give numbers of campaigns alone, or names of strategies alone", words->items[number],
                   words->items[other]);
}

/* --- reading --- */

static bool same(const json_t *a, const json_t *b, const char *key)
{
    return json_equal(json_object_get(a, key), json_object_get(b, key));
}

static bool finalist(const json_t *best) { return !isnan(tree_number(best, "cold_ms")); }

/* By the final's cold time where both have it, or the energy of a run; NaN: they are not to be compared. */
static double ratio_of(const json_t *first, const json_t *own)
{
    static const char *const conditions[] = {"operator", "size", "device", "inputs", "objective"};
    if (!json_is_object(first) || !json_is_object(own))
        return NAN;
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (!same(first, own, conditions[i]))
            return NAN;
    if (!strcmp(tree_text(own, "objective"), "energy"))
        return tree_number(first, "energy_mj") / tree_number(own, "energy_mj");
    const char *key = finalist(first) && finalist(own) ? "cold_ms" : "time_ms";
    return tree_number(first, key) / tree_number(own, key);
}

static status read_one(struct query *q, const char *text, const char *db, json_t *rows, struct err *e)
{
    int64_t id;
    json_t *campaign = NULL, *best = NULL;
    status s = parse_count("CAMPAIGN", text, 1, INT64_MAX, &id, e);
    for (size_t i = 0; i < json_array_size(rows) && s == LATHE_OK; i++)
        if (tree_int(json_array_get(rows, i), "id") == id)
            s = err_set(e, LATHE_USAGE, "compare: campaign %lld is there twice", (long long)id);
    if (s != LATHE_OK)
        return s;
    s = query_campaign_summary(q, id, &campaign, e);
    if (s == LATHE_NOTHING) {
        struct strbuf option = {0};
        query_db_option(&option, db);
        err_set(e, s, "there is no campaign %lld in %.300s\n`lathe show%.300s` lists those that there are",
                (long long)id, db, sb_str(&option));
        sb_free(&option);
    }
    struct query_filter f = {.campaign = id, .top = 1};
    if (s == LATHE_OK)
        s = query_best(q, &f, &best, e);
    if (s == LATHE_NOTHING && campaign) /* nothing was right in it */
        s = LATHE_OK;
    if (s == LATHE_OK) {
        json_t *winner = json_array_get(best, 0);
        json_object_set(campaign, "best", winner ? winner : json_null());
        json_array_append(rows, campaign);
        const json_t *first = json_object_get(json_array_get(rows, 0), "best");
        double ratio = ratio_of(first, winner);
        json_object_set_new(campaign, "ratio", isfinite(ratio) ? json_real(ratio) : json_null());
    }
    json_decref(campaign);
    json_decref(best);
    return s;
}

/* --- as text --- */

enum { BAR_COLUMNS = 10 };

static double best_of(const json_t *row)
{
    return tree_number(row, "best_ms");
}

static bool any(const json_t *rows, const char *key)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (!isnan(tree_number(json_object_get(json_array_get(rows, i), "best"), key)))
            return true;
    return false;
}

struct layout {
    bool problem, size, device, state, kernel, energy, compared, bars;
    int best, baseline;
    double most; /* the largest ratio */
};

static struct layout layout_of(const json_t *rows, bool bars)
{
    struct layout l = {.problem = !cells_uniform(rows, NULL, "problem"),
                       .size = !cells_uniform(rows, NULL, "size"),
                       .device = !cells_uniform(rows, NULL, "device"),
                       .state = !cells_uniform(rows, NULL, "state"),
                       .energy = any(rows, "energy_mj"),
                       .best = cells_decimals(rows, NULL, "best_ms"),
                       .baseline = cells_decimals(rows, NULL, "baseline_ms"),
                       .most = NAN};
    const char *kernel = NULL;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *own = tree_text(json_object_get(row, "best"), "kernel");
        l.kernel = l.kernel || (kernel && strcmp(kernel, own) != 0);
        kernel = own;
        l.compared = l.compared || (i > 0 && !isnan(tree_number(row, "ratio")));
        l.most = fmax(l.most, tree_number(row, "ratio"));
    }
    l.bars = bars && l.compared;
    return l;
}

static struct table *columns_of(const struct layout *l)
{
    struct table *t = table_new();
    table_column(t, "campaign", TABLE_RIGHT, 0);
    if (l->problem)
        table_column(t, "problem", TABLE_LEFT, 0);
    if (l->size)
        table_column(t, "size", TABLE_LEFT, 0);
    if (l->device)
        table_column(t, "device", TABLE_LEFT, 0);
    table_column(t, "strategy", TABLE_LEFT, 0);
    table_column(t, "seed", TABLE_RIGHT, 0);
    if (l->state)
        table_column(t, "state", TABLE_LEFT, 0);
    static const char *const titles[] = {"trials", "ok", "seconds", "best ms", "baseline ms", "speed-up"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(t, titles[i], TABLE_RIGHT, 0);
    table_optional(t);
    if (l->energy)
        table_column(t, "energy mJ", TABLE_RIGHT, 0);
    if (l->compared)
        table_column(t, "of the first", TABLE_RIGHT, 0);
    if (l->bars) {
        table_column(t, "", TABLE_LEFT, 0);
        table_spare(t);
    }
    if (l->kernel)
        table_column(t, "kernel", TABLE_LEFT, 0);
    table_column(t, "configuration", TABLE_LEFT, 0);
    table_pairs(t);
    return t;
}

static void bar_cell(struct table *t, double share)
{
    struct strbuf b = {0};
    sb_add(&b, "");
    spark_bar(&b, share, BAR_COLUMNS, " ", spark_utf8());
    table_cell(t, sb_str(&b));
    sb_free(&b);
}

static void add_row(struct table *t, const json_t *row, const struct layout *l)
{
    const json_t *best = json_object_get(row, "best");
    table_cellf(t, "%lld", (long long)tree_int(row, "id"));
    if (l->problem)
        table_cell(t, tree_text(row, "problem"));
    if (l->size)
        cell_size(t, row);
    if (l->device)
        table_cell(t, tree_text(row, "device"));
    table_cell(t, tree_text(row, "strategy"));
    table_cellf(t, "%lld", (long long)tree_int(row, "seed"));
    if (l->state)
        table_cell(t, tree_text(row, "state"));
    table_cellf(t, "%lld", (long long)tree_int(row, "trials"));
    table_cellf(t, "%lld", (long long)tree_int(row, "ok"));
    struct strbuf took = {0};
    report_seconds(&took, row);
    table_cell(t, sb_str(&took));
    sb_free(&took);
    cell_number(t, row, "best_ms", "%.*f", l->best);
    cell_number(t, row, "baseline_ms", "%.*f", l->baseline);
    cell_number(t, row, "speedup", "%.*fx", 2);
    if (l->energy)
        cell_number(t, best, "energy_mj", "%.*f", 3);
    if (l->compared)
        cell_number(t, row, "ratio", "%.*fx", 3);
    if (l->bars)
        bar_cell(t, tree_number(row, "ratio") / l->most);
    if (l->kernel)
        table_cell(t, tree_text(best, "kernel"));
    cell_configuration(t, best, false);
}

/* Where one has a final and the other none, the ratio is not that of the times beside it. */
static void print_mixed(struct strbuf *b, const json_t *rows)
{
    const json_t *first = json_object_get(json_array_get(rows, 0), "best");
    const char *end = "";
    for (size_t i = 1; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i), *own = json_object_get(row, "best");
        if (isnan(tree_number(row, "ratio")) || !strcmp(tree_text(own, "objective"), "energy") ||
            finalist(own) == finalist(first))
            continue;
        sb_addf(b, "%s%lld", *end ? ", " : "\nby the trials' times, since one of the two is without a final: ",
                (long long)tree_int(row, "id"));
        end = "\n";
    }
    sb_add(b, end);
}

static void print_rows(struct strbuf *b, const json_t *rows)
{
    struct layout l = layout_of(rows, is_terminal(stdout));
    const json_t *first = json_array_get(rows, 0);
    const char *left_out = "";
    if (!l.problem && !l.size && !l.device) {
        sb_addf(b, "%s%s", tree_text(first, "problem"), json_object_size(json_object_get(first, "size")) ? " " : "");
        report_size(b, json_object_get(first, "size"));
        sb_addf(b, " on %s\n\n", tree_text(first, "device"));
    }
    struct table *t = columns_of(&l);
    for (size_t i = 0; i < json_array_size(rows); i++)
        add_row(t, json_array_get(rows, i), &l);
    table_print(t, text_columns(stdout), b);
    table_free(t);
    for (size_t i = 1; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!isnan(tree_number(row, "ratio")) || isnan(best_of(row)) || isnan(best_of(first)))
            continue;
        sb_addf(b, "%s%lld", *left_out ? ", " : "\nnot compared with the first: ", (long long)tree_int(row, "id"));
        left_out = " (another problem, size, device, class of inputs or objective)\n";
    }
    sb_add(b, left_out);
    print_mixed(b, rows);
}

status campaigns_compare(const struct campaigns_asked *asked, struct err *e)
{
    struct query *q;
    if (asked->ids->count < 2)
        return err_set(e, LATHE_USAGE, "compare: campaign %s with what?\nexpected the numbers of two campaigns or more",
                       asked->ids->items[0]);
    status s = query_open(asked->db, &q, e);
    if (s != LATHE_OK)
        return s;
    json_t *rows = json_array();
    for (int i = 0; i < asked->ids->count && s == LATHE_OK; i++)
        s = read_one(q, asked->ids->items[i], asked->db, rows, e);
    struct strbuf b = {0};
    if (s == LATHE_OK && asked->json) {
        s = out_json(rows, e);
    } else if (s == LATHE_OK && asked->csv) {
        s = report_csv_out(rows, e);
    } else if (s == LATHE_OK) {
        print_rows(&b, rows);
        s = out_report(&b, e);
    }
    json_decref(rows);
    query_close(q);
    return s;
}
