/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/flush.h"

#include "lib/session/session.h"
#include "lib/regions/sampler.h"

#define FLUSH_NS UINT64_C(1000000000)

/* Minimum interval between flushes, except for graphs of samples. A driver without any record since
 * collection began is flushed this early: one kernel that runs for seconds delays the records of
 * all later launches, which would look like tracing without records. */
#define LEAST_NS UINT64_C(100000000)

/* The driver holds back a buffer that contains an incomplete record, so flushing a busy device may
 * deliver nothing. After FLUSH_NS without records, a flush is made each time the silence has grown
 * by a 40th, so that a driver that never delivers records is not flushed too often. */
#define RETRIES 40u

/* Full buffers may be delivered while an earlier buffer is held back. Late records are sorted into
 * the newest million, at least into the newer half. */
#define MANY 200000u

#define SILENT_NS UINT64_C(2000000000)
#define COPIES_NS UINT64_C(300000000) /* limit, because calls of zero bytes have no record */

static uint64_t awaited(const struct llmperf_session *session)
{
    struct lp_attribution_progress progress;

    lp_attribution_progress(session->attribution, &progress);
    return progress.awaited;
}

/* Decided by counts, not by time. */
uint64_t lp_flush_patience(const struct llmperf_session *session)
{
    if (lp_attribution_pending(session->attribution) > 0 ||
        lp_attribution_pending_graphs(session->attribution) > 0)
        return SILENT_NS;
    return lp_attribution_pending_memory(session->attribution) > 0 ? COPIES_NS : 0;
}

/* While records are always enabled, any record may come, even an unexpected one: the rest of a long
 * graph, launches by the device or for another tool. Where records are mostly disabled, and in
 * pauses, a flush would only delay launches that are not collected. */
static bool is_under_way(const struct llmperf_session *session)
{
    return !(session->paused || session->sampling.on) ||
           awaited(session) != session->flush.made_awaited || lp_flush_patience(session) > 0 ||
           lp_attribution_unanswered(session->attribution);
}

static bool is_silent(const struct llmperf_session *session, uint64_t now_ns, uint64_t age)
{
    uint64_t silence = now_ns - session->flush.came_ns;

    return silence >= (lp_health_proven(session) ? FLUSH_NS : LEAST_NS) &&
           age >= silence / RETRIES && awaited(session) != session->flush.came_awaited;
}

static bool is_flooded(const struct llmperf_session *session)
{
    return session->activities - session->flush.made_came >= MANY;
}

bool lp_flush_is_due(const struct llmperf_session *session, uint64_t now_ns, bool commit)
{
    uint64_t age = now_ns - session->flush.made_ns;

    if (!session->source || !session->source->ops->live)
        return false;
    if (lp_sampler_settles())
        return age >= LP_GRAPH_FLUSH_NS;
    if (lp_sampling_asks(session, now_ns))
        return true;
    if (age >= LEAST_NS && (is_silent(session, now_ns, age) || is_flooded(session)))
        return true;
    return age >= (commit ? FLUSH_NS / 2 : FLUSH_NS) && is_under_way(session);
}

void lp_flush_made(struct llmperf_session *session, uint64_t now_ns)
{
    session->flush.made_ns = now_ns;
    session->flush.made_awaited = awaited(session);
    session->flush.made_came = session->activities;
}

void lp_flush_look(struct llmperf_session *session, uint64_t now_ns)
{
    if (session->activities == session->flush.came &&
        awaited(session) != session->flush.came_awaited)
        return;
    session->flush.came = session->activities;
    session->flush.came_ns = now_ns;
    session->flush.came_awaited = awaited(session);
}
