/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/lanes.h"

#define LINKS_KNOWN 131072u /* at least; thousands of launches may wait for their work */

static struct lp_trace_stream *find_stream(struct lp_trace_lanes *lanes,
                                           const struct lp_activity *activity)
{
    static const struct lp_trace_stream none = { { NULL, 0, 0 } };
    uint64_t place = (uint64_t)activity->device << 32 | activity->context;
    uint32_t row = lp_hashmap_get(&lanes->rows, place, activity->stream);

    if (row != LP_HASHMAP_NONE)
        return &lanes->streams.items[row];
    row = (uint32_t)lanes->streams.count;
    if (lp_vector_push(&lanes->streams, none) < 0)
        return NULL;
    if (lp_hashmap_put(&lanes->rows, place, activity->stream, row) < 0) {
        lanes->streams.count--;
        return NULL;
    }
    return &lanes->streams.items[row];
}

uint32_t lp_trace_stream_lane(struct lp_trace_stream *stream, uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t lane = 0;

    while (lane < stream->ends.count && stream->ends.items[lane] > begin_ns)
        lane++;
    if (lane == stream->ends.count && lp_vector_push(&stream->ends, 0) < 0)
        return 0;
    stream->ends.items[lane] = end_ns;
    return lane;
}

uint32_t lp_trace_lane(struct lp_trace_lanes *lanes, const struct lp_activity *activity)
{
    struct lp_trace_stream *stream = find_stream(lanes, activity);

    return stream ? lp_trace_stream_lane(stream, activity->start_ns, activity->end_ns) : 0;
}

void lp_trace_lanes_clear(struct lp_trace_lanes *lanes)
{
    for (size_t i = 0; i < lanes->streams.count; i++)
        lp_vector_clear(&lanes->streams.items[i].ends);
    lp_vector_clear(&lanes->streams);
    lp_hashmap_clear(&lanes->rows);
}

void lp_trace_link_open(struct lp_trace_links *links, uint32_t correlation)
{
    if (links->now.count >= LINKS_KNOWN) {
        struct lp_hashmap oldest = links->before;

        links->before = links->now;
        links->now = oldest;
        lp_hashmap_reset(&links->now);
    }
    /* Out of memory: the link is missing. */
    (void)lp_hashmap_put(&links->now, correlation, 0, LP_TRACE_LINK_OPEN);
}

bool lp_trace_link_take(struct lp_trace_links *links, uint32_t correlation)
{
    struct lp_hashmap *map = &links->now;
    uint32_t state = lp_hashmap_get(map, correlation, 0);

    if (state == LP_HASHMAP_NONE) {
        map = &links->before;
        state = lp_hashmap_get(map, correlation, 0);
    }
    if (state != LP_TRACE_LINK_OPEN)
        return false;
    (void)lp_hashmap_put(map, correlation, 0, LP_TRACE_LINK_USED);
    return true;
}

void lp_trace_links_clear(struct lp_trace_links *links)
{
    lp_hashmap_clear(&links->now);
    lp_hashmap_clear(&links->before);
}
