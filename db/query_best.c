/* query_best.c: the best verified configurations, and those that no other beats in two or three figures.
 *
 * For the best, trials are walked in the order of an index that holds the ranking (trial.score_ms: see store_write.c),
 * ties by the trial's own time and then by id, so the order is total and the same each time. The walk ends as soon as
 * enough distinct configurations were met: the first meeting is a configuration's best trial. The index has the best
 * STORE_LEADERS of each campaign and kernel, and more by chance: a walk that has met so many of one of them and wants
 * more may miss others, so that all trials are walked instead.
 *
 * For a front, the trials of an operator, size, device and class of inputs are walked in the order of its first figure
 * (from the fastest): one is on it if none before it that is on it has all other figures as low. */
#include "base/mem.h"
#include "db/query_private.h"

#include <string.h>

enum { SINCE_ENERGY = 3 /* the schema's version */ };

/* What `best` asks of a trial: the key (query_first_meeting), and its campaign. */
static const char BEST_COLUMNS[] =
    "t.id, c.problem_id, c.device_id, c.size, c.tolerance, c.inputs, t.kernel, t.configuration, t.campaign_id";
enum { KERNEL_COLUMN = 6, CAMPAIGN_COLUMN = LISTING_KEY };

/* Whether none of the trials of a campaign and kernel is marked as behind. */
static status group_is_whole(struct query *q, int64_t campaign, const char *kernel, bool *whole, struct err *e)
{
    static const char text[] =
        "SELECT 1 FROM trial WHERE campaign_id = ?1 AND kernel = ?2 AND behind IS NOT NULL LIMIT 1";
    sqlite3_stmt *st = NULL;
    bool row = true;
    status s = sql_prepare(&q->sql, text, &st, e);
    if (!s)
        s = sql_bind(&q->sql, st, SQL_VALUES(sql_int(campaign), sql_text(kernel)), e);
    if (!s)
        s = query_step(q, st, &row, e);
    sqlite3_finalize(st);
    *whole = !row;
    return s;
}

/* After a leader was met: the last of its campaign and kernel that is sure to be the next? groups: how many were
 * met. */
static status count_leader(struct rows *r, json_t *groups, bool *last, struct err *e)
{
    int64_t campaign = sqlite3_column_int64(r->st, CAMPAIGN_COLUMN);
    const char *kernel = (const char *)sqlite3_column_text(r->st, KERNEL_COLUMN);
    char *key = mem_printf("%lld %s", (long long)campaign, kernel);
    json_int_t n = json_integer_value(json_object_get(groups, key)) + 1;
    bool whole = true;
    status s = n == STORE_LEADERS ? group_is_whole(r->q, campaign, kernel, &whole, e) : LATHE_OK;
    json_object_set_new_nocheck(groups, key, json_integer(n));
    mem_free(key);
    *last = !whole;
    return s;
}

static bool is_full(const struct rows *r, const json_t *list)
{
    return r->top > 0 && json_array_size(list) >= (size_t)r->top;
}

static status walk(struct rows *r, json_t *list, struct err *e)
{
    json_t *met = json_object(), *groups = json_object(), *trial;
    bool row = true, last = false;
    int64_t n = 0;
    status s = LATHE_OK;
    while (!s && !is_full(r, list) && !last && !(s = query_step(r->q, r->st, &row, e)) && row) {
        n++;
        if (query_first_meeting(met, r->st) && !(s = query_trial(r->q, sqlite3_column_int64(r->st, 0), &trial, e)))
            json_array_append_new(list, trial);
        if (!s && r->leaders && r->q->version >= SINCE_LEADERS)
            s = count_leader(r, groups, &last, e);
    }
    r->partial = !is_full(r, list) && (last || (!row && r->limit && n == r->limit));
    json_decref(met);
    json_decref(groups);
    return s;
}

static const char *const axis_names[QUERY_AXIS_COUNT] = {"time", "energy", "error"};
static const char *const axis_columns[QUERY_AXIS_COUNT] = {"t.time_ms", "t.energy_mj", "r.error"};

int query_axis_parse(const char *name)
{
    for (int i = 0; i < QUERY_AXIS_COUNT; i++)
        if (!strcmp(axis_names[i], name))
            return i;
    return -1;
}

/* A front so far: its members' figures, of which the first never falls from one to the next. */
struct front {
    char *group;                        /* what must be the same for two trials to be compared */
    double (*figures)[QUERY_AXIS_COUNT];
    int n, cap;
};

/* One that came before has the first figure no higher: it beats this one if all others are no higher either. */
static bool beaten(const struct front *f, const double *figures, int axes)
{
    for (int i = 0; i < f->n; i++) {
        int a = 1;
        while (a < axes && f->figures[i][a] <= figures[a])
            a++;
        if (a >= axes)
            return true;
    }
    return false;
}

/* Behind the key: the group as one text, and the figures. */
static status walk_front(struct rows *r, json_t *list, struct err *e)
{
    struct query *q = r->q;
    sqlite3_stmt *st = r->st;
    json_t *met = json_object(), *trial;
    struct front f = {0};
    int axes = sqlite3_column_count(st) - LISTING_KEY - 1;
    bool row;
    status s = LATHE_OK;
    while (!s && !is_full(r, list) && !(s = query_step(q, st, &row, e)) && row) {
        const char *of = (const char *)sqlite3_column_text(st, LISTING_KEY);
        double figures[QUERY_AXIS_COUNT];
        for (int a = 0; a < axes; a++)
            figures[a] = sqlite3_column_double(st, LISTING_KEY + 1 + a);
        if (!f.group || strcmp(f.group, of)) {
            mem_free(f.group);
            f.group = mem_strdup(of);
            f.n = 0;
        }
        if (!query_first_meeting(met, st) || beaten(&f, figures, axes))
            continue;
        MEM_GROW(f.figures, f.n, f.cap);
        memcpy(f.figures[f.n++], figures, sizeof figures);
        s = query_trial(q, sqlite3_column_int64(st, 0), &trial, e);
        if (!s)
            json_array_append_new(list, trial);
    }
    mem_free(f.group);
    mem_free(f.figures);
    json_decref(met);
    return s;
}

/* {tolerance, inputs, operator} of each row. */
static status list_conditions(struct rows *r, json_t *list, struct err *e)
{
    bool row;
    status s;
    while (!(s = query_step(r->q, r->st, &row, e)) && row)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "tolerance", query_tree(r->st, 0), "inputs",
                                              query_column(r->st, 1), "operator", query_column(r->st, 2)));
    return s;
}

/* {campaign, problem, device, size} of each row; the campaigns come in any order. */
static status list_places(struct rows *r, json_t *list, struct err *e)
{
    json_t *size = NULL;
    bool row;
    status s;
    while (!(s = query_step(r->q, r->st, &row, e)) && row &&
           !(s = query_size(r->q, sqlite3_column_int64(r->st, 0), &size, e))) {
        json_t *place = json_pack("{s:o, s:o, s:o, s:o}", "campaign", query_column(r->st, 0), "problem",
                                  query_column(r->st, 1), "device", query_column(r->st, 2), "size", size);
        size_t i = 0;
        while (i < json_array_size(list) && json_integer_value(json_object_get(json_array_get(list, i), "campaign")) >
                                                sqlite3_column_int64(r->st, 0))
            i++;
        json_array_insert_new(list, i, place);
    }
    return s;
}

static status no_energy(const struct query *q, struct err *e)
{
    return err_set(e, LATHE_USAGE, "%s: the lathe that wrote it recorded no energy yet", q->sql.path);
}

/* By energy, or by time? */
static status wants_energy(struct query *q, const struct query_filter *f, bool *energy, struct err *e)
{
    sqlite3_stmt *st;
    bool row = false;
    *energy = f->objective == QUERY_ENERGY;
    if (f->objective == QUERY_ENERGY && q->version < SINCE_ENERGY)
        return no_energy(q, e);
    if (f->objective != QUERY_OWN || !f->campaign || q->version < SINCE_ENERGY)
        return LATHE_OK;
    status s = query_ask(q, QUESTION_objective, NULL, f->campaign, &st, e);
    if (!s)
        s = query_step(q, st, &row, e);
    *energy = row && !strcmp((const char *)sqlite3_column_text(st, 0), "energy");
    sqlite3_reset(st);
    return s;
}

static status best_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    static const struct listing best = {
        .columns = BEST_COLUMNS,
        .joins = "",
        .condition = QUERY_SCORED,
        .order = QUERY_BY_SCORE,
        .by_score = BY_SCORE,
        .visit = walk,
    };
    static const struct listing by_energy = {
        .columns = BEST_COLUMNS,
        .joins = "",
        .condition = QUERY_SCORED " AND t.energy_mj IS NOT NULL",
        .order = "t.energy_mj, t.time_ms, t.id",
        .visit = walk,
    };
    static const struct listing by_final = {
        .columns = BEST_COLUMNS,
        .joins = "",
        .condition = QUERY_SCORED " AND t.energy_mj IS NOT NULL",
        .order = "t.final_rank IS NULL, t.final_rank, t.energy_mj, t.time_ms, t.id",
        .visit = walk,
    };
    const struct query_filter *f = args;
    bool energy;
    status s = wants_energy(q, f, &energy, e);
    if (s)
        return s;
    return query_visit(q, f, !energy ? &best : f->campaign ? &by_final : &by_energy, out, e);
}

static status conditions_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    static const struct listing conditions = {
        .columns = "DISTINCT c.tolerance, c.inputs, operator(c.problem_id)",
        .joins = "",
        .condition = QUERY_SCORED,
        .order = QUERY_BY_SCORE,
        .by_score = FIRST_BY_SCORE,
        .visit = list_conditions,
    };
    return query_visit(q, args, &conditions, out, e);
}

static status places_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    static const struct listing places = {
        .columns = "DISTINCT c.id, (SELECT name FROM problem WHERE id = c.problem_id), "
                   "(SELECT name FROM device WHERE id = c.device_id)",
        .joins = "",
        .condition = QUERY_SCORED,
        .order = QUERY_BY_SCORE,
        .by_score = FIRST_BY_SCORE,
        .visit = list_places,
    };
    return query_visit(q, args, &places, out, e);
}

/* The limits that a campaign verified to change neither error nor time, so they are no part of the key. */
static status front_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    const struct query_filter *f = args;
    unsigned axes = f->axes ? f->axes : 1u << QUERY_AXIS_time | 1u << QUERY_AXIS_error;
    if (axes & 1u << QUERY_AXIS_energy && q->version < SINCE_ENERGY)
        return no_energy(q, e);
    struct strbuf columns = {0}, condition = {0}, order = {0};
    sb_add(&columns, "t.id, c.problem_id, c.device_id, c.size, '', c.inputs, t.kernel, t.configuration, "
                     "json_array(operator(c.problem_id), c.size, r.device, c.inputs) AS compared");
    sb_add(&condition,
           "t.role = 'candidate' AND t.time_ms IS NOT NULL AND (t.outcome = 'inaccurate' OR t.outcome = 'ok' "
           "AND (t.score_ms IS NOT NULL OR t.eligible = 0))");
    sb_add(&order, "compared");
    for (int a = 0; a < QUERY_AXIS_COUNT; a++) {
        if (!(axes & 1u << a))
            continue;
        sb_addf(&columns, ", %s", axis_columns[a]);
        sb_addf(&condition, " AND %s IS NOT NULL", axis_columns[a]);
        sb_addf(&order, ", %s", axis_columns[a]);
    }
    sb_add(&order, ", t.id");
    const struct listing front = {
        .columns = sb_str(&columns),
        .joins = " JOIN trial_report r ON r.trial_id = t.id",
        .condition = sb_str(&condition),
        .order = sb_str(&order),
        .visit = walk_front,
    };
    status s = query_visit(q, args, &front, out, e);
    sb_free(&columns);
    sb_free(&condition);
    sb_free(&order);
    return s;
}

status query_conditions(struct query *q, const struct query_filter *f, json_t **out, struct err *e)
{
    return query_in_snapshot(q, conditions_body, f, out, e);
}

status query_places(struct query *q, const struct query_filter *f, json_t **out, struct err *e)
{
    return query_in_snapshot(q, places_body, f, out, e);
}

status query_front(struct query *q, const struct query_filter *f, json_t **out, struct err *e)
{
    return query_in_snapshot(q, front_body, f, out, e);
}

status query_best(struct query *q, const struct query_filter *f, json_t **out, struct err *e)
{
    return query_in_snapshot(q, best_body, f, out, e);
}
