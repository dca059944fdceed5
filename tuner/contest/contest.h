/* contest.h: strategies on recordings, with many seeds each, on many threads: what `lathe compare` and `lathe
 * tune-strategy` are made of.
 *
 * A run is one strategy on one recording with one seed. It goes on until its clock is 10 % beyond the range of the
 * space's score, and its evaluations are beyond it too; a strategy does not see a budget, so the longer one of two runs
 * begins with the shorter one. The clock is charged the whole recorded cost of a configuration. What a run does depends
 * on its seed alone, and not on how many run at the same time, unless the strategy's own time is put on the clock. */
#ifndef LATHE_CONTEST_CONTEST_H
#define LATHE_CONTEST_CONTEST_H

#include "campaign/replay/replay_search.h"
#include "db/store.h"
#include "score/score.h"

#define CONTEST_MARGIN 1.1      /* of the range of the score: how far runs go */

struct contest_space {
    char *name;                 /* the file's, without its folder and what formats are called */
    struct recording *recording;
    struct recording_summary summary;
    struct score_space score;
    struct problem *problem;
    struct target target;
    struct replay *replay;
    struct space *space;
};
/* place: as recording_open's. kernel: of a lathe campaign's; may be NULL. Fails as recording_open and score_space_init
 * do; then there is nothing to close. */
status contest_space_open(struct contest_space *s, const char *place, const char *kernel, double cutoff, struct err *e);
void contest_space_close(struct contest_space *s);

struct contestant {
    char *label;                /* as it was given */
    char *name;                 /* of a strategy, or a file */
    char **options;             /* "name=value" */
    int noptions, cap;
};
/* Adds the strategies of a list: "random,gp:batch=4,kappa=1,my.lua". What has an = before any : is an option of the
 * strategy before it. LATHE_USAGE: an empty name, or one that is there already. */
status contestants_read(const char *list, struct contestant **all, int *n, int *cap, struct err *e);
void contestants_free(struct contestant *all, int n);

struct contest_evaluation {
    int64_t recorded;           /* in the recording; -1: the strategy proposed what is no member */
    double elapsed;             /* on the clock, after it */
};

struct contest_run {
    bool done;
    enum replay_end end;
    int64_t evaluations;
    double elapsed;
    double own_seconds, seconds;    /* processor time: of the strategy; of the whole run */
    struct score_step *steps;   /* its improvements */
    int nsteps;
    struct contest_evaluation *trace;   /* every evaluation, only where it is kept */
};

enum contest_judging { CONTEST_SCORING, CONTEST_TESTING };

struct contest {
    struct contest_space *spaces;
    int nspaces;
    struct contestant *strategies;
    int nstrategies;
    uint64_t first_seed;
    int seeds;
    int jobs;                   /* runs at the same time; at least 1 */
    bool own_time;              /* the strategy's own measured time counts, in place of the recorded strategy's */
    bool traces;                /* of a run are kept until on_run has seen it */
    /* Called for each run in the order of contest_runs, as soon as those before it are done; one call at a time, from
     * any thread; may be NULL. */
    status (*on_run)(void *ctx, int run, const struct contest_run *r, struct err *e);
    void (*on_progress)(void *ctx, int done, int runs);     /* after each run, one call at a time; may be NULL */
    /* contest_judge's, in the same way: of the strategies that it scores, then of the pairs that it tests; also before
     * the first of each. */
    void (*on_judging)(void *ctx, enum contest_judging what, int done, int n);
    /* Asked by contest_judge before each interval and each test, from any thread: true, and it is left out. May be
     * NULL. */
    bool (*stop_judging)(void *ctx);
    void *ctx;
    struct contest_run *runs;   /* filled by contest_run; contest_free frees it */
};

static inline int contest_count(const struct contest *c)
{
    return c->seeds * c->nspaces * c->nstrategies;
}
/* Seeds are the outermost order, strategies the innermost, so that a contest that is ended early is an even one. */
static inline int contest_index(const struct contest *c, int seed, int space, int strategy)
{
    return (seed * c->nspaces + space) * c->nstrategies + strategy;
}

/* Runs all. After campaign_interrupt: LATHE_OK, and some are not done. A strategy that fails ends it: LATHE_STRATEGY
 * and so on, and the message says which; what is done is kept. */
status contest_run(struct contest *c, struct err *e);
void contest_free(struct contest *c);       /* the runs; spaces and strategies are the caller's */

/* A run with its trace as a campaign, in one transaction: every evaluation a trial without samples, which are in the
 * recording. */
status contest_store_run(struct store *store, const struct contest *c, int run, const struct contest_run *r,
                         const char *version, const char *command_line, struct err *e);

struct contest_mark {           /* of one strategy on one space */
    int runs;                   /* that are done; below NaN and 0 if none is */
    double score;               /* over time */
    double by_evaluations;      /* over evaluations, of the median rank */
    double evaluations;         /* of a run, in the mean */
    double curve[SCORE_POSITIONS], values[SCORE_POSITIONS];     /* as scores; in ms */
};
struct contest_standing {       /* of one strategy */
    bool whole;                 /* a run is done on each space: else the summary is NaN */
    struct score_summary summary;
    double by_evaluations;      /* mean over the spaces */
    double curve[SCORE_POSITIONS];
    double own_seconds, seconds, evaluations;   /* of all runs that are done */
    struct contest_mark *marks; /* one a space */
};
struct contest_pair {           /* of strategies that both are whole, the first one given first */
    int a, b;
    double difference;          /* score of a less that of b */
    double p, adjusted;         /* score_permutation's; Holm's over all pairs; NaN: not tested */
};
struct contest_result {
    struct contest_standing *standings;
    struct contest_pair *pairs;
    int nstandings, npairs;
    int tested;                 /* pairs with a p: all, unless stop_judging said otherwise; the best's come first */
};
/* What the runs that are done say, on the contest's threads. What stop_judging leaves out, intervals of scores and
 * tests of pairs, is NaN; Holm's adjustment of the tests that there are counts the others as not significant. */
void contest_judge(const struct contest *c, struct contest_result *out);
/* The scores alone of one strategy: of each space, and their mean; NaN where no run is done. */
double contest_scores(const struct contest *c, int strategy, double *scores);
void contest_result_free(struct contest_result *r);

enum { CONTEST_RESAMPLES = 1000, CONTEST_PERMUTATIONS = 9999 };
#define CONTEST_CONFIDENCE 0.95

#endif
