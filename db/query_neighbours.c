/* query_neighbours.c: the trials of a campaign that have one of some configurations, as the JSON of query.h: what an
 * explanation needs of a campaign of any size. */
#include "db/query_private.h"

#include "base/strbuf.h"

/* The configurations are an array of texts. */
static const char SELECT_NEIGHBOURS[] =
    "SELECT t.id, t.configuration, t.outcome, t.time_ms, t.score_ms IS NOT NULL FROM trial t WHERE t.campaign_id = ?1 "
    "AND t.kernel = ?2 AND t.number > 0 AND t.configuration IN (SELECT value FROM json_each(?3)) ORDER BY t.number";
static const char SELECT_WORK[] = "SELECT flops, bytes FROM campaign WHERE id = ?1";

static int append(const char *text, size_t n, void *buffer)
{
    sb_addn(buffer, text, n);
    return 0;
}

static status add_rows(struct query *q, const struct query_neighbours *asked, json_t *list, struct err *e)
{
    sqlite3_stmt *st = NULL;
    bool row;
    struct strbuf texts = {0};
    json_dump_callback(asked->configurations, append, &texts, JSON_COMPACT);
    status s = sql_prepare(&q->sql, SELECT_NEIGHBOURS, &st, e);
    if (!s)
        s = sql_bind(&q->sql, st,
                     SQL_VALUES(sql_int(asked->campaign), sql_text(asked->kernel), sql_text(sb_str(&texts))), e);
    while (!s && !(s = query_step(q, st, &row, e)) && row)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:b}", "trial", query_column(st, 0), "text",
                                              query_column(st, 1), "outcome", query_column(st, 2), "time_ms",
                                              query_column(st, 3), "eligible", sqlite3_column_int(st, 4)));
    sqlite3_finalize(st);
    sb_free(&texts);
    return s;
}

static status neighbours_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    const struct query_neighbours *asked = args;
    sqlite3_stmt *st = NULL;
    bool row = false;
    json_t *list = json_array();
    status s = sql_prepare(&q->sql, SELECT_WORK, &st, e);
    if (!s)
        s = sql_bind(&q->sql, st, SQL_VALUES(sql_int(asked->campaign)), e);
    if (!s)
        s = query_step(q, st, &row, e);
    if (!s)
        s = add_rows(q, asked, list, e);
    if (!s)
        *out = json_pack("{s:o, s:o, s:O}", "flops", row ? query_column(st, 0) : json_null(), "bytes",
                         row ? query_column(st, 1) : json_null(), "trials", list);
    json_decref(list);
    sqlite3_finalize(st);
    return s;
}

status query_neighbours(struct query *q, const struct query_neighbours *asked, json_t **out, struct err *e)
{
    *out = NULL;
    return query_in_snapshot(q, neighbours_body, asked, out, e);
}
