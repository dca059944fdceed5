/* tune_strategy.h: what `lathe tune-strategy` is made of: the options of a strategy as a space, and the report. */
#ifndef LATHE_CLI_TUNE_STRATEGY_H
#define LATHE_CLI_TUNE_STRATEGY_H

#include "contest/contest.h"
#include "console/options.h"
#include <jansson.h>

enum { STRATEGY_OPTIONS_MAX = 64 };

struct options_space {
    const char *name;           /* of the strategy, or its file; borrowed */
    const struct text_list *values;     /* "OPTION=V,V,..."; borrowed */
    char *script;               /* what the strategy calls itself, and the hash of its text */
    struct strategy_option declared[STRATEGY_OPTIONS_MAX];
    int ndeclared;
    struct problem *problem;    /* each option a parameter; NULL until options_space_problem */
};
/* any: a space, with which the strategy can be opened. LATHE_USAGE: it has no options, or values are given of one that
 * it does not have; or what opening it fails with. Closed with options_space_close in any case. */
status options_space_open(struct options_space *s, const char *name, const struct text_list *values, struct space *any,
                          struct err *e);
/* objective: what a combination's value is, for the problem's summary. */
status options_space_problem(struct options_space *s, const char *objective, struct err *e);
void options_space_close(struct options_space *s);
/* Appends a combination as "name:option=value,..."; choice NULL: the declared defaults. */
void options_space_text(const struct options_space *s, const struct kernel *k, const config_choice *choice,
                        struct strbuf *b);

struct options_trial {
    char *text;                 /* "strategy:name=value,name=value" */
    double score;               /* mean over the spaces; NaN: it failed */
    double *scores;             /* of each space */
};

struct options_report {
    const char *strategy, *db;  /* db NULL: nothing was stored */
    long long campaign;
    const struct contest_space *spaces;
    int nspaces, seeds;
    uint64_t space_size;
    const struct options_trial *initial;    /* the declared defaults */
    const struct options_trial *trials;     /* in the order they were made */
    int ntrials;
    /* The best trial and the defaults once more with other seeds, on the same spaces, and on those of --test; NULL: not
     * run. Strategy 0 is the best trial, 1 the defaults. */
    const struct contest *again, *test;
    const struct contest_result *again_result, *test_result;
};

/* The best of the trials by the mean over all spaces but one (left_out -1: over all); NULL: none has a score. */
const struct options_trial *options_best(const struct options_report *r, int left_out);
void options_report_text(const struct options_report *r, struct strbuf *b);
json_t *options_report_json(const struct options_report *r);
/* The table of combinations, for CSV: an array of {place, options, score, spaces}, best first, all of them; the
 * defaults are the last, at the place "default". */
json_t *options_report_rows(const struct options_report *r);

#endif
