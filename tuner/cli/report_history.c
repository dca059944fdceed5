/* report_history.c: how a campaign's best fell over its trials, as one line of bars. */
#include "cli/report.h"
#include "cli/spark.h"
#include <math.h>
#include <string.h>

enum { COLUMNS = 40 };

/* A trial that could have been the best: its milliseconds, else NaN. */
static double contender(const json_t *trial)
{
    if (!strcmp(tree_text(trial, "objective"), "energy"))
        return NAN;
    bool good = !strcmp(tree_text(trial, "outcome"), "ok") && !strcmp(tree_text(trial, "role"), "candidate") &&
                tree_true(trial, "eligible");
    return good ? tree_number(trial, "time_ms") : NAN;
}

void report_history(struct strbuf *b, const json_t *trials, bool utf8)
{
    size_t n = json_array_size(trials);
    double best = NAN, first = NAN, after[COLUMNS];
    size_t done = 0, at = 0;
    for (int i = 0; i < COLUMNS; i++) {
        for (; done < (n * (size_t)(i + 1) + COLUMNS - 1) / COLUMNS; done++) {
            double ms = contender(json_array_get(trials, done));
            if (isnan(first))
                first = ms;
            if (isnan(best) ? !isnan(ms) : ms < best) {
                best = ms;
                at = done + 1;
            }
        }
        after[i] = best;
    }
    if (n < COLUMNS / 4 || isnan(best))
        return;
    sb_add(b, "best so far  ");
    spark_line(b, after, COLUMNS, utf8);
    sb_addf(b, "%s%.4g to %.4g ms, found by trial %zu of %zu\n", utf8 && first > best ? "  " : "", first, best, at, n);
}
