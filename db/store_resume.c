/* store_resume.c: a campaign that goes on: who has it, its trials as they stand, and trials that are begun again.
 *
 * Invariants: (1) of two processes that resume one campaign, one is refused: who has it is looked at and changed in one
 * transaction; (2) going on ends in another final: places and scores are those of the search again when a campaign is
 * taken over. What its final measured stays until the next one's figures take its place (store_final_forget), and what
 * it refused stays refused. */
#include "base/clock.h"
#include "base/process.h"
#include "db/store_private.h"
#include "model/outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text_column(sqlite3_stmt *st, int i)
{
    const char *s = (const char *)sqlite3_column_text(st, i);
    return s ? s : "";
}

/* LATHE_USAGE: it belongs to another process, or may. */
static status check_owner(const struct store *s, int64_t id, const char *state, const char *coordinator, bool force,
                          struct err *e)
{
    char host[128] = "?", pid[128] = "?";
    if (strcmp(state, "running"))
        return LATHE_OK;
    enum process_state process = process_state(coordinator);
    sscanf(coordinator, "%127s %*s %*s %127s", host, pid);
    if (process == PROCESS_RUNS)
        return err_set(e, LATHE_USAGE, "%s: campaign %lld is running, by process %s: interrupt that first", s->sql.path,
                       (long long)id, pid);
    if (process == PROCESS_UNKNOWN && !force)
        return err_set(e, LATHE_USAGE,
                       "%s: campaign %lld was begun by process %s on %s, and whether that still runs cannot be told "
                       "from here\n--force goes on with it; a campaign that two processes run is of no use",
                       s->sql.path, (long long)id, pid, host);
    return LATHE_OK;
}

static status take_over(struct store *s, int64_t id, const struct campaign_resumption *r, struct err *e)
{
    static const char doing[] = "resuming the campaign";
    sqlite3_stmt *st;
    struct strbuf coordinator = {0};
    bool row = false;
    struct sql_value key = sql_int(id);
    status code = store_statement(s, STATEMENT_campaign_state, &st, e);
    if (code)
        return code;
    code = sql_bind(&s->sql, st, &key, 1, e);
    if (!code)
        code = sql_step(&s->sql, st, doing, &row, e);
    if (!code && !row)
        code = err_set(e, LATHE_NOTHING, "%s: there is no campaign %lld", s->sql.path, (long long)id);
    if (!code)
        code = check_owner(s, id, text_column(st, 0), text_column(st, 1), r->force, e);
    sqlite3_reset(st);
    if (code)
        return code;
    process_identity(&coordinator);
    code = store_run(s, STATEMENT_campaign_resume, doing,
                     SQL_VALUES(sql_int(id), sql_text(r->note), sql_text(sb_str(&coordinator)), sql_text(r->request),
                                r->budget_trials > 0 ? sql_int(r->budget_trials) : sql_null(),
                                r->budget_seconds > 0 ? sql_real(r->budget_seconds) : sql_null(),
                                sql_real(r->used > 0 ? r->used : 0)),
                     e);
    sb_free(&coordinator);
    static const enum statement undo_final[] = {STATEMENT_rank_clear, STATEMENT_final_energy_clear};
    for (size_t i = 0; !code && i < sizeof undo_final / sizeof *undo_final; i++)
        code = store_run(s, undo_final[i], doing, SQL_VALUES(sql_int(id)), e);
    return code ? code : store_leaders_settle(s, id, e);
}

status store_campaign_resume(struct store *s, int64_t id, const struct campaign_resumption *r, struct err *e)
{
    static const char doing[] = "resuming the campaign";
    status code = store_begin(s, doing, e);
    if (code)
        return code;
    code = store_finish(s, take_over(s, id, r, e), doing, e);
    if (!code) {
        s->sourced = NULL;
        s->campaign = id;
        s->campaign_began = clock_seconds() - (r->used > 0 ? r->used : 0);
    }
    return code;
}

static double real_column(sqlite3_stmt *st, int i)
{
    return sqlite3_column_type(st, i) == SQLITE_NULL ? NAN : sqlite3_column_double(st, i);
}

static status read_trial(const struct store *s, sqlite3_stmt *st, struct stored_trial *out, struct err *e)
{
    const char *outcome = text_column(st, 3);
    if (outcome_parse(outcome) < 0 && strcmp(outcome, "in_flight"))
        return err_set(e, LATHE_STORE, "%s: a trial ended as '%.60s', which this lathe does not know", s->sql.path,
                       outcome);
    *out = (struct stored_trial){.id = sqlite3_column_int64(st, 0),
                                 .outcome = outcome_parse(outcome),
                                 .time_ms = real_column(st, 4),
                                 .seconds = real_column(st, 5),
                                 .attempts = sqlite3_column_int(st, 6),
                                 .refused = sqlite3_column_int(st, 7),
                                 .energy_mj = real_column(st, 8),
                                 .device_seconds = real_column(st, 9)};
    snprintf(out->kernel, sizeof out->kernel, "%s", text_column(st, 1));
    sb_add(&out->configuration, text_column(st, 2));
    return LATHE_OK;
}

status store_trial_find(struct store *s, int64_t campaign, int64_t number, struct stored_trial *out, bool *found,
                        struct err *e)
{
    sqlite3_stmt *st;
    *found = false;
    status code = store_statement(s, STATEMENT_trial_find, &st, e);
    if (code)
        return code;
    code = sql_bind(&s->sql, st, SQL_VALUES(sql_int(campaign), sql_int(number)), e);
    if (!code)
        code = sql_step(&s->sql, st, "looking for a trial", found, e);
    if (*found)
        code = read_trial(s, st, out, e);
    if (code)
        *found = false;
    sqlite3_reset(st);
    return code;
}

static status change_trial(struct store *s, enum statement which, const char *doing, const struct sql_value *v, int n,
                           struct err *e)
{
    status code = store_begin(s, doing, e);
    if (code)
        return code;
    code = store_run(s, which, doing, v, n, e);
    if (!code && sqlite3_changes(s->sql.db) != 1)
        code = err_set(e, LATHE_INTERNAL, "%s: trial %lld has ended (%s); this is a bug in lathe", s->sql.path,
                       (long long)v[0].i, doing);
    return store_finish(s, code, doing, e);
}

status store_trial_again(struct store *s, int64_t id, int attempts, struct err *e)
{
    char now[32];
    clock_iso8601(now);
    return change_trial(s, STATEMENT_trial_again, "beginning a trial again",
                        SQL_VALUES(sql_int(id), sql_text(now), sql_int(attempts)), e);
}

status store_trial_runs(struct store *s, int64_t id, int position, struct err *e)
{
    return change_trial(s, STATEMENT_trial_runs, "recording that a trial runs",
                        SQL_VALUES(sql_int(id), sql_int(position)), e);
}
