/* SPDX-License-Identifier: Apache-2.0 */
/** An update of an executable graph names the nodes whose parameters change. The other nodes are
 * unchanged but belong to the new graph from then on. Which of its nodes they are follows from
 * their order, if that agrees with the named nodes. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attribution/graph_inside.h"
#include "lib/base/status.h"

typedef LP_VECTOR(uint64_t) nodes;

void lp_graph_begin_update(struct lp_graph_map *map, struct lp_graph *graph, uint32_t correlation)
{
    struct lp_graph_version version = { correlation, (uint32_t)graph->paths.count, NULL };

    if (graph->update == correlation)
        return;
    graph->update = correlation;
    graph->changes.count = 0;
    if (correlation == LP_CORRELATION_NONE)
        return;
    if (graph->old.count == LP_GRAPH_VERSIONS) {
        free(graph->old.items[0].paths);
        graph->forgotten = graph->old.items[0].until;
        graph->old.count--;
        memmove(graph->old.items, graph->old.items + 1,
                graph->old.count * sizeof(*graph->old.items));
    }
    version.paths = malloc((version.count + 1) * sizeof(*version.paths));
    if (!version.paths || lp_vector_push(&graph->old, version) < 0) {
        free(version.paths);
        map->failed = true;
        return;
    }
    if (version.count > 0)
        memcpy(version.paths, graph->paths.items, version.count * sizeof(*version.paths));
}

/* Nodes of a graph, in order. */
static int list_nodes(struct lp_graph_map *map, uint32_t id, nodes *list)
{
    const struct lp_graph *graph = lp_graph_map_find(map, id);

    list->count = 0;
    for (size_t i = 0; graph && i < graph->sources.count; i++)
        if (graph->sources.items[i] != 0 && lp_vector_push(list, LP_GRAPH_NODE(id, i)) < 0)
            return LLMPERF_ENOMEM;
    return 0;
}

/* Indices of the nodes that followed graph `from` so far. */
static int list_followers(const struct lp_graph *graph, const uint64_t *before, uint32_t from,
                          nodes *list)
{
    list->count = 0;
    for (size_t i = 0; i < graph->sources.count; i++)
        if (LP_GRAPH_OF(before[i]) == from && from != 0 && lp_vector_push(list, i) < 0)
            return LLMPERF_ENOMEM;
    return 0;
}

/* Do the named nodes have the indices that follow from the order? */
static bool is_borne_out(const struct lp_graph *graph, const uint64_t *before,
                         const nodes *followers, const nodes *targets)
{
    if (followers->count != targets->count)
        return false;
    for (size_t i = 0; i < followers->count; i++) {
        uint64_t now = graph->sources.items[followers->items[i]];

        if (now != before[followers->items[i]] && now != targets->items[i])
            return false;
    }
    return true;
}

static int follow(struct lp_graph_map *map, uint32_t id, const uint64_t *before, uint32_t from,
                  uint32_t to)
{
    struct lp_graph *graph = lp_graph_map_find(map, id);
    nodes followers = { NULL, 0, 0 }, targets = { NULL, 0, 0 };
    int status = list_followers(graph, before, from, &followers);

    if (status == 0 && (status = list_nodes(map, to, &targets)) == 0 &&
        is_borne_out(graph, before, &followers, &targets))
        for (size_t i = 0; i < followers.count; i++) {
            graph->sources.items[followers.items[i]] = targets.items[i];
            graph->paths.items[followers.items[i]] = lp_graph_map_path(map, targets.items[i]);
        }
    lp_vector_clear(&followers);
    lp_vector_clear(&targets);
    return status;
}

/* Do the named nodes have the same indices as their nodes in graph `to`? */
static bool has_indices_of(const struct lp_graph *graph, uint32_t to, const nodes *targets)
{
    bool agrees = graph->changes.count > 0;

    for (size_t i = 0; i < graph->changes.count; i++) {
        uint32_t index = graph->changes.items[i].index;

        if (LP_GRAPH_OF(graph->sources.items[index]) == to)
            agrees = agrees && index < targets->count &&
                     graph->sources.items[index] == targets->items[index];
    }
    return agrees;
}

/* An unknown graph: its nodes have the indices of the graph it was made from, and so those of this
 * one, if the named nodes agree. */
static int adopt(struct lp_graph_map *map, uint32_t id, uint32_t to)
{
    struct lp_graph *graph = lp_graph_map_find(map, id);
    nodes targets = { NULL, 0, 0 };
    int status = list_nodes(map, to, &targets);

    graph->executable = status == 0 && has_indices_of(graph, to, &targets);
    for (uint32_t i = 0; status == 0 && graph->executable && i < targets.count; i++) {
        uint32_t path = lp_graph_map_path(map, targets.items[i]);

        if (i >= graph->paths.count) {
            if ((status = lp_vector_push(&graph->sources, targets.items[i])) == 0)
                status = lp_vector_push(&graph->paths, path);
        } else if (graph->sources.items[i] == 0) {
            graph->paths.items[i] = path;
            graph->sources.items[i] = targets.items[i];
        }
    }
    lp_vector_clear(&targets);
    return status;
}

/* Graphs that nodes followed so far, and the graph that replaces each. */
static int follow_all(struct lp_graph_map *map, uint32_t id, const uint64_t *before,
                      uint32_t origin)
{
    struct lp_graph *graph = lp_graph_map_find(map, id);
    struct lp_hashmap pairs = { NULL, 0, 0 };
    int status = lp_hashmap_put(&pairs, graph->origin, 0, origin);

    if (status == 0)
        status = follow(map, id, before, graph->origin, origin);
    for (size_t i = 0; status == 0 && i < graph->changes.count; i++) {
        uint32_t from = LP_GRAPH_OF(graph->changes.items[i].source);
        uint32_t to = LP_GRAPH_OF(graph->sources.items[graph->changes.items[i].index]);

        if (from == 0 || lp_hashmap_get(&pairs, from, 0) != LP_HASHMAP_NONE)
            continue;
        if ((status = lp_hashmap_put(&pairs, from, 0, to)) == 0)
            status = follow(map, id, before, from, to);
    }
    lp_hashmap_clear(&pairs);
    return status;
}

/* Captured in the same regions again, as in each step of an engine that captures a graph for each
 * token: the array is shared. */
static void drop_equal_version(struct lp_graph *graph)
{
    const struct lp_graph_version *last =
        graph->old.count > 0 ? &graph->old.items[graph->old.count - 1] : NULL;

    if (!last || last->until != graph->update || last->count != graph->paths.count ||
        memcmp(last->paths, graph->paths.items, last->count * sizeof(*last->paths)) != 0)
        return;
    free(last->paths);
    graph->old.count--;
}

void lp_graph_end_update(struct lp_graph_map *map, uint32_t id, uint32_t origin)
{
    struct lp_graph *graph = lp_graph_map_find(map, id);
    uint64_t *before = malloc((graph->sources.count + 1) * sizeof(*before));
    int status = before ? 0 : LLMPERF_ENOMEM;

    if (before && graph->sources.count > 0)
        memcpy(before, graph->sources.items, graph->sources.count * sizeof(*before));
    for (size_t i = graph->changes.count; before && i-- > 0;)
        before[graph->changes.items[i].index] = graph->changes.items[i].source;
    if (status == 0)
        status = graph->executable ? follow_all(map, id, before, origin) : adopt(map, id, origin);
    free(before);
    if (status < 0)
        map->failed = true;
    graph->origin = origin;
    graph->changes.count = 0;
    drop_equal_version(graph);
}
