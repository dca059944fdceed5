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

struct samples {
    enum regime regime;
    double *ms;
    int count;
    double median, low, high;   /* median and its 95 % confidence interval (order statistics) */
};

struct verification {
    bool done;
    char reference[16];         /* "fp64", "sgemm", "kernel" */
    uint64_t seed;
    double max_abs, max_rel, frobenius;             /* frobenius: relative, ||got - ref|| / ||ref|| */
    double frobenius_limit;     /* 0: none */
    double scaled, scaled_limit;    /* the largest |got - ref| over its scale, on scaled inputs (docs/method.md); else NaN */
    int64_t elements, mismatches;
    bool deterministic;         /* two runs agreed bit for bit */
    char detail[400];           /* the first mismatches: "Y[3,17] got 0.5, wanted 0.25; ..." ; guard or input damage */
};

struct resources {
    int registers, local_bytes; /* per thread, the largest over the pipeline's kernels; local = spills and stack */
    int shared_static, shared_dynamic;
    double occupancy;           /* resident threads / possible, the smallest over the pipeline's kernels; 0: unknown */
};

struct telemetry {              /* NaN where not known */
    double sm_mhz, mem_mhz, power_w, temperature_c;
    uint64_t throttle_reasons;  /* NVML bits */
};

struct stage_seconds {
    double compile, load, verify, measure;
    bool compile_cached;
    double total;               /* from its begin to its end, as a strategy is told; NaN: not known. Not in the JSON */
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

void result_init(struct result *r);                 /* NaNs, zeroes, outcome skipped */
void result_free(struct result *r);                 /* the samples */
json_t *result_to_json(const struct result *r);     /* new reference; the protocol's form */
status result_from_json(const json_t *j, struct result *r, struct err *e);

/* Sorts a copy; fills median and the interval. count may be 0 (NaN). */
void samples_summarise(struct samples *s);

#endif
