/* compare_files.c: see compare_view.h: a comparison as CSV. */
#include "cli/compare/compare_view.h"

#include "base/mem.h"
#include <math.h>

static void number(struct strbuf *b, double v)
{
    sb_add(b, ",");
    if (isfinite(v))
        sb_addf(b, "%.12g", v);
}

static void mark_row(const struct comparison *c, int strategy, int space, bool measured, struct strbuf *b)
{
    const struct contest_mark *m = &c->result->standings[strategy].marks[space];
    sb_csv(b, c->contest->strategies[strategy].label);
    sb_add(b, ",");
    sb_csv(b, c->contest->spaces[space].name);
    sb_addf(b, ",%d", m->runs);
    number(b, m->score);
    sb_add(b, ",,,");
    number(b, m->by_evaluations);
    number(b, m->runs ? m->evaluations : NAN);
    sb_add(b, measured ? ",,\n" : "\n");
}

static void mean_row(const struct comparison *c, int strategy, bool measured, struct strbuf *b)
{
    const struct contest_standing *s = &c->result->standings[strategy];
    int runs = 0;
    for (int i = 0; i < c->contest->nspaces; i++)
        runs += s->marks[i].runs;
    sb_csv(b, c->contest->strategies[strategy].label);
    sb_addf(b, ",mean,%d", runs);
    number(b, s->summary.mean);
    number(b, s->summary.deviation);
    number(b, s->summary.low);
    number(b, s->summary.high);
    number(b, s->by_evaluations);
    number(b, runs ? s->evaluations / runs : NAN);
    if (measured) {
        number(b, s->evaluations > 0 ? 1e3 * s->own_seconds / s->evaluations : NAN);
        number(b, s->seconds > 0 ? s->evaluations / s->seconds : NAN);
    }
    sb_add(b, "\n");
}

void comparison_scores_csv(const struct comparison *c, bool measured, struct strbuf *b)
{
    int *order = comparison_order(c);
    sb_addf(b, "strategy,space,runs,score,error,low,high,by_evaluations,evaluations%s\n",
            measured ? ",own_ms,evaluations_per_second" : "");
    for (int i = 0; i < c->result->nstandings; i++) {
        for (int s = 0; s < c->contest->nspaces; s++)
            mark_row(c, order[i], s, measured, b);
        mean_row(c, order[i], measured, b);
    }
    mem_free(order);
}

void comparison_pairs_csv(const struct comparison *c, struct strbuf *b)
{
    sb_add(b, "a,b,difference,p,adjusted_p\n");
    for (int i = 0; i < c->result->npairs; i++) {
        const struct contest_pair *p = &c->result->pairs[i];
        sb_csv(b, c->contest->strategies[p->a].label);
        sb_add(b, ",");
        sb_csv(b, c->contest->strategies[p->b].label);
        number(b, p->difference);
        number(b, p->p);
        number(b, p->adjusted);
        sb_add(b, "\n");
    }
}

void comparison_curves_csv(const struct comparison *c, struct strbuf *b)
{
    sb_add(b, "space,strategy,position,seconds,baseline_ms,value_ms,score\n");
    for (int s = 0; s <= c->contest->nspaces; s++)
        for (int k = 0; k < c->contest->nstrategies; k++) {
            bool mean = s == c->contest->nspaces;
            const struct contest_standing *t = &c->result->standings[k];
            if (mean ? !t->whole : !t->marks[s].runs)
                continue;
            for (int i = 0; i < SCORE_POSITIONS; i++) {
                sb_csv(b, mean ? "mean" : c->contest->spaces[s].name);
                sb_add(b, ",");
                sb_csv(b, c->contest->strategies[k].label);
                sb_addf(b, ",%d", i);
                number(b, mean ? NAN : score_position_seconds(&c->contest->spaces[s].score, i));
                number(b, mean ? NAN : c->contest->spaces[s].score.baseline[i]);
                number(b, mean ? NAN : t->marks[s].values[i]);
                number(b, mean ? t->curve[i] : t->marks[s].curve[i]);
                sb_add(b, "\n");
            }
        }
}

void comparison_trace_header(FILE *f)
{
    fputs("space,strategy,seed,feval,objective,best,cum_s\n", f);
}

void comparison_trace(FILE *f, const struct contest *c, int run, const struct contest_run *r)
{
    const struct contest_space *s = &c->spaces[run / c->nstrategies % c->nspaces];
    struct strbuf start = {0};
    double best = NAN;
    sb_csv(&start, s->name);
    sb_add(&start, ",");
    sb_csv(&start, c->strategies[run % c->nstrategies].label);
    sb_addf(&start, ",%llu",
            (unsigned long long)c->first_seed + (unsigned long long)(run / c->nstrategies / c->nspaces));
    for (int64_t i = 0; i < r->evaluations; i++) {
        int64_t at = r->trace[i].recorded;
        double value = at < 0 ? NAN : s->recording->configs[at].value_ms;
        fprintf(f, "%s,%lld,", sb_str(&start), (long long)i + 1);
        if (isfinite(value)) {
            fprintf(f, "%.12g", value);
            best = best <= value ? best : value;
        }
        fputc(',', f);
        if (isfinite(best))
            fprintf(f, "%.12g", best);
        fprintf(f, ",%.12g\n", r->trace[i].elapsed);
    }
    sb_free(&start);
}
