/* query_trial.c: a trial as the JSON object of query.h. The one place where a trial's keys are written: best, show,
 * provenance and baselines all come through here. docs/json.md describes the keys; change both together. */
#include "db/query_private.h"

#include <string.h>

enum trial_kind { TRIAL_VALUE, TRIAL_BOOL, TRIAL_SECONDS, TRIAL_CONFIGURATION, TRIAL_SIZE, TRIAL_TREE };

/* key, column of the view trial_report, how the column becomes the value. TRIAL_SECONDS go into one object. */
#define TRIAL_TABLE(X)                                                                                                 \
    X("id", "trial_id", VALUE)                                                                                         \
    X("campaign", "campaign_id", VALUE)                                                                                \
    X("number", "number", VALUE)                                                                                       \
    X("kernel", "kernel", VALUE)                                                                                       \
    X("configuration", "trial_id", CONFIGURATION)                                                                      \
    X("text", "configuration", VALUE)                                                                                  \
    X("outcome", "outcome", VALUE)                                                                                     \
    X("reason", "reason", VALUE)                                                                                       \
    X("role", "role", VALUE)                                                                                           \
    X("eligible", "may_win", BOOL)                                                                                     \
    X("time_ms", "time_ms", VALUE)                                                                                     \
    X("cold_ms", "cold_ms", VALUE)                                                                                     \
    X("sustained_ms", "sustained_ms", VALUE)                                                                           \
    X("rank", "final_rank", VALUE)                                                                                     \
    X("error", "error", VALUE)                                                                                         \
    X("max_abs", "max_abs", VALUE)                                                                                     \
    X("mismatches", "mismatches", VALUE)                                                                               \
    X("speedup", "speedup", VALUE)                                                                                     \
    X("tflops", "tflops", VALUE)                                                                                       \
    X("gbps", "gbps", VALUE)                                                                                           \
    X("registers", "registers", VALUE)                                                                                 \
    X("local_bytes", "local_bytes", VALUE)                                                                             \
    X("shared_bytes", "shared_bytes", VALUE)                                                                           \
    X("occupancy", "occupancy", VALUE)                                                                                 \
    X("compile", "compile_seconds", SECONDS)                                                                           \
    X("load", "load_seconds", SECONDS)                                                                                 \
    X("verify", "verify_seconds", SECONDS)                                                                             \
    X("measure", "measure_seconds", SECONDS)                                                                           \
    X("problem", "problem", VALUE)                                                                                     \
    X("operator", "operator(problem_id)", VALUE)                                                                       \
    X("size", "campaign_id", SIZE)                                                                                     \
    X("device", "device", VALUE)                                                                                       \
    X("device_kind", "(SELECT d.kind FROM device d WHERE d.id = device_id)", VALUE)                                    \
    X("tolerance", "tolerance", TREE)                                                                                  \
    X("inputs", "inputs", VALUE)                                                                                       \
    X("started", "started", VALUE)

/* The same of columns that the view has since version 3. */
#define TRIAL_TABLE_3(X)                                                                                               \
    X("strategy", "strategy_seconds", SECONDS)                                                                         \
    X("store", "store_seconds", SECONDS)                                                                               \
    X("device", "device_seconds", SECONDS)                                                                             \
    X("energy_mj", "energy_mj", VALUE)                                                                                 \
    X("objective", "objective", VALUE)

static const struct {
    const char *key;
    enum trial_kind kind;
} KEYS[] = {
#define X(key, column, kind) {key, TRIAL_##kind},
    TRIAL_TABLE(X)
    TRIAL_TABLE_3(X)
#undef X
};

/* column i + 1 is KEYS[i] */
#define X(key, column, kind) ", " column
#define NONE(key, column, kind) ", NULL"
static const char SELECT_TRIAL[] =
    "SELECT trial_id" TRIAL_TABLE(X) TRIAL_TABLE_3(X) " FROM trial_report WHERE trial_id = ?1";
static const char SELECT_OLD_TRIAL[] =
    "SELECT trial_id" TRIAL_TABLE(X) TRIAL_TABLE_3(NONE) " FROM trial_report WHERE trial_id = ?1";
#undef NONE
#undef X

status query_configuration(struct query *q, int64_t trial, json_t **out, struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    *out = json_object();
    status s = query_ask(q, QUESTION_parameters, NULL, trial, &st, e);
    while (!s && !(s = query_step(q, st, &row, e)) && row) {
        bool boolean = strcmp((const char *)sqlite3_column_text(st, 1), "boolean") == 0;
        json_t *value = boolean ? json_boolean(sqlite3_column_int(st, 2)) : query_column(st, 2);
        json_object_set_new_nocheck(*out, (const char *)sqlite3_column_text(st, 0), value);
    }
    sqlite3_reset(st);
    return s;
}

status query_size(struct query *q, int64_t campaign, json_t **out, struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    *out = json_object();
    status s = query_ask(q, QUESTION_dims, NULL, campaign, &st, e);
    while (!s && !(s = query_step(q, st, &row, e)) && row)
        json_object_set_new_nocheck(*out, (const char *)sqlite3_column_text(st, 0), query_column(st, 1));
    sqlite3_reset(st);
    return s;
}

json_t *query_tree(sqlite3_stmt *st, int i)
{
    const char *text = (const char *)sqlite3_column_text(st, i);
    json_t *tree = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    return tree ? tree : json_null();
}

/* Puts KEYS[i] into the trial. */
static status set_key(struct query *q, sqlite3_stmt *st, int i, json_t *trial, struct err *e)
{
    json_t *value = NULL, *seconds;
    status s = LATHE_OK;
    switch (KEYS[i].kind) {
    case TRIAL_VALUE: value = query_column(st, i + 1); break;
    case TRIAL_TREE: value = query_tree(st, i + 1); break;
    case TRIAL_BOOL: value = json_boolean(sqlite3_column_int(st, i + 1)); break;
    case TRIAL_CONFIGURATION: s = query_configuration(q, sqlite3_column_int64(st, i + 1), &value, e); break;
    case TRIAL_SIZE: s = query_size(q, sqlite3_column_int64(st, i + 1), &value, e); break;
    case TRIAL_SECONDS:
        seconds = json_object_get(trial, "seconds");
        if (!seconds) {
            seconds = json_object();
            json_object_set_new(trial, "seconds", seconds);
        }
        json_object_set_new(seconds, KEYS[i].key, query_column(st, i + 1));
        return LATHE_OK;
    }
    json_object_set_new(trial, KEYS[i].key, value);
    return s;
}

status query_trial(struct query *q, int64_t id, json_t **out, struct err *e)
{
    sqlite3_stmt *st;
    bool row = false;
    *out = NULL;
    status s = query_ask(q, QUESTION_trial, q->version < 3 ? SELECT_OLD_TRIAL : SELECT_TRIAL, id, &st, e);
    if (!s)
        s = query_step(q, st, &row, e);
    char what[60];
    snprintf(what, sizeof what, "there is no trial %lld: ", (long long)id);
    if (!s && !row)
        s = query_missing(q->sql.path, LATHE_NOTHING, e, what, "show", " lists what there is");
    json_t *trial = json_object();
    for (int i = 0; !s && i < (int)(sizeof KEYS / sizeof *KEYS); i++)
        s = set_key(q, st, i, trial, e);
    if (!s)
        s = query_trial_devices(q, id, trial, e);
    sqlite3_reset(st);
    if (s)
        json_decref(trial);
    else
        *out = trial;
    return s;
}

status query_trials(struct query *q, enum question which, int64_t id, json_t **out, struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    json_t *list = json_array(), *trial;
    *out = NULL;
    status s = query_ask(q, which, NULL, id, &st, e);
    while (!s && !(s = query_step(q, st, &row, e)) && row) {
        s = query_trial(q, sqlite3_column_int64(st, 0), &trial, e);
        if (!s)
            json_array_append_new(list, trial);
    }
    sqlite3_reset(st);
    if (s)
        json_decref(list);
    else
        *out = list;
    return s;
}
