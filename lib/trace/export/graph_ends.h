/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels of CUDA graphs whose end is of a later replay.
 *
 * While records are off CUPTI (seen with 13.0 on an H200) still writes the end time of each node
 * with each replay of a graph that has been recorded, into the record that is not handed over yet.
 * A session that samples gets kernels then that begin when they began and end some steps later, so
 * that all nodes of a launch seem to run at once. Such records are given an end before their start:
 * they are counted as records with impossible times and stand in no total.
 *
 * @threads one at a time per object */
#ifndef LP_TRACE_EXPORT_GRAPH_ENDS_H
#define LP_TRACE_EXPORT_GRAPH_ENDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/attribution/attribution.h"
#include "lib/record/record.h"

/* Branches of a graph may run at once; so many nodes of one launch, and none after another, do not.
 */
#define LP_GRAPH_ENDS_MIN 8

/** Zero-initialised: nothing was seen. */
struct lp_graph_ends {
    struct lp_activity held[LP_GRAPH_ENDS_MIN]; /* last records of a batch, too few to decide */
    size_t count;
    uint32_t late;    /* correlation id of the launch found last, valid with any */
    uint64_t records; /* found so far */
};

/** Look through a batch and hand it on, the last few of its records perhaps with the next one. */
void lp_graph_ends_pass(struct lp_graph_ends *ends, struct lp_attribution *attribution,
                        struct lp_activity *activities, size_t count);

/** Nothing follows for now: hand on what was held. */
void lp_graph_ends_settle(struct lp_graph_ends *ends, struct lp_attribution *attribution);

/** What prevents it: records go off only when those of graphs are in. Begin with LP_GRAPH_WAIT and
 * ask the driver about once a millisecond. */
struct lp_graph_wait {
    uint64_t since_ns;
    uint64_t counted; /* records at the answer before */
};

#define LP_GRAPH_WAIT(now_ns)                                                                      \
    (struct lp_graph_wait)                                                                         \
    {                                                                                              \
        (now_ns), LLMPERF_UNKNOWN                                                                  \
    }

/** After a flush of the driver: is the wait over? It is when this flush and the one before it
 * brought nothing (the earlier one may have come while a graph ran) and no record is pending; and
 * after 100 ms. */
bool lp_graph_wait_over(struct lp_graph_wait *wait, const struct lp_attribution *attribution,
                        uint64_t now_ns);

#endif
