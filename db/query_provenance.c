/* query_provenance.c: what an export needs of a trial, as the JSON of query.h (docs/json.md). */
#include "db/query_private.h"

#include <string.h>

/* Stored JSON text as a tree. */
static status parse(const struct query *q, sqlite3_stmt *st, int column, const char *what, json_t **out, struct err *e)
{
    json_error_t error;
    const char *text = (const char *)sqlite3_column_text(st, column);
    *out = text ? json_loads(text, JSON_DECODE_ANY, &error) : NULL;
    return *out ? LATHE_OK
                : err_set(e, LATHE_STORE,
                          "%s: the stored %s is not JSON (%s): the database was changed by another program",
                          q->sql.path, what, text ? error.text : "it is missing");
}

static status sample_list(struct query *q, int64_t measurement, json_t **out, struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    *out = json_array();
    status s = query_ask(q, QUESTION_samples, NULL, measurement, &st, e);
    while (!s && !(s = query_step(q, st, &row, e)) && row)
        json_array_append_new(*out, query_column(st, 0));
    sqlite3_reset(st);
    return s;
}

/* [{regime, median_ms, low_ms, high_ms, count, ms: [..]}], in the order measured. */
static status measurement_list(struct query *q, int64_t trial, json_t **out, struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    *out = json_array();
    status s = query_ask(q, QUESTION_measurements, NULL, trial, &st, e);
    while (!s && !(s = query_step(q, st, &row, e)) && row) {
        json_t *item = json_object(), *ms;
        for (int i = 1; i <= 5; i++)
            json_object_set_new(item, sqlite3_column_name(st, i), query_column(st, i));
        s = sample_list(q, sqlite3_column_int64(st, 0), &ms, e);
        json_object_set_new(item, "ms", ms);
        json_array_append_new(*out, item);
    }
    sqlite3_reset(st);
    return s;
}

/* The row of QUESTION_provenance into the object; campaign: the trial's. */
static status stored_facts(struct query *q, int64_t trial, json_t *object, int64_t *campaign, struct err *e)
{
    sqlite3_stmt *st;
    bool row = false;
    json_t *spec = NULL, *target = NULL;
    *campaign = 0;
    status s = query_ask(q, QUESTION_provenance, NULL, trial, &st, e);
    if (!s)
        s = query_step(q, st, &row, e);
    if (!s && row)
        s = parse(q, st, 0, "specification", &spec, e);
    if (!s && row)
        s = parse(q, st, 1, "description of the device", &target, e);
    if (!s && row) {
        json_object_set(object, "spec", spec);
        json_object_set(object, "target", target);
        json_object_set_new(object, "driver", query_column(st, 2));
        json_object_set_new(object, "toolchain", query_column(st, 3));
        json_object_set_new(object, "tool_version", query_column(st, 4));
        *campaign = sqlite3_column_int64(st, 5);
    }
    sqlite3_reset(st);
    json_decref(spec);
    json_decref(target);
    return s;
}

static status provenance_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    int64_t id = *(const int64_t *)args, campaign;
    json_t *object = json_object(), *part = NULL;
    status s = query_trial(q, id, &part, e);
    if (!s) {
        json_object_set_new(object, "trial", part);
        s = stored_facts(q, id, object, &campaign, e);
    }
    if (!s)
        s = query_trials(q, QUESTION_baselines, campaign, &part, e);
    if (!s) {
        json_object_set_new(object, "baselines", part);
        s = measurement_list(q, id, &part, e);
        json_object_set_new(object, "samples", part);
    }
    if (s)
        json_decref(object);
    else
        *out = object;
    return s;
}

status query_provenance(struct query *q, int64_t trial, json_t **out, struct err *e)
{
    return query_in_snapshot(q, provenance_body, &trial, out, e);
}
