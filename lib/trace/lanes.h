/* SPDX-License-Identifier: Apache-2.0 */
/** Rows for activities in a trace: a row shows one activity at a time, but branches of a graph and
 * kernels that begin before the one before them has ended overlap. Those go to further lanes of
 * their stream. For lib/trace only.
 * @threads one at a time per object */
#ifndef LP_TRACE_LANES_H
#define LP_TRACE_LANES_H

#include <stdbool.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/record/record.h"

struct lp_trace_stream {
    LP_VECTOR(uint64_t) ends; /* of the last one of each lane */
};

/** The first lane that is free from `begin_ns` on; it is taken to `end_ns`. Callers come in the
 * order of begins. 0 without memory. */
uint32_t lp_trace_stream_lane(struct lp_trace_stream *stream, uint64_t begin_ns, uint64_t end_ns);

/** Zero-initialised: empty. */
struct lp_trace_lanes {
    struct lp_hashmap rows; /* (device and context, stream) -> stream */
    LP_VECTOR(struct lp_trace_stream) streams;
};

/** The lane of an activity on its stream. */
uint32_t lp_trace_lane(struct lp_trace_lanes *lanes, const struct lp_activity *activity);

void lp_trace_lanes_clear(struct lp_trace_lanes *lanes);

/** Which launches still wait for their first activity. So many of the newest are known that no
 * activity comes after them. */
struct lp_trace_links {
    struct lp_hashmap now, before; /* correlation -> enum below */
};
enum { LP_TRACE_LINK_OPEN = 0, LP_TRACE_LINK_USED = 1 };

void lp_trace_link_open(struct lp_trace_links *links, uint32_t correlation);

/** Is this the first activity of a launch that is known? */
bool lp_trace_link_take(struct lp_trace_links *links, uint32_t correlation);

void lp_trace_links_clear(struct lp_trace_links *links);

#endif
