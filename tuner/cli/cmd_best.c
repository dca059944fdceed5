/* cmd_best.c: `lathe best`: the best verified configurations in the database. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/select.h"

struct best_args {
    struct selection selection;
    int64_t top;
    bool json;
};

static const struct option_row best_options[] = {
    SELECTION_ROWS(struct best_args, selection),
    {"top", .arg = "N", .kind = OPTION_COUNT, .offset = offsetof(struct best_args, top), .initial = "10", .min = 1,
     .max = 1000000, .help = "how many"},
    {"json", .kind = OPTION_FLAG, .offset = offsetof(struct best_args, json), .help = "an array of trials, best first"},
    {0},
};

static status best_run(const struct cli *cli, void *p, struct err *e)
{
    const struct best_args *args = p;
    struct query *q;
    status s = query_open(args->selection.db, &q, e);
    if (s != LATHE_OK)
        return s;
    struct query_filter f;
    selection_filter(&args->selection, &f);
    f.top = (int)args->top;
    json_t *best = NULL;
    s = query_best(q, &f, &best, e);
    if (s == LATHE_NOTHING || (s == LATHE_OK && json_array_size(best) == 0)) {
        s = selection_nothing(&args->selection, q, e);
    } else if (s == LATHE_OK && args->json) {
        s = out_json(best, e);
    } else if (s == LATHE_OK) {
        struct strbuf b = {0};
        report_best(&b, best, NULL, true);
        s = out_report(&b, e);
    }
    json_decref(best);
    query_close(q);
    return s;
}

const struct command command_best = {
    .name = "best",
    .summary = "lists the best verified configurations in the database",
    .details = "Only configurations whose results were verified are listed. Those that were in their campaign's final "
               "are ranked by its cold time, the others by the time of their trial. 'error' is the relative Frobenius "
               "error against double precision, 'speed-up' the first baseline's time over this one's.",
    .options = best_options,
    .args_size = sizeof(struct best_args),
    .run = best_run,
};
