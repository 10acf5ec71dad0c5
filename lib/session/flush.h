/* SPDX-License-Identifier: Apache-2.0 */
/** When to flush partly filled buffers of the driver; full ones come by themselves. A flush delays
 * launches made at that moment: five a second cost a program that replays graphs 0.4 %
 * (docs/lab/performance.md).
 * @threads collector only */
#ifndef LP_SESSION_FLUSH_H
#define LP_SESSION_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

struct llmperf_session;

/** Between two requests while records of graphs must come. */
#define LP_GRAPH_FLUSH_NS UINT64_C(1000000)

struct lp_flush {
    uint64_t made_ns;      /* the last one */
    uint64_t made_awaited; /* launches that were known then */
    uint64_t made_came;    /* records that had come by then */
    uint64_t came;         /* records so far */
    uint64_t came_ns;      /* when there was a new one last, or no launch to bring one */
    uint64_t came_awaited; /* launches that were known then */
};

/** Is one due? `commit`: the run file is written after it. */
bool lp_flush_is_due(const struct llmperf_session *session, uint64_t now_ns, bool commit);

/** A flush was made. Call it before the launches up to it are taken in. */
void lp_flush_made(struct llmperf_session *session, uint64_t now_ns);

/** What had come by now is in. */
void lp_flush_look(struct llmperf_session *session, uint64_t now_ns);

/** How long to wait for more while nothing arrives; 0: all is in. */
uint64_t lp_flush_patience(const struct llmperf_session *session);

#endif
