/* query_resume.c: what a campaign needs to go on, as the JSON of query.h. */
#include "db/query_private.h"

#include <string.h>

static const char SELECT_RESUMPTION[] =
    "SELECT c.id AS id, c.state AS state, c.resumed AS resumed, p.specification AS specification, "
    "(SELECT json_group_object(name, value) FROM (SELECT name, value FROM campaign_dim WHERE campaign_id = c.id "
    "ORDER BY position)) AS size, c.tolerance AS tolerance, c.restrictions AS restrictions, c.request AS request, "
    "d.target AS target, (SELECT json_group_array(json(target)) FROM (SELECT x.target AS target FROM campaign_worker w "
    "JOIN device x ON x.id = w.device_id WHERE w.campaign_id = c.id ORDER BY w.position)) AS targets, c.inputs AS "
    "inputs, c.kernels AS kernels, s.name AS strategy, s.text AS strategy_text, "
    "c.strategy_options AS options, c.seed AS seed, c.budget_trials AS budget_trials, "
    "c.budget_seconds AS budget_seconds, c.tool_version AS tool_version, "
    "max(coalesce(c.seconds, 0), coalesce((SELECT max(campaign_seconds) FROM trial WHERE campaign_id = c.id), 0)) AS "
    "seconds, coalesce((SELECT max(number) FROM trial WHERE campaign_id = c.id), 0) AS trials, "
    "c.coordinator AS coordinator, CASE WHEN json_extract(c.request, '$.recording') IS NOT NULL THEN (SELECT "
    "total(total_seconds) FROM trial WHERE campaign_id = c.id AND number > 0) ELSE 0.0 END AS replayed_seconds "
    "FROM campaign c JOIN problem p ON p.id = c.problem_id JOIN device d ON d.id = c.device_id "
    "JOIN strategy s ON s.id = c.strategy_id WHERE c.id = ?1";
enum { COLUMNS = 23, FIRST_TREE = 3, LAST_TREE = 9 };

static status resumption_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    int64_t id = *(const int64_t *)args;
    sqlite3_stmt *st;
    bool row = false;
    status s = query_ask(q, QUESTION_resumption, SELECT_RESUMPTION, id, &st, e);
    if (!s)
        s = query_step(q, st, &row, e);
    if (!s && !row)
        s = query_no_campaign(q, id, e);
    if (!s) {
        *out = json_object();
        for (int i = 0; i < COLUMNS; i++)
            json_object_set_new(*out, sqlite3_column_name(st, i),
                                i >= FIRST_TREE && i <= LAST_TREE ? query_tree(st, i) : query_column(st, i));
    }
    sqlite3_reset(st);
    return s;
}

status query_resumption(struct query *q, int64_t id, json_t **out, struct err *e)
{
    return query_in_snapshot(q, resumption_body, &id, out, e);
}
