/* store.h: the only writer of the database. sqlite3.h is included by db/ alone.
 *
 * One file, STRICT tables, foreign keys, WAL. Each call below is one transaction (store_together_begin joins many),
 * durable when it returns: a trial that was told to the user is in the file. The store knows nothing of devices or Lua.
 * db/schema.sql is the schema, embedded; PRAGMA user_version its version, PRAGMA application_id 0x4c617468 ("Lath")
 * marks the file as ours. */
#ifndef LATHE_DB_STORE_H
#define LATHE_DB_STORE_H

#include "base/err.h"
#include "model/config.h"
#include "model/inputs.h"
#include "model/result.h"

struct store;

/* Creates the file and schema if absent, migrates an older one. LATHE_STORE: not a SQLite file, not a lathe database,
 * of a newer schema (says which version wrote it), read-only, directory missing, locked for more than busy_seconds. */
status store_open(const char *path, double busy_seconds, struct store **out, struct err *e);
void store_close(struct store *s);

struct campaign_record {
    const struct problem *problem;      /* its json, name, dims */
    const struct target *target;
    const char *strategy, *strategy_text, *strategy_options;
    const char *kernels;                /* "simt epilogue" */
    uint64_t seed;
    int64_t budget_trials;              /* 0: none */
    double budget_seconds;              /* 0: none */
    enum inputs inputs;                 /* its tolerance is the problem's */
    const char *tool_version, *command_line;
    uint64_t space_size;
};
status store_campaign_begin(struct store *s, const struct campaign_record *c, int64_t *id, struct err *e);
/* Something that its numbers must be taken with. */
status store_campaign_note(struct store *s, int64_t id, const char *note, struct err *e);
/* state: "finished", "interrupted", "failed" (running until then). note: why it failed; NULL leaves what
 * store_campaign_note said. */
status store_campaign_end(struct store *s, int64_t id, const char *state, const char *note, struct err *e);

struct trial_record {
    int64_t campaign;
    int64_t number;                     /* order of proposal, 1, 2, ...; baselines 0, -1, -2 ... */
    const struct kernel *kernel;
    const struct value *slots;          /* complete for this configuration */
    const config_choice *choice;
    const char *image_key;              /* "" if it has none */
};
/* Records the trial as in flight. */
status store_trial_begin(struct store *s, const struct trial_record *t, int64_t *id, struct err *e);
/* Its outcome, time, resources, stages, verification, samples, telemetry. */
status store_trial_end(struct store *s, int64_t id, const struct result *r, struct err *e);

/* The final's measurements of a trial: one call a regime; the verification of the final; its place (1 = winner). */
status store_measurement(struct store *s, int64_t trial, const struct samples *m, const struct telemetry *t, struct err *e);
status store_verification(struct store *s, int64_t trial, const struct verification *v, struct err *e);
status store_final_rank(struct store *s, int64_t campaign, int64_t trial, int rank, struct err *e);

/* What is written between these two is one transaction, for much that is nothing worth one by one: thousands of trials
 * of a replay. so_far: if it is not LATHE_OK, or committing fails, nothing of it is kept. Not to be nested. */
status store_together_begin(struct store *s, struct err *e);
status store_together_end(struct store *s, status so_far, struct err *e);

#endif
