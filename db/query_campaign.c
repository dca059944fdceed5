/* query_campaign.c: campaigns, and what an export needs of a trial, as the JSON of query.h (docs/json.md). */
#include "base/mem.h"
#include "base/process.h"
#include "db/query_private.h"
#include "model/outcome.h"

#include <stdlib.h>
#include <string.h>

/* The plain keys of a campaign, in the order of this list (the first two %s: what older files do not have, as OBJECTIVE
 * and RECORDED); then ids, from which the rest is made: of its best trial, by an index and the condition that it needs
 * (the last two %s), and of its baseline.
 * A campaign that has not ended has lasted until its last trial ended. */
static const char SELECT_CAMPAIGN[] =
    "SELECT c.id AS id, p.name AS problem, NULL AS size, d.name AS device, d.kind AS device_kind, s.name AS strategy, "
    "c.strategy_options AS options, c.seed AS seed, c.tolerance AS tolerance, c.inputs AS inputs, "
    "c.restrictions AS restrictions, "
    "c.state AS state, c.note AS note, c.created AS created, %s AS objective, %s AS recorded_seconds, "
    "coalesce(c.seconds, (julianday(coalesce(c.ended, (SELECT t.ended FROM trial t WHERE t.campaign_id = c.id "
    "AND t.ended IS NOT NULL ORDER BY t.number DESC LIMIT 1))) - julianday(c.created)) * 86400) AS seconds, "
    "(SELECT count(*) FROM trial t WHERE t.campaign_id = c.id AND t.role = 'candidate') AS trials, "
    "(SELECT count(*) FROM trial t WHERE t.campaign_id = c.id AND t.role = 'candidate' AND t.outcome = 'ok') AS ok, "
    "(SELECT t.id FROM trial t%s WHERE t.campaign_id = c.id AND %s ORDER BY " QUERY_BY_SCORE " LIMIT 1), "
    "(SELECT t.id FROM trial t WHERE t.campaign_id = c.id AND t.number <= 0 AND t.checked "
    "ORDER BY t.number DESC LIMIT 1) "
    "FROM campaign c JOIN problem p ON p.id = c.problem_id JOIN device d ON d.id = c.device_id "
    "JOIN strategy s ON s.id = c.strategy_id WHERE c.id = ?1";
enum { PLAIN_KEYS = 19, BEST_COLUMN = 19, BASELINE_COLUMN = 20 };
enum { SINCE_OBJECTIVE = 3, SINCE_RECORDED = 2 /* the schema's versions */ };
static const char OBJECTIVE[] = "c.objective";
static const char RECORDED[] = "CASE WHEN d.kind = 'replay' THEN (SELECT total(t.total_seconds) FROM trial t "
                               "WHERE t.campaign_id = c.id AND t.role = 'candidate') END";

/* A seed is an integer; one that a 64-bit signed integer cannot hold is left as text. */
static json_t *seed_json(const char *digits)
{
    return strlen(digits) > 19 || (strlen(digits) == 19 && strcmp(digits, "9223372036854775807") > 0)
               ? json_string(digits)
               : json_integer(strtoll(digits, NULL, 10));
}

/* The cold median where there is one, else the trial's time. */
static json_t *ranking_ms(const json_t *trial)
{
    json_t *cold = json_object_get(trial, "cold_ms");
    return json_is_number(cold) ? cold : json_object_get(trial, "time_ms");
}

static void set(json_t *object, const char *key, json_t *borrowed)
{
    json_object_set_new(object, key, borrowed ? json_incref(borrowed) : json_null());
}

/* best_ms, baseline_ms, speedup: the two times are of the same regime unless the baseline has no cold one. */
static status add_best(struct query *q, int64_t best_id, int64_t baseline_id, json_t *campaign, struct err *e)
{
    json_t *best = NULL, *baseline = NULL;
    status s = best_id ? query_trial(q, best_id, &best, e) : LATHE_OK;
    if (!s && baseline_id)
        s = query_trial(q, baseline_id, &baseline, e);
    bool cold = json_is_number(json_object_get(best, "cold_ms"));
    set(campaign, "best_ms", ranking_ms(best));
    set(campaign, "baseline_ms", cold ? ranking_ms(baseline) : json_object_get(baseline, "time_ms"));
    set(campaign, "speedup", json_object_get(best, "speedup"));
    json_decref(best);
    json_decref(baseline);
    return s;
}

static json_t *killed_note(const struct query *q, int64_t id)
{
    struct strbuf note = {0};
    sb_addf(&note, "the process that ran it was killed: `lathe tune --resume %lld", (long long)id);
    query_db_option(&note, q->sql.path);
    sb_add(&note, "` goes on with it");
    json_t *text = json_string(sb_str(&note));
    sb_free(&note);
    return text;
}

/* A campaign that is running by a process that is gone was interrupted. */
static status settle_state(struct query *q, int64_t id, json_t *campaign, struct err *e)
{
    sqlite3_stmt *st;
    bool row = false;
    const char *state = json_string_value(json_object_get(campaign, "state"));
    if (q->version < 2 || !state || strcmp(state, "running"))
        return LATHE_OK;
    status s = query_ask(q, QUESTION_coordinator, NULL, id, &st, e);
    if (!s)
        s = query_step(q, st, &row, e);
    const char *coordinator = row ? (const char *)sqlite3_column_text(st, 0) : NULL;
    if (process_state(coordinator) == PROCESS_GONE) {
        json_object_set_new(campaign, "state", json_string("interrupted"));
        if (json_is_null(json_object_get(campaign, "note")))
            json_object_set_new(campaign, "note", killed_note(q, id));
    }
    sqlite3_reset(st);
    return s;
}

static status fill_campaign(struct query *q, sqlite3_stmt *st, int64_t id, json_t *campaign, struct err *e)
{
    json_t *size = NULL;
    status s = query_size(q, id, &size, e);
    for (int i = 0; i < PLAIN_KEYS; i++) {
        const char *key = sqlite3_column_name(st, i);
        if (strcmp(key, "size") == 0)
            set(campaign, key, size);
        else if (strcmp(key, "tolerance") == 0 || strcmp(key, "restrictions") == 0)
            json_object_set_new(campaign, key, query_tree(st, i));
        else if (strcmp(key, "seed") == 0)
            json_object_set_new(campaign, key, seed_json((const char *)sqlite3_column_text(st, i)));
        else
            json_object_set_new(campaign, key, query_column(st, i));
    }
    json_decref(size);
    if (!s)
        s = settle_state(q, id, campaign, e);
    if (!s)
        s = query_devices(q, id, campaign, e);
    return s ? s
             : add_best(q, sqlite3_column_int64(st, BEST_COLUMN), sqlite3_column_int64(st, BASELINE_COLUMN), campaign,
                        e);
}

status query_campaign_object(struct query *q, int64_t id, json_t **out, struct err *e)
{
    sqlite3_stmt *st;
    bool row = false;
    *out = json_object();
    char *text = mem_printf(SELECT_CAMPAIGN, q->version >= SINCE_OBJECTIVE ? OBJECTIVE : "'time'",
                            q->version >= SINCE_RECORDED ? RECORDED : "NULL", query_leaders_index(q, true),
                            query_leaders_condition(q));
    status s = query_ask(q, QUESTION_campaign, text, id, &st, e);
    mem_free(text);
    if (!s)
        s = query_step(q, st, &row, e);
    if (!s && row)
        s = fill_campaign(q, st, id, *out, e);
    sqlite3_reset(st);
    if (s) {
        json_decref(*out);
        *out = NULL;
    }
    return s;
}

static status campaigns_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    json_t *list = json_array(), *campaign;
    status s = query_ask(q, QUESTION_campaign_ids, NULL, 0, &st, e);
    while (!s && !(s = query_step(q, st, &row, e)) && row) {
        s = query_campaign_object(q, sqlite3_column_int64(st, 0), &campaign, e);
        if (!s)
            json_array_append_new(list, campaign);
    }
    sqlite3_reset(st);
    if (s)
        json_decref(list);
    else
        *out = list;
    return s;
}

status query_campaigns(struct query *q, json_t **out, struct err *e)
{
    return query_in_snapshot(q, campaigns_body, NULL, out, e);
}

/* Every outcome there is, in the order of its table, so that a key is never missing. */
static status add_outcomes(struct query *q, int64_t id, json_t *campaign, struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    json_t *outcomes = json_object();
    for (int i = 0; i < OUTCOME_COUNT; i++)
        json_object_set_new(outcomes, outcome_name((enum outcome)i), json_integer(0));
    json_object_set_new(outcomes, "in_flight", json_integer(0));
    status s = query_ask(q, QUESTION_outcomes, NULL, id, &st, e);
    while (!s && !(s = query_step(q, st, &row, e)) && row)
        json_object_set_new_nocheck(outcomes, (const char *)sqlite3_column_text(st, 0), query_column(st, 1));
    sqlite3_reset(st);
    json_object_set_new(campaign, "outcomes", outcomes);
    return s;
}

status query_find_campaign(struct query *q, int64_t wanted, int64_t *id, struct err *e)
{
    sqlite3_stmt *st;
    bool row = false;
    status s = query_ask(q, QUESTION_campaign_find, NULL, wanted, &st, e);
    if (!s)
        s = query_step(q, st, &row, e);
    *id = row ? sqlite3_column_int64(st, 0) : 0;
    sqlite3_reset(st);
    if (s || row)
        return s;
    if (!wanted)
        return query_missing(q->sql.path, LATHE_NOTHING, e, "there is no campaign yet: run ", "tune", "");
    return query_no_campaign(q, wanted, e);
}

static status newest_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    sqlite3_stmt *st;
    bool row = false;
    status s = query_ask(q, QUESTION_campaign_measured, NULL, 0, &st, e);
    if (!s)
        s = query_step(q, st, &row, e);
    if (!s && !row)
        s = query_missing(q->sql.path, LATHE_NOTHING, e, "nothing was measured here yet: run ", "tune", "");
    *out = s ? NULL : json_integer(sqlite3_column_int64(st, 0));
    sqlite3_reset(st);
    return s;
}

status query_newest(struct query *q, int64_t *id, struct err *e)
{
    json_t *found = NULL;
    status s = query_in_snapshot(q, newest_body, NULL, &found, e);
    *id = json_integer_value(found);
    json_decref(found);
    return s;
}

struct campaign_args {
    int64_t id;
    bool trials;                        /* themselves, not how many */
    int last;                           /* so many of them beside; 0: none */
};

static status campaign_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    const struct campaign_args *asked = args;
    int64_t id;
    json_t *campaign = NULL, *baselines = NULL, *trials = NULL, *pace = NULL, *drift = NULL;
    status s = query_find_campaign(q, asked->id, &id, e);
    if (!s)
        s = query_campaign_object(q, id, &campaign, e);
    if (!s)
        s = query_trials(q, QUESTION_baselines, id, &baselines, e);
    if (!s) {
        json_object_set_new(campaign, "baselines", baselines);
        s = add_outcomes(q, id, campaign, e);
    }
    if (!s)
        s = query_reasons(q, id, campaign, e);
    if (!s) {
        s = query_pace(q, id, &pace, e);
        json_object_set_new(campaign, "pace", pace);
    }
    if (!s) {
        s = query_drift(q, id, &drift, e);
        json_object_set_new(campaign, "drift", drift);
    }
    if (!s && asked->trials) {
        s = query_trials(q, QUESTION_candidates, id, &trials, e);
        json_object_set_new(campaign, "trials", trials);
    }
    if (!s && asked->last)
        s = query_course(q, id, asked->last, campaign, e);
    if (s)
        json_decref(campaign);
    else
        *out = campaign;
    return s;
}

status query_campaign_last(struct query *q, int64_t id, int last, json_t **out, struct err *e)
{
    return query_in_snapshot(q, campaign_body, &(struct campaign_args){.id = id, .last = last}, out, e);
}

status query_campaign(struct query *q, int64_t id, json_t **out, struct err *e)
{
    return query_in_snapshot(q, campaign_body, &(struct campaign_args){.id = id, .trials = true}, out, e);
}

status query_campaign_summary(struct query *q, int64_t id, json_t **out, struct err *e)
{
    return query_in_snapshot(q, campaign_body, &(struct campaign_args){.id = id}, out, e);
}
