/* tune_strategy_report.c: see tune_strategy.h. */
#include "cli/compare/tune_strategy.h"

#include "base/mem.h"
#include "console/output.h"
#include "console/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 5 };

static double mean_without(const struct options_report *r, const struct options_trial *t, int left_out)
{
    double sum = 0;
    for (int s = 0; s < r->nspaces; s++)
        sum += s == left_out ? 0 : t->scores[s];
    return sum / (r->nspaces - (left_out >= 0));
}

const struct options_trial *options_best(const struct options_report *r, int left_out)
{
    const struct options_trial *best = NULL;
    double mean = NAN;
    for (int i = 0; i < r->ntrials; i++) {
        double m = isnan(r->trials[i].score) ? NAN : mean_without(r, &r->trials[i], left_out);
        if (m > mean || (best == NULL && !isnan(m))) {
            best = &r->trials[i];
            mean = m;
        }
    }
    return best;
}

static void cell(struct table *t, double v)
{
    char text[40];
    snprintf(text, sizeof text, "%.3f", v);
    table_cell(t, isnan(v) ? "" : text);
}

static void row(const struct options_report *r, struct table *t, const char *place, const struct options_trial *x)
{
    table_cell(t, place);
    cell(t, x->score);
    for (int s = 0; s < r->nspaces; s++)
        cell(t, x->scores[s]);
    table_cell(t, x->text);
}

static int by_score(const void *pa, const void *pb)
{
    const struct options_trial *a = *(const struct options_trial *const *)pa,
                               *b = *(const struct options_trial *const *)pb;
    bool none_a = isnan(a->score), none_b = isnan(b->score);
    if (none_a != none_b || none_a)
        return none_a != none_b ? none_a - none_b : (a > b) - (a < b);
    return a->score != b->score ? (a->score < b->score ? 1 : -1) : (a > b) - (a < b);
}

/* The trials, best first; mem_free it. */
static const struct options_trial **sort_trials(const struct options_report *r)
{
    const struct options_trial **sorted = mem_alloc((size_t)r->ntrials * sizeof *sorted);
    for (int i = 0; i < r->ntrials; i++)
        sorted[i] = &r->trials[i];
    qsort(sorted, (size_t)r->ntrials, sizeof *sorted, by_score);
    return sorted;
}

static void trials_text(const struct options_report *r, struct strbuf *b)
{
    const struct options_trial **sorted = sort_trials(r);
    struct table *t = table_new();
    table_column(t, "", TABLE_LEFT, 0);
    table_column(t, "score", TABLE_RIGHT, 0);
    for (int s = 0; s < r->nspaces; s++)
        table_column(t, r->spaces[s].name, TABLE_RIGHT, 0);
    table_column(t, "options", TABLE_LEFT, 0);
    for (int i = 0; i < r->ntrials && i < SHOWN; i++) {
        char place[16];
        snprintf(place, sizeof place, "%d", i + 1);
        row(r, t, place, sorted[i]);
    }
    row(r, t, "default", r->initial);
    table_print(t, text_columns(stdout), b);
    table_free(t);
    mem_free(sorted);
}

static void held_out_text(const struct options_report *r, struct strbuf *b)
{
    double sum = 0, initial = 0;
    struct table *t = table_new();
    table_column(t, "held out", TABLE_LEFT, 0);
    table_column(t, "score", TABLE_RIGHT, 0);
    table_column(t, "default", TABLE_RIGHT, 0);
    table_column(t, "options that are best on the others", TABLE_LEFT, 0);
    for (int s = 0; s < r->nspaces; s++) {
        const struct options_trial *best = options_best(r, s);
        table_cell(t, r->spaces[s].name);
        cell(t, best->scores[s]);
        cell(t, r->initial->scores[s]);
        table_cell(t, best->text);
        sum += best->scores[s] / r->nspaces;
        initial += r->initial->scores[s] / r->nspaces;
    }
    table_cell(t, "mean");
    cell(t, sum);
    cell(t, initial);
    table_cell(t, "");
    sb_add(b, "\n");
    table_print(t, text_columns(stdout), b);
    table_free(t);
}

static void contest_text(const char *title, const struct contest *c, const struct contest_result *result,
                         struct strbuf *b)
{
    struct table *t = table_new();
    table_column(t, title, TABLE_LEFT, 0);
    static const char *const titles[] = {"score", "low", "high"};
    for (int i = 0; i < 3; i++)
        table_column(t, titles[i], TABLE_RIGHT, 0);
    for (int s = 0; s < c->nspaces; s++)
        table_column(t, c->spaces[s].name, TABLE_RIGHT, 0);
    for (int k = 0; k < c->nstrategies; k++) {
        const struct contest_standing *x = &result->standings[k];
        table_cell(t, k ? "default" : "1");
        cell(t, x->summary.mean);
        cell(t, x->summary.low);
        cell(t, x->summary.high);
        for (int s = 0; s < c->nspaces; s++)
            cell(t, x->marks[s].score);
    }
    sb_add(b, "\n");
    table_print(t, text_columns(stdout), b);
    table_free(t);
    for (int i = 0; i < result->npairs; i++)
        sb_addf(b, "difference %.3f, p %.4f\n", result->pairs[i].difference, result->pairs[i].p);
}

void options_report_text(const struct options_report *r, struct strbuf *b)
{
    const struct options_trial *best = options_best(r, -1);
    sb_addf(b, "%d of %llu combinations of %s's options, %d seeds on each space\n\n", r->ntrials,
            (unsigned long long)r->space_size, r->strategy, r->seeds);
    trials_text(r, b);
    if (best && r->nspaces > 1)
        held_out_text(r, b);
    if (r->again)
        contest_text("with other seeds", r->again, r->again_result, b);
    if (r->test)
        contest_text("on other spaces", r->test, r->test_result, b);
    if (best)
        sb_addf(b, "\nbest: %s\n", best->text);
    if (r->db)
        sb_addf(b, "database %s, campaign %lld: its times are 1 - score\n", r->db, r->campaign);
}

/* JSON -----------------------------------------------------------------------------------------------------------*/

static json_t *trial_json(const struct options_report *r, const struct options_trial *t)
{
    json_t *scores = json_object();
    for (int s = 0; s < r->nspaces; s++)
        json_object_set_new(scores, r->spaces[s].name, out_number(t->scores[s]));
    return json_pack("{s:o, s:o, s:o}", "options", out_string(t->text), "score", out_number(t->score), "spaces",
                     scores);
}

static json_t *row_json(const struct options_report *r, json_t *place, const struct options_trial *t)
{
    json_t *j = json_object(), *trial = trial_json(r, t);
    json_object_set_new(j, "place", place);
    json_object_update(j, trial);
    json_decref(trial);
    return j;
}

json_t *options_report_rows(const struct options_report *r)
{
    const struct options_trial **sorted = sort_trials(r);
    json_t *rows = json_array();
    for (int i = 0; i < r->ntrials; i++)
        json_array_append_new(rows, row_json(r, json_integer(i + 1), sorted[i]));
    json_array_append_new(rows, row_json(r, json_string("default"), r->initial));
    mem_free(sorted);
    return rows;
}

static json_t *contest_json(const struct contest *c, const struct contest_result *result)
{
    if (!c)
        return json_null();
    json_t *strategies = json_array();
    for (int k = 0; k < c->nstrategies; k++) {
        const struct contest_standing *x = &result->standings[k];
        json_t *scores = json_object();
        for (int s = 0; s < c->nspaces; s++)
            json_object_set_new(scores, c->spaces[s].name, out_number(x->marks[s].score));
        json_array_append_new(strategies, json_pack("{s:s, s:o, s:o, s:o, s:o}", "options", c->strategies[k].label,
                                                    "score", out_number(x->summary.mean), "low",
                                                    out_number(x->summary.low), "high", out_number(x->summary.high),
                                                    "spaces", scores));
    }
    return json_pack("{s:o, s:o}", "strategies", strategies, "p",
                     result->npairs ? out_number(result->pairs[0].p) : json_null());
}

static json_t *held_out_json(const struct options_report *r)
{
    json_t *folds = json_array();
    for (int s = 0; s < r->nspaces && r->nspaces > 1; s++) {
        const struct options_trial *best = options_best(r, s);
        if (best)
            json_array_append_new(folds, json_pack("{s:s, s:o, s:o, s:o}", "space", r->spaces[s].name, "options",
                                                   out_string(best->text), "score", out_number(best->scores[s]),
                                                   "default", out_number(r->initial->scores[s])));
    }
    return folds;
}

json_t *options_report_json(const struct options_report *r)
{
    const struct options_trial *best = options_best(r, -1);
    json_t *trials = json_array();
    for (int i = 0; i < r->ntrials; i++)
        json_array_append_new(trials, trial_json(r, &r->trials[i]));
    return json_pack("{s:o, s:o, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "strategy", out_string(r->strategy),
                     "campaign", r->db ? json_integer(r->campaign) : json_null(), "seeds", r->seeds, "space",
                     (json_int_t)r->space_size, "default", trial_json(r, r->initial), "best",
                     best ? trial_json(r, best) : json_null(), "held_out", held_out_json(r), "again",
                     contest_json(r->again, r->again_result), "test", contest_json(r->test, r->test_result), "trials",
                     trials);
}
