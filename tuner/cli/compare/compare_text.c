/* compare_text.c: see compare_view.h: a comparison for people, and as JSON. */
#include "cli/compare/compare_view.h"

#include "base/mem.h"
#include "console/output.h"
#include "console/spark.h"
#include <math.h>
#include <stdlib.h>

enum { BAR_COLUMNS = 10 };

struct placed {
    double score;
    int at;
};

static int by_score(const void *pa, const void *pb)
{
    const struct placed *a = pa, *b = pb;
    bool none_a = isnan(a->score), none_b = isnan(b->score);
    if (none_a != none_b)
        return none_a - none_b;
    if (!none_a && a->score != b->score)
        return a->score < b->score ? 1 : -1;
    return a->at - b->at;
}

int *comparison_order(const struct comparison *c)
{
    int n = c->result->nstandings;
    struct placed *sorted = mem_alloc((size_t)n * sizeof *sorted);
    int *order = mem_alloc((size_t)n * sizeof *order);
    for (int i = 0; i < n; i++)
        sorted[i] = (struct placed){c->result->standings[i].summary.mean, i};
    qsort(sorted, (size_t)n, sizeof *sorted, by_score);
    for (int i = 0; i < n; i++)
        order[i] = sorted[i].at;
    mem_free(sorted);
    return order;
}

static void cell(struct table *t, const char *format, double v)
{
    char text[40];
    snprintf(text, sizeof text, format, v);
    table_cell(t, isnan(v) ? "" : text);
}

static double per_evaluation(const struct contest_standing *s)
{
    return s->evaluations > 0 ? 1e3 * s->own_seconds / s->evaluations : NAN;
}

static double per_second(const struct contest_standing *s)
{
    return s->seconds > 0 ? s->evaluations / s->seconds : NAN;
}

static void bar_cell(struct table *t, double score, bool utf8)
{
    struct strbuf b = {0};
    sb_add(&b, "");
    spark_bar(&b, score, BAR_COLUMNS, " ", utf8);
    table_cell(t, sb_str(&b));
    sb_free(&b);
}

static void standings_text(const struct comparison *c, const int *order, bool bars, bool utf8, struct strbuf *b)
{
    struct table *t = table_new();
    table_column(t, "strategy", TABLE_LEFT, 0);
    for (int s = 0; s < c->contest->nspaces; s++)
        table_column(t, c->contest->spaces[s].name, TABLE_RIGHT, 0);
    static const char *const titles[] = {"score", "error", "low", "high", "by evaluations", "evaluations", "own ms",
                                         "evaluations/s"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(t, titles[i], TABLE_RIGHT, 0);
    if (bars) {
        table_column(t, "0 to 1", TABLE_LEFT, 0);
        table_spare(t);
    }
    for (int i = 0; i < c->contest->nstrategies; i++) {
        const struct contest_standing *s = &c->result->standings[order[i]];
        double runs = 0;
        table_cell(t, c->contest->strategies[order[i]].label);
        for (int k = 0; k < c->contest->nspaces; k++) {
            cell(t, "%.3f", s->marks[k].score);
            runs += s->marks[k].runs;
        }
        cell(t, "%.3f", s->summary.mean);
        cell(t, "%.3f", s->summary.deviation);
        cell(t, "%.3f", s->summary.low);
        cell(t, "%.3f", s->summary.high);
        cell(t, "%.3f", s->by_evaluations);
        cell(t, "%.0f", runs > 0 ? s->evaluations / runs : NAN);
        cell(t, "%.4f", per_evaluation(s));
        cell(t, "%.0f", per_second(s));
        if (bars)
            bar_cell(t, s->summary.mean, utf8);
    }
    table_print(t, text_columns(stdout), b);
    table_free(t);
}

/* The best against each other one. */
static void pairs_text(const struct comparison *c, const int *order, struct strbuf *b)
{
    struct table *t = table_new();
    table_column(t, "the best against", TABLE_LEFT, 0);
    table_column(t, "difference", TABLE_RIGHT, 0);
    table_column(t, "p", TABLE_RIGHT, 0);
    table_column(t, "adjusted p", TABLE_RIGHT, 0);
    for (int i = 1; i < c->result->nstandings; i++)
        for (int k = 0; k < c->result->npairs; k++) {
            const struct contest_pair *p = &c->result->pairs[k];
            bool first = p->a == order[0] && p->b == order[i];
            if (!first && !(p->b == order[0] && p->a == order[i]))
                continue;
            table_cell(t, c->contest->strategies[order[i]].label);
            cell(t, "%.3f", first ? p->difference : -p->difference);
            cell(t, "%.4f", p->p);
            cell(t, "%.4f", p->adjusted);
        }
    if (table_rows(t)) {
        sb_add(b, "\n");
        table_print(t, text_columns(stdout), b);
    }
    table_free(t);
}

void comparison_text(const struct comparison *c, bool bars, bool utf8, struct strbuf *b)
{
    int *order = comparison_order(c), done = 0;
    for (int i = 0; i < contest_count(c->contest); i++)
        done += c->contest->runs[i].done;
    standings_text(c, order, bars, utf8, b);
    pairs_text(c, order, b);
    if (c->result->tested < c->result->npairs)
        sb_addf(b, "\ninterrupted: %d of %d pairs of strategies are tested\n", c->result->tested, c->result->npairs);
    sb_addf(
        b,
        "\n%d runs of %d, %d seeds from %llu on; score: mean rank over time, to %g; low, high: %g %% by a "
        "bootstrap over seeds;\nby evaluations: median rank; p: permutation test, adjusted for all pairs by Holm%s\n",
        done, contest_count(c->contest), c->contest->seeds, (unsigned long long)c->contest->first_seed, c->cutoff,
        100 * CONTEST_CONFIDENCE, c->contest->own_time ? "; the strategies' own measured time counts" : "");
    mem_free(order);
}

/* JSON -----------------------------------------------------------------------------------------------------------*/

static json_t *spaces_json(const struct comparison *c)
{
    json_t *spaces = json_array();
    for (int i = 0; i < c->contest->nspaces; i++) {
        const struct contest_space *s = &c->contest->spaces[i];
        json_array_append_new(
            spaces,
            json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o}", "space", s->name, "recording",
                      s->recording->path, "configurations", (json_int_t)s->summary.configs, "valid",
                      (json_int_t)s->summary.valid, "best_ms", out_number(s->summary.best), "median_ms",
                      out_number(s->summary.median), "mean_cost", out_number(s->summary.mean_cost), "median_cost",
                      out_number(s->summary.median_cost), "first_evaluation", (json_int_t)s->score.first,
                      "last_evaluation", (json_int_t)s->score.last, "from_s", out_number(s->score.from), "to_s",
                      out_number(s->score.to)));
    }
    return spaces;
}

static json_t *standing_json(const struct comparison *c, int strategy)
{
    const struct contest_standing *s = &c->result->standings[strategy];
    json_t *marks = json_array();
    for (int i = 0; i < c->contest->nspaces; i++) {
        const struct contest_mark *m = &s->marks[i];
        json_array_append_new(marks, json_pack("{s:s, s:i, s:o, s:o, s:o}", "space", c->contest->spaces[i].name, "runs",
                                               m->runs, "score", out_number(m->score), "by_evaluations",
                                               out_number(m->by_evaluations), "evaluations",
                                               m->runs ? out_number(m->evaluations) : json_null()));
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "strategy",
                     c->contest->strategies[strategy].label, "score", out_number(s->summary.mean), "error",
                     out_number(s->summary.deviation), "low", out_number(s->summary.low), "high",
                     out_number(s->summary.high), "by_evaluations", out_number(s->by_evaluations), "own_ms",
                     out_number(per_evaluation(s)), "evaluations_per_second", out_number(per_second(s)), "spaces",
                     marks);
}

json_t *comparison_json(const struct comparison *c)
{
    int *order = comparison_order(c);
    json_t *strategies = json_array(), *pairs = json_array();
    for (int i = 0; i < c->result->nstandings; i++)
        json_array_append_new(strategies, standing_json(c, order[i]));
    for (int i = 0; i < c->result->npairs; i++) {
        const struct contest_pair *p = &c->result->pairs[i];
        json_array_append_new(pairs,
                              json_pack("{s:s, s:s, s:o, s:o, s:o}", "a", c->contest->strategies[p->a].label, "b",
                                        c->contest->strategies[p->b].label, "difference", out_number(p->difference),
                                        "p", out_number(p->p), "adjusted_p", out_number(p->adjusted)));
    }
    mem_free(order);
    return json_pack("{s:f, s:i, s:I, s:b, s:o, s:o, s:o}", "cutoff", c->cutoff, "seeds", c->contest->seeds,
                     "first_seed", (json_int_t)c->contest->first_seed, "own_time", c->contest->own_time, "spaces",
                     spaces_json(c), "strategies", strategies, "pairs", pairs);
}
