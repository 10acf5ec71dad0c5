/* SPDX-License-Identifier: Apache-2.0 */
/** Events of this process's CUDA graphs, in order, kept while they are needed: a session that
 * starts later still learns where the graphs alive by then were captured. Graphs are captured and
 * instantiated rarely, so a lock keeps the order of all threads. Events of destroyed graphs are
 * removed. */
#ifndef LP_DEVICE_GRAPH_LOG_H
#define LP_DEVICE_GRAPH_LOG_H

#include "lib/device/device.h"
#include "lib/record/graph_event.h"

/** Maximum number of events kept: 64 MiB. */
#define LP_GRAPH_LOG_LIMIT (UINT32_C(1) << 21)

/** Keep an event. Above the limit, or out of memory, it is dropped and counted. @threads any
 * thread */
void lp_graph_log_add(const struct lp_graph_event *event);

/** A session starts: drains begin with the oldest event kept. @threads collector only, as all that
 * follow */
void lp_graph_log_begin(void);

/** Deliver the events since the last drain. */
void lp_graph_log_drain(const struct lp_device_sink *sink);

/** The session has ended: events are no longer delivered. */
void lp_graph_log_end(void);

/** Remove all events; from now on events are missed. */
void lp_graph_log_forget(void);

/** Pass the paths of all events to lp_path_keep(). @threads any thread */
void lp_graph_log_keep_paths(void);

/** Events kept. */
size_t lp_graph_log_size(void);

#endif
