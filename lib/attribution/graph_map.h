/* SPDX-License-Identifier: Apache-2.0 */
/** Node of a CUDA graph -> region that captured it, from graph events. Each executable graph has an
 * array of paths by node index, so a device record needs two loads. An update of a graph applies to
 * later launches: older arrays are kept for records still to come. */
#ifndef LP_ATTRIBUTION_GRAPH_MAP_H
#define LP_ATTRIBUTION_GRAPH_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/record/graph_event.h"
#include "lib/record/paths.h"
#include "lib/record/record.h"
#include "llmperf/profile.h"

#define LP_GRAPH_REASON      0x80000000u /* flag of a reason in place of a path; ids are small */
#define LP_GRAPH_INDEX_LIMIT (1u << 20)  /* nodes of one graph */
#define LP_GRAPH_VERSIONS    1024u       /* arrays kept of a graph that is updated often */
#define LP_GRAPH_DEAD_BYTES  (8u << 20)  /* arrays kept of destroyed executable graphs */
#define LP_GRAPH_NAMED_NODES 4096u /* nodes without a capture region that get their own row \ */

/** Paths for launches with a lower correlation id than `until`. */
struct lp_graph_version {
    uint32_t until, count;
    uint32_t *paths;
};

/** Start of the first record of a launch. */
struct lp_graph_span {
    uint64_t start_ns;
    uint32_t correlation;
};

/** A node changed by the current update. */
struct lp_graph_change {
    uint64_t source; /* before */
    uint32_t index;
};

struct lp_graph {
    uint32_t path;       /* region open at the instantiation */
    uint32_t id, origin; /* origin: the graph it was instantiated from or last updated with */
    uint32_t update;     /* correlation id of the update that made `paths`; 0: none */
    uint32_t forgotten;  /* arrays for launches before this id were freed; 0: none were */
    uint32_t inlined;    /* first index of nested graphs' nodes; 0: none */
    bool executable, dead;
    uint64_t launches, records; /* launches by the host; their records */
    uint32_t most;              /* most records of one launch */
    bool has_bodies; /* records of conditional bodies came, which have no correlation id */
    LP_VECTOR(uint32_t) paths; /* by index; LP_PATH_UNKNOWN: not known */
    LP_VECTOR(uint64_t)
    sources; /* by index: the node that it follows (its own id if captured here); 0: no such node */
    LP_VECTOR(struct lp_graph_version) old; /* oldest first */
    LP_VECTOR(struct lp_graph_change) changes;
    uint32_t launch_node,
        last_launch; /* region of all launches, if the same; correlation id of the last launch */
    bool launched_in_many;
    LP_VECTOR(struct lp_graph_span) spans; /* ring buffer once full */
    uint32_t span_at;
};

/** A destroyed executable graph whose arrays are kept. */
struct lp_dead_graph {
    uint32_t id;
    size_t bytes;
};

struct lp_graph_map {
    LP_VECTOR(struct lp_graph) graphs;
    struct lp_hashmap index;              /* graph id -> position in graphs */
    LP_VECTOR(struct lp_dead_graph) dead; /* oldest first */
    size_t dead_bytes, emptied;           /* emptied: graphs without arrays */
    uint32_t last_id, last;               /* cache: the last graph that was looked up */
    uint32_t named; /* nodes without a capture region that have their own row */
    uint64_t lost, device_launchable;
    bool not_recorded, failed;
};

void lp_graph_map_event(struct lp_graph_map *map, const struct lp_graph_event *event);

/** A graph was launched from the host. */
void lp_graph_map_launch(struct lp_graph_map *map, uint32_t graph, uint32_t correlation,
                         uint32_t node);

/** A record of this graph came with its launch's correlation id. */
void lp_graph_map_seen(struct lp_graph_map *map, const struct lp_activity *activity);

/** Correlation id for a record without one, as from kernels in conditional bodies. Launches of one
 * executable graph run one after the other, so it is the last launch that had begun.
 * @param all_in  All records of this round are in, so the guess by time is final.
 * @return LP_CORRELATION_NONE: not known, or not yet. */
uint32_t lp_graph_map_launch_of(struct lp_graph_map *map, const struct lp_activity *activity,
                                bool all_in);

/** Path that captured the node of a record (for a whole graph: the region open at instantiation),
 * launched with `correlation`. *unmapped: not known, and the result is the reason. */
uint32_t lp_graph_map_captured(struct lp_graph_map *map, const struct lp_activity *activity,
                               uint32_t correlation, bool *unmapped);

/** Fast path in two loads, for records of the same graph and launch as the previous record.
 * @param path_out  With LP_GRAPH_REASON if it is a reason.
 * @return false: call lp_graph_map_seen() and lp_graph_map_captured(). */
static inline bool lp_graph_map_quick(const struct lp_graph_map *map,
                                      const struct lp_activity *activity, uint32_t *path_out)
{
    uint32_t index = LP_GRAPH_INDEX(activity->graph_node);
    const struct lp_graph *graph;
    const struct lp_graph_span *span;

    if (activity->graph == 0 || activity->graph != map->last_id ||
        activity->kind == LLMPERF_ACTIVITY_GRAPH)
        return false;
    graph = &map->graphs.items[map->last];
    if (graph->spans.count == 0 || graph->old.count > 0 || graph->forgotten != 0 ||
        index >= graph->paths.count)
        return false;
    span = &graph->spans.items[graph->span_at];
    if (span->correlation != activity->correlation || span->start_ns > activity->start_ns)
        return false;
    *path_out = graph->paths.items[index];
    return *path_out != LP_PATH_UNKNOWN;
}

/** NULL: unknown graph. Valid until a graph is added. */
struct lp_graph *lp_graph_map_find(struct lp_graph_map *map, uint32_t id);

/** A record of a launch came, its `seen`th; 0: the record is not used. */
static inline void lp_graph_map_count(struct lp_graph_map *map, const struct lp_activity *activity,
                                      uint32_t seen)
{
    struct lp_graph *graph = activity->graph == 0 ? NULL
                             : activity->graph == map->last_id
                                 ? &map->graphs.items[map->last]
                                 : lp_graph_map_find(map, activity->graph);

    if (!graph)
        return;
    graph->records++;
    graph->most = seen > graph->most ? seen : graph->most;
}

/** The last reported launch of its graph failed. */
void lp_graph_map_failed(struct lp_graph_map *map, uint32_t correlation);

/** Records that launches lack compared with the fullest launch of their graph, for graphs without
 * conditional bodies. If no launch had records: launches. */
uint64_t lp_graph_map_missing(const struct lp_graph_map *map);

void lp_graph_map_clear(struct lp_graph_map *map);

#endif
