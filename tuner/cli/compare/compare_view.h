/* compare_view.h: what a comparison of strategies is written as: tables, JSON, CSV, a drawing. */
#ifndef LATHE_CLI_COMPARE_VIEW_H
#define LATHE_CLI_COMPARE_VIEW_H

#include "contest/contest.h"
#include "console/table.h"
#include <jansson.h>
#include <stdio.h>

struct comparison {
    const struct contest *contest;
    const struct contest_result *result;
    double cutoff;
};

/* The strategies from the best score to the worst, those without one last: places in the contest's list; mem_free. */
int *comparison_order(const struct comparison *c);
/* bars: with the scores as bars, of '#' or (utf8) of block elements. */
void comparison_text(const struct comparison *c, bool bars, bool utf8, struct strbuf *b);
json_t *comparison_json(const struct comparison *c);
/* A row for each strategy and space, and one of all spaces (space "mean"). measured: with the columns that say how fast
 * the strategies were, which differ from one call to the next. */
void comparison_scores_csv(const struct comparison *c, bool measured, struct strbuf *b);
void comparison_pairs_csv(const struct comparison *c, struct strbuf *b);
/* The curves over time at every position; space "mean" is the aggregate curve. */
void comparison_curves_csv(const struct comparison *c, struct strbuf *b);
/* The aggregate curves as SVG, on their own. */
void comparison_svg(const struct comparison *c, struct strbuf *b);

/* Rows of every evaluation of a run: space, strategy, seed, feval, objective, best, cum_s. */
void comparison_trace_header(FILE *f);
void comparison_trace(FILE *f, const struct contest *c, int run, const struct contest_run *r);

#endif
