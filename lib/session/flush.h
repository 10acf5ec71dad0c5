/* SPDX-License-Identifier: Apache-2.0 */
/** When to flush partly filled buffers of the driver; full ones are delivered without a flush. A
 * flush delays concurrent launches: five a second cost a program that replays graphs 0.4 %
 * (docs/lab/performance.md).
 * @threads collector only */
#ifndef LP_SESSION_FLUSH_H
#define LP_SESSION_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

struct llmperf_session;

/** Minimum interval between flushes while graph records are awaited. */
#define LP_GRAPH_FLUSH_NS UINT64_C(1000000)

struct lp_flush {
    uint64_t made_ns;      /* last flush */
    uint64_t made_awaited; /* launches known at that time */
    uint64_t made_came;    /* records received by then */
    uint64_t came;         /* records so far */
    uint64_t came_ns;      /* when the last one came, or when last no launch awaited one */
    uint64_t came_awaited; /* launches known at that time */
};

/** Is a flush due?
 * @param commit  The run file is written after it. */
bool lp_flush_is_due(const struct llmperf_session *session, uint64_t now_ns, bool commit);

/** A flush was made. To be called before launches up to it are read. */
void lp_flush_made(struct llmperf_session *session, uint64_t now_ns);

/** Everything delivered so far has been read. */
void lp_flush_look(struct llmperf_session *session, uint64_t now_ns);

/** How long to wait for further records; 0: all have arrived. */
uint64_t lp_flush_patience(const struct llmperf_session *session);

#endif
