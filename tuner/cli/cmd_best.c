/* cmd_best.c: `lathe best`: the best verified configurations in the database, or the front of error and time. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/select.h"

enum { DEFAULT_TOP = 10 };

struct best_args {
    struct selection selection;
    int64_t top;
    bool front, json;
};

static const struct option_row best_options[] = {
    SELECTION_ROWS(struct best_args, selection),
    {"top", .arg = "N", .kind = OPTION_COUNT, .offset = offsetof(struct best_args, top), .min = 1, .max = 1000000,
     .help = "how many (default 10; with --front all)"},
    {"front", .kind = OPTION_FLAG, .offset = offsetof(struct best_args, front),
     .help = "those that no other beats in both error and time, the inaccurate too, from the fastest to the most "
             "accurate"},
    {"json", .kind = OPTION_FLAG, .offset = offsetof(struct best_args, json), .help = "an array of trials, best first"},
    {0},
};

/* Is the best of what was asked for without an error, so that it is on no front? */
static bool any_blind(struct query *q, const struct query_filter *f)
{
    json_t *best = NULL;
    struct err ignored = {0};
    bool blind = !query_best(q, f, &best, &ignored) && report_is_blind(json_array_get(best, 0));
    json_decref(best);
    return blind;
}

static status best_run(const struct cli *cli, void *p, struct err *e)
{
    const struct best_args *args = p;
    struct query *q;
    struct query_filter f;
    status s = selection_filter(&args->selection, &f, e);
    if (s == LATHE_OK)
        s = query_open(args->selection.db, &q, e);
    if (s != LATHE_OK)
        return s;
    f.top = (int)(args->top || args->front ? args->top : DEFAULT_TOP);
    json_t *best = NULL;
    s = args->front ? query_front(q, &f, &best, e) : query_best(q, &f, &best, e);
    if (args->front && s == LATHE_OK && json_array_size(best) == 0 && any_blind(q, &f)) {
        s = err_set(e, LATHE_NOTHING, "no error is known of what there is: outputs do not tell products apart\n"
                                      "`lathe best` lists them, `lathe show` says more");
    } else if (s == LATHE_NOTHING || (s == LATHE_OK && json_array_size(best) == 0)) {
        s = selection_nothing(&args->selection, q, e);
    } else if (s == LATHE_OK && args->json) {
        s = out_json(best, e);
    } else if (s == LATHE_OK) {
        struct strbuf b = {0};
        if (args->front)
            report_front(&b, best);
        else
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
               "error against double precision, 'speed-up' the first baseline's time over this one's. --front compares "
               "the times of trials ('time ms'), since what is inaccurate is in no final.",
    .options = best_options,
    .args_size = sizeof(struct best_args),
    .run = best_run,
};
