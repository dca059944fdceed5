/* tune_run.c: see tune_run.h. Nothing is lost by a second signal: every trial told of is in the database. */
#include "cli/tune/tune_run.h"
#include "cli/args/select.h"
#include "cli/progress/signals.h"
#include "cli/tune/tune_report.h"
#include "console/output.h"

status tune_run_campaign(const struct tune_args *args, const struct campaign_request *request,
                         const struct tune_sink *sink, struct campaign_summary *summary, struct err *e)
{
    struct tune_events events;
    struct campaign_request r = *request;
    tune_events_init(&events, &r, args->quiet, args->json, sink);
    r.every_trial = args->json;
    r.on_event = tune_event;
    r.ctx = &events;
    struct signals_before before;
    if (args->json)             /* for a program, which nobody waits for who ends this */
        out_give_up(campaign_interrupted);
    signals_catch(&before);
    status s = campaign_run(&r, summary, e);
    signals_restore(&before);
    struct err unwritten = {0};
    status written = tune_events_end(&events, &unwritten);
    return s || !written || summary->interrupted ? s : (*e = unwritten, written);
}

static status interrupted(long long id, const char *db, struct err *e)
{
    struct strbuf option = {0};
    query_db_option(&option, db);
    err_set(e, LATHE_INTERRUPTED,
            "interrupted; what was measured is campaign %lld of %.500s\n`lathe tune --resume %lld%.600s` goes on with "
            "it",
            id, db, id, sb_str(&option));
    sb_free(&option);
    return LATHE_INTERRUPTED;
}

status tune_conclude(const struct tune_args *args, bool of_kinds, status s, const struct campaign_summary *summary,
                     struct err *e)
{
    long long id = (long long)summary->id;
    if (id <= 0)
        return s;
    if (s == LATHE_OK || s == LATHE_NOTHING) {
        struct err failure = {0};
        struct tune_reported r = {args->db, args->top, args->json, args->csv, s == LATHE_NOTHING, of_kinds};
        status reported = tune_report(&r, summary->id, &failure);
        bool hung_up = reported == LATHE_IO && summary->interrupted;    /* there is no terminal any more */
        if (reported != LATHE_OK && !hung_up) {
            *e = failure;
            return reported;
        }
        return summary->interrupted ? interrupted(id, args->db, e) : s;
    }
    struct err failure = *e, unwritten = {0};
    if (args->json)
        tune_events_failure(summary->id, &failure, &unwritten);
    if (summary->elsewhere)
        return s;
    return err_set(e, s, "%.1500s\n%s: campaign %lld of %.300s", failure.text,
                   summary->measured ? "what was measured is kept" : "nothing was measured before that", id, args->db);
}
