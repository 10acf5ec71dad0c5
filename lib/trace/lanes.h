/* SPDX-License-Identifier: Apache-2.0 */
/** Lanes: a row of a trace shows one activity at a time, but branches of a graph and kernels with
 * dependent launch overlap. Overlapping activities go to further lanes of their stream. For
 * lib/trace only.
 * @threads one at a time per object */
#ifndef LP_TRACE_LANES_H
#define LP_TRACE_LANES_H

#include <stdbool.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/record/record.h"

struct lp_trace_stream {
    LP_VECTOR(uint64_t) ends; /* end of the last activity in each lane */
};

/** First free lane at `begin_ns`, in use until `end_ns` then. Calls must be in order of begin
 * times. 0 if memory runs out. */
uint32_t lp_trace_stream_lane(struct lp_trace_stream *stream, uint64_t begin_ns, uint64_t end_ns);

/** Zero-initialised: empty. */
struct lp_trace_lanes {
    struct lp_hashmap rows; /* (device and context, stream) -> stream */
    LP_VECTOR(struct lp_trace_stream) streams;
};

/** The lane of an activity on its stream. */
uint32_t lp_trace_lane(struct lp_trace_lanes *lanes, const struct lp_activity *activity);

void lp_trace_lanes_clear(struct lp_trace_lanes *lanes);

/** Launches that still wait for their first activity. Only the newest are kept, enough for all
 * launches in progress. */
struct lp_trace_links {
    struct lp_hashmap now, before; /* correlation -> enum below */
};
enum { LP_TRACE_LINK_OPEN = 0, LP_TRACE_LINK_USED = 1 };

void lp_trace_link_open(struct lp_trace_links *links, uint32_t correlation);

/** Is this the first activity of a known launch? */
bool lp_trace_link_take(struct lp_trace_links *links, uint32_t correlation);

void lp_trace_links_clear(struct lp_trace_links *links);

#endif
