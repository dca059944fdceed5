/* query_pace.c: how fast a campaign went, where its time went, and how far its baselines drifted, as the JSON of
 * query.h. Files before version 3 know none of it. */
#include "db/query_private.h"

static const char SELECT_PACE[] =
    "SELECT trials_per_minute, device_share, setup_seconds, baseline_seconds, search_seconds, final_seconds, "
    "strategy_seconds, compile_seconds, load_seconds, verify_seconds, measure_seconds, store_seconds, device_seconds, "
    "(SELECT sum(count) FROM trial t JOIN measurement m ON m.trial_id = t.id AND m.regime = 'trial' WHERE "
    "t.campaign_id = ?1), "
    "(SELECT sum(throttled) FROM trial t JOIN measurement m ON m.trial_id = t.id AND m.regime = 'trial' "
    "WHERE t.campaign_id = ?1 AND m.throttle_reasons IS NOT NULL) "
    "FROM pace WHERE campaign_id = ?1";

/* Against the first time of the same phase: in the search that is the trial's own. */
static const char SELECT_DRIFT[] =
    "SELECT d.trial_id, t.kernel, d.phase, count(*), f.ms, (min(d.median_ms) / f.ms - 1), (max(d.median_ms) / f.ms - "
    "1), "
    "(SELECT median_ms FROM drift l WHERE l.trial_id = d.trial_id AND l.phase = d.phase ORDER BY l.id DESC LIMIT 1) / "
    "f.ms - 1 "
    "FROM drift d JOIN trial t ON t.id = d.trial_id JOIN (SELECT x.id AS id, p.phase AS phase, CASE p.phase WHEN "
    "'search' "
    "THEN (SELECT median_ms FROM measurement m WHERE m.trial_id = x.id AND m.regime = 'trial' ORDER BY m.id LIMIT 1) "
    "ELSE (SELECT median_ms FROM drift o WHERE o.trial_id = x.id AND o.phase = p.phase ORDER BY o.id LIMIT 1) END AS "
    "ms "
    "FROM trial x JOIN (SELECT 'search' AS phase UNION SELECT 'cold' UNION SELECT 'sustained') p "
    "WHERE x.campaign_id = ?1 AND x.number <= 0) f ON f.id = t.id AND f.phase = d.phase "
    "WHERE d.campaign_id = ?1 GROUP BY d.trial_id, d.phase ORDER BY t.number DESC, "
    "d.phase <> 'search', d.phase";

status query_pace(struct query *q, int64_t campaign, json_t **out, struct err *e)
{
    static const char *const keys[] = {"setup", "baselines", "search", "final", "strategy", "compile", "load", "verify",
                                       "measure", "store", "device"};
    enum { PHASES = 4, KEYS = sizeof keys / sizeof *keys };
    *out = json_null();
    if (q->version < 3)
        return LATHE_OK;
    sqlite3_stmt *st;
    bool row = false;
    status s = query_ask(q, QUESTION_pace, SELECT_PACE, campaign, &st, e);
    if (!s)
        s = query_step(q, st, &row, e);
    if (!s && row) {
        json_t *phases = json_object(), *stages = json_object();
        for (int i = 0; i < KEYS; i++)
            json_object_set_new(i < PHASES ? phases : stages, keys[i], query_column(st, 2 + i));
        *out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "trials_per_minute", query_column(st, 0), "device_share",
                         query_column(st, 1), "phases", phases, "stages", stages, "samples",
                         query_column(st, 2 + KEYS), "throttled", query_column(st, 3 + KEYS));
    }
    sqlite3_reset(st);
    return s;
}

status query_drift(struct query *q, int64_t campaign, json_t **out, struct err *e)
{
    *out = json_array();
    if (q->version < 3)
        return LATHE_OK;
    sqlite3_stmt *st;
    bool row;
    status s = query_ask(q, QUESTION_drift, SELECT_DRIFT, campaign, &st, e);
    while (!s && !(s = query_step(q, st, &row, e)) && row)
        json_array_append_new(*out, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "trial", query_column(st, 0),
                                              "kernel", query_column(st, 1), "phase", query_column(st, 2), "count",
                                              query_column(st, 3), "first_ms", query_column(st, 4), "least",
                                              query_column(st, 5), "most", query_column(st, 6), "last",
                                              query_column(st, 7)));
    sqlite3_reset(st);
    return s;
}
