/* store.h: the only writer of the database. sqlite3.h is included by db/ alone.
 *
 * One file, STRICT tables, foreign keys, WAL. Each call below is one transaction (store_together_begin joins many),
 * durable when it returns: a trial that was told to the user is in the file. The store knows nothing of devices or Lua.
 * db/schema.sql is the schema, embedded; PRAGMA user_version its version, PRAGMA application_id 0x4c617468 ("Lath")
 * marks the file as ours. */
#ifndef LATHE_DB_STORE_H
#define LATHE_DB_STORE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "model/config.h"
#include "model/inputs.h"
#include "model/result.h"

struct store;

/* Creates the file and schema if absent, migrates an older one. LATHE_STORE: not a SQLite file, not a lathe database,
 * of a newer schema (says which version wrote it), read-only, directory missing, locked for more than busy_seconds; a
 * process has open what had the name before, and did not leave it within busy_seconds, 10 at most. */
status store_open(const char *path, double busy_seconds, struct store **out, struct err *e);
/* How long a lock is waited for from now on; stop (may be NULL) is asked meanwhile, and true makes that two seconds at
 * most: another campaign's lock is shorter, and is no reason to lose what was measured last. */
void store_patience(struct store *s, double seconds, bool (*stop)(void));
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
    const char *request;                /* JSON: what else it was asked, for its resumption; may be NULL */
    uint64_t space_size;
    enum objective objective;
    const char *size;                   /* as text, of a problem without dimensions; NULL: the problem's */
    const json_t *dims;                 /* what `size` means: {name: n}; NULL: the problem's */
};
/* *id is set when it is recorded, and else left as it was. */
status store_campaign_begin(struct store *s, const struct campaign_record *c, int64_t *id, struct err *e);
/* Something that its numbers must be taken with; added to what was noted before. */
status store_campaign_note(struct store *s, int64_t id, const char *note, struct err *e);
/* Adds to what this part of the campaign took; it may have been resumed. */
enum campaign_phase { PHASE_SETUP, PHASE_BASELINES, PHASE_SEARCH, PHASE_FINAL, PHASE_COUNT };
status store_campaign_phase(struct store *s, int64_t id, enum campaign_phase phase, double seconds, struct err *e);
/* LATHE_STORE if the file was deleted, moved or replaced since it was opened; what it has is then in another beside it,
 * which is named, as far as that can be written. Every call that writes looks before and after. Who has it open for
 * long looks now and then: others wait with opening what is in its place until it was noticed. It takes a stat(2), and
 * does nothing between store_together_begin and _end. */
status store_check_place(struct store *s, struct err *e);
/* That was found: nothing is recorded any more, and what would be is LATHE_STORE. False of NULL. */
bool store_lost(const struct store *s);
/* state: "finished", "interrupted", "failed" (running until then). note: why it failed; NULL leaves what
 * store_campaign_note said. */
status store_campaign_end(struct store *s, int64_t id, const char *state, const char *note, struct err *e);

/* How long the campaign that was begun here has run, from now on: of what was not run here, but elsewhere. */
void store_campaign_elapsed(struct store *s, double seconds);

/* Takes one back that has no trial, so that nothing of it is worth keeping: *gone. */
status store_campaign_drop(struct store *s, int64_t id, bool *gone, struct err *e);

/* Device `position` (0, 1, ...) of the campaign, and what messages call it; again when it is resumed. */
status store_campaign_device(struct store *s, int64_t campaign, int position, const char *name, const struct target *t,
                             struct err *e);
/* It takes no part in the campaign any more: why. */
status store_device_gone(struct store *s, int64_t campaign, int position, const char *why, struct err *e);

/* A campaign that goes on. LATHE_USAGE: a process that still runs it has it, or, unless forced, may have it. */
struct campaign_resumption {
    int64_t budget_trials;              /* 0: none */
    double budget_seconds;              /* 0: none */
    double used;                        /* seconds that it took before */
    const char *request;                /* as struct campaign_record's */
    const char *note;                   /* replaces what was noted; NULL: nothing */
    bool force;
};
/* Takes it over: it is running, by this process; its end and the places of its final are gone, what was measured
 * stays. */
status store_campaign_resume(struct store *s, int64_t id, const struct campaign_resumption *r, struct err *e);

/* A trial of the campaign as it stands. */
struct stored_trial {
    int64_t id;
    char kernel[64];
    struct strbuf configuration;        /* canonical; sb_free it */
    int outcome;                        /* -1: in flight */
    double time_ms, energy_mj, seconds; /* NaN: not known; seconds: what the strategy was told that it cost */
    double device_seconds;              /* loading, verifying and measuring; NaN: not known */
    int attempts;                       /* how often it was begun on the device */
    bool refused;                       /* ok, but the final's verification refused it */
};
/* By its number; *found false: there is none, and nothing to free. LATHE_STORE: its outcome is none that is known. */
status store_trial_find(struct store *s, int64_t campaign, int64_t number, struct stored_trial *out, bool *found,
                        struct err *e);
/* One that is in flight, or was skipped, is in flight once more. */
status store_trial_again(struct store *s, int64_t id, int attempts, struct err *e);
/* It begins on the campaign's device at this position now: one attempt more. */
status store_trial_runs(struct store *s, int64_t id, int position, struct err *e);

struct trial_record {
    int64_t campaign;
    int64_t number;                     /* order of proposal, 1, 2, ...; baselines 0, -1, -2 ... */
    const struct kernel *kernel;
    const struct value *slots;          /* complete for this configuration */
    const config_choice *choice;
    const char *image_key;              /* "" if it has none */
    const char *started;                /* of one that was not run here, ISO 8601, "" where that is not known; NULL:
                                           now */
};
/* Records the trial as in flight. */
status store_trial_begin(struct store *s, const struct trial_record *t, int64_t *id, struct err *e);
/* Its outcome, time, resources, stages, verification, samples, telemetry. */
status store_trial_end(struct store *s, int64_t id, const struct result *r, struct err *e);

/* The final's measurements of a trial: one call a regime and device (by its position), those that its place follows
 * from last; the verification of the final; its place (1 = winner). */
status store_measurement(struct store *s, int64_t trial, int position, const struct samples *m,
                         const struct telemetry *t, struct err *e);
status store_verification(struct store *s, int64_t trial, const struct verification *v, struct err *e);
status store_final_rank(struct store *s, int64_t campaign, int64_t trial, int rank, struct err *e);

/* What an earlier final of the campaign measured, and with it the samples, its rounds of baselines too: to be called
 * in the transaction (store_together_begin) in which another's figures are recorded, since figures of two finals do not
 * compare. */
status store_final_forget(struct store *s, int64_t campaign, struct err *e);

/* A baseline's trial timed once more in the course of the campaign, on its device at this position. regime: TRIAL
 * during the search, COLD and SUSTAINED in a round of the final. ago: how many seconds before this call; the final's
 * are recorded with its figures, after store_final_forget. Of m the samples themselves are not used. */
status store_drift(struct store *s, int64_t campaign, int64_t trial, int position, const struct samples *m,
                   const struct telemetry *t, double ago, struct err *e);

/* What is written between these two is one transaction, for much that is nothing worth one by one: thousands of trials
 * of a replay. so_far: if it is not LATHE_OK, or committing fails, nothing of it is kept. Not to be nested. */
status store_together_begin(struct store *s, struct err *e);
status store_together_end(struct store *s, status so_far, struct err *e);

/* A file of --format bundle of the problem of that name, in place of an earlier one (query_bundle). */
status store_bundle(struct store *s, const char *problem, const char *data, size_t len, const char *tool_version,
                    struct err *e);

#endif
