/* explain.h: what limits a trial, and what its neighbours measured, as one JSON object (docs/report.md). */
#ifndef LATHE_REPORT_EXPLAIN_H
#define LATHE_REPORT_EXPLAIN_H

#include "model/plan.h"
#include "model/target.h"

/* trial: the object of db/query.h. plan: its launches; NULL: not known. campaign: as query_report gives it; its
 * neighbours are the trials of the same kernel that differ in one parameter. New reference:
 * trial; launches: [{function, blocks, threads, shared_bytes, resident, limiter, blocks_by {limit: n}, occupancy, waves}]
 * (the last five null where the device is no GPU, or registers are not known); roofline: {flops, bytes, intensity,
 * peak_tflops, peak_gbps, bound ("compute" or "memory"), of_peak, of_bandwidth, of_roofline}, numbers null where not known;
 * neighbours: [{trial, parameter, from, to, outcome, time_ms, ratio}], the fastest first; ratio: its time over the
 * trial's. */
json_t *explain_make(const json_t *trial, const struct plan *plan, const struct target *target, const json_t *campaign);

#endif
