/* cmd_best.c: `lathe best`: the best verified configurations in the database, or the front of error and time. */
#include "cli/cli.h"
#include "cli/args/left_out.h"
#include "cli/args/newest.h"
#include "cli/args/parse_inputs.h"
#include "console/output.h"
#include "console/parse.h"
#include "cli/output/report.h"
#include "cli/args/select.h"
#include "export/export.h"
#include "model/result.h"
#include <string.h>

enum { DEFAULT_TOP = 10 };

struct best_args {
    struct selection selection;
    int64_t top;
    const char *objective, *pareto;
    bool front, json, csv;
};

static const struct option_row best_options[] = {
    SELECTION_ROWS(struct best_args, selection),
    {"top", .arg = "N", .kind = OPTION_COUNT, .offset = offsetof(struct best_args, top), .min = 1, .max = 1000000,
     .help = "how many (default 10; with --front all)"},
    {"front", .kind = OPTION_FLAG, .offset = offsetof(struct best_args, front),
     .help = "those that no other beats in both error and time, the inaccurate too, from the fastest to the most "
             "accurate"},
    {"pareto", .arg = "LIST", .kind = OPTION_TEXT, .offset = offsetof(struct best_args, pareto),
     .help = "as --front, of two or three of time, energy and error: time,energy",
     .choices = "time,energy|time,error|energy,error|time,energy,error"},
    {"objective", .arg = "NAME", .kind = OPTION_TEXT, .offset = offsetof(struct best_args, objective),
     .help = "what to rank by: time, energy (default: with --campaign what that campaign looked for, else time)",
     .choices = "time|energy"},
    {"json", .kind = OPTION_FLAG, .offset = offsetof(struct best_args, json), .help = "an array of trials, best first"},
    {"csv", .kind = OPTION_FLAG, .offset = offsetof(struct best_args, csv),
     .help = "the same with a header line (RFC 4180)"},
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

static status parse_ranking(const char *name, enum query_objective *out, struct err *e)
{
    enum objective o = OBJECTIVE_TIME;
    status s = name ? parse_objective(name, &o, e) : LATHE_OK;
    *out = !name ? QUERY_OWN : o == OBJECTIVE_ENERGY ? QUERY_ENERGY : QUERY_TIME;
    return s;
}

/* "time,energy" as bits. */
static status parse_axes(const char *list, unsigned *axes, struct err *e)
{
    int n = 0;
    for (const char *at = list; at;) {
        char name[16];
        size_t len = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        int axis = len < sizeof name ? query_axis_parse(name) : -1;
        const char *near = axis < 0 ? nearest_word(name, (const char *const[]){"time", "energy", "error"}, 3) : NULL;
        if (axis < 0 || *axes & 1u << axis)
            return err_set(e, LATHE_USAGE,
                           "--pareto: '%.100s': expected time, energy and error, each once, with commas between%s%s%s",
                           list, near ? "\ndid you mean " : "", near ? near : "", near ? "?" : "");
        *axes |= 1u << axis;
        n++;
        at = at[len] ? at + len + 1 : NULL;
    }
    return !list || n > 1 ? LATHE_OK : err_set(e, LATHE_USAGE, "--pareto: name two at least: time,energy");
}

/* Warns of those that `lathe export` would take, the first of each operator, size and device, where they were in no
 * final, or where something else would have been before them. */
static status warn_of_firsts(struct query *q, const struct query_filter *f, const json_t *best, struct err *e)
{
    json_t *met = json_object(), *trial;
    status s = LATHE_OK;
    size_t i;
    json_array_foreach((json_t *)best, i, trial) {
        const char *why = export_no_final(trial);
        struct strbuf of = {0};
        sb_addf(&of, "%lld ", (long long)tree_int(trial, "operator"));
        report_size(&of, json_object_get(trial, "size"));
        sb_addf(&of, " on %s", tree_text(trial, "device"));
        bool first = !json_object_get(met, sb_str(&of));
        json_object_set_new_nocheck(met, sb_str(&of), json_true());
        sb_free(&of);
        if (first && why)
            note_line("warning: trial %lld %s", (long long)tree_int(trial, "id"), why);
        if (first && report_is_far(trial))
            note_line("warning: trial %lld " REPORT_FAR, (long long)tree_int(trial, "id"));
        if (first && !s)
            s = left_out_tell(q, f, trial, e);
    }
    json_decref(met);
    return s;
}

/* The first of the list is not what `lathe export` takes where there are several problems, sizes or devices: their
 * times do not compare. */
static status tell_export(struct query *q, const struct query_filter *f, struct err *e)
{
    struct newest n;
    struct strbuf text = {0}, db = {0};
    status s = f->campaign ? LATHE_OK : newest_find(q, f, &n, e);
    if (f->campaign || s != LATHE_OK)
        return s;
    if (n.others) {
        newest_text(&n, &text);
        query_db_option(&db, query_path(q));
        note_line("times of different problems%s or sizes do not compare: `lathe export%s` takes the best of %s, "
                  "unless --problem, --size%s or --campaign says otherwise",
                  n.devices ? ", devices" : "", sb_str(&db), sb_str(&text), n.devices ? ", --device" : "");
    }
    sb_free(&text);
    sb_free(&db);
    newest_free(&n);
    return LATHE_OK;
}

static status best_run(const struct cli *cli, void *p, struct err *e)
{
    const struct best_args *args = p;
    struct query *q;
    struct query_filter f;
    bool front = args->front || args->pareto;
    status s = selection_filter(&args->selection, &f, e);
    if (s == LATHE_OK && args->front && args->pareto)
        s = err_set(e, LATHE_USAGE, "--front is --pareto time,error: give one of them");
    if (s == LATHE_OK && front && args->objective)
        s = err_set(e, LATHE_USAGE, "--objective: a front is ranked by all that it is of");
    if (s == LATHE_OK)
        s = report_one_form("best", args->json, args->csv, e);
    if (s == LATHE_OK)
        s = parse_ranking(args->objective, &f.objective, e);
    if (s == LATHE_OK)
        s = parse_axes(args->pareto, &f.axes, e);
    if (s == LATHE_OK)
        s = query_open(args->selection.db, &q, e);
    if (s != LATHE_OK)
        return s;
    f.top = (int)(args->top || front ? args->top : DEFAULT_TOP);
    json_t *best = NULL;
    struct strbuf db = {0};
    query_db_option(&db, args->selection.db);
    s = front ? query_front(q, &f, &best, e) : query_best(q, &f, &best, e);
    if (args->front && s == LATHE_OK && json_array_size(best) == 0 && any_blind(q, &f)) {
        s = err_set(e, LATHE_NOTHING, "no error is known of what there is: outputs do not tell products apart\n"
                                      "`lathe best%.300s` lists them, `lathe show%.300s` says more",
                    sb_str(&db), sb_str(&db));
    } else if (s == LATHE_OK && (f.axes & 1u << QUERY_AXIS_energy || f.objective == QUERY_ENERGY) &&
               json_array_size(best) == 0) {
        s = err_set(e, LATHE_NOTHING, "no energy is known of what was %s in %.300s\n"
                                      "`lathe tune --objective energy%.600s` measures it where the device tells it",
                    f.measured ? "measured" : "asked for", args->selection.db, sb_str(&db));
    } else if (s == LATHE_NOTHING || (s == LATHE_OK && json_array_size(best) == 0)) {
        s = front ? LATHE_OK : left_out_tell(q, &f, NULL, e);
        if (s == LATHE_OK)
            s = selection_nothing(&args->selection, q, e);
    } else if (s == LATHE_OK && args->json) {
        s = out_json(best, e);
    } else if (s == LATHE_OK && args->csv) {
        struct strbuf b = {0};
        report_csv(&b, best);
        s = out_buffer(&b, e);
    } else if (s == LATHE_OK) {
        struct strbuf b = {0};
        if (front)
            report_front(&b, best, args->selection.db);
        else
            report_best(&b, best, NULL, args->selection.db);
        s = out_report(&b, e);
        if (s == LATHE_OK && !front)
            s = tell_export(q, &f, e);
    }
    if (s == LATHE_OK && !front)
        s = warn_of_firsts(q, &f, best, e);
    sb_free(&db);
    json_decref(best);
    query_close(q);
    return s;
}

const struct command command_best = {
    .name = "best",
    .summary = "lists the best verified configurations in the database",
    .details =
        "Only configurations whose results were verified are listed; what was imported or replayed, so that nothing "
        "of it was verified here, where --campaign or --device names it, and it is said then. Those that were in their "
        "campaign's final "
        "are ranked by its cold time, the others by the time of their trial. 'error' is the relative Frobenius "
        "error against double precision, 'speed-up' the first baseline's time over this one's. What was in no final "
        "was verified once, and that is said; so is that a final of another campaign refused something faster. `lathe "
        "export` takes the first one of the newest campaign's problem, size and device. --front compares "
        "the times of trials ('time ms'), since what is inaccurate is in no final.",
    .options = best_options,
    .args_size = sizeof(struct best_args),
    .run = best_run,
};
