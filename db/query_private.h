/* query_private.h: what the files of query.h share. */
#ifndef LATHE_DB_QUERY_PRIVATE_H
#define LATHE_DB_QUERY_PRIVATE_H

#include "db/query.h"
#include "db/sqlite_util.h"
#include <sys/stat.h>

/* Of a device d: what ran on it was measured here, not recorded elsewhere. */
#define QUERY_MEASURED "d.kind NOT IN ('imported', 'replay')"

/* Why a trial t is not ok, or may not win for what another campaign's final said (since SINCE_REFUSED). */
#define QUERY_REASON                                                                                                   \
    "CASE WHEN t.refused_by IS NULL THEN t.reason ELSE (SELECT r.reason FROM trial_report r "                          \
    "WHERE r.trial_id = t.id) END"
enum { SINCE_REFUSED = 6 };             /* the schema's version */

/* The fixed statements, prepared when first used. */
#define QUESTION_TABLE(X)                                                                                              \
    X(trial, NULL) /* query_trial.c makes its text from the table of keys */                                           \
    X(parameters, "SELECT name, type, value FROM parameter_value WHERE trial_id = ?1 ORDER BY position")               \
    X(dims, "SELECT name, value FROM campaign_dim WHERE campaign_id = ?1 ORDER BY position")                           \
    X(campaign_ids, "SELECT id FROM campaign ORDER BY id")                                                             \
    X(campaign_find, "SELECT id FROM campaign WHERE ?1 = 0 OR id = ?1 ORDER BY state = 'failed' AND NOT EXISTS "    \
                     "(SELECT 1 FROM trial t WHERE t.campaign_id = campaign.id), id DESC LIMIT 1")                     \
    X(campaign_measured, "SELECT c.id FROM campaign c JOIN device d ON d.id = c.device_id WHERE " QUERY_MEASURED       \
                         " ORDER BY c.state = 'failed' AND NOT EXISTS (SELECT 1 FROM trial t WHERE t.campaign_id = "   \
                         "c.id), c.id DESC LIMIT 1")                                                                   \
    X(campaign, NULL) /* query_campaign.c */                                                                           \
    X(objective, "SELECT objective FROM campaign WHERE id = ?1")                                                       \
    X(coordinator, "SELECT coordinator FROM campaign WHERE id = ?1")                                                   \
    X(pace, NULL) /* query_pace.c, as the next */                                                                      \
    X(drift, NULL)                                                                                                     \
    X(resumption, NULL) /* query_resume.c */                                                                           \
    X(candidates, "SELECT id FROM trial WHERE campaign_id = ?1 AND number > 0 ORDER BY number")                        \
    X(baselines, "SELECT id FROM trial WHERE campaign_id = ?1 AND number <= 0 ORDER BY number DESC")                   \
    X(outcomes, "SELECT outcome, count(*) FROM trial WHERE campaign_id = ?1 AND role = 'candidate' GROUP BY outcome")  \
    X(reasons, NULL) /* query_reasons.c */                                                                             \
    X(provenance, "SELECT p.specification, d.target, d.driver, d.toolchain, c.tool_version, c.id FROM trial t "        \
                  "JOIN campaign c ON c.id = t.campaign_id JOIN problem p ON p.id = c.problem_id "                     \
                  "JOIN device d ON d.id = c.device_id WHERE t.id = ?1")                                               \
    X(measurements, "SELECT id, regime, median_ms, low_ms, high_ms, count FROM measurement WHERE trial_id = ?1 "       \
                    "ORDER BY id")                                                                                     \
    /* the three of query_devices.c */                                                                                 \
    X(campaign_devices, "SELECT x.name, d.name, d.uuid, (SELECT count(*) FROM trial t WHERE t.campaign_id = ?1 "       \
                        "AND t.number > 0 AND t.device_position = x.position), x.taken_out FROM campaign_worker x "    \
                        "JOIN device d ON d.id = x.device_id WHERE x.campaign_id = ?1 ORDER BY x.position")            \
    X(ran_on, "SELECT x.name FROM trial t JOIN campaign_worker x ON x.campaign_id = t.campaign_id "                    \
              "AND x.position = t.device_position WHERE t.id = ?1")                                                    \
    X(final_figures, "SELECT x.name, (SELECT m.median_ms FROM measurement m WHERE m.trial_id = t.id "                  \
                     "AND m.regime = 'cold' AND coalesce(m.device_position, 0) = x.position ORDER BY m.id DESC "       \
                     "LIMIT 1) AS cold, (SELECT m.median_ms FROM measurement m WHERE m.trial_id = t.id "               \
                     "AND m.regime = 'sustained' AND coalesce(m.device_position, 0) = x.position ORDER BY m.id DESC "  \
                     "LIMIT 1) AS sustained FROM trial t JOIN campaign_worker x ON x.campaign_id = t.campaign_id "     \
                     "WHERE t.id = ?1 AND (cold IS NOT NULL OR sustained IS NOT NULL) ORDER BY x.position")            \
    X(bundles, "SELECT problem, data FROM bundle ORDER BY problem")                                                    \
    X(samples, "SELECT ms FROM sample WHERE measurement_id = ?1 ORDER BY number")

enum question {
#define X(name, text) QUESTION_##name,
    QUESTION_TABLE(X)
#undef X
        QUESTION_COUNT
};

struct query {
    struct sql sql;
    int version;                        /* the file's schema; an older one is read as it is */
    bool immutable;                     /* opened without locks: see query.c */
    struct stat seen;                   /* the file then */
    json_t *operators;                  /* problem id -> operator(id), of those asked about */
    sqlite3_stmt *questions[QUESTION_COUNT];
};

/* One public call: a body that runs in one read transaction, so that it sees one state of the database. On failure the
 * body leaves *out NULL. */
typedef status (*query_body)(struct query *q, const void *args, json_t **out, struct err *e);
status query_in_snapshot(struct query *q, query_body body, const void *args, json_t **out, struct err *e);

/* A statement of the table with its one parameter bound, before its first row. The caller resets it. text: for those
 * whose text is NULL in the table, else NULL. */
status query_ask(struct query *q, enum question which, const char *text, int64_t id, sqlite3_stmt **out, struct err *e);
status query_step(struct query *q, sqlite3_stmt *st, bool *row, struct err *e);

/* Gives the connection the SQL function operator(problem_id): the id of the first problem of the same name, tensors,
 * scalars, reference and epilogue. */
status query_add_operator(struct query *q, struct err *e);

/* A column as JSON: a number that is not finite is null, text is made valid UTF-8, a blob is hexadecimal text. */
json_t *query_column(sqlite3_stmt *st, int i);

/* A column of JSON text as a tree; null if it is none. */
json_t *query_tree(sqlite3_stmt *st, int i);

/* The trial object of query.h; LATHE_NOTHING if there is no such trial. */
status query_trial(struct query *q, int64_t id, json_t **out, struct err *e);
/* An array of trial objects: those whose ids `which` gives for `id`. */
status query_trials(struct query *q, enum question which, int64_t id, json_t **out, struct err *e);
/* {name: value} of a trial: the parameters that are active. */
status query_configuration(struct query *q, int64_t trial, json_t **out, struct err *e);
/* Sets "devices" of a campaign. */
status query_devices(struct query *q, int64_t campaign, json_t *object, struct err *e);
/* Sets "ran_on" and "finals" of a trial. */
status query_trial_devices(struct query *q, int64_t trial, json_t *object, struct err *e);
/* Sets "reasons" of a campaign. */
status query_reasons(struct query *q, int64_t campaign, json_t *object, struct err *e);
/* A campaign's `pace` and `drift` of query.h; null and [] where the file's version knows nothing of it. *out is valid
 * even after a failure. */
status query_pace(struct query *q, int64_t campaign, json_t **out, struct err *e);
status query_drift(struct query *q, int64_t campaign, json_t **out, struct err *e);
/* The campaign with the keys that a list of campaigns has. */
status query_campaign_object(struct query *q, int64_t id, json_t **out, struct err *e);
/* Into the campaign's object: `last`, so many trials, and `falls`, [number, ms or mJ] of each that was better than all
 * before it and may win. Reads the object's `objective`. */
status query_course(struct query *q, int64_t id, int last, json_t *campaign, struct err *e);
/* The id of the campaign wanted, 0: of the newest; LATHE_NOTHING if there is none. */
status query_find_campaign(struct query *q, int64_t wanted, int64_t *id, struct err *e);
/* {dim: n} of a campaign. */
status query_size(struct query *q, int64_t campaign, json_t **out, struct err *e);

/* Trials by score. A file of SINCE_LEADERS or later has indexes of those that may be among the STORE_LEADERS best of
 * their campaign and kernel alone (trial.behind: db/store_leaders.c), an older one of all. */
enum { SINCE_LEADERS = 5 };
#define QUERY_SCORED "t.score_ms IS NOT NULL"
#define QUERY_BY_SCORE "t.score_ms, t.time_ms, t.id"
/* What stands behind "FROM trial t" to walk the index, of one campaign or of all, and the condition that it needs. The
 * index is named so that the plan does not depend on statistics. */
const char *query_leaders_index(const struct query *q, bool one_campaign);
const char *query_leaders_condition(const struct query *q);

/* The rows of a listing, as they are asked for. */
struct rows {
    struct query *q;
    sqlite3_stmt *st;
    int top;                    /* so many are wanted; 0: all */
    bool leaders;               /* only those that the index of scores has, in its order */
    int64_t limit;              /* at most so many rows; 0: all */
    bool partial;               /* set by what visits them: more than these rows would have to be seen */
};

/* A question about the trials that pass a filter: of trial t, campaign c and what is joined to them (query_list.c). */
struct listing {
    const char *columns, *joins, *condition, *order;
    const char *index;          /* " INDEXED BY x", where it is not the one of scores; NULL: as SQLite finds best */
    enum { ANY_ORDER, BY_SCORE, FIRST_BY_SCORE } by_score; /* condition and order are QUERY_SCORED and QUERY_BY_SCORE;
                                                              FIRST: a
                                   campaign's and kernel's best says all of them */
    status (*visit)(struct rows *r, json_t *list, struct err *e); /* all rows */
};
/* Asks, and gives the list that the listing's `visit` makes of the rows. */
status query_visit(struct query *q, const struct query_filter *f, const struct listing *l, json_t **out, struct err *e);
/* Whether the LISTING_KEY - 1 columns behind the id are met for the first time; met: an object that remembers. */
enum { LISTING_KEY = 8 };
bool query_first_meeting(json_t *met, sqlite3_stmt *st);

/* "PATH: WHAT`lathe COMMAND [--db PATH]`AFTER". Returns the code. */
status query_missing(const char *path, status code, struct err *e, const char *what, const char *command,
                     const char *after);
/* LATHE_NOTHING: there is no campaign of this number. */
status query_no_campaign(const struct query *q, int64_t id, struct err *e);

#endif
