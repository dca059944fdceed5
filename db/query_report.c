/* query_report.c: a whole campaign by columns, for a report: as few JSON values as its trials need, so that a hundred
 * thousand of them are read in seconds. Row i of every column is trial i, in the order of `number`; texts that
 * repeat are indices into a list. docs/report.md describes the keys.
 *
 * Invariant: every table is walked once, in an order in which the value that counts comes last, and the row of
 * a trial is found by its id. */
#include "base/mem.h"
#include "db/query_report_private.h"

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

static const char *const TEXTS[NTEXTS] = {"kernel", "outcome", "role", "reason"};

/* Columns: the numbers, when the trial ended in seconds from the campaign's begin (the first %s), the numbers since
 * version 3 (the second), the texts, of which the reason has more since SINCE_REFUSED (the third). */
static const char SELECT_TRIALS[] = "SELECT %s"
#define X(key, expression) ", " expression
    NUMBER_TABLE(X)
#undef X
        "%s"
        ", t.kernel, t.outcome, t.role, %s "
        "FROM trial t JOIN campaign c ON c.id = t.campaign_id JOIN device d ON d.id = c.device_id "
        "WHERE t.campaign_id = ?1 ORDER BY t.number";

#define X(key, expression, old) ", " expression
static const char NEW_NUMBERS[] = NEW_NUMBER_TABLE(X);
#undef X
#define X(key, expression, old) ", " old
static const char OLD_NUMBERS[] = NEW_NUMBER_TABLE(X);
#undef X

static const char SELECT_FACTS[] =
    "SELECT p.summary AS summary, c.flops AS flops, c.bytes AS bytes, c.kernels AS kernels, "
    "c.space_size AS space_size, c.budget_trials AS budget_trials, c.budget_seconds AS budget_seconds, "
    "c.tool_version AS tool_version, c.command_line AS command_line, c.ended AS ended, d.handle AS handle, "
    "d.arch AS arch, d.driver AS driver, d.toolchain AS toolchain, d.host AS host, p.hash AS specification_hash, "
    "s.hash AS strategy_hash, c.environment AS environment, d.target AS target "
    "FROM campaign c JOIN problem p ON p.id = c.problem_id JOIN device d ON d.id = c.device_id "
    "JOIN strategy s ON s.id = c.strategy_id WHERE c.id = ?1";
enum { PLAIN_FACTS = 17 };

static status visit_trial(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e)
{
    json_array_append_new(json_object_get(b->columns, "at_seconds"), query_column(st, 0));
    for (int i = 0; i < NNUMBERS; i++)
        json_array_append_new(json_object_get(b->columns, NUMBERS[i]), query_column(st, i + 1));
    for (int i = 0; i < NTEXTS; i++)
        json_array_append_new(json_object_get(b->columns, TEXTS[i]),
                              report_names_place(&b->texts[i], st, NNUMBERS + 1 + i));
    MEM_GROW(b->rows, b->nrows, b->cap);
    b->rows[b->nrows] = (struct row){sqlite3_column_int64(st, 1), b->nrows};
    b->nrows++;
    return LATHE_OK;
}

static status add_trials(struct builder *b, struct err *e)
{
    /* the campaign's clock counts a resumed campaign's time only; version 1 did not keep it. A replay's is the recorded
     * time */
    const char *by_clock = "(julianday(t.ended) - julianday(c.created)) * 86400";
    char *at = b->q->version >= 2
                   ? mem_printf("CASE WHEN d.kind = 'replay' THEN sum(t.total_seconds) OVER (ORDER BY t.number) ELSE "
                                "coalesce(t.campaign_seconds, %s) END", by_clock)
                   : mem_strdup(by_clock);
    char *text = mem_printf(SELECT_TRIALS, at, b->q->version >= 3 ? NEW_NUMBERS : OLD_NUMBERS,
                            b->q->version >= SINCE_REFUSED ? QUERY_REASON : "t.reason");
    json_object_set_new(b->columns, "at_seconds", json_array());
    for (int i = 0; i < NNUMBERS; i++)
        json_object_set_new(b->columns, NUMBERS[i], json_array());
    for (int i = 0; i < NTEXTS; i++)
        json_object_set_new(b->columns, TEXTS[i], json_array());
    status s = report_each_row(b, text, visit_trial, NULL, e);
    if (b->nrows)
        qsort(b->rows, (size_t)b->nrows, sizeof *b->rows, report_by_id);
    mem_free(at);
    mem_free(text);
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
    struct builder b = {
        .q = q, .sample_limit = wanted->samples, .columns = json_object(), .regimes = report_names_new()};
    json_t *campaign = NULL, *texts = json_object();
    for (int i = 0; i < NTEXTS; i++)
        b.texts[i] = report_names_new();
    status s = query_find_campaign(q, wanted->campaign, &b.campaign, e);
    if (!s)
        s = query_campaign_object(q, b.campaign, &campaign, e);
    if (!s)
        s = report_each_row(&b, SELECT_FACTS, visit_facts, campaign, e);
    if (!s)
        s = add_pace(q, b.campaign, campaign, e);
    if (!s)
        s = add_trials(&b, e);
    if (!s)
        s = report_add_verifications(&b, e);
    if (!s)
        s = report_add_measurements(&b, campaign, e);
    if (!s)
        s = report_add_parameters(&b, campaign, e);
    for (int i = 0; i < NTEXTS; i++) {
        json_object_set(texts, TEXTS[i], b.texts[i].list);
        report_names_free(&b.texts[i]);
    }
    json_object_set(texts, "regime", b.regimes.list);
    report_names_free(&b.regimes);
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
