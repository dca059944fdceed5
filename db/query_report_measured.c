/* query_report_measured.c: what a report has of a campaign's verifications, measurements and samples. */
#include "base/mem.h"
#include "db/query_report_private.h"

#include <stdlib.h>
#include <string.h>

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

/* The samples that a report holds go to baselines first, then to finalists, then to the best. */
static const char SELECT_SAMPLED[] =
    "SELECT m.id FROM trial t JOIN measurement m ON m.trial_id = t.id WHERE t.campaign_id = ?1 "
    "ORDER BY t.role = 'candidate', t.final_rank IS NULL, t.final_rank, t.score_ms IS NULL, t.score_ms, "
    "t.time_ms IS NULL, t.time_ms, m.id";

/* A trial that the final refused says why: as the view trial_report. */
static status refused(struct builder *b, sqlite3_stmt *st, int at)
{
    const struct names *outcomes = &b->texts[TEXT_OUTCOME];
    json_t *place = json_array_get(json_object_get(b->columns, "outcome"), (size_t)at);
    const char *outcome = json_string_value(json_array_get(outcomes->list, (size_t)json_integer_value(place)));
    if (sqlite3_column_int(st, PASSED_COLUMN) || !outcome || strcmp(outcome, "ok") != 0)
        return LATHE_OK;
    struct names *reasons = &b->texts[TEXT_REASON];
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
    int at = report_row_of(b, sqlite3_column_int64(st, 0));
    if (at < 0)
        return LATHE_OK;
    for (int i = 1; i <= VERIFIED_KEYS; i++)
        json_array_set_new(json_object_get(b->columns, sqlite3_column_name(st, i)), (size_t)at, query_column(st, i));
    return refused(b, st, at);
}

status report_add_verifications(struct builder *b, struct err *e)
{
    static const char *const keys[] = {"error", "max_abs", "mismatches", "deterministic"};
    for (int i = 0; i < VERIFIED_KEYS; i++)
        report_empty_column(b->columns, keys[i], b->nrows);
    return report_each_row(b, SELECT_VERIFICATIONS, visit_verification, NULL, e);
}

struct measured {
    json_t *columns;            /* of measurements: trial (a row), regime (a place), the keys, samples (how many are
                                   there) */
    json_t **samples;           /* one a measurement; NULL: none is there */
    struct row *rows;           /* by measurement's id, which is the order of reading */
    int n, cap;
};

static status visit_measurement(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e)
{
    struct measured *m = ctx;
    const char *regime = (const char *)sqlite3_column_text(st, 2);
    int at = report_row_of(b, sqlite3_column_int64(st, 0));
    if (at < 0)
        return LATHE_OK;
    json_array_append_new(json_object_get(m->columns, "trial"), json_integer(at));
    json_array_append_new(json_object_get(m->columns, "regime"), report_names_place(&b->regimes, st, 2));
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
    const struct row *found = m->n ? bsearch(&key, m->rows, (size_t)m->n, sizeof key, report_by_id) : NULL;
    json_t *list = NULL;
    if (!found || b->sample_limit <= 0)
        return LATHE_OK;
    status s = sample_list(b, key.id, &list, e);
    b->sample_limit -= (int64_t)json_array_size(list);
    m->samples[found->at] = list;
    return s;
}

status report_add_measurements(struct builder *b, json_t *campaign, struct err *e)
{
    static const char *const keys[] = {"trial",  "regime",  "median_ms", "low_ms",        "high_ms",          "count",
                                       "sm_mhz", "mem_mhz", "power_w",   "temperature_c", "throttle_reasons", "batch",
                                       "throttled", "energy_mj", "device_position", "samples"};
    struct measured m = {.columns = json_object()};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set_new(m.columns, keys[i], json_array());
    report_empty_column(b->columns, "cold_ms", b->nrows);
    report_empty_column(b->columns, "sustained_ms", b->nrows);
    json_object_set_new(campaign, "measurements", m.columns);
    char *text = mem_printf(SELECT_MEASUREMENTS, b->q->version >= 3 ? NEW_MEASURED : OLD_MEASURED);
    status s = report_each_row(b, text, visit_measurement, &m, e);
    mem_free(text);
    m.samples = mem_zalloc((size_t)m.n + 1, sizeof *m.samples);
    if (!s)
        s = report_each_row(b, SELECT_SAMPLED, visit_sampled, &m, e);
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
