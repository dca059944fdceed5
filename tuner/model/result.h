/* result.h: everything that is known of a trial after it ended. Plain data, made by the device worker, sent as JSON,
 * stored, reported. Times in milliseconds of the whole pipeline, stages in seconds. */
#ifndef LATHE_MODEL_RESULT_H
#define LATHE_MODEL_RESULT_H

#include "model/outcome.h"
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum regime { REGIME_TRIAL, REGIME_COLD, REGIME_SUSTAINED, REGIME_COUNT };
/* trial: the campaign's ordinary samples; cold: launches after idle; sustained: steady state, back to back */
const char *regime_name(enum regime r);

/* What a campaign looks for the least of: the time of a launch, or the energy that it takes. */
enum objective { OBJECTIVE_TIME, OBJECTIVE_ENERGY, OBJECTIVE_COUNT };
const char *objective_name(enum objective o);       /* "time", "energy" */
int objective_parse(const char *name);              /* -1: unknown */

/* Whether kernels are also verified with warps that pause at random; AUTO: on GPUs. */
enum delays { DELAYS_AUTO, DELAYS_YES, DELAYS_NO, DELAYS_COUNT };
const char *delays_name(enum delays d);             /* "auto", "yes", "no" */
int delays_parse(const char *name);                 /* -1: unknown */

struct samples {
    enum regime regime;
    double *ms;                 /* of one run of the pipeline, in the order taken */
    bool *throttled;            /* one a sample: taken while something held the clock down; NULL: none was */
    int count, cap;             /* cap: room in both arrays */
    int batch;                  /* runs that were timed together for each; 0 and 1: each by itself */
    bool graph;                 /* the batch was one CUDA graph */
    double median, low, high;   /* median and its 95 % confidence interval (order statistics) of those that count */
    double energy_mj;           /* of one run, millijoules; NaN: not measured */
    int energy_launches;        /* runs that it is the mean of */
};

struct verification {
    bool done;
    char reference[16];         /* "fp64", "sgemm", "kernel" */
    uint64_t seed;
    double max_abs, max_rel, frobenius;             /* frobenius: relative, ||got - ref|| / ||ref|| */
    double frobenius_limit;     /* 0: none */
    double scaled, scaled_limit;    /* the largest |got - ref| over its scale, on scaled inputs (docs/method.md); else
                                       NaN */
    int64_t elements, mismatches;
    bool deterministic;         /* two runs agreed bit for bit */
    char detail[400];           /* the first mismatches: "Y[3,17] got 0.5, wanted 0.25; ..." ; guard or input damage */
};

struct resources {
    int registers, local_bytes; /* per thread, the largest over the pipeline's kernels; local = spills and stack;
                                   registers 0 and bytes below 0: not known */
    int shared_static, shared_dynamic;
    double occupancy;           /* resident threads / possible, the smallest over the pipeline's kernels; 0: unknown */
};

struct telemetry {              /* NaN where not known */
    double sm_mhz, mem_mhz, power_w, temperature_c;     /* at the last reading */
    double sm_mhz_low;          /* the lowest of all readings of a measurement */
    uint64_t throttle_reasons;  /* NVML's bits, all that were seen */
    bool throttle_known;
};

/* NVML's reasons for a lower clock than the GPU would have: a power cap, heat, a hardware slowdown, a power brake. Not
 * among them: idleness, and limits that somebody set (nvml.h: nvmlClocksEventReasons). */
#define THROTTLE_REASONS UINT64_C(0xec)

struct stage_seconds {
    double compile, load, verify, measure;
    bool compile_cached;
    /* What the coordinator knows; not in the JSON. NaN: not known. */
    double total;               /* from its begin to its end, as a strategy is told */
    double strategy;            /* to propose it; of a batch the first has it all */
    double store;               /* recording, since the trial before was recorded */
    double device;              /* it had the device: load, verify, measure, and the messages */
};

struct result {
    enum outcome outcome;
    char reason[1600];          /* why it is not ok: the driver's or the compiler's words; "" when ok */
    struct samples samples;
    double time_ms;             /* the median that ranks it; NaN unless ok or inaccurate */
    struct verification verification;
    struct resources resources;
    struct telemetry telemetry;
    struct stage_seconds stage;
};

void result_init(struct result *r);                 /* NaNs, zeroes, sizes not known, outcome skipped */
void result_free(struct result *r);                 /* the samples */
json_t *result_to_json(const struct result *r);     /* new reference; the protocol's form */
status result_from_json(const json_t *j, struct result *r, struct err *e);

/* Fills median and interval. Samples that were throttled count only where fewer than SAMPLES_ENOUGH were not. count may
 * be 0 (NaN). */
enum { SAMPLES_ENOUGH = 5 };
void samples_summarise(struct samples *s);
void samples_add(struct samples *s, double ms, bool throttled);
void samples_append(struct samples *to, const struct samples *from);    /* the samples alone */
int samples_throttled(const struct samples *s);     /* how many */
void samples_free(struct samples *s);

#endif
