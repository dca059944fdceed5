/* replay_search.h: a strategy over a recording: no processes, no store, no real time. What `lathe tune` does where the
 * device is a recording, and what a comparison of strategies does thousands of times.
 *
 * Time is a virtual clock. A configuration that is proposed again is answered again: it costs nothing and is no
 * evaluation. One that is missing in the recording is an evaluation with the outcome missing, which costs the
 * recording's median; one that is no member of the space has the outcome constraint and costs nothing. */
#ifndef LATHE_CAMPAIGN_REPLAY_SEARCH_H
#define LATHE_CAMPAIGN_REPLAY_SEARCH_H

#include "replay/replay.h"
#include "search/strategy/strategy.h"

struct replay_evaluation {
    int64_t number;             /* 1, 2, ... in the order proposed */
    const config_choice *choice;    /* borrowed, like all below */
    int64_t index;              /* in the space; -1: not a member */
    const struct recorded *recorded;    /* NULL: missing, or not a member */
    enum outcome outcome;
    const char *reason;
    double value_ms;            /* NaN unless ok */
    double seconds, elapsed;    /* its cost; the clock after it */
};

struct replay_search {
    const struct replay *replay;
    struct strategy *strategy;  /* over one space, that of the replay's kernel */
    int64_t evaluations;        /* the budget; 0: none */
    double seconds;             /* the same of the clock: nothing begins when it is over; 0: none */
    double (*cost)(const struct recorded *c);   /* NULL: recorded_trial_seconds */
    bool own_time;              /* the strategy's own time is measured */
    bool charged;               /* ... and passes on the clock, before the first evaluation that it then proposes */
    bool (*stop)(void *ctx);    /* asked before each evaluation; may be NULL */
    status (*on_evaluation)(void *ctx, const struct replay_evaluation *v, struct err *e);   /* may be NULL */
    void *ctx;
};

/* stale: the strategy went on proposing what cost nothing and told nothing new */
enum replay_end { REPLAY_BUDGET, REPLAY_STRATEGY_ENDED, REPLAY_STALE, REPLAY_STOPPED };
struct replay_totals {
    int64_t evaluations;
    double elapsed;             /* the virtual clock, seconds */
    double own_seconds;         /* processor time of the strategy; 0 unless own_time */
    enum replay_end end;
};

/* What the strategy or on_evaluation fails with is returned; *out is filled also then. */
status replay_search(const struct replay_search *r, struct replay_totals *out, struct err *e);

#endif
