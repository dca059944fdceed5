/* recording.h: what a tuner wrote down of one kernel on one device, as plain data: every configuration that was tried,
 * how it ended, its samples, and what trying it cost.
 *
 * Read from Kernel Tuner's caches, T4 results (AutoTuningAssociation), KTT's output, CSV and lathe's databases, all
 * also compressed (gzip). docs/replay.md says what each format's fields become. Times of the kernel are in
 * milliseconds, costs in seconds, whatever the file uses. A recording owns all it points to and does not change. */
#ifndef LATHE_REPLAY_RECORDING_H
#define LATHE_REPLAY_RECORDING_H

#include "base/err.h"
#include "model/config.h"
#include "model/outcome.h"
#include "model/target.h"

enum { RECORDING_PARAMS_MAX = 256 };
/* The kind of device that a campaign has which is a recording that was imported (campaign/replay/import_campaign.h). */
#define DEVICE_IMPORTED "imported"

struct recorded_param {
    char *name;
    enum value_type type;       /* of all its values */
    struct value *values;       /* distinct, in the order of the file's own list; else numbers by size, others as met */
    int nvalues;
};

struct recorded {               /* one configuration */
    enum outcome outcome;
    const char *reason;         /* why it is not ok, in the file's words; "" if it is */
    double value_ms;            /* the objective; NaN unless ok */
    uint64_t first_sample;
    uint32_t nsamples;
    double compile, validation, framework, search, run;    /* seconds; what is not recorded is 0 */
    double energy_mj;           /* of one run; NaN: not recorded */
    int64_t moment;             /* when, microseconds since 1970, UTC; 0: not recorded */
    uint64_t position;          /* of its entry in the file, from 0: the order in which they were tried */
};

struct recording {
    char *path, *format;        /* as opened; "Kernel Tuner cache", "T4", "KTT", "CSV", "lathe database" */
    char *kernel, *device, *size;   /* "" where the file does not say */
    bool by_energy;             /* what was looked for: the least energy; else the least time */
    struct target target;       /* of a lathe campaign; else zeroes */
    struct recorded_param *params;
    int nparams;
    /* In lexicographic order of their choices, each once; configuration i's are choices[i * nparams ..). So a space
     * of exactly these configurations has them at the same indices. */
    uint64_t nconfigs;
    config_choice *choices;
    struct recorded *configs;
    double *samples;            /* milliseconds; configuration i's: samples[first_sample .. first_sample + nsamples) */
    uint64_t nsamples;
    /* What reading it had to settle, 0 or more of each. */
    uint64_t duplicates;        /* entries of a configuration that was there before: the last one counts */
    uint64_t not_times;         /* successes whose time is no positive number: outcome unstable */
    uint64_t not_costs;         /* costs that are negative or no number: counted as 0 */
    bool cut;                   /* a cache that ends without its closing braces: Kernel Tuner was ended */
    bool rest;                  /* a compressed file in which more stands behind the compressed data */
    char **texts;               /* the reasons */
    int ntexts;
};

/* place: FILE, FILE.gz, or a lathe database's FILE[#CAMPAIGN] (default: the newest). LATHE_IO: the file cannot be read,
 * or holds none of these formats; the message names the line. LATHE_NOTHING: it has no configuration. kernel: which of
 * a lathe campaign's; NULL: the only one. */
status recording_open(const char *place, const char *kernel, struct recording **out, struct err *e);
/* The same for a text that is at hand; `name` stands for the file in messages. */
status recording_read_text(const char *text, size_t len, const char *name, struct recording **out, struct err *e);
void recording_free(struct recording *r);           /* NULL is fine */

/* A campaign of this database, and nothing that its name might say besides. */
status recording_of_campaign(const char *db, int64_t campaign, const char *kernel, struct recording **out,
                             struct err *e);

/* What a recording is written as: docs/export.md says what each can hold. Entries stand in the order in which they were
 * tried. Recordings that are equal give texts that are. */
enum recording_form { RECORDING_T4, RECORDING_KERNEL_TUNER, RECORDING_CSV, RECORDING_FORMS };
const char *recording_form_name(enum recording_form f);     /* "t4", "kernel-tuner", "csv" */
/* Made in memory. LATHE_USAGE: a parameter has the name of what the form says besides (CSV). */
status recording_print(const struct recording *r, enum recording_form f, struct strbuf *out, struct err *e);
/* Compressed if path ends in ".gz". LATHE_IO too. */
status recording_write(const struct recording *r, enum recording_form f, const char *path, struct err *e);
/* Indices of the configurations in the order in which they were tried; mem_free it. */
uint64_t *recording_order(const struct recording *r);

/* The configuration with these choices: its index, or -1. */
int64_t recording_find(const struct recording *r, const config_choice *choice);

/* Seconds that trying a configuration costs: compile, validation, framework, the recorded strategy's own time, and its
 * runs (Willemsen et al., FGCS 159 (2024) 489-504). recording_trial_seconds is without the last strategy's and the
 * framework's time: what a budget is charged. */
double recorded_cost(const struct recorded *c);
double recorded_trial_seconds(const struct recorded *c);

/* What reading had to settle, as lines of text for a person; nothing if there was nothing. */
void recording_notes(const struct recording *r, struct strbuf *b);

/* Facts of a recording that scores are made from, same source. Minimisation; failures have no value. */
struct recording_summary {
    uint64_t configs, valid;
    double best, median;        /* ms, over the valid; NaN if none is */
    double mean_cost, median_cost;  /* seconds; mean: of valid ones + share failed x mean of failed ones */
    double *sorted;             /* values of the valid ones, ascending; `valid` of them */
};
void recording_summarise(const struct recording *r, struct recording_summary *out);
void recording_summary_free(struct recording_summary *s);
/* Evaluations that random search without replacement is expected to need to come within 1 - cutoff of the way from the
 * median to the best; cutoff in (0, 1]. 0 if no configuration is valid. */
uint64_t recording_evaluations_to(const struct recording_summary *s, double cutoff);

#endif
