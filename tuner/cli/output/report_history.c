/* report_history.c: how a campaign's best fell over its trials, as one line of bars. */
#include "cli/output/report.h"
#include "console/spark.h"
#include <math.h>
#include <string.h>

enum { COLUMNS = 40 };

void report_history(struct strbuf *b, const json_t *falls, int64_t total, bool utf8)
{
    size_t count = json_array_size(falls), next = 0;
    double best = NAN, after[COLUMNS];
    if (total < COLUMNS / 4 || !count)
        return;
    for (int i = 0; i < COLUMNS; i++) {
        for (; next < count; next++) {
            const json_t *fall = json_array_get(falls, next);
            if (json_integer_value(json_array_get(fall, 0)) > (total * (i + 1) + COLUMNS - 1) / COLUMNS)
                break;
            best = json_number_value(json_array_get(fall, 1));
        }
        after[i] = best;
    }
    double first = json_number_value(json_array_get(json_array_get(falls, 0), 1));
    sb_add(b, "best so far  ");
    spark_line(b, after, COLUMNS, utf8);
    sb_addf(b, "%s%.4g to %.4g ms, found by trial %lld of %lld\n", utf8 && first > best ? "  " : "", first, best,
            (long long)json_integer_value(json_array_get(json_array_get(falls, count - 1), 0)), (long long)total);
}
