/* query_list.c: a question about the trials that pass a filter, made into a statement and asked. */
#include "base/mem.h"
#include "db/query_private.h"
#include "model/tolerance.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Values of a statement whose text is made from a filter, in the order of its question marks. */
struct bindings {
    struct sql_value *v;
    int n, cap;
};

static void bind(struct bindings *b, struct sql_value v)
{
    MEM_GROW(b->v, b->n, b->cap);
    b->v[b->n++] = v;
}

/* "M=128" as a condition on the campaign. names gets the name's copy, which the binding borrows. */
static status add_dim(const char *text, struct strbuf *sql, struct bindings *b, char **name, struct err *e)
{
    const char *equals = strchr(text, '=');
    char *end = NULL;
    errno = 0;
    long long value = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (!equals || equals == text || end == equals + 1 || *end || errno || value < 1)
        return err_set(e, LATHE_USAGE, "--size %s: expected DIM=VALUE with a whole number from 1 on, such as M=128",
                       text);
    *name = mem_strdup(text);
    (*name)[equals - text] = 0;
    sb_add(sql, " AND EXISTS (SELECT 1 FROM campaign_dim x WHERE x.campaign_id = c.id AND x.name = ? AND x.value = ?)");
    bind(b, sql_text(*name));
    bind(b, sql_int(value));
    return LATHE_OK;
}

/* "rtol=1e-3,frobenius=0" as conditions on the campaign. */
static status add_tolerance(const char *text, struct strbuf *sql, struct bindings *b, struct err *e)
{
    struct tolerance t = {0};
    unsigned named = 0;
    status s = tolerance_parse(text, &t, &named, e);
    if (s)
        return err_prefix(e, "--tolerance");
    for (int l = 0; l < TOLERANCE_COUNT; l++) {
        if (!(named & 1u << l))
            continue;
        sb_addf(sql, " AND json_extract(c.tolerance, '$.%s') = ?", tolerance_name((enum tolerance_limit)l));
        bind(b, sql_real(tolerance_get(&t, (enum tolerance_limit)l)));
    }
    return LATHE_OK;
}

const char *query_leaders_index(const struct query *q, bool one_campaign)
{
    if (q->version < SINCE_LEADERS)
        return one_campaign ? " INDEXED BY trial_campaign_score" : " INDEXED BY trial_score";
    return one_campaign ? " INDEXED BY trial_campaign_leader" : " INDEXED BY trial_leader";
}

const char *query_leaders_condition(const struct query *q)
{
    return q->version < SINCE_LEADERS ? QUERY_SCORED : QUERY_SCORED " AND t.behind IS NULL";
}

static status make_statement(const struct rows *r, const struct query_filter *f, const struct listing *l,
                             struct strbuf *sql, struct bindings *b, char **names, struct err *e)
{
    sb_addf(sql, "SELECT %s FROM trial t%s CROSS JOIN campaign c ON c.id = t.campaign_id%s WHERE %s", l->columns,
            r->leaders ? query_leaders_index(r->q, f->campaign != 0) : l->index ? l->index : "", l->joins,
            r->leaders ? query_leaders_condition(r->q) : l->condition);
    if (f->trial) {
        sb_add(sql, " AND t.id = ?");
        bind(b, sql_int(f->trial));
    }
    if (f->campaign) {
        sb_add(sql, " AND t.campaign_id = ?");
        bind(b, sql_int(f->campaign));
    }
    if (f->kernel) {
        sb_add(sql, " AND t.kernel = ?");
        bind(b, sql_text(f->kernel));
    }
    if (f->measured || f->problem || f->device || f->device_name || f->ndims > 0 || f->ntolerances > 0 || f->inputs) {
        sb_add(sql, " AND t.campaign_id IN (SELECT c.id FROM campaign c JOIN problem p ON p.id = c.problem_id "
                    "JOIN device d ON d.id = c.device_id WHERE true");
        if (f->measured)
            sb_add(sql, " AND " QUERY_MEASURED);
        if (f->problem) {
            sb_add(sql, " AND p.name = ?");
            bind(b, sql_text(f->problem));
        }
        if (f->device) {
            sb_add(sql, " AND ? COLLATE NOCASE IN (d.name, d.kind, d.handle)");
            bind(b, sql_text(f->device));
        }
        if (f->device_name) {
            sb_add(sql, " AND d.name = ?");
            bind(b, sql_text(f->device_name));
        }
        if (f->inputs) {
            sb_add(sql, " AND c.inputs = ?");
            bind(b, sql_text(f->inputs));
        }
        status st = LATHE_OK;
        for (int i = 0; i < f->ndims && !st; i++)
            st = add_dim(f->dims[i], sql, b, &names[i], e);
        for (int i = 0; i < f->ntolerances && !st; i++)
            st = add_tolerance(f->tolerances[i], sql, b, e);
        if (st)
            return st;
        sb_add(sql, ")");
    }
    sb_addf(sql, " ORDER BY %s", l->order);
    if (r->limit) {
        sb_add(sql, " LIMIT ?");
        bind(b, sql_int(r->limit));
    }
    return LATHE_OK;
}

bool query_first_meeting(json_t *met, sqlite3_stmt *st)
{
    struct strbuf text = {0};
    for (int i = 1; i < LISTING_KEY; i++)
        sb_addf(&text, "%s\n", (const char *)sqlite3_column_text(st, i));
    char *key = sb_take(&text);
    bool first = !json_object_get(met, key);
    if (first)
        json_object_set_new_nocheck(met, key, json_true());
    mem_free(key);
    return first;
}

/* *list is new; NULL after a failure. */
static status visit_rows(struct rows *r, const struct query_filter *f, const struct listing *l, json_t **list,
                         struct err *e)
{
    struct strbuf sql = {0};
    struct bindings b = {0};
    char **names = mem_zalloc((size_t)f->ndims + 1, sizeof *names);
    *list = json_array();
    r->partial = false;
    status s = make_statement(r, f, l, &sql, &b, names, e);
    if (!s)
        s = sql_prepare(&r->q->sql, sb_str(&sql), &r->st, e);
    if (!s)
        s = sql_bind(&r->q->sql, r->st, b.v, b.n, e);
    if (!s)
        s = l->visit(r, *list, e);
    sqlite3_finalize(r->st);
    r->st = NULL;
    for (int i = 0; i < f->ndims; i++)
        mem_free(names[i]);
    mem_free(names);
    mem_free(b.v);
    sb_free(&sql);
    if (s) {
        json_decref(*list);
        *list = NULL;
    }
    return s;
}

/* Leaders first, and mostly last: they are few, and an index has them in order. Where they do not say it, all trials
 * are looked at, of which SQLite keeps the first so many: to sort a million rows of which a hundred are wanted takes
 * longer. */
status query_visit(struct query *q, const struct query_filter *f, const struct listing *l, json_t **out,
                   struct err *e)
{
    enum { FIRST_ROWS = 1024, ROWS_A_TRIAL = 4, GROWTH = 16 };
    bool some = f->top > 0 || l->by_score == FIRST_BY_SCORE || q->version < SINCE_LEADERS;
    struct rows r = {.q = q, .top = f->top, .leaders = l->by_score && !f->trial && some};
    for (;;) {
        status s = visit_rows(&r, f, l, out, e);
        if (s || !r.partial)
            return s;
        json_decref(*out);
        *out = NULL;
        r.limit = r.leaders ? FIRST_ROWS + ROWS_A_TRIAL * (int64_t)f->top : GROWTH * r.limit;
        r.leaders = false;
    }
}
