/* query_course.c: how a campaign of any size went: its last trials, and how its best fell. */
#include "base/mem.h"
#include "db/query_private.h"

#include <math.h>
#include <string.h>

static status add_last(struct query *q, int64_t id, int last, json_t *campaign, struct err *e)
{
    static const char sql[] = "SELECT id FROM (SELECT id, number FROM trial WHERE campaign_id = ?1 AND number > 0 "
                              "ORDER BY number DESC LIMIT ?2) ORDER BY number";
    sqlite3_stmt *st = NULL;
    bool row;
    json_t *list = json_array(), *trial;
    status s = sql_prepare(&q->sql, sql, &st, e);
    if (!s)
        s = sql_bind(&q->sql, st, SQL_VALUES(sql_int(id), sql_int(last)), e);
    while (!s && !(s = query_step(q, st, &row, e)) && row &&
           !(s = query_trial(q, sqlite3_column_int64(st, 0), &trial, e)))
        json_array_append_new(list, trial);
    sqlite3_finalize(st);
    json_object_set_new(campaign, "last", list);
    return s;
}

/* Of what the campaign looked for, as its trials had it: a trial's energy is that of its final where it was in one. */
static status add_falls(struct query *q, int64_t id, json_t *campaign, struct err *e)
{
    static const char select[] =
        "SELECT t.number, %s FROM trial t WHERE t.campaign_id = ?1 AND t.number > 0 AND t.score_ms IS NOT NULL "
        "ORDER BY t.number";
    static const char energy[] =
        "coalesce((SELECT m.energy_mj FROM measurement m WHERE m.trial_id = t.id AND m.regime = 'trial' "
        "AND m.energy_mj IS NOT NULL ORDER BY m.id DESC LIMIT 1), t.energy_mj)";
    const char *objective = json_string_value(json_object_get(campaign, "objective"));
    sqlite3_stmt *st = NULL;
    bool row;
    double best = HUGE_VAL;
    json_t *falls = json_array();
    char *text = mem_printf(select, objective && !strcmp(objective, "energy") ? energy : "t.time_ms");
    status s = sql_prepare(&q->sql, text, &st, e);
    mem_free(text);
    if (!s)
        s = sql_bind(&q->sql, st, SQL_VALUES(sql_int(id)), e);
    while (!s && !(s = query_step(q, st, &row, e)) && row)
        if (sqlite3_column_type(st, 1) != SQLITE_NULL && sqlite3_column_double(st, 1) < best) {
            best = sqlite3_column_double(st, 1);
            json_array_append_new(falls, json_pack("[o, o]", query_column(st, 0), query_column(st, 1)));
        }
    sqlite3_finalize(st);
    json_object_set_new(campaign, "falls", falls);
    return s;
}

status query_course(struct query *q, int64_t id, int last, json_t *campaign, struct err *e)
{
    status s = add_last(q, id, last, campaign, e);
    return s ? s : add_falls(q, id, campaign, e);
}
