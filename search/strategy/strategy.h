/* strategy.h: a Lua strategy as ask and tell.
 *
 * The script sees one space: the union of the kernels' spaces, kernel by kernel; a configuration is a userdata whose
 * fields are its parameters, plus .kernel and .index. tune.evaluate(config) asks for one, tune.evaluate_all(list) for
 * many, and both wait for the results; tune.submit(list) asks and goes on, tune.collect(n) waits for the oldest n of
 * those. strategy_ask gives the configurations asked for since the last one; as soon as all those are told that the
 * script waits for, the next ask resumes it. A host that tells all it was given before it asks again need not know that
 * there is a difference. The script is never told that the budget is gone: it is just not resumed.
 * docs/strategies.md is the script's side. */
#ifndef LATHE_SEARCH_STRATEGY_H
#define LATHE_SEARCH_STRATEGY_H

#include "model/outcome.h"
#include "search/space/space.h"

struct strategy;

enum { STRATEGY_BATCH_MAX = 1000000 };  /* configurations asked for at once */
enum { STRATEGY_NOTHING_NEW = 10000 };  /* proposals in a row that are known, at which a host may take it for ended */
#define STRATEGY_DEFAULT "portfolio"    /* where none is named */

struct strategy_option {            /* as declared by the script's options table */
    char name[48], type[16], text_default[64], range[160], help[200];
};

struct proposal {
    int64_t number;                 /* of all, from 0 */
    int space;                      /* which of the spaces */
    config_choice *choice;          /* borrowed until the next ask that resumes the script */
    int64_t index;                  /* in that space; -1: not a member (a table the script made up) */
    char *why;                      /* NULL, or why it is no member */
};

struct answer {
    enum outcome outcome;
    double value;                   /* the objective, smaller is better; NaN unless ok */
    double seconds;                 /* what the trial cost */
    double measured;                /* the objective where it was measured but does not count, as of one that rounds too
                                       much; 0 or NaN: it was not */
};

/* Where a campaign runs: its problem's name and sizes, its device's name. */
struct place {
    const char *problem, *device;
    const struct dim *dims;
    int ndims;
};

/* A configuration that an earlier campaign found good, as one of these spaces. */
struct earlier {
    int space;
    uint64_t index;
    bool exact;                     /* the same parameters with the same values; else the nearest member */
    double value, ratio;            /* ms there; over that campaign's best of the kernel */
    int64_t campaign;
    struct place place;
};

/* Finds NAME in search/strategies (embedded in the binary) or reads FILE.lua. options: "name=value" strings. Unknown
 * strategy: LATHE_USAGE with the nearest; unknown option or bad value: LATHE_USAGE with the declared ones; a file that
 * cannot be read: LATHE_IO; a script that fails or returns no strategy { ... }: LATHE_STRATEGY. Spaces are borrowed;
 * nspaces > 0. */
status strategy_open(const char *name_or_file, char *const *options, int noptions, struct space *const *spaces,
                     int nspaces, uint64_t seed, struct strategy **out, struct err *e);
/* The same with the script's text at hand, as strategy_text gave it; `name` stands for its file in messages. NULL: as
 * strategy_open. compilers: how many a device's campaign has, from which options that are not given follow (`parallel`
 * of docs/strategies.md); 0 or less: it compiles nothing, and they are as declared. */
status strategy_open_text(const char *name, const char *text, char *const *options, int noptions,
                          struct space *const *spaces, int nspaces, uint64_t seed, int compilers,
                          struct strategy **out, struct err *e);
/* The same with other bounds on the script: bytes, and seconds between two returns. */
status strategy_open_limited(const char *name_or_file, char *const *options, int noptions, struct space *const *spaces,
                             int nspaces, uint64_t seed, size_t memory, double seconds, struct strategy **out,
                             struct err *e);
void strategy_close(struct strategy *s);            /* NULL is fine */
const char *strategy_name(const struct strategy *s);    /* as the script declares it */
const char *strategy_text(const struct strategy *s);    /* the script, as stored with the campaign */
void strategy_options_text(const struct strategy *s, struct strbuf *b); /* resolved options, "batch=8 kind=hamming" */

/* What the script reads as tune.here and tune.earlier, before the first ask; copied. Without it both say nothing. Fails
 * with LATHE_STRATEGY where the script's memory ends. */
status strategy_inform(struct strategy *s, const struct place *here, const struct earlier *list, int n, struct err *e);

/* What the script reads as tune.parallel: how many trials go through the device's pipeline at once, at least 1. Before
 * the first ask; 1 unless it is called. */
void strategy_set_parallel(struct strategy *s, int trials);

/* Resumes the script unless it waits for something untold, and gives the proposals that it has made since it was last
 * resumed; borrowed until it is resumed again. While it waits: the same again, whole. *count 0 where all is told that
 * was given: the script has ended (the space is done, or it returned). A script that fails, loops for ever or yields
 * what is no configuration: LATHE_STRATEGY with file, line and what was yielded; interrupted: LATHE_INTERRUPTED. */
status strategy_ask(struct strategy *s, const struct proposal **batch, int *count, struct err *e);
/* For a host that asks while something is untold: whether to tell first; whether nothing more will be proposed. */
bool strategy_waits(const struct strategy *s);
bool strategy_ended(const struct strategy *s);
/* Ends the script that runs now, or the next one to run. Async-signal-safe. */
void strategy_interrupt(void);
/* Answers the proposal of that number, in any order, once. */
void strategy_tell(struct strategy *s, int64_t number, const struct answer *a);

/* Embedded strategies, for --help and doctor. */
int strategy_count(void);
const char *strategy_name_at(int i);
const char *strategy_summary_at(int i);
/* The options of a strategy, embedded or a file, by name; their number, of which at most max are written. -1: there is
 * no such strategy or it fails. */
int strategy_declared_options(const char *name, struct strategy_option *out, int max);

#endif
