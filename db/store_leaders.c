/* store_leaders.c: which trials may be among the best of their campaign and kernel: the marks trial.behind.
 *
 * Invariant: of the trials of a campaign and kernel that have a score, the STORE_LEADERS best by (score_ms, time_ms,
 * id) are not marked, and neither is one of the final. So what asks for no more than that walks the indexes of those
 * not marked (schema_5.sql), which get k ln(n / k) entries of n trials that come in no order, and writing a trial costs
 * the same whatever the campaign's size. Why it holds: a trial is marked when it ends and k others of its group are
 * better; a final moves only its own trials, which are not marked, before all others, and leaves the order of those;
 * after anything else that takes a score away or lowers a place, store_leaders_settle looks at the whole campaign.
 *
 * The scores of the best are kept in memory, of the groups that trials ended in. */
#include "base/mem.h"
#include "db/store_private.h"

#include <math.h>
#include <string.h>

struct leaders {
    int64_t campaign;
    char *kernel;
    double score[STORE_LEADERS];        /* ascending */
    int n;
};

void store_leaders_forget(struct store *s)
{
    for (int i = 0; i < s->nleaders; i++)
        mem_free(s->leaders[i].kernel);
    mem_free(s->leaders);
    s->leaders = NULL;
    s->nleaders = s->leaders_cap = 0;
}

static status read_leaders(struct store *s, struct leaders *l, struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    status code = store_statement(s, STATEMENT_leaders, &st, e);
    if (code)
        return code;
    code = sql_bind(&s->sql, st, SQL_VALUES(sql_int(l->campaign), sql_text(l->kernel), sql_int(STORE_LEADERS)), e);
    while (!code && !(code = sql_step(&s->sql, st, "reading the best trials", &row, e)) && row)
        l->score[l->n++] = sqlite3_column_double(st, 0);
    sqlite3_reset(st);
    return code;
}

static status find_leaders(struct store *s, int64_t campaign, const char *kernel, struct leaders **out, struct err *e)
{
    enum { MAX_GROUPS = 64 };
    for (int i = 0; i < s->nleaders; i++)
        if (s->leaders[i].campaign == campaign && !strcmp(s->leaders[i].kernel, kernel)) {
            *out = &s->leaders[i];
            return LATHE_OK;
        }
    if (s->nleaders == MAX_GROUPS)      /* a store that many campaigns are written to */
        store_leaders_forget(s);
    MEM_GROW(s->leaders, s->nleaders, s->leaders_cap);
    struct leaders *l = &s->leaders[s->nleaders++];
    *l = (struct leaders){.campaign = campaign, .kernel = mem_strdup(kernel)};
    status code = read_leaders(s, l, e);
    if (code)
        store_leaders_forget(s);
    *out = code ? NULL : l;
    return code;
}

/* False: so many are better that it is behind. One as good as the last of them is let in: its id may be less. */
static bool enter(struct leaders *l, double score)
{
    int at = l->n;
    if (at == STORE_LEADERS && score > l->score[at - 1])
        return false;
    if (at < STORE_LEADERS)
        l->n++;
    else
        at--;
    for (; at > 0 && l->score[at - 1] > score; at--)
        l->score[at] = l->score[at - 1];
    l->score[at] = score;
    return true;
}

status store_leaders_place(struct store *s, int64_t trial, const struct result *r, struct sql_value *behind,
                           int64_t *refused, struct err *e)
{
    sqlite3_stmt *st;
    bool row = false;
    struct sql_value key = sql_int(trial);
    struct leaders *l = NULL;
    *behind = sql_null();
    *refused = 0;
    if (r->outcome != OUTCOME_ok || !isfinite(r->time_ms))
        return LATHE_OK;
    status code = store_statement(s, STATEMENT_group_of, &st, e);
    if (code)
        return code;
    code = sql_bind(&s->sql, st, &key, 1, e);
    if (!code)
        code = sql_step(&s->sql, st, "recording a trial's result", &row, e);
    if (row && sqlite3_column_int(st, 2))
        code = store_refusals_find(s, trial, refused, e);
    if (!code && row && !*refused)
        code = find_leaders(s, sqlite3_column_int64(st, 0), (const char *)sqlite3_column_text(st, 1), &l, e);
    sqlite3_reset(st);
    if (l && !enter(l, r->time_ms))
        *behind = sql_int(1);
    return code;
}

status store_leaders_settle(struct store *s, int64_t campaign, struct err *e)
{
    store_leaders_forget(s);
    return store_run(s, STATEMENT_leaders_settle, "ranking the trials",
                     SQL_VALUES(sql_int(campaign), sql_int(STORE_LEADERS)), e);
}

status store_leaders_settle_with(struct store *s, int64_t trial, struct err *e)
{
    int64_t campaign;
    bool found;
    struct sql_value key = sql_int(trial);
    status code = store_lookup(s, STATEMENT_campaign_of, "ranking the trials", &key, 1, &campaign, &found, e);
    return code || !found ? code : store_leaders_settle(s, campaign, e);
}
