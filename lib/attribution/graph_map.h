/* SPDX-License-Identifier: Apache-2.0 */
/** Node of a CUDA graph -> region that captured it, played back from graph events. Each executable
 * graph has an array of paths by node index, so a device record costs two loads. What an update of
 * a graph changes holds for launches after it: older arrays are kept for records that are still to
 * come. */
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

#define LP_GRAPH_REASON      0x80000000u /* set in a reason instead of a path; ids are small */
#define LP_GRAPH_INDEX_LIMIT (1u << 20)  /* nodes of one graph */
#define LP_GRAPH_VERSIONS    1024u      /* arrays kept of a graph that is updated again and again */
#define LP_GRAPH_DEAD_BYTES  (8u << 20) /* arrays kept of destroyed executable graphs */
#define LP_GRAPH_NAMED_NODES                                                                       \
    4096u /* nodes without a capture region that get a row of their own                            \
           */

/** Paths valid for launches before the one with correlation id `until`. */
struct lp_graph_version {
    uint32_t until, count;
    uint32_t *paths;
};

/** When the first record of a launch began on the device. */
struct lp_graph_span {
    uint64_t start_ns;
    uint32_t correlation;
};

/** A node that the update in progress has changed. */
struct lp_graph_change {
    uint64_t source; /* before */
    uint32_t index;
};

struct lp_graph {
    uint32_t path;       /* region open at the instantiation */
    uint32_t id, origin; /* origin: what it was instantiated from, or updated with last */
    uint32_t update;     /* correlation id of the update that made `paths`; 0: none */
    uint32_t forgotten;  /* launches before this one belong to an array that is gone; 0: none */
    uint32_t inlined;    /* first index of the nodes of nested graphs; 0: none */
    bool executable, dead;
    uint64_t launches, records; /* from the host, and what they brought */
    uint32_t most;              /* that one of them brought */
    bool has_bodies;            /* kernels of conditional bodies came, which name no launch */
    LP_VECTOR(uint32_t) paths;  /* by index; LP_PATH_UNKNOWN: not known */
    LP_VECTOR(uint64_t)
    sources; /* by index: node that it follows, its own if it was captured here;
                0: no such node */
    LP_VECTOR(struct lp_graph_version) old; /* oldest first */
    LP_VECTOR(struct lp_graph_change) changes;
    uint32_t launch_node,
        last_launch; /* of its launches: their region, if it is one, and the last */
    bool launched_in_many;
    LP_VECTOR(struct lp_graph_span) spans; /* a ring once it is full */
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
    uint32_t last_id, last;               /* the graph that was looked for last */
    uint32_t named;                       /* nodes without a capture region that have a name */
    uint64_t lost, device_launchable;
    bool not_recorded, failed;
};

void lp_graph_map_event(struct lp_graph_map *map, const struct lp_graph_event *event);

/** A graph was launched from the host. */
void lp_graph_map_launch(struct lp_graph_map *map, uint32_t graph, uint32_t correlation,
                         uint32_t node);

/** A record of this graph came with the correlation id of its launch. */
void lp_graph_map_seen(struct lp_graph_map *map, const struct lp_activity *activity);

/** Correlation id of the launch that a record belongs to which names none, as kernels in bodies of
 * conditional nodes do: launches of one executable graph run one after the other, so it is the last
 * one that had begun.
 * @param all_in  The records of this round are in: a guess by time is as good as it gets.
 * @return LP_CORRELATION_NONE: not known, or not yet. */
uint32_t lp_graph_map_launch_of(struct lp_graph_map *map, const struct lp_activity *activity,
                                bool all_in);

/** Path that captured the node of a record (of a whole graph: that was open when it was
 * instantiated), launched with `correlation`. *unmapped: the path is unknown, and the value is the
 * reason. */
uint32_t lp_graph_map_captured(struct lp_graph_map *map, const struct lp_activity *activity,
                               uint32_t correlation, bool *unmapped);

/** The same for most records, in two loads: their graph and launch are those of the record before.
 * @param path_out  With LP_GRAPH_REASON if it is a reason. false: call lp_graph_map_seen() and
 * lp_graph_map_captured(). */
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

/** A known graph; NULL: it is not known. Valid until a graph is added. */
struct lp_graph *lp_graph_map_find(struct lp_graph_map *map, uint32_t id);

/** A record of a launch came, the `seen`th of it; 0: one that is left out. */
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

/** The launch of its graph that was reported last failed. */
void lp_graph_map_failed(struct lp_graph_map *map, uint32_t correlation);

/** Records by which launches of a graph brought less than its fullest one; of graphs without
 * conditional bodies. Where none brought any: launches. */
uint64_t lp_graph_map_missing(const struct lp_graph_map *map);

void lp_graph_map_clear(struct lp_graph_map *map);

#endif
