/* internal.h: the running campaign, shared by the files of this room.
 *
 * Who does what, each using those before it alone: events.c is what all say and ask; ranks.c knows devices of other
 * processes; devices.c has the pool of devices; sharing.c says who else uses them; prepare.c makes them ready and
 * compiles; entrants.c finds the kernels that take part; leaders.c makes what was found ready to be evaluated again;
 * health.c tells a device that fails from candidates that do; drift.c times a baseline again; resume.c has what was
 * recorded, where a campaign goes on;
 * trial_end.c ends trials, trials.c takes one through compiling and a device, stream.c many at once; search.c asks the
 * strategy for them; final.c measures the leaders
 * again; workers.c has the loop, the devices and the compilers, also for verification.c, which has no store and no
 * strategy; replay_campaign.c is all of that for a recording; campaign.c, on top, opens everything in order and
 * closes it. Callbacks from the event loop only note what happened; every decision is made between two turns of the
 * loop, so nothing here is entered twice. */
#ifndef LATHE_CAMPAIGN_INTERNAL_H
#define LATHE_CAMPAIGN_INTERNAL_H

#include "campaign/campaign.h"
#include "campaign/replay/memo.h"
#include "trial/compile_farm.h"
#include "trial/executor.h"
#include <string.h>

/* Seconds that a database is waited for which somebody else has locked, once there is something to lose. */
enum { CAMPAIGN_PATIENCE = 600 };

/* On a GPU what takes less is timed in batches: marks and launches would be a visible part of it (docs/method.md). */
#define CAMPAIGN_BATCH_BELOW_MS 0.02

/* A kernel as this campaign uses it. */
struct entrant {
    const struct kernel *kernel;
    char *source;               /* epilogue and kernel text together; NULL if it has no launch */
    struct space *space;        /* NULL for a baseline */
};

/* A configuration that may win, kept for the final. */
struct leader {
    int64_t id;
    const struct kernel *kernel;
    config_choice *choice;
    char *image;                /* path */
    double time_ms, value;      /* of its trial: what is ranked by */
    double cold_ms, sustained_ms, energy_mj;        /* of the final */
    int position;               /* of the device that it was timed on */
    bool baseline, checked, right, refused;
};

/* A device of the pool. */
struct pool_device {
    struct campaign *campaign;
    int position;
    char handle[24], name[120]; /* "host"; what messages call it: "host (2)" */
    bool remote;                /* of another process of an MPI job (ranks.h) */
    struct executor *executor;
    struct target target;
    bool gone;                  /* taken out */
    char *lost;                 /* why it cannot be used any more, until it is taken out */
    int failures;               /* trials in a row that crashed, hung or could not be launched */
    int64_t failed[3];          /* the last of them: their ids */
    struct evaluation check;    /* what was right before, tried once more while `checking` (health.c) */
    bool checking, check_fails;
    int tries;
    int64_t checked;            /* the trial that is tried */
    struct strbuf check_why;
    struct leader *retimed;     /* the baseline that is timed again (drift.c); NULL: none */
    struct result again;        /* what it took, until that is recorded; .outcome skipped: nothing */
    double timed_baseline;      /* clock_seconds when it last was; 0: not yet looked at */
    double drift;               /* its largest, of its first time */
};

/* What a strategy is told of a configuration it proposed before. */
struct known {
    struct answer answer;
    bool ended;
};

struct campaign {
    const struct campaign_request *request;
    struct problem *problem;
    uv_loop_t loop;
    uv_timer_t tick;
    bool loop_open;
    struct store *store;
    struct pool_device *devices;
    int ndevices;
    struct compile_farm *farm;
    struct target target;       /* the first device's; all are of its kind */
    struct entrant *entrants, *baselines;
    int nentrants, nbaselines;
    struct strategy *strategy;
    struct bench_setup setup;
    struct problem varied;      /* the problem with other scalars (model/scalars.h), where setup.scalars tells them */
    bool blind;                 /* an output is nearly constant: errors say nothing, and are not kept */
    int64_t id;
    json_t *earlier;            /* what earlier campaigns found, as the strategy was told */
    struct strbuf differences;  /* resumed by force: in what the world is not as it was */
    double started;             /* clock_seconds */
    double phase_began;         /* likewise */
    double time_limit;          /* of one evaluation, seconds */
    struct campaign_progress progress;
    double best_seconds;        /* what the best so far took to load, verify and measure; NaN: not known */
    double strategy_seconds, store_seconds;     /* not yet told by a trial: of proposing, of recording */
    int64_t next_number;
    struct memo memo;
    struct known *known;
    int64_t nknown, cap_known;
    struct leader *leaders;     /* best first, at most campaign_most_leaders */
    int nleaders;
    int refused_before;         /* those that a final refused before the campaign was resumed: no leaders */
    char *refusal;              /* why the final refused the first of them that it did; NULL: none */
    struct leader *measured_baselines;
    int nmeasured_baselines;
    int64_t baseline_number;    /* whose time progress.baseline_ms is */
    bool device_gone;           /* the last one is taken out; text in err */
    bool interrupted;
    struct err err;
};

/* Those of the final, and in reserve as many again and again, should it refuse some. */
static inline int campaign_most_leaders(const struct campaign_request *r)
{
    enum { RESERVES = 3 };
    return r->top > 0 ? (1 + RESERVES) * r->top : 1;
}

/* replay_campaign.c: a campaign whose request has a recording. */
status campaign_replay(const struct campaign_request *r, struct campaign_summary *out, struct err *e);

/* prepare.c. The plan of a configuration with other scalars, for its evaluation; nothing where there is none. */
void campaign_vary(const struct campaign *c, const struct kernel *k, const struct value *slots, struct evaluation *v);

/* events.c */
void campaign_emit(struct campaign *c, struct campaign_event *ev);
void campaign_note(struct campaign *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Where errors say nothing (c->blind): the error and its limit, which was judged by before, are taken out. */
void campaign_forget_error(const struct campaign *c, struct verification *v);
/* --seconds are over. */
bool campaign_out_of_time(const struct campaign *c);
/* Interrupted, out of time with all trials recalled that were recorded, or the device is gone. */
bool campaign_must_stop(struct campaign *c);
/* Records what has passed since the phase before ended. */
status campaign_phase_ended(struct campaign *c, enum campaign_phase phase, struct err *e);
/* Records now and then what the search has taken so far, so that of a campaign that is killed it is known as well as its
 * trials are. */
status campaign_search_passed(struct campaign *c, struct err *e);
static inline bool campaign_on_gpu(const struct campaign *c)
{
    return strcmp(c->target.arch, "host") != 0;
}

/* workers.c. The loop, the device workers, the compile workers, and whether the devices have memory for the problem;
 * closed also where opening failed. */
status campaign_open_workers(struct campaign *c, struct err *e);
void campaign_close_workers(struct campaign *c);

/* devices.c. request->device: "cuda:0,cuda:1", "cuda:all", "host,host", "mpi:all"; NULL: those of all ranks, else
 * dev_default(). Opens all (blocking).
 * LATHE_USAGE: no such device, one GPU twice, or devices of unlike kinds; LATHE_DEVICE: one cannot be opened. */
status devices_open(struct campaign *c, struct err *e);
void devices_close(struct campaign *c);
/* How many are this machine's, as far as this process can tell: compilers leave them cores. */
int devices_here(const struct campaign *c);
/* Their handles, with commas; mem_free it. */
char *devices_list(const struct campaign *c);
/* The store is told of them. */
status devices_record(struct campaign *c, struct err *e);
/* The first that is not taken out; NULL: none. */
struct pool_device *devices_first(const struct campaign *c);
/* All set the problem up (setup NULL: make new inputs for it), at once (blocking). The answer is the first's; one
 * that has to verify otherwise is taken out, and so is one that fails, unless it is the problem that is set up. */
status devices_prepare(struct campaign *c, const struct bench_setup *setup, uint64_t seed, struct setup_answer *answer,
                       struct err *e);
bool devices_busy(const struct campaign *c);
void devices_cancel(struct campaign *c);    /* kills the workers; nothing in flight is called back */
/* It takes no part any more: said, noted with the campaign; the last one: c->device_gone. */
status device_take_out(struct campaign *c, struct pool_device *d, const char *why, struct err *e);
/* Takes out those that a callback found lost. */
status devices_settle(struct campaign *c, struct err *e);

/* entrants.c */
status entrants_check_names(const struct campaign_request *r, struct err *e);
status entrants_open(struct campaign *c, struct err *e);
void entrants_close(struct campaign *c);
/* A kernel's text with the problem's epilogue before it; mem_free it. NULL: *e says why. */
char *campaign_source(const struct problem *p, const struct kernel *k, struct err *e);

/* sharing.c: where others compute on one of the GPUs, that is noted. */
status sharing_say(struct campaign *c, struct err *e);

/* prepare.c. Compiles one source and waits; *image: its path, mem_free it. k: whose launches it was asked about, NULL:
 * none. LATHE_COMPILER: there is no compiler, or it dies; LATHE_SPEC: it is refused; LATHE_INTERRUPTED. */
status campaign_compile(struct campaign *c, const struct compile_job *job, const struct kernel *k, char **image,
                        struct err *e);
/* Compiles the verifier and the specification's reference kernel, unless their images are there: another process may
 * have made room in the cache since. */
status bench_images(struct campaign *c, struct err *e);
/* check: candidates are to be verified on the specification's check values too, if it has any. */
status bench_prepare(struct campaign *c, bool check, struct setup_answer *answer, struct err *e);

/* stream.c. A configuration that is to be tried. */
struct trial_item {
    const struct entrant *entrant;
    const config_choice *choice;    /* borrowed until the next one is asked for */
    const char *why;            /* refused before it began; NULL: it is not */
    int64_t number;             /* of a baseline; a candidate has the next */
    struct pool_device *device; /* NULL: whichever is free */
    int64_t slot;               /* in known[]; -1: it has none */
};
/* Where they come from. */
struct trial_feed {
    void *ctx;
    /* Gives one. *any false: there is none before another has ended; if none is under way, there is none any more. */
    status (*next)(void *ctx, struct trial_item *item, bool *any, struct err *e);
    bool search;                /* candidates: baselines are timed again between them */
};
/* Runs what the feed gives to its end, several compiling while one a device is timed, until the campaign must stop. */
status trials_run(struct campaign *c, const struct trial_feed *feed, struct err *e);

/* search.c: what the strategy proposes, until it ends or the budget does. */
status search_run(struct campaign *c, struct err *e);

/* delays.c: a kernel compiled once more, with warps that pause at random. */
struct delayed {
    char *image;                /* path; NULL: why there is none */
    char *why;
};
/* On GPUs, unless the request says otherwise: the host device changes the order of warps in every verification. */
bool delays_wanted(const struct campaign *c);
/* Adds the job; *d (zeros before) is filled by delays_wait, and to be given to delayed_free. */
status delays_add(struct campaign *c, const struct kernel *k, const char *source, const struct value *slots,
                  struct delayed *d, struct err *e);
/* Until all that was added is compiled. LATHE_INTERRUPTED: what was not is dropped. */
status delays_wait(struct campaign *c, struct err *e);
/* Why a verification with delays says nothing of the kernel without them: the image needs more than the device has, or
 * cannot be launched. Borrowed from r. NULL: it does. */
const char *delays_say_nothing(const struct result *r);
void delayed_free(struct delayed *d);
/* Verifications with pauses, since what one does not show the next may; and the time limits that each has. */
enum { DELAYED_TRIES = 4, DELAYED_LIMITS = 8 };

/* leaders.c. Fills a bound slot array for a configuration; mem_free it. */
status campaign_slots(struct campaign *c, const struct kernel *k, const config_choice *choice, struct value **slots,
                      struct err *e);
/* How a trial is measured, and a baseline again during the search. */
struct measure_options campaign_trial_options(const struct campaign *c);
/* Who takes part with this kernel; NULL: nobody. */
const struct entrant *campaign_entrant(const struct campaign *c, const struct kernel *k);
/* The leader's plan and image, ready to be evaluated; evaluation_free it also where this fails. */
status leader_open(struct campaign *c, struct leader *l, struct evaluation *out, struct err *e);
/* Before it is evaluated once more: makes its image again if that is gone from the cache since, by another process that
 * made room there. l->refused: it does not compile any more. */
status leader_reopen(struct campaign *c, struct leader *l, struct evaluation *v, struct err *e);
void leaders_free(struct leader *list, int n);

/* health.c: notes how a trial on the device ended. */
void health_note(struct pool_device *d, int64_t trial, enum outcome outcome);
/* After several failures in a row, finds out whether the device still computes what was right before; if it does not,
 * three times in a row, it is taken out. To be called at every turn; the device is not free while d->checking. */
status health_check(struct pool_device *d, struct err *e);

/* drift.c: begins to time a baseline again if it is time to, and records what it took. To be called at every turn. */
status drift_check(struct pool_device *d, struct err *e);
/* Where a GPU drifted by more than 3 % in the search, that is noted. */
status drift_conclude(struct campaign *c, struct err *e);

/* final.c: measures leaders and baselines in every regime, verifies the leaders on fresh inputs, ranks them. */
status final_run(struct campaign *c, int64_t *winner, struct err *e);

#endif
