/* SPDX-License-Identifier: Apache-2.0 */
/** What profiling itself cost the calls of a stage.
 * @threads any thread */
#ifndef LP_FINDINGS_PROFILER_COST_H
#define LP_FINDINGS_PROFILER_COST_H

#include <stdbool.h>

struct lp_findings;

struct lp_profiler_cost {
    double call_ms;  /* longer by this is a call that was collected; NaN: not known */
    double error_ms; /* half-width of its 95 % interval; NaN: an estimate, not measured */
    double share;    /* of the time of all calls of the stage */
    /* Of call_ms, by where the GPU waits for it: before the first and after the last kernel, and
     * between kernels for launches or for longer. */
    double before_ms, after_ms, launch_ms, host_ms;
};

/** Host time that CUPTI's records and our callbacks add to a launch, and to the launch of a graph
 * for each of its nodes. */
struct lp_profiler_rates {
    double launch_us, node_us;
    char source[64]; /* "measured on this machine on 2026-11-23" */
};

/** Set these rates, the cost of all stages, and why it is not known of any. */
void lp_profiler_costs_set(struct lp_findings *findings);

#endif
