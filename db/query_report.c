/* query_report.c: a whole campaign by columns, for a report: as few JSON values as its trials need, so that a hundred
 * thousand of them are read in seconds. Row i of every column is trial i, in the order of `number`; texts that
 * repeat are indices into a list. docs/report.md describes the keys.
 *
 * Invariant: every table is walked once, in an order in which the value that counts comes last, and the row of
 * a trial is found by its id. */
#include "base/mem.h"
#include "db/query_private.h"

#include <stdlib.h>
#include <string.h>

/* key, expression over trial t */
#define NUMBER_TABLE(X)                                                                                                \
    X("id", "t.id")                                                                                                    \
    X("number", "t.number")                                                                                            \
    X("checked", "t.checked")                                                                                          \
    X("eligible", "(t.eligible = 1 AND t.outcome <> 'inaccurate' AND (t.outcome <> 'ok' OR t.score_ms IS NOT NULL))")  \
    X("time_ms", "t.time_ms")                                                                                          \
    X("time_low_ms", "t.time_low_ms")                                                                                  \
    X("time_high_ms", "t.time_high_ms")                                                                                \
    X("rank", "t.final_rank")                                                                                          \
    X("registers", "t.registers")                                                                                      \
    X("local_bytes", "t.local_bytes")                                                                                  \
    X("shared_static", "t.shared_static")                                                                              \
    X("shared_dynamic", "t.shared_dynamic")                                                                            \
    X("occupancy", "t.occupancy")                                                                                      \
    X("compile_seconds", "t.compile_seconds")                                                                          \
    X("load_seconds", "t.load_seconds")                                                                                \
    X("verify_seconds", "t.verify_seconds")                                                                            \
    X("measure_seconds", "t.measure_seconds")
/* The same since version 3; and what an older file stands for. */
#define NEW_NUMBER_TABLE(X)                                                                                            \
    X("energy_mj", "t.energy_mj", "NULL")                                                                              \
    X("device_position", "coalesce(t.device_position, 0)", "0")

static const char *const NUMBERS[] = {
#define X(key, expression) key,
    NUMBER_TABLE(X)
#undef X
#define X(key, expression, old) key,
    NEW_NUMBER_TABLE(X)
#undef X
};
enum { NNUMBERS = sizeof NUMBERS / sizeof *NUMBERS };

static const char *const TEXTS[] = {"kernel", "outcome", "role", "reason"};
enum { NTEXTS = sizeof TEXTS / sizeof *TEXTS };

/* Columns: the numbers, when the trial ended in seconds from the campaign's begin (the first %s), the numbers since
 * version 3 (the second), the texts. */
static const char SELECT_TRIALS[] = "SELECT %s"
#define X(key, expression) ", " expression
    NUMBER_TABLE(X)
#undef X
        "%s"
        ", t.kernel, t.outcome, t.role, t.reason "
        "FROM trial t JOIN campaign c ON c.id = t.campaign_id WHERE t.campaign_id = ?1 ORDER BY t.number";

#define X(key, expression, old) ", " expression
static const char NEW_NUMBERS[] = NEW_NUMBER_TABLE(X);
#undef X
#define X(key, expression, old) ", " old
static const char OLD_NUMBERS[] = NEW_NUMBER_TABLE(X);
#undef X

static const char SELECT_VERIFICATIONS[] =
    "SELECT v.trial_id, v.frobenius AS error, v.max_abs AS max_abs, v.mismatches AS mismatches, "
    "v.deterministic AS deterministic, v.passed, v.phase, v.detail "
    "FROM trial t JOIN verification v ON v.trial_id = t.id WHERE t.campaign_id = ?1 ORDER BY v.phase = 'final', v.id";
enum { VERIFIED_KEYS = 4, PASSED_COLUMN = 5, DETAIL_COLUMN = 7 };

static const char SELECT_MEASUREMENTS[] =
    "SELECT m.trial_id, m.id, m.regime, m.median_ms AS median_ms, m.low_ms AS low_ms, m.high_ms AS high_ms, "
    "m.count AS count, m.sm_mhz AS sm_mhz, m.mem_mhz AS mem_mhz, m.power_w AS power_w, "
    "m.temperature_c AS temperature_c, m.throttle_reasons AS throttle_reasons, "
    "%s "
    "FROM trial t JOIN measurement m ON m.trial_id = t.id WHERE t.campaign_id = ?1 ORDER BY m.id";
static const char NEW_MEASURED[] = "m.batch AS batch, m.throttled AS throttled, m.energy_mj AS energy_mj, "
                                   "coalesce(m.device_position, 0) AS device_position";
static const char OLD_MEASURED[] = "1 AS batch, 0 AS throttled, NULL AS energy_mj, 0 AS device_position";
enum { MEASURED_FIRST = 3, MEASURED_KEYS = 13 };

static const char SELECT_PARAMETERS[] =
    "SELECT p.trial_id, p.name, p.type, p.value FROM trial t JOIN parameter_value p ON p.trial_id = t.id "
    "WHERE t.campaign_id = ?1 ORDER BY t.number, p.position";

static const char SELECT_FACTS[] =
    "SELECT p.summary AS summary, c.flops AS flops, c.bytes AS bytes, c.kernels AS kernels, "
    "c.space_size AS space_size, c.budget_trials AS budget_trials, c.budget_seconds AS budget_seconds, "
    "c.tool_version AS tool_version, c.command_line AS command_line, c.ended AS ended, d.handle AS handle, "
    "d.arch AS arch, d.driver AS driver, d.toolchain AS toolchain, d.host AS host, p.hash AS specification_hash, "
    "s.hash AS strategy_hash, c.environment AS environment, d.target AS target "
    "FROM campaign c JOIN problem p ON p.id = c.problem_id JOIN device d ON d.id = c.device_id "
    "JOIN strategy s ON s.id = c.strategy_id WHERE c.id = ?1";
enum { PLAIN_FACTS = 17 };

/* The samples that a report holds go to baselines first, then to finalists, then to the best. */
static const char SELECT_SAMPLED[] =
    "SELECT m.id FROM trial t JOIN measurement m ON m.trial_id = t.id WHERE t.campaign_id = ?1 "
    "ORDER BY t.role = 'candidate', t.final_rank IS NULL, t.final_rank, t.score_ms IS NULL, t.score_ms, "
    "t.time_ms IS NULL, t.time_ms, m.id";

/* A list of distinct values, and the index of each. */
struct names {
    json_t *list, *index;       /* index: the value as text -> its place */
};

struct row { int64_t id; int at; };

struct builder {
    struct query *q;
    int64_t campaign, sample_limit;
    json_t *columns;
    struct names texts[NTEXTS], regimes;
    struct row *rows;           /* by id */
    int nrows, cap;
};

static struct names names_new(void)
{
    return (struct names){json_array(), json_object()};
}

static void names_free(struct names *n)
{
    json_decref(n->list);
    json_decref(n->index);
}

/* The place of the value in column i; it is added if it is new. */
static json_t *names_place(struct names *n, sqlite3_stmt *st, int i)
{
    json_t *value = query_column(st, i);
    const char *raw = (const char *)sqlite3_column_text(st, i);
    const char *text = json_is_string(value) ? json_string_value(value) : raw ? raw : "";
    json_t *place = json_object_get(n->index, text);
    if (place) {
        json_decref(value);
        return json_incref(place);
    }
    place = json_integer((json_int_t)json_array_size(n->list));
    json_array_append_new(n->list, value);
    json_object_set(n->index, text, place);
    return place;
}

static int by_id(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int row_of(const struct builder *b, int64_t id)
{
    struct row key = {id, 0};
    const struct row *found = bsearch(&key, b->rows, (size_t)b->nrows, sizeof key, by_id);
    return found ? found->at : -1;
}

/* A column of n nulls under `key`; borrowed. */
static json_t *empty_column(json_t *columns, const char *key, int n)
{
    json_t *column = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(column, json_null());
    json_object_set_new(columns, key, column);
    return column;
}

/* Every row of a statement whose parameter is the campaign. */
typedef status (*row_visit)(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e);
static status each_row(struct builder *b, const char *text, row_visit visit, void *ctx, struct err *e)
{
    sqlite3_stmt *st = NULL;
    bool row;
    status s = sql_prepare(&b->q->sql, text, &st, e);
    if (!s)
        s = sql_bind(&b->q->sql, st, SQL_VALUES(sql_int(b->campaign)), e);
    while (!s && !(s = query_step(b->q, st, &row, e)) && row)
        s = visit(b, st, ctx, e);
    sqlite3_finalize(st);
    return s;
}

static status visit_trial(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e)
{
    json_array_append_new(json_object_get(b->columns, "at_seconds"), query_column(st, 0));
    for (int i = 0; i < NNUMBERS; i++)
        json_array_append_new(json_object_get(b->columns, NUMBERS[i]), query_column(st, i + 1));
    for (int i = 0; i < NTEXTS; i++)
        json_array_append_new(json_object_get(b->columns, TEXTS[i]),
                              names_place(&b->texts[i], st, NNUMBERS + 1 + i));
    MEM_GROW(b->rows, b->nrows, b->cap);
    b->rows[b->nrows] = (struct row){sqlite3_column_int64(st, 1), b->nrows};
    b->nrows++;
    return LATHE_OK;
}

static status add_trials(struct builder *b, struct err *e)
{
    /* the campaign's clock counts a resumed campaign's time only; version 1 did not keep it */
    const char *by_clock = "(julianday(t.ended) - julianday(c.created)) * 86400";
    char *at = b->q->version >= 2 ? mem_printf("coalesce(t.campaign_seconds, %s)", by_clock) : mem_strdup(by_clock);
    char *text = mem_printf(SELECT_TRIALS, at, b->q->version >= 3 ? NEW_NUMBERS : OLD_NUMBERS);
    json_object_set_new(b->columns, "at_seconds", json_array());
    for (int i = 0; i < NNUMBERS; i++)
        json_object_set_new(b->columns, NUMBERS[i], json_array());
    for (int i = 0; i < NTEXTS; i++)
        json_object_set_new(b->columns, TEXTS[i], json_array());
    status s = each_row(b, text, visit_trial, NULL, e);
    if (b->nrows)
        qsort(b->rows, (size_t)b->nrows, sizeof *b->rows, by_id);
    mem_free(at);
    mem_free(text);
    return s;
}

/* A trial that the final refused says why: as the view trial_report. */
static status refused(struct builder *b, sqlite3_stmt *st, int at)
{
    const struct names *outcomes = &b->texts[1];
    json_t *place = json_array_get(json_object_get(b->columns, "outcome"), (size_t)at);
    const char *outcome = json_string_value(json_array_get(outcomes->list, (size_t)json_integer_value(place)));
    if (sqlite3_column_int(st, PASSED_COLUMN) || !outcome || strcmp(outcome, "ok") != 0)
        return LATHE_OK;
    struct names *reasons = &b->texts[NTEXTS - 1];
    json_t *detail = query_column(st, DETAIL_COLUMN);
    char *text = mem_printf("refused by the final: %s", json_string_value(detail) ? json_string_value(detail) : "");
    json_array_set_new(json_object_get(b->columns, "reason"), (size_t)at,
                       json_integer((json_int_t)json_array_size(reasons->list)));
    json_array_append_new(reasons->list, json_string(text));
    mem_free(text);
    json_decref(detail);
    return LATHE_OK;
}

static status visit_verification(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e)
{
    int at = row_of(b, sqlite3_column_int64(st, 0));
    if (at < 0)
        return LATHE_OK;
    for (int i = 1; i <= VERIFIED_KEYS; i++)
        json_array_set_new(json_object_get(b->columns, sqlite3_column_name(st, i)), (size_t)at, query_column(st, i));
    return refused(b, st, at);
}

static status add_verifications(struct builder *b, struct err *e)
{
    static const char *const keys[] = {"error", "max_abs", "mismatches", "deterministic"};
    for (int i = 0; i < VERIFIED_KEYS; i++)
        empty_column(b->columns, keys[i], b->nrows);
    return each_row(b, SELECT_VERIFICATIONS, visit_verification, NULL, e);
}

struct measured {
    json_t *columns;            /* of measurements: trial (a row), regime (a place), the keys, samples (how many are there) */
    json_t **samples;           /* one a measurement; NULL: none is there */
    struct row *rows;           /* by measurement's id, which is the order of reading */
    int n, cap;
};

static status visit_measurement(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e)
{
    struct measured *m = ctx;
    const char *regime = (const char *)sqlite3_column_text(st, 2);
    int at = row_of(b, sqlite3_column_int64(st, 0));
    if (at < 0)
        return LATHE_OK;
    json_array_append_new(json_object_get(m->columns, "trial"), json_integer(at));
    json_array_append_new(json_object_get(m->columns, "regime"), names_place(&b->regimes, st, 2));
    for (int i = MEASURED_FIRST; i < MEASURED_FIRST + MEASURED_KEYS; i++)
        json_array_append_new(json_object_get(m->columns, sqlite3_column_name(st, i)), query_column(st, i));
    if (strcmp(regime, "trial") != 0)
        json_array_set_new(json_object_get(b->columns, strcmp(regime, "cold") == 0 ? "cold_ms" : "sustained_ms"),
                           (size_t)at, query_column(st, MEASURED_FIRST));
    MEM_GROW(m->rows, m->n, m->cap);
    m->rows[m->n] = (struct row){sqlite3_column_int64(st, 1), m->n};
    m->n++;
    return LATHE_OK;
}

static status sample_list(struct builder *b, int64_t measurement, json_t **out, struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    *out = json_array();
    status s = query_ask(b->q, QUESTION_samples, NULL, measurement, &st, e);
    while (!s && !(s = query_step(b->q, st, &row, e)) && row)
        json_array_append_new(*out, query_column(st, 0));
    sqlite3_reset(st);
    return s;
}

static status visit_sampled(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e)
{
    struct measured *m = ctx;
    struct row key = {sqlite3_column_int64(st, 0), 0};
    const struct row *found = m->n ? bsearch(&key, m->rows, (size_t)m->n, sizeof key, by_id) : NULL;
    json_t *list = NULL;
    if (!found || b->sample_limit <= 0)
        return LATHE_OK;
    status s = sample_list(b, key.id, &list, e);
    b->sample_limit -= (int64_t)json_array_size(list);
    m->samples[found->at] = list;
    return s;
}

static status add_measurements(struct builder *b, json_t *campaign, struct err *e)
{
    static const char *const keys[] = {"trial",  "regime",  "median_ms", "low_ms",        "high_ms",          "count",
                                       "sm_mhz", "mem_mhz", "power_w",   "temperature_c", "throttle_reasons", "batch",
                                       "throttled", "energy_mj", "device_position", "samples"};
    struct measured m = {.columns = json_object()};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set_new(m.columns, keys[i], json_array());
    empty_column(b->columns, "cold_ms", b->nrows);
    empty_column(b->columns, "sustained_ms", b->nrows);
    json_object_set_new(campaign, "measurements", m.columns);
    char *text = mem_printf(SELECT_MEASUREMENTS, b->q->version >= 3 ? NEW_MEASURED : OLD_MEASURED);
    status s = each_row(b, text, visit_measurement, &m, e);
    mem_free(text);
    m.samples = mem_zalloc((size_t)m.n + 1, sizeof *m.samples);
    if (!s)
        s = each_row(b, SELECT_SAMPLED, visit_sampled, &m, e);
    json_t *all = json_array();
    for (int i = 0; i < m.n; i++) {
        json_array_append_new(json_object_get(m.columns, "samples"),
                              json_integer((json_int_t)json_array_size(m.samples[i])));
        json_array_extend(all, m.samples[i]);
        json_decref(m.samples[i]);
    }
    json_object_set_new(campaign, "samples", all);
    mem_free(m.samples);
    mem_free(m.rows);
    return s;
}

struct parameter { char *name, *type; struct names values; json_t *column; };
struct parameters { struct parameter *p; int n, cap; };

static struct parameter *find_parameter(struct parameters *all, const char *name, const char *type, int rows)
{
    for (int i = 0; i < all->n; i++)
        if (strcmp(all->p[i].name, name) == 0)
            return &all->p[i];
    MEM_GROW(all->p, all->n, all->cap);
    struct parameter *p = &all->p[all->n++];
    *p = (struct parameter){mem_strdup(name), mem_strdup(type), names_new(), json_array()};
    for (int i = 0; i < rows; i++)
        json_array_append_new(p->column, json_integer(-1));
    return p;
}

static status visit_parameter(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e)
{
    int at = row_of(b, sqlite3_column_int64(st, 0));
    struct parameter *p = find_parameter(ctx, (const char *)sqlite3_column_text(st, 1),
                                         (const char *)sqlite3_column_text(st, 2), b->nrows);
    if (at >= 0)
        json_array_set_new(p->column, (size_t)at, names_place(&p->values, st, 3));
    return LATHE_OK;
}

/* Parameters in the order met: {name, type, values, column}; column: the place of a trial's value, -1 where it is not
 * active. */
static status add_parameters(struct builder *b, json_t *campaign, struct err *e)
{
    struct parameters all = {0};
    status s = each_row(b, SELECT_PARAMETERS, visit_parameter, &all, e);
    json_t *list = json_array();
    for (int i = 0; i < all.n; i++) {
        struct parameter *p = &all.p[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:O, s:o}", "name", p->name, "type", p->type, "values",
                                              p->values.list, "column", p->column));
        names_free(&p->values);
        mem_free(p->name);
        mem_free(p->type);
    }
    mem_free(all.p);
    json_object_set_new(campaign, "parameters", list);
    return s;
}

static status visit_facts(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e)
{
    json_t *campaign = ctx;
    for (int i = 0; i < PLAIN_FACTS; i++)
        json_object_set_new(campaign, sqlite3_column_name(st, i), query_column(st, i));
    for (int i = PLAIN_FACTS; i < sqlite3_column_count(st); i++)
        json_object_set_new(campaign, sqlite3_column_name(st, i), query_tree(st, i));
    return LATHE_OK;
}

/* Where its time went, and how its baselines drifted: as query_campaign. */
static status add_pace(struct query *q, int64_t id, json_t *campaign, struct err *e)
{
    json_t *pace = NULL, *drift = NULL;
    status s = query_pace(q, id, &pace, e);
    json_object_set_new(campaign, "pace", pace);
    if (!s) {
        s = query_drift(q, id, &drift, e);
        json_object_set_new(campaign, "drift", drift);
    }
    return s;
}

static status report_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    const struct query_report *wanted = args;
    struct builder b = {.q = q, .sample_limit = wanted->samples, .columns = json_object(), .regimes = names_new()};
    json_t *campaign = NULL, *texts = json_object();
    for (int i = 0; i < NTEXTS; i++)
        b.texts[i] = names_new();
    status s = query_find_campaign(q, wanted->campaign, &b.campaign, e);
    if (!s)
        s = query_campaign_object(q, b.campaign, &campaign, e);
    if (!s)
        s = each_row(&b, SELECT_FACTS, visit_facts, campaign, e);
    if (!s)
        s = add_pace(q, b.campaign, campaign, e);
    if (!s)
        s = add_trials(&b, e);
    if (!s)
        s = add_verifications(&b, e);
    if (!s)
        s = add_measurements(&b, campaign, e);
    if (!s)
        s = add_parameters(&b, campaign, e);
    for (int i = 0; i < NTEXTS; i++) {
        json_object_set(texts, TEXTS[i], b.texts[i].list);
        names_free(&b.texts[i]);
    }
    json_object_set(texts, "regime", b.regimes.list);
    names_free(&b.regimes);
    json_object_set(campaign, "columns", b.columns);
    json_object_set(campaign, "texts", texts);
    json_decref(b.columns);
    json_decref(texts);
    mem_free(b.rows);
    if (s)
        json_decref(campaign);
    else
        *out = campaign;
    return s;
}

status query_report(struct query *q, const struct query_report *wanted, json_t **out, struct err *e)
{
    return query_in_snapshot(q, report_body, wanted, out, e);
}
