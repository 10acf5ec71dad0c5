/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of graphs and the records of each. */
#include "lib/attribution/graph_inside.h"
#include "llmperf/profile.h"

#define SPANS 64u
#define SPANS_MANY                                                                                 \
    8192u /* kept for graphs with conditional nodes: more launches than records of one flush */

void lp_graph_map_launch(struct lp_graph_map *map, uint32_t id, uint32_t correlation, uint32_t node)
{
    struct lp_graph *graph = id ? lp_graph_map_add(map, id) : NULL;

    if (!graph)
        return;
    graph->launched_in_many =
        graph->launched_in_many || (graph->last_launch != 0 && graph->launch_node != node);
    graph->launch_node = node;
    graph->last_launch = correlation;
    graph->launches++;
}

/* Rare, so a linear search is enough. */
void lp_graph_map_failed(struct lp_graph_map *map, uint32_t correlation)
{
    for (size_t i = 0; i < map->graphs.count; i++)
        if (map->graphs.items[i].last_launch == correlation && map->graphs.items[i].launches > 0)
            map->graphs.items[i].launches--;
}

uint64_t lp_graph_map_missing(const struct lp_graph_map *map)
{
    uint64_t missing = 0, launches = 0, records = 0;

    for (size_t i = 0; i < map->graphs.count; i++) {
        const struct lp_graph *graph = &map->graphs.items[i];
        uint64_t expected = graph->launches * graph->most;

        launches += graph->launches;
        records += graph->records;
        /* Above the range of lp_launch.seen the number is unknown. */
        if (!graph->has_bodies && graph->most < UINT16_MAX && expected > graph->records)
            missing += expected - graph->records;
    }
    return records == 0 ? launches : missing;
}

static void add_span(struct lp_graph_map *map, struct lp_graph *graph,
                     const struct lp_activity *activity)
{
    struct lp_graph_span span = { activity->start_ns, activity->correlation };

    if (graph->spans.count >= (graph->has_bodies ? SPANS_MANY : SPANS)) {
        graph->span_at = (graph->span_at + 1) % (uint32_t)graph->spans.count;
        graph->spans.items[graph->span_at] = span;
    } else if (lp_vector_push(&graph->spans, span) < 0) {
        map->failed = true;
    } else {
        graph->span_at = (uint32_t)graph->spans.count - 1;
    }
}

void lp_graph_map_seen(struct lp_graph_map *map, const struct lp_activity *activity)
{
    struct lp_graph *graph = lp_graph_map_add(map, activity->graph);
    struct lp_graph_span *span;

    if (!graph)
        return;
    span = graph->spans.count > 0 ? &graph->spans.items[graph->span_at] : NULL;
    if (!span || span->correlation != activity->correlation)
        add_span(map, graph, activity);
    else if (activity->start_ns < span->start_ns)
        span->start_ns = activity->start_ns;
}

uint32_t lp_graph_map_launch_of(struct lp_graph_map *map, const struct lp_activity *activity,
                                bool all_in)
{
    struct lp_graph *graph = lp_graph_map_find(map, activity->graph);
    const struct lp_graph_span *best = NULL;

    if (!graph)
        return LP_CORRELATION_NONE;
    graph->has_bodies = true;
    if (!all_in)
        return LP_CORRELATION_NONE;
    for (size_t i = 0; i < graph->spans.count; i++) {
        const struct lp_graph_span *span = &graph->spans.items[i];

        if (span->start_ns <= activity->start_ns && (!best || span->start_ns > best->start_ns))
            best = span;
    }
    if (best)
        return best->correlation;
    /* All records are of conditional bodies. Which launch they belong to matters only if launches
     * came from several regions. */
    return graph->launched_in_many ? LP_CORRELATION_NONE : graph->last_launch;
}
