/* query_devices.c: the devices of a campaign, and what each of them measured, as the JSON of query.h (docs/json.md). A
 * file of an older schema says nothing of them. */
#include "db/query_private.h"

enum { SINCE_VERSION = 3 };

static status rows(struct query *q, enum question which, int64_t id, json_t *(*read)(sqlite3_stmt *st), json_t *list,
                   struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    if (q->version < SINCE_VERSION)
        return LATHE_OK;
    status s = query_ask(q, which, NULL, id, &st, e);
    while (!s && !(s = query_step(q, st, &row, e)) && row)
        json_array_append_new(list, read(st));
    sqlite3_reset(st);
    return s;
}

static json_t *device(sqlite3_stmt *st)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", query_column(st, 0), "device", query_column(st, 1), "uuid",
                     query_column(st, 2), "trials", query_column(st, 3), "taken_out", query_column(st, 4));
}

status query_devices(struct query *q, int64_t campaign, json_t *object, struct err *e)
{
    json_t *list = json_array();
    status s = rows(q, QUESTION_campaign_devices, campaign, device, list, e);
    json_object_set_new(object, "devices", list);
    return s;
}

static json_t *figures(sqlite3_stmt *st)
{
    return json_pack("{s:o, s:o, s:o}", "device", query_column(st, 0), "cold_ms", query_column(st, 1), "sustained_ms",
                     query_column(st, 2));
}

status query_trial_devices(struct query *q, int64_t trial, json_t *object, struct err *e)
{
    sqlite3_stmt *st;
    bool row = false;
    status s = LATHE_OK;
    json_t *list = json_array(), *name = NULL;
    if (q->version >= SINCE_VERSION) {
        s = query_ask(q, QUESTION_ran_on, NULL, trial, &st, e);
        if (!s)
            s = query_step(q, st, &row, e);
        if (row)
            name = query_column(st, 0);
        sqlite3_reset(st);
    }
    if (!s)
        s = rows(q, QUESTION_final_figures, trial, figures, list, e);
    json_object_set_new(object, "ran_on", name ? name : json_null());
    json_object_set_new(object, "finals", list);
    return s;
}
