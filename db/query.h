/* query.h: every question asked of the database, read-only (the file is opened read-only; one in use is fine).
 * Results are JSON trees whose keys are the documented, stable ones (docs/json.md); the command line prints them as
 * they are for --json, or as tables. New references. */
#ifndef LATHE_DB_QUERY_H
#define LATHE_DB_QUERY_H

#include "base/err.h"
#include "base/strbuf.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct query;

/* LATHE_STORE as store_open, and when the file is absent (says to run `lathe tune` first). */
status query_open(const char *path, struct query **out, struct err *e);
/* Whether that failed since a newer lathe wrote the file. */
bool query_is_newer(const char *path);
void query_close(struct query *q);
const char *query_path(const struct query *q);  /* as it was given */

#define DEFAULT_DB "lathe.db"
/* Appends " --db FILE", as a shell would read it, where the file is not the default: so that a command that is
 * suggested is about the same database. */
void query_db_option(struct strbuf *b, const char *db);

/* OWN: the objective of the campaign, if the filter names one; else time. */
enum query_objective { QUERY_OWN, QUERY_TIME, QUERY_ENERGY };
enum query_axis { QUERY_AXIS_time, QUERY_AXIS_energy, QUERY_AXIS_error, QUERY_AXIS_COUNT };
int query_axis_parse(const char *name);         /* "time", "energy", "error"; -1: unknown */

struct query_filter {
    const char *problem;                /* NULL: any */
    const char *device;                 /* NULL: any; matches the device's name ("NVIDIA H200"), its kind ("cuda",
                                           "host") or "cuda:0" */
    const char *device_name;            /* NULL: any; its name, and nothing else */
    const char *kernel;                 /* NULL: any */
    const char *const *dims;            /* "M=128", all must hold */
    int ndims;
    const char *const *tolerances;      /* "rtol=1e-3,frobenius=0": what the results were verified to; all must hold */
    int ntolerances;
    const char *inputs;                 /* NULL: any; the class of inputs (model/inputs.h) */
    int64_t campaign;                   /* 0: any */
    int64_t trial;                      /* 0: any */
    int top;                            /* 0: all */
    enum query_objective objective;     /* query_best: what to rank by */
    bool measured;                      /* only what was measured here: nothing imported or replayed */
    unsigned axes;                      /* query_front: which figures, bits 1 << enum query_axis; 0: time and error */
};

/* A trial object: id, campaign, number, kernel, configuration {name: value}, text, outcome, reason, role ("candidate",
 * "baseline"), eligible, time_ms, cold_ms, sustained_ms (null if not measured), rank (final place or null), error
 * (relative Frobenius or null), max_abs, mismatches, speedup (over the campaign's first baseline, or null), tflops,
 * gbps, registers, local_bytes, shared_bytes, occupancy, seconds {compile, load, verify, measure}, problem, operator
 * (the id of the first problem with its name, tensors, scalars, reference and epilogue: only then do times compare),
 * size {dim: n}, device, device_kind, tolerance {limit: value}, inputs, started; seconds has strategy, store and device
 * too, and there are energy_mj and objective: null in a file before version 3. */

/* Verified (outcome ok, eligible, role candidate) trials, best first: those with a final rank in their campaign are
 * ranked by the final's cold_ms, others by time_ms; by energy (energy_mj) those that have it, and in one campaign its
 * finalists first, as the final placed them. One row a (kernel, configuration). An array. */
status query_best(struct query *q, const struct query_filter *f, json_t **out, struct err *e);

/* The Pareto set of two or three figures (f->axes), by default time_ms and error: the trials of candidates, verified or
 * inaccurate, of which no other of the same operator, size, device and inputs is as low in all of them and lower in
 * one: in the order of the figures (time_ms, energy_mj, error), one operator, size, device and inputs after the other.
 * Those without one of the figures are left out. One row a (kernel, configuration). An array. */
status query_front(struct query *q, const struct query_filter *f, json_t **out, struct err *e);

/* The trials that query_best would list had not the final of another campaign refused the same configuration: by time.
 * An array, with all of them; each `reason` says which final. */
status query_refused(struct query *q, const struct query_filter *f, json_t **out, struct err *e);

/* What the trials that query_best would list were verified to and on, and what they compute, each once: an array of
 * {tolerance, inputs, operator}. */
status query_conditions(struct query *q, const struct query_filter *f, json_t **out, struct err *e);

/* The campaigns of the trials that query_best would list, newest first: an array of {campaign, problem, device (its
 * name), size {dim: n}}. */
status query_places(struct query *q, const struct query_filter *f, json_t **out, struct err *e);

/* An array of campaigns, newest last: id, problem, size, device, strategy, options, seed, tolerance, inputs,
 * state, note (why it failed, or what its numbers must be taken with; else null), created, seconds, trials, ok,
 * best_ms, baseline_ms, speedup. */
status query_campaigns(struct query *q, json_t **out, struct err *e);

/* One campaign: the same keys, and baselines [trial], outcomes {name: count}, reasons [{outcome, reason, count}], pace
 * (null before version 3) {trials_per_minute and device_share of the search, phases {setup, baselines, search, final}
 * and stages {strategy, compile, load, verify, measure, store, device} in seconds, stages those of candidates; samples
 * of all trials, and how many of them were throttled (null: not known)}, drift [{trial,
 * kernel, phase, count, first_ms, least, most, last}] (of a baseline timed again; shares of its first time), trials
 * [trial] in the order proposed. id 0: the newest. LATHE_NOTHING if absent. */
status query_campaign(struct query *q, int64_t id, json_t **out, struct err *e);
/* The newest campaign that was measured here, not imported or replayed; one that failed before its first trial only
 * where there is no other. LATHE_NOTHING: there is none. */
status query_newest(struct query *q, int64_t *id, struct err *e);
/* The same, but `trials` is how many: a campaign may have a million. */
status query_campaign_summary(struct query *q, int64_t id, json_t **out, struct err *e);

/* The same, and last: its last so many trials, in the order proposed; falls: [number, ms] of each trial that was the
 * best when it ended, of those that may win (none in a campaign for energy). */
status query_campaign_last(struct query *q, int64_t id, int last, json_t **out, struct err *e);

/* A campaign for a report. */
struct query_report {
    int64_t campaign;                   /* 0: the newest */
    int64_t samples;                    /* about so many raw samples: of baselines first, then of the best */
};
/* The campaign's keys, what it was done with, and its trials, baselines included, by columns: docs/report.md has the
 * keys. LATHE_NOTHING if absent. */
status query_report(struct query *q, const struct query_report *wanted, json_t **out, struct err *e);

/* What a trial is compared with: those of a campaign and kernel that have one of these configurations (an array of
 * canonical texts). */
struct query_neighbours {
    int64_t campaign;
    const char *kernel;
    const json_t *configurations;
};
/* flops and bytes (of the campaign; null: not known), trials [{trial, text, outcome, time_ms}] in the order
 * proposed. */
status query_neighbours(struct query *q, const struct query_neighbours *asked, json_t **out, struct err *e);

/* What an export needs of a trial: trial (object above), spec (the specification's JSON), target (target_to_json's),
 * driver, toolchain, tool_version, baselines [trial], samples. */
status query_provenance(struct query *q, int64_t trial, json_t **out, struct err *e);

/* The best verified candidates of kernels of these names, in campaigns of whatever problem, size and device; of what
 * was imported none, since nothing of it was verified. */
struct query_earlier {
    const char *const *kernels;
    int nkernels;
    int campaigns;                      /* at most that many: the newest that have any */
    int top;                            /* at most that many of each campaign and kernel */
    bool replayed;                      /* of campaigns that were replays too */
    int64_t before;                     /* of campaigns with a smaller id alone; 0: of all */
};
/* An array, newest campaign first, then in the order of `kernels`, then best first: campaign, problem, size {dim: n},
 * device, kernel, configuration {name: value}, score_ms (what query_best ranks by). */
status query_earlier(struct query *q, const struct query_earlier *wanted, json_t **out, struct err *e);

/* What a campaign needs to go on: id, state, resumed, specification, size {dim: n}, tolerance, restrictions, request
 * (null where none was kept), target, inputs, kernels, strategy, strategy_text, options, seed (text), budget_trials,
 * budget_seconds (null: none), tool_version, seconds (that it took so far), trials (the largest number given),
 * coordinator (base/process.h; null: unknown). LATHE_NOTHING if absent. */
status query_resumption(struct query *q, int64_t id, json_t **out, struct err *e);

/* What was exported into the database for liblathe, byte for byte, at an address that is a multiple of 16; mem_free it.
 * problem: its name; NULL: the only one. LATHE_NOTHING: there is none, or there are several, and the message says
 * which. */
status query_bundle(struct query *q, const char *problem, char **data, size_t *len, struct err *e);

/* Any SELECT (or WITH, EXPLAIN, PRAGMA table_info): {"columns": [..], "rows": [[..]]}; infinity, which is no number of
 * JSON's, is {"infinite": 1} or {"infinite": -1}. A statement that would write is refused; several statements are
 * refused. */
status query_sql(struct query *q, const char *sql, json_t **out, struct err *e);

#endif
