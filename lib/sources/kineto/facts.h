/* SPDX-License-Identifier: Apache-2.0 */
/** The facts of a trace, sorted by time. Those that do not fit into memory wait in a temporary
 * file.
 * @threads one at a time per object */
#ifndef LP_SOURCES_KINETO_FACTS_H
#define LP_SOURCES_KINETO_FACTS_H

#include <stdint.h>
#include <stdio.h>

#include "lib/base/vector.h"

/** At the same time, facts are in this order. */
enum lp_kineto_kind {
    LP_KINETO_CALL,    /* a host call returned; name: its number, length_ns */
    LP_KINETO_END,     /* of a region; event: that of its begin */
    LP_KINETO_BEGIN,   /* of a region; length_ns; rank: longer ones come first */
    LP_KINETO_COUNT,   /* of the region `event`; name: quantity, value */
    LP_KINETO_RANGE,   /* a range that is on no stack ended; length_ns */
    LP_KINETO_CAPTURE, /* stream capture: value 1: begins, 0: ended */
    LP_KINETO_LAUNCH,  /* correlation; value: enum lp_launch_kind; length_ns */
    LP_KINETO_ACTIVITY /* everything else */
};

/** Name of a region that only its end needs. */
#define LP_KINETO_NO_REGION (UINT32_MAX - 1)

struct lp_kineto_fact {
    int64_t time_ns;
    uint64_t length_ns; /* UINT64_MAX: the end is not known */
    uint64_t rank;      /* order of facts of one time and kind */
    uint64_t event;     /* number of the event, in the order of the file */
    uint64_t value;     /* activity: bytes */
    uint64_t correlation;
    uint64_t graph_node;
    uint32_t thread, name, shape, graph, context, stream;
    uint32_t captured; /* word: the path where the graph node was captured; 0: not known */
    uint16_t device;
    uint8_t activity; /* LLMPERF_ACTIVITY_… */
    uint8_t kind;     /* enum lp_kineto_kind */
};

struct lp_kineto_run {
    long at; /* in the file */
    size_t left;
    size_t next, count; /* of its facts in memory */
    struct lp_kineto_fact *facts;
};

/** Zero-initialised: empty. */
struct lp_kineto_facts {
    LP_VECTOR(struct lp_kineto_fact) items;
    LP_VECTOR(struct lp_kineto_run) runs; /* sorted ones, in the file */
    FILE *file;
    size_t next; /* of the items, if there are no runs */
};

/** 0, LLMPERF_ENOMEM, LLMPERF_EIO. */
int lp_kineto_facts_add(struct lp_kineto_facts *facts, const struct lp_kineto_fact *fact);

/** All were added. As lp_kineto_facts_add(). */
int lp_kineto_facts_sort(struct lp_kineto_facts *facts);

/** @return 1: the next one; 0: the end; LLMPERF_EIO. */
int lp_kineto_facts_next(struct lp_kineto_facts *facts, struct lp_kineto_fact *fact_out);

void lp_kineto_facts_clear(struct lp_kineto_facts *facts);

#endif
