/* explain.h: what limits a trial, and what its neighbours measured, as one JSON object (docs/report.md). */
#ifndef LATHE_REPORT_EXPLAIN_H
#define LATHE_REPORT_EXPLAIN_H

#include "model/ceiling.h"
#include "model/plan.h"
#include "db/query.h"
#include "model/config.h"
#include "model/target.h"

/* trial: the object of db/query.h, of kernel k. plan: its launches; NULL: not known.
 * ceiling: what its configuration has of ceiling_of. *out is a new reference:
 * trial; launches: [{function, blocks, threads, shared_bytes, resident, limiter, blocks_by {limit: n}, occupancy,
 * waves}] (the last five null where the device is no GPU, or registers are not known); roofline: {flops, bytes,
 * intensity, unit, products, unit_from (ceiling_from_name), unit_tflops, f32_tflops (the float32 units' peak),
 * peak_tflops (the unit's over products), peak_gbps, bound ("compute" or "memory"), of_peak, of_bandwidth,
 * of_roofline}, null where not known; neighbours: [{trial, parameter, from, to, outcome, time_ms, ratio, eligible}], the fastest first:
 * trials of the same campaign and kernel that differ in one parameter; ratio: its time over the trial's; eligible: it may
 * win, as one that is not right or that a final refused may not. Reads those trials alone. */
status explain_make(struct query *q, const json_t *trial, const struct kernel *k, const struct plan *plan,
                    const struct ceiling *ceiling, const struct target *target, json_t **out, struct err *e);

#endif
