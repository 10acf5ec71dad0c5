/* SPDX-License-Identifier: Apache-2.0 */
/** Detects kernels of CUDA graphs whose end time is that of a later replay.
 *
 * While records are disabled, CUPTI (seen with 13.0 on an H200) still writes each node's end time,
 * at every replay of a graph that was recorded before, into the undelivered record. A session that
 * samples then gets kernels that end some steps too late, so that all nodes of a launch seem to
 * overlap. Such records get an end before their start: they are counted as records with invalid
 * times and are in no total.
 *
 * @threads one at a time per object */
#ifndef LP_TRACE_EXPORT_GRAPH_ENDS_H
#define LP_TRACE_EXPORT_GRAPH_ENDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/attribution/attribution.h"
#include "lib/record/record.h"

/* Branches of a graph may overlap; but this many nodes of a launch, none of which starts after
 * another has ended, cannot. */
#define LP_GRAPH_ENDS_MIN 8

/** Zero-initialised: no records yet. */
struct lp_graph_ends {
    struct lp_activity held[LP_GRAPH_ENDS_MIN]; /* the last records of a batch, too few to decide */
    size_t count;
    uint32_t late;    /* correlation id of the last late launch, valid if `any` */
    uint64_t records; /* found so far */
};

/** Check a batch and pass it on; its last records may be passed on with the next batch. */
void lp_graph_ends_pass(struct lp_graph_ends *ends, struct lp_attribution *attribution,
                        struct lp_activity *activities, size_t count);

/** Pass on what was held back: no batch follows for now. */
void lp_graph_ends_settle(struct lp_graph_ends *ends, struct lp_attribution *attribution);

/** How to prevent it: records are disabled only after those of graphs have arrived. Start with
 * LP_GRAPH_WAIT and check about once a millisecond. */
struct lp_graph_wait {
    uint64_t since_ns;
    uint64_t counted; /* records at the last check */
};

#define LP_GRAPH_WAIT(now_ns)                                                                      \
    (struct lp_graph_wait)                                                                         \
    {                                                                                              \
        (now_ns), LLMPERF_UNKNOWN                                                                  \
    }

/** Is the wait over? To be called after a flush. It is over if this flush and the one before
 * delivered nothing (during the earlier one a graph may have been running) and no record is
 * pending; at the latest after 100 ms. */
bool lp_graph_wait_over(struct lp_graph_wait *wait, const struct lp_attribution *attribution,
                        uint64_t now_ns);

#endif
