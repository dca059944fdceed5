/* report.h: the database's JSON trees (db/query.h, docs/json.md) as text for people. Shared by tune, best and show. */
#ifndef LATHE_CLI_REPORT_H
#define LATHE_CLI_REPORT_H

#include "base/strbuf.h"
#include <jansson.h>
#include <stdbool.h>

/* Reading a tree whose keys are documented: absent and null give NaN, 0 and "". */
double tree_number(const json_t *object, const char *key);
int64_t tree_int(const json_t *object, const char *key);
const char *tree_text(const json_t *object, const char *key);
bool tree_true(const json_t *object, const char *key);

/* "M=128 N=32768 K=32768" */
void report_size(struct strbuf *b, const json_t *size);
/* "atol=0.0001 rtol=0.0001 times_sgemm_error=2": limits of 0 are none and left out, but for the first two. */
void report_tolerance(struct strbuf *b, const json_t *tolerance);
/* "BM=128 BN=64" from {name: value}, in the object's order. */
void report_configuration(struct strbuf *b, const json_t *configuration);

/* Of a trial or a campaign: it was imported or replayed, so that nothing of it was measured or verified here. */
bool report_is_recorded(const json_t *trial);
/* Was a trial verified on outputs that do not tell products apart, so that it has no error (docs/method.md)? */
bool report_is_blind(const json_t *trial);
/* Was it right by a wide tolerance alone: with an error of 1 or more, which an output of zeros has? */
bool report_is_far(const json_t *trial);
#define REPORT_FAR "is as far from right as zeros are, which is right by this tolerance: it is too wide"

/* best: array of trials, best first; baselines: array of trials or NULL, shown in the same columns below. Columns for
 * problem, size, device, tolerance, inputs and campaign appear only where the rows differ in them. db, the database:
 * also above the table what they share, and below it whether any is blind; NULL: neither. */
void report_best(struct strbuf *b, const json_t *best, const json_t *baselines, const char *db);

/* report_devices.c: nothing for a campaign on one device; else how many trials each had, and what its final measured of
 * those of `best` that were in it, and of the baselines. */
void report_devices(struct strbuf *b, const json_t *campaign, const json_t *best);

/* query_front's trials: the same columns, their parameter FORMAT (of a product's numbers) where there is one, and the
 * outcome. */
void report_front(struct strbuf *b, const json_t *front, const char *db);

/* Appends how many seconds a campaign took, of a replay in recorded time; false, and nothing, where it is not known. */
bool report_seconds(struct strbuf *b, const json_t *campaign);
/* One campaign in three lines: what it was, what is right in it, and how it went; a fourth with its note, if any. */
void report_campaign(struct strbuf *b, const json_t *campaign);
/* How fast a campaign's search went and where its time went; nothing where that is not known. */
void report_pace(struct strbuf *b, const json_t *campaign);
/* A line for each baseline and phase in which it was timed again. */
void report_drift(struct strbuf *b, const json_t *campaign);
/* Why trials failed: outcome, how often, the reason in one line, cut to fit `columns` (0: no terminal; 500). */
void report_reasons(struct strbuf *b, const json_t *reasons, int columns);
/* Trials in the order proposed, the last ones of `total`; reasons are one line of at most 100. */
void report_trials(struct strbuf *b, const json_t *trials, int64_t total, int columns);
/* report_history.c: a line on how the best of a campaign of query_campaign_last fell over its trials, in ms or, where
 * it looked for the least energy, mJ; with bars where utf8 says so, as many as `columns` leave room for (0: no terminal).
 * Nothing of fewer than 10 trials. */
void report_history(struct strbuf *b, const json_t *campaign, int columns, bool utf8);
/* report_csv.c: an array of objects with a header line: objects in them by their keys (seconds_compile), a size,
 * tolerance or configuration as NAME=VALUE pairs in one cell; lists are left out. */
void report_csv(struct strbuf *b, const json_t *rows);
/* The same to standard output. */
status report_csv_out(const json_t *rows, struct err *e);
/* The same; where there are no rows, the header line is `columns`, names with commas between. */
status report_csv_rows_out(const json_t *rows, const char *columns, struct err *e);
/* LATHE_USAGE if a command is asked for both. */
status report_one_form(const char *command, bool json, bool csv, struct err *e);
/* One row a campaign. */
void report_campaigns(struct strbuf *b, const json_t *campaigns);

#endif
