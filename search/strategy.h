/* strategy.h: a Lua strategy as ask and tell.
 *
 * The script sees one space: the union of the kernels' spaces, kernel by kernel; a configuration is a userdata whose
 * fields are its parameters, plus .kernel and .index. tune.evaluate(config) yields one, tune.evaluate_all(list) many;
 * both return results when told. strategy_ask gives the configurations asked for and not yet answered; when every one
 * is told, the next ask resumes the script. The script is never told that the budget is gone: it is just not resumed.
 */
#ifndef LATHE_SEARCH_STRATEGY_H
#define LATHE_SEARCH_STRATEGY_H

#include "model/outcome.h"
#include "search/space.h"

struct strategy;

struct strategy_option {            /* as declared by the script's options table */
    char name[48], type[16], text_default[64], range[160], help[200];
};

struct proposal {
    int space;                      /* which of the spaces */
    config_choice *choice;          /* borrowed until the next ask */
    int64_t index;                  /* in that space; -1: not a member (a table the script made up) */
    char *why;                      /* NULL, or why it is no member */
};

struct answer {
    enum outcome outcome;
    double value;                   /* the objective, smaller is better; NaN unless ok */
    double seconds;                 /* what the trial cost */
};

/* Finds NAME in search/strategies (embedded in the binary) or reads FILE.lua. options: "name=value" strings. Unknown
 * strategy: LATHE_USAGE with the nearest; unknown option or bad value: LATHE_USAGE with the declared ones. Spaces are
 * borrowed. text: the script as stored with the campaign. */
status strategy_open(const char *name_or_file, char *const *options, int noptions, struct space *const *spaces,
                     int nspaces, uint64_t seed, struct strategy **out, struct err *e);
void strategy_close(struct strategy *s);
const char *strategy_name(const struct strategy *s);
const char *strategy_text(const struct strategy *s);
void strategy_options_text(const struct strategy *s, struct strbuf *b); /* resolved options, "kind=hamming batch=16" */

/* Resumes the script if nothing is pending. *count 0: the script has ended (the space is done, or it returned). A script
 * that fails, loops for ever or yields what is no configuration: LATHE_STRATEGY with file, line and what was yielded. */
status strategy_ask(struct strategy *s, const struct proposal **batch, int *count, struct err *e);
/* Answers proposal i of the current batch, in any order. */
void strategy_tell(struct strategy *s, int i, const struct answer *a);

/* Embedded strategies, for --help and doctor. */
int strategy_count(void);
const char *strategy_name_at(int i);
const char *strategy_summary_at(int i);
int strategy_declared_options(const char *name, struct strategy_option *out, int max);

#endif
