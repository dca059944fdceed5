/* campaign.h: problem x kernels x device x strategy x budget x seed, run to its end and recorded.
 *
 * The loop: ask the strategy, send what it proposes through compile workers and the device worker, store each result,
 * tell the strategy. The coordinator (this process) never touches CUDA: workers are children running the same
 * binary. */
#ifndef LATHE_CAMPAIGN_CAMPAIGN_H
#define LATHE_CAMPAIGN_CAMPAIGN_H

#include "db/store.h"
#include "model/problem.h"
#include "model/result.h"
#include "replay/recording.h"
#include "search/strategy/strategy.h"

enum campaign_event_kind {
    CAMPAIGN_NOTE,              /* text: something a person should know */
    CAMPAIGN_STARTED,           /* id, target, space sizes are known */
    CAMPAIGN_PROPOSED,          /* a trial, or a baseline, begins: number, kernel, config */
    CAMPAIGN_COMPILED,          /* its image is there: the same, and the result's stage.compile and compile_cached */
    CAMPAIGN_BASELINE,          /* a baseline ended: kernel, config, result */
    CAMPAIGN_TRIAL,             /* a trial ended: number, kernel, config, result; text: the device that it was on, or
                                   NULL */
    CAMPAIGN_INCUMBENT,         /* it is the best so far: the same; follows CAMPAIGN_TRIAL */
    CAMPAIGN_FINAL,             /* the final's figures of one entry: rank is its place, 0 for a baseline */
    CAMPAIGN_TICK,              /* a few times a second while something runs: for the live line */
};

struct campaign_event {
    enum campaign_event_kind kind;
    const char *text;
    int64_t campaign, trial, number;
    const struct kernel *kernel;
    const char *config;         /* canonical text */
    const struct result *result;
    double cold_ms, sustained_ms;   /* FINAL; NaN if not measured */
    int rank;
    bool recorded;              /* TRIAL, BASELINE, INCUMBENT: it was recorded before the campaign was resumed */
    const struct campaign_progress *progress;   /* always there */
};

struct campaign_progress {
    int64_t trials, budget_trials;
    double seconds, budget_seconds;
    int64_t outcomes[OUTCOME_COUNT];
    double best_ms, baseline_ms;    /* NaN until known */
    char best_config[6400], best_kernel[64];        /* as long as 64 parameters can make it */
    uint64_t space_size;
    const char *device;             /* target's name */
    int devices;                    /* workers of the pool; 0: a replay */
    int compiling, running;         /* trials in these stages now */
    const char *phase;              /* "setting up", "baselines", "search", "final" */
};

struct resumption;

/* The devices of a request, where they are of several kinds (name, architecture, driver, limits). */
enum { CAMPAIGN_MOST_DEVICES = 64 };
struct device_kinds {
    int count;                      /* 0: all are of one kind, or were not looked at */
    char *lists[CAMPAIGN_MOST_DEVICES];     /* the handles of each, with commas: the --device of its campaign; owned */
    int devices[CAMPAIGN_MOST_DEVICES];     /* how many each has */
    int here[CAMPAIGN_MOST_DEVICES];        /* and those of them that are this machine's */
};
void device_kinds_free(struct device_kinds *k);

struct campaign_request {
    struct problem *problem;        /* sizes already set */
    const char *const *kernels;     /* names; nkernels 0: every candidate the device can run */
    int nkernels;
    const char *const *baselines;   /* names; nbaselines 0: those that the specification has as usual */
    int nbaselines;
    const char *device;             /* NULL: dev_default() */
    struct device_kinds *kinds;     /* out: where the devices are of unlike kinds, which is LATHE_USAGE; NULL: not
                                       asked */
    const struct recording *recording;  /* what is replayed in place of a device; NULL: nothing */
    bool recorded_space;            /* the problem is replay_problem's, and the space what was recorded */
    const char *strategy;           /* name or file; NULL: STRATEGY_DEFAULT */
    char *const *options;           /* "name=value" */
    int noptions;
    int64_t trials;                 /* 0: no limit, except that with neither limit given the default is 100 trials */
    double seconds;
    uint64_t seed;
    enum inputs inputs;             /* what verification and timing run on; its tolerance is the problem's */
    const char *db;                 /* path; a replay's may be NULL: nothing is stored */
    int compile_workers;            /* 0: campaign_compilers() */
    int told_compilers;             /* that the strategy is told of; 0: compile_workers; -1: none. A resumed campaign's
                                       are those that it began with */
    int compilers_beside;           /* that other campaigns of the same command have at the same time: memory is shared
                                       with them */
    int devices_beside;             /* likewise, of this machine: compilers keep off their cores too */
    int64_t told_before;            /* the strategy is told of earlier campaigns with a smaller id alone; 0: of all */
    double compile_seconds;         /* that one compile may take; 0: 120 */
    int64_t compile_memory;         /* bytes that each process of a compiler may allocate; 0: its share */
    double time_limit;              /* seconds one evaluation may take before it is killed; 0: 60 */
    int give_up;                    /* and how many times as long as the best's it may be, 2 s at least; 0: as long as
                                       the time limit */
    int top;                        /* entries of the final; 0: no final */
    enum objective objective;
    enum delays delays;
    double drift_seconds;           /* how often a baseline is timed again in the search */
    const char *spec;               /* where the specification was read from; may be NULL, like settings */
    char *const *settings;          /* "name=value" that it was read with */
    int nsettings;
    const struct resumption *resumed;   /* the campaign that goes on (campaign/resume.h); NULL: a new one */
    bool force;                     /* go on although the device or lathe are not those that were recorded */
    const char *self;               /* path of this binary */
    const char *version, *command_line;
    bool sanitize;                  /* host device: kernels with ASan and UBSan */
    bool every_trial;               /* a replay without a database: events of all its trials, not of the notable ones
                                       alone */
    void (*on_event)(void *ctx, const struct campaign_event *ev);
    void *ctx;
};


struct campaign_summary {
    int64_t id;
    int64_t winner_trial;           /* 0: none; a replay without a database: its number */
    bool interrupted;
    bool measured;                  /* a trial or a baseline has ended */
    bool elsewhere;                 /* what it recorded is not in the database any more; the error says where */
    struct campaign_progress progress;  /* of a replay, at its end; device is NULL */
};

/* Returns LATHE_OK (also when interrupted by the user: summary->interrupted), LATHE_NOTHING when no configuration was
 * valid, or what failed. Everything measured up to then is in the store. */
status campaign_run(const struct campaign_request *r, struct campaign_summary *out, struct err *e);

/* Compilers that a campaign has unless told otherwise: one a core, less one. */
int campaign_compilers(void);

/* Asks the campaign that runs, or is about to, to end cleanly: for the rest of the process. Async-signal-safe. */
void campaign_interrupt(void);
bool campaign_interrupted(void);

#endif
