/* report_history.c: how a campaign's best fell over its trials, as one line of bars. */
#include "cli/output/report.h"
#include "console/spark.h"
#include <math.h>
#include <string.h>

enum { MOST_BARS = 40, LEAST_BARS = 10, LEAST_TRIALS = 10 };
static const char TITLE[] = "best so far  ";

void report_history(struct strbuf *b, const json_t *campaign, int columns, bool utf8)
{
    const json_t *falls = json_object_get(campaign, "falls");
    size_t count = json_array_size(falls), next = 0;
    int64_t total = tree_int(campaign, "trials");
    int room = columns ? columns - (int)strlen(TITLE) : MOST_BARS, bars = room < MOST_BARS ? room : MOST_BARS;
    double best = NAN, after[MOST_BARS];
    if (total < LEAST_TRIALS || !count)
        return;
    utf8 = utf8 && bars >= LEAST_BARS;
    for (int i = 0; i < bars; i++) {
        for (; next < count; next++) {
            const json_t *fall = json_array_get(falls, next);
            if (json_integer_value(json_array_get(fall, 0)) > (total * (i + 1) + bars - 1) / bars)
                break;
            best = json_number_value(json_array_get(fall, 1));
        }
        after[i] = best;
    }
    const json_t *last = json_array_get(falls, count - 1);
    double first = json_number_value(json_array_get(json_array_get(falls, 0), 1));
    best = json_number_value(json_array_get(last, 1));
    sb_add(b, TITLE);
    spark_line(b, after, bars, utf8);
    sb_addf(b, "%s%.4g to %.4g %s, found after %lld of %lld trials\n", utf8 && first > best ? "  " : "", first, best,
            !strcmp(tree_text(campaign, "objective"), "energy") ? "mJ" : "ms",
            (long long)json_integer_value(json_array_get(last, 0)), (long long)total);
}
