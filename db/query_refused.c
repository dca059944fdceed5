/* query_refused.c: what `best` would list, had not the final of another campaign refused the same. */
#include "db/query_private.h"

static status list_trials(struct rows *r, json_t *list, struct err *e)
{
    json_t *trial;
    bool row;
    status s;
    while (!(s = query_step(r->q, r->st, &row, e)) && row &&
           !(s = query_trial(r->q, sqlite3_column_int64(r->st, 0), &trial, e)))
        json_array_append_new(list, trial);
    return s;
}

static status refused_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    static const struct listing refused = {
        .columns = "t.id",
        .joins = "",
        .condition = "t.refused_by IS NOT NULL",
        .order = "t.time_ms, t.id",
        .index = " INDEXED BY trial_refused",
        .visit = list_trials,
    };
    if (q->version >= SINCE_REFUSED)
        return query_visit(q, args, &refused, out, e);
    *out = json_array();
    return LATHE_OK;
}

status query_refused(struct query *q, const struct query_filter *f, json_t **out, struct err *e)
{
    return query_in_snapshot(q, refused_body, f, out, e);
}
