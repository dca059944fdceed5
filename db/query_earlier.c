/* query_earlier.c: what campaigns found for kernels of the same names: what another campaign may begin with.
 *
 * Campaigns are walked from the newest. One that never had such a kernel is told by its list of kernels, so that its
 * trials are not looked at; of the others an index holds the order. */
#include "base/mem.h"
#include "db/query_private.h"

#include <string.h>

static const char CAMPAIGNS[] = "SELECT c.id, p.name, d.name, c.kernels FROM campaign c "
                                "JOIN problem p ON p.id = c.problem_id JOIN device d ON d.id = c.device_id "
                                "WHERE (" QUERY_MEASURED " OR ?1 AND d.kind = 'replay') AND (?2 = 0 OR c.id < ?2) "
                                "ORDER BY c.id DESC";
/* The index, and the condition that it needs. */
static const char TRIALS[] = "SELECT t.id, t.score_ms FROM trial t%s WHERE t.campaign_id = ?1 AND t.kernel = ?2 AND %s "
                             "ORDER BY " QUERY_BY_SCORE " LIMIT ?3";

/* Whether a list of words has one of them. */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; n && (at = strstr(at, word)) != NULL; at += n)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

/* The trials of a kernel in the campaign that `campaigns` is at; *size is read when first needed. */
static status add_trials(struct query *q, sqlite3_stmt *campaigns, sqlite3_stmt *trials, const char *kernel, int top,
                         json_t **size, json_t *list, struct err *e)
{
    int64_t campaign = sqlite3_column_int64(campaigns, 0);
    bool row;
    status s = sql_bind(&q->sql, trials, SQL_VALUES(sql_int(campaign), sql_text(kernel), sql_int(top)), e);
    while (!s && !(s = query_step(q, trials, &row, e)) && row) {
        json_t *configuration = NULL;
        s = *size ? LATHE_OK : query_size(q, campaign, size, e);
        if (!s)
            s = query_configuration(q, sqlite3_column_int64(trials, 0), &configuration, e);
        if (s)
            json_decref(configuration);
        else
            json_array_append_new(list, json_pack("{s:I, s:o, s:O, s:o, s:s, s:o, s:o}", "campaign",
                                                  (json_int_t)campaign, "problem", query_column(campaigns, 1), "size",
                                                  *size, "device", query_column(campaigns, 2), "kernel", kernel,
                                                  "configuration", configuration, "score_ms", query_column(trials, 1)));
    }
    sqlite3_reset(trials);
    return s;
}

static status add_campaign(struct query *q, sqlite3_stmt *campaigns, sqlite3_stmt *trials,
                           const struct query_earlier *wanted, json_t *list, struct err *e)
{
    const char *kernels = (const char *)sqlite3_column_text(campaigns, 3);
    json_t *size = NULL;
    status s = LATHE_OK;
    for (int i = 0; i < wanted->nkernels && kernels && !s; i++)
        if (has_word(kernels, wanted->kernels[i]))
            s = add_trials(q, campaigns, trials, wanted->kernels[i], wanted->top, &size, list, e);
    json_decref(size);
    return s;
}

static status earlier_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    const struct query_earlier *wanted = args;
    sqlite3_stmt *campaigns = NULL, *trials = NULL;
    json_t *list = json_array();
    bool row;
    status s = sql_prepare(&q->sql, CAMPAIGNS, &campaigns, e);
    bool leaders = wanted->top <= STORE_LEADERS;        /* more than these an index may not have */
    char *text = mem_printf(TRIALS, leaders ? query_leaders_index(q, true) : "",
                            leaders ? query_leaders_condition(q) : QUERY_SCORED);
    if (!s)
        s = sql_prepare(&q->sql, text, &trials, e);
    mem_free(text);
    if (!s)
        s = sql_bind(&q->sql, campaigns, SQL_VALUES(sql_int(wanted->replayed), sql_int(wanted->before)), e);
    for (int n = 0; !s && n < wanted->campaigns && !(s = query_step(q, campaigns, &row, e)) && row;) {
        size_t before = json_array_size(list);
        s = add_campaign(q, campaigns, trials, wanted, list, e);
        n += json_array_size(list) > before;
    }
    sqlite3_finalize(campaigns);
    sqlite3_finalize(trials);
    if (s)
        json_decref(list);
    else
        *out = list;
    return s;
}

status query_earlier(struct query *q, const struct query_earlier *wanted, json_t **out, struct err *e)
{
    return query_in_snapshot(q, earlier_body, wanted, out, e);
}
