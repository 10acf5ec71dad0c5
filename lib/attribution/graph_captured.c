/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where the node of a record was captured, or why that is not known. */
#include <assert.h>
#include <stdio.h>

#include "lib/attribution/graph_inside.h"
#include "lib/record/paths.h"
#include "llmperf/profile.h"

static_assert(LP_PATH_IDS < LP_GRAPH_REASON, "a path id leaves the top bit free");

/* Older arrays may lack nodes that the current one has. */
static bool is_known_now(const struct lp_graph *graph, uint32_t index)
{
    return index < graph->paths.count && graph->paths.items[index] != LP_PATH_UNKNOWN;
}

static const char *reason_of(const struct lp_graph_map *map, const struct lp_graph *graph,
                             uint32_t index)
{
    bool made_here =
        graph->executable && (index >= graph->sources.count || graph->sources.items[index] == 0);

    if (map->not_recorded)
        return "LLM@(capture not recorded)";
    if (made_here || (graph->forgotten != 0 && is_known_now(graph, index)))
        return "LLM@(graph node not known)";
    return "LLM@(captured before profiling)";
}

/* Path of the reason with graph and node below it; above the limit, the reason alone. */
static uint32_t make_unmapped(struct lp_graph_map *map, const struct lp_graph *graph,
                              uint32_t index)
{
    uint32_t path = lp_path_intern(LP_PATH_ROOT, reason_of(map, graph, index));
    char label[64];

    if (map->named >= LP_GRAPH_NAMED_NODES)
        return path;
    map->named++;
    snprintf(label, sizeof(label), "LLM@graph %u node %u", graph->id, index);
    return lp_path_intern(path, label);
}

static uint32_t name_unmapped(struct lp_graph_map *map, struct lp_graph *graph, uint32_t index)
{
    uint32_t path = make_unmapped(map, graph, index);

    if (index >= LP_GRAPH_INDEX_LIMIT || is_known_now(graph, index))
        return path;
    lp_graph_map_set(map, graph, index, path | LP_GRAPH_REASON,
                     index < graph->sources.count ? graph->sources.items[index] : 0);
    return path;
}

/* Ids wrap around: the sign of the difference gives the order. */
static uint32_t path_then(const struct lp_graph *graph, uint32_t index, uint32_t correlation)
{
    if (graph->forgotten != 0 && (int32_t)(correlation - graph->forgotten) < 0)
        return LP_PATH_UNKNOWN;
    for (size_t i = 0; i < graph->old.count && correlation != LP_CORRELATION_NONE; i++) {
        const struct lp_graph_version *version = &graph->old.items[i];

        if ((int32_t)(correlation - version->until) < 0)
            return index < version->count ? version->paths[index] : LP_PATH_UNKNOWN;
    }
    return index < graph->paths.count ? graph->paths.items[index] : LP_PATH_UNKNOWN;
}

uint32_t lp_graph_map_captured(struct lp_graph_map *map, const struct lp_activity *activity,
                               uint32_t correlation, bool *unmapped)
{
    struct lp_graph *graph = lp_graph_map_add(map, activity->graph);
    uint32_t index = LP_GRAPH_INDEX(activity->graph_node), path;

    *unmapped = true;
    if (!graph)
        return LP_PATH_UNKNOWN;
    if (activity->kind == LLMPERF_ACTIVITY_GRAPH && graph->executable) {
        *unmapped = false;
        return graph->path;
    }
    path = path_then(graph, index, correlation);
    if (path == LP_PATH_UNKNOWN)
        return name_unmapped(map, graph, index);
    *unmapped = (path & LP_GRAPH_REASON) != 0;
    return path & ~LP_GRAPH_REASON;
}
