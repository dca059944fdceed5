/* store_private.h: what the files of store.h share. */
#ifndef LATHE_DB_STORE_PRIVATE_H
#define LATHE_DB_STORE_PRIVATE_H

#include "db/sqlite_util.h"
#include "db/store.h"

/* Whether `trial` ran the same as the one that the refusal f is of. */
#define SAME_AS_REFUSED                                                                                                \
    "(SELECT identity FROM trial_identity WHERE trial_id = trial.id) = "                                               \
    "(SELECT identity FROM trial_identity WHERE trial_id = f.trial_id)"

/* Every statement that writes, by name; prepared when first used, kept until the store is closed. */
#define STATEMENT_TABLE(X)                                                                                             \
    X(begin, "BEGIN IMMEDIATE")                                                                                        \
    X(commit, "COMMIT")                                                                                                \
    X(meta_set, "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")          \
    X(bundle_set, "INSERT OR REPLACE INTO bundle (problem, data, tool_version, made) VALUES (?1, ?2, ?3, ?4)")         \
    X(problem_find, "SELECT id FROM problem WHERE hash = ?1")                                                          \
    X(problem_add, "INSERT INTO problem (hash, name, summary, specification, created) VALUES (?1, ?2, ?3, ?4, ?5)")    \
    X(source_find, "SELECT id FROM source WHERE hash = ?1")                                                            \
    X(source_add, "INSERT INTO source (hash, name, text) VALUES (?1, ?2, ?3)")                                         \
    X(device_find, "SELECT id FROM device WHERE handle = ?1 AND name = ?2 AND uuid = ?3 AND arch = ?4 "                \
                   "AND driver = ?5 AND toolchain = ?6 AND host = ?7 AND target = ?8")                                 \
    X(device_add, "INSERT INTO device (handle, name, uuid, arch, driver, toolchain, host, target, kind) "              \
                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")                                                       \
    X(strategy_find, "SELECT id FROM strategy WHERE hash = ?1")                                                        \
    X(strategy_add, "INSERT INTO strategy (hash, name, text) VALUES (?1, ?2, ?3)")                                     \
    X(campaign_add, "INSERT INTO campaign (problem_id, device_id, strategy_id, size, flops, bytes, strategy_options, " \
                    "kernels, seed, budget_trials, budget_seconds, space_size, tool_version, command_line, "           \
                    "environment, tolerance, inputs, restrictions, created, request, coordinator, objective) VALUES "  \
                    "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, "     \
                    "?21, ?22)")                                                                                       \
    X(campaign_dim_add, "INSERT INTO campaign_dim (campaign_id, name, value, position) VALUES (?1, ?2, ?3, ?4)")       \
    X(campaign_device, "INSERT INTO campaign_worker (campaign_id, position, device_id, name) "                        \
                       "VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET taken_out = NULL")                           \
    X(device_gone, "UPDATE campaign_worker SET taken_out = ?3 WHERE campaign_id = ?1 AND position = ?2")              \
    X(campaign_note, "UPDATE campaign SET note = coalesce(note || '; ', '') || ?2 WHERE id = ?1")                     \
    X(phase_setup, "UPDATE campaign SET setup_seconds = coalesce(setup_seconds, 0) + ?2 WHERE id = ?1")                \
    X(phase_baselines, "UPDATE campaign SET baseline_seconds = coalesce(baseline_seconds, 0) + ?2 WHERE id = ?1")      \
    X(phase_search, "UPDATE campaign SET search_seconds = coalesce(search_seconds, 0) + ?2 WHERE id = ?1")             \
    X(phase_final, "UPDATE campaign SET final_seconds = coalesce(final_seconds, 0) + ?2 WHERE id = ?1")                \
    X(drift_add, "INSERT INTO drift (campaign_id, trial_id, phase, campaign_seconds, median_ms, low_ms, high_ms, "     \
                 "count, sm_mhz, power_w, temperature_c, throttle_reasons, taken, device_position) "                   \
                 "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)")                               \
    X(campaign_end, "UPDATE campaign SET state = ?2, note = coalesce(?3, note), ended = ?4, "          \
                    "seconds = ?5 WHERE id = ?1 AND state = 'running'")                                                \
    X(campaign_drop, "DELETE FROM campaign WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM trial WHERE campaign_id = ?1)") \
    X(campaign_skip, "UPDATE trial SET outcome = 'skipped', reason = ?2, ended = ?3 "                                  \
                     "WHERE campaign_id = ?1 AND outcome = 'in_flight'")                                               \
    X(trial_add, "INSERT INTO trial (campaign_id, number, role, eligible, checked, kernel, source_id, configuration, " \
                 "image_key, started) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")                               \
    X(parameter_add, "INSERT INTO parameter_value (trial_id, position, name, type, value) "                            \
                     "VALUES (?1, ?2, ?3, ?4, ?5)")                                                                    \
    X(trial_end, "UPDATE trial SET outcome = ?2, reason = ?3, time_ms = ?4, time_low_ms = ?5, time_high_ms = ?6, "     \
                 "registers = ?7, local_bytes = ?8, shared_static = ?9, shared_dynamic = ?10, occupancy = ?11, "       \
                 "compile_seconds = ?12, load_seconds = ?13, verify_seconds = ?14, measure_seconds = ?15, "            \
                 "compile_cached = ?16, ended = ?17, total_seconds = ?18, campaign_seconds = ?19, "                    \
                 "strategy_seconds = ?20, store_seconds = ?21, device_seconds = ?22, energy_mj = ?23, behind = ?24, "  \
                 "score_ms = CASE WHEN ?2 = 'ok' AND role = 'candidate' AND eligible AND checked THEN ?4 END "         \
                 "WHERE id = ?1 AND outcome = 'in_flight'")                                                            \
    /* the four of store_leaders.c */                                                                                  \
    X(campaign_of, "SELECT campaign_id FROM trial WHERE id = ?1")                                                      \
    X(group_of, "SELECT campaign_id, kernel, EXISTS (SELECT 1 FROM refusal f "                                         \
                "WHERE f.configuration = trial.configuration) "                                                        \
                "FROM trial WHERE id = ?1 AND role = 'candidate' AND eligible AND checked")                            \
    X(leaders, "SELECT score_ms FROM trial INDEXED BY trial_campaign_leader WHERE campaign_id = ?1 AND kernel = ?2 "   \
               "AND score_ms IS NOT NULL AND behind IS NULL ORDER BY score_ms, time_ms, id LIMIT ?3")                  \
    X(leaders_settle, "UPDATE trial SET behind = NULL WHERE campaign_id = ?1 AND behind IS NOT NULL AND id IN "        \
                      "(SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY kernel "                            \
                      "ORDER BY score_ms, time_ms, id) AS place FROM trial WHERE campaign_id = ?1 "                    \
                      "AND score_ms IS NOT NULL) WHERE place <= ?2)")                                                  \
    /* those of store_refusals.c */                                                                                    \
    X(refusal_add, "INSERT OR IGNORE INTO refusal (trial_id, configuration) "                                          \
                   "SELECT t.id, t.configuration FROM trial t WHERE t.id = ?1 AND t.role = 'candidate' AND EXISTS "    \
                   "(SELECT 1 FROM verification v WHERE v.trial_id = t.id AND v.phase = 'final' AND v.passed = 0 "     \
                   "AND v.detail NOT GLOB 'unstable: *' AND v.detail NOT GLOB 'launch: *' "                            \
                   "AND v.detail NOT GLOB 'resources: *')")                                                            \
    X(refusal_find, "SELECT f.trial_id FROM refusal f CROSS JOIN trial WHERE trial.id = ?1 "                           \
                    "AND f.configuration = trial.configuration AND " SAME_AS_REFUSED                                   \
                    " ORDER BY f.trial_id DESC LIMIT 1")                                                               \
    X(refuse, "UPDATE trial SET score_ms = NULL, refused_by = ?2 WHERE id = ?1")                                       \
    X(refusal_drop, "DELETE FROM refusal WHERE trial_id = ?1")                                                         \
    X(refuse_others, "UPDATE trial SET score_ms = NULL, refused_by = f.trial_id FROM refusal f "                       \
                     "WHERE f.trial_id = ?1 AND trial.score_ms IS NOT NULL AND trial.id <> ?1 "                        \
                     "AND trial.source_id IS (SELECT source_id FROM trial WHERE id = ?1) "                             \
                     "AND trial.configuration = f.configuration AND " SAME_AS_REFUSED)                                 \
    X(refused_campaign, "SELECT campaign_id FROM trial WHERE refused_by = ?1 AND campaign_id > ?2 "                    \
                        "ORDER BY campaign_id LIMIT 1")                                                                \
    X(allow_others, "UPDATE trial SET refused_by = NULL, score_ms = time_ms "                                          \
                    "WHERE refused_by = ?1 AND campaign_id = ?2")                                                      \
    X(measurement_add, "INSERT INTO measurement (trial_id, regime, median_ms, low_ms, high_ms, count, sm_mhz, "        \
                       "mem_mhz, power_w, temperature_c, throttle_reasons, taken, batch, graph, throttled, "           \
                       "sm_mhz_low, energy_mj, energy_launches, device_position) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "     \
                       "?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, "                                     \
                       "coalesce(?19, (SELECT device_position FROM trial WHERE id = ?1)))")                            \
    X(sample_add, "INSERT INTO sample (measurement_id, number, ms, throttled) VALUES (?1, ?2, ?3, ?4)")                \
    X(verification_add, "INSERT INTO verification (trial_id, phase, reference, seed, max_abs, max_rel, frobenius, "    \
                        "frobenius_limit, scaled, scaled_limit, elements, mismatches, deterministic, passed, detail, " \
                        "taken) "                                                                                      \
                        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)")              \
    X(campaign_state, "SELECT state, coordinator FROM campaign WHERE id = ?1")                                         \
    X(campaign_resume, "UPDATE campaign SET state = 'running', ended = NULL, seconds = NULL, note = ?2, "              \
                       "coordinator = ?3, request = ?4, budget_trials = ?5, budget_seconds = ?6, "                     \
                       "resumed = resumed + 1, "                                                                       \
                       /* a sitting that was killed has not said what its search took at last */                       \
                       "search_seconds = iif(setup_seconds IS NULL, search_seconds, coalesce(search_seconds, 0) + "    \
                       "max(0, ?7 - setup_seconds - coalesce(baseline_seconds, 0) - coalesce(search_seconds, 0) - "    \
                       "coalesce(final_seconds, 0))) WHERE id = ?1")                                                   \
    X(rank_clear, "UPDATE trial SET final_rank = NULL, score_ms = time_ms WHERE campaign_id = ?1 "                     \
                  "AND score_ms IS NOT NULL AND (final_rank IS NOT NULL OR score_ms <> time_ms)")                      \
    /* what an earlier final measured is not to meet what the next one does; energy_mj is the trial's own again */ \
    X(final_energy_clear, "UPDATE trial SET energy_mj = (SELECT energy_mj FROM measurement m "                         \
                          "WHERE m.trial_id = trial.id AND m.regime = 'trial' ORDER BY m.id DESC LIMIT 1) "            \
                          "WHERE campaign_id = ?1 AND energy_mj IS NOT NULL AND EXISTS (SELECT 1 FROM measurement f "  \
                          "WHERE f.trial_id = trial.id AND f.regime <> 'trial')")                                      \
    X(final_clear, "DELETE FROM measurement WHERE regime <> 'trial' "                                                  \
                   "AND trial_id IN (SELECT id FROM trial WHERE campaign_id = ?1)")                                    \
    X(final_drift_clear, "DELETE FROM drift WHERE campaign_id = ?1 AND phase <> 'search'")                             \
    /* what ended before total_seconds was kept took its stages at least */                                            \
    X(trial_find, "SELECT id, kernel, configuration, outcome, coalesce(time_ms, CASE WHEN role = 'baseline' THEN "     \
                  "(SELECT median_ms FROM measurement m WHERE m.trial_id = trial.id AND m.regime = 'trial') END), "    \
                  "coalesce(total_seconds, compile_seconds + load_seconds + verify_seconds + measure_seconds), "       \
                  "attempts, outcome = 'ok' AND eligible AND checked AND score_ms IS NULL AND refused_by IS NULL, "    \
                  "energy_mj, load_seconds + verify_seconds + measure_seconds "                                        \
                  "FROM trial WHERE campaign_id = ?1 AND number = ?2")                                                 \
    X(trial_again, "UPDATE trial SET outcome = 'in_flight', reason = '', started = ?2, ended = NULL, attempts = ?3 "   \
                   "WHERE id = ?1 AND outcome IN ('in_flight', 'skipped')")                                            \
    X(trial_runs, "UPDATE trial SET attempts = attempts + 1, device_position = ?2 "                                    \
                  "WHERE id = ?1 AND outcome = 'in_flight'")                                                           \
    X(energy_set, "UPDATE trial SET energy_mj = ?2 WHERE id = ?1")                                                     \
    X(disqualify, "UPDATE trial SET score_ms = NULL WHERE id = ?1")                                                    \
    X(rank_set, "UPDATE trial SET final_rank = ?3, behind = NULL WHERE id = ?1 AND campaign_id = ?2")                  \
    X(ranked_campaign, "SELECT campaign_id FROM trial WHERE id = ?1 AND final_rank IS NOT NULL")                       \
    /* the cold median, but above the scores of those placed before: the factor gives the next numbers above them */   \
    X(rescore_finalists, "UPDATE trial SET score_ms = f.ms FROM (SELECT id, CASE WHEN before >= cold "                 \
                         "THEN before * (1 + 2.220446049250313e-16 * (final_rank - 1)) ELSE cold END AS ms "           \
                         "FROM (SELECT id, final_rank, cold, max(cold) OVER (ORDER BY final_rank "                     \
                         "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before "                                \
                         "FROM (SELECT id, final_rank, coalesce((SELECT median_ms FROM measurement m "                 \
                         "WHERE m.trial_id = trial.id AND m.regime = 'cold' "                                          \
                         "ORDER BY m.id DESC LIMIT 1), time_ms) AS cold FROM trial "                                   \
                         "WHERE campaign_id = ?1 AND final_rank IS NOT NULL AND score_ms IS NOT NULL))) AS f "         \
                         "WHERE trial.id = f.id AND (SELECT objective FROM campaign WHERE id = ?1) = 'time'")          \
    /* the factor gives the next number above the last finalist's score */                                             \
    X(rescore_others, "UPDATE trial SET score_ms = max(time_ms, last.ms) "                                             \
                      "FROM (SELECT coalesce((SELECT max(score_ms) FROM trial "                                        \
                      "WHERE campaign_id = ?1 AND final_rank IS NOT NULL), 0.0) "                                      \
                      "* (1 + 2.220446049250313e-16) AS ms) AS last "                                                  \
                      "WHERE campaign_id = ?1 AND final_rank IS NULL AND score_ms <> max(time_ms, last.ms) "           \
                      "AND (SELECT objective FROM campaign WHERE id = ?1) = 'time'")

enum statement {
#define X(name, text) STATEMENT_##name,
    STATEMENT_TABLE(X)
#undef X
        STATEMENT_COUNT
};

struct store {
    struct sql sql;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    int64_t campaign;                   /* the last one begun here, 0: none */
    double campaign_began;              /* clock_seconds() then */
    bool told_elapsed;                  /* ... but it has run for so long: */
    double elapsed;
    const struct kernel *sourced;       /* the last kernel whose source was recorded, and its row; NULL: not known */
    int64_t source;
    struct leaders *leaders;            /* store_leaders.c; NULL: nothing is known yet */
    int nleaders, leaders_cap;
    bool lost;                          /* its file is not where it was (store_place.c): nothing more is written */
    bool together;                      /* between store_together_begin and _end: one transaction is open */
};

/* Seconds since the campaign that was begun or resumed here began, what it took before it was resumed included; NaN:
 * none was. By a clock that is never set. */
double store_elapsed(const struct store *s);
/* The statement, prepared and not begun; the caller resets it. */
status store_statement(struct store *s, enum statement which, sqlite3_stmt **out, struct err *e);
/* One statement of the table, run to its end. */
status store_run(struct store *s, enum statement which, const char *doing, const struct sql_value *v, int n,
                 struct err *e);
status store_lookup(struct store *s, enum statement which, const char *doing, const struct sql_value *v, int n,
                    int64_t *out, bool *found, struct err *e);
/* The row's id by its identity (the first nkey values), added with all values if it is new. */
status store_intern(struct store *s, enum statement find, enum statement add, const char *doing,
                    const struct sql_value *v, int n, int nkey, int64_t *id, struct err *e);

/* What trial.behind shall be of a trial that ends as `r`, before it is written: 1 or NULL. *refused: the trial that
 * refuses it (store_refusals.c), or 0. */
status store_leaders_place(struct store *s, int64_t trial, const struct result *r, struct sql_value *behind,
                           int64_t *refused, struct err *e);
/* Takes marks away where they are not right any more, after scores changed other than by a trial's end: of the whole
 * campaign; or of the one that a trial is of. */
status store_leaders_settle(struct store *s, int64_t campaign, struct err *e);
status store_leaders_settle_with(struct store *s, int64_t trial, struct err *e);
/* What is in memory is not what the file has. */
void store_leaders_forget(struct store *s);

/* Brings score_ms of a campaign's trials up to date with its final. Idempotent. */
status store_rescore(struct store *s, int64_t campaign, struct err *e);
/* The trial that refuses this one, or 0; after it was written, it is refused by that one. */
status store_refusals_find(struct store *s, int64_t trial, int64_t *refusal, struct err *e);
status store_refusals_apply(struct store *s, int64_t trial, int64_t refusal, struct err *e);
/* A final refused the trial: its like may win nowhere (store_refusals.c). */
status store_refusals_add(struct store *s, int64_t trial, struct err *e);
/* A final let the trial stand: what earlier ones said of its like counts no more. Scores other than those of the
 * trial's own campaign are up to date then. */
status store_refusals_lift(struct store *s, int64_t trial, struct err *e);

/* One call, one transaction: begin; then commit when st is LATHE_OK, else roll back. Returns what the call shall. */
status store_begin(struct store *s, const char *doing, struct err *e);
status store_finish(struct store *s, status st, const char *doing, struct err *e);

#endif
