/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/flush.h"

#include "lib/session/session.h"
#include "lib/regions/sampler.h"

#define FLUSH_NS UINT64_C(1000000000)

/* But for graphs of samples no two are closer. A driver that has reported nothing since collecting
 * began is flushed this early: one kernel that runs for seconds holds back what all threads launch
 * after it, and tracing would look dead if no record had come before. */
#define LEAST_NS UINT64_C(100000000)

/* A buffer with one record that is not complete is held back, so requests that meet a device at
 * work bring nothing. When nothing has come for FLUSH_NS one is made each time that the silence has
 * grown by a 40th: a driver whose tracing is dead is not flushed that often forever. */
#define RETRIES 40u

/* Records of full buffers, while those before wait in one that is held back. Result sorts what
 * comes late into the newest million, the newer half of it for certain. */
#define MANY 200000u

#define SILENT_NS UINT64_C(2000000000)
#define COPIES_NS UINT64_C(300000000) /* some, of zero bytes, never have a record */

static uint64_t awaited(const struct llmperf_session *session)
{
    struct lp_attribution_progress progress;

    lp_attribution_progress(session->attribution, &progress);
    return progress.awaited;
}

/* Counts, not time, decide when. */
uint64_t lp_flush_patience(const struct llmperf_session *session)
{
    if (lp_attribution_pending(session->attribution) > 0 ||
        lp_attribution_pending_graphs(session->attribution) > 0)
        return SILENT_NS;
    return lp_attribution_pending_memory(session->attribution) > 0 ? COPIES_NS : 0;
}

/* While records are on all the time anything may come, known to a count or not: the rest of a long
 * graph, work that the device launched or another tool wants. Where they are off mostly, and in
 * pauses, launches that are not collected are not delayed needlessly. */
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
