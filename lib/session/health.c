/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/health.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/session/session.h"
#include "lib/device/device.h"

static_assert(sizeof(llmperf_session_state) % sizeof(uint64_t) == 0, "it is copied in words");

/* A kernel is reported when it has ended, so a long kernel is silent too. */
#define DEAD_NS    UINT64_C(2000000000)
#define DEAD_LOOKS 2u

static void publish(struct lp_health *health)
{
    uint64_t words[LP_STATE_WORDS], version;

    memcpy(words, &health->state, sizeof(words));
    version = atomic_load_explicit(&health->version,
                                   memory_order_relaxed); /* only the collector writes it */
    atomic_store_explicit(&health->version, version + 1, memory_order_relaxed);
    /* Release: a thread that reads a new word also sees that an update is in progress. */
    for (size_t i = 0; i < LP_STATE_WORDS; i++)
        atomic_store_explicit(&health->words[i], words[i], memory_order_release);
    atomic_store_explicit(&health->version, version + 2, memory_order_release);
}

void lp_health_read(const struct lp_health *health, llmperf_session_state *state_out)
{
    uint64_t words[LP_STATE_WORDS], version;

    do {
        version = atomic_load_explicit(&health->version, memory_order_acquire);
        for (size_t i = 0; i < LP_STATE_WORDS; i++)
            words[i] = atomic_load_explicit(&health->words[i], memory_order_acquire);
    } while ((version & 1) ||
             atomic_load_explicit(&health->version, memory_order_relaxed) != version);
    memcpy(state_out, words, sizeof(words));
}

void lp_health_begin(struct llmperf_session *session)
{
    struct lp_health *health = &session->health;

    lp_attribution_progress(session->attribution, &health->before);
    health->reported = health->before.reported;
    health->silent_ns = 0;
    health->looks = 0;
    health->dead = false;
    lp_health_look(session, false);
}

bool lp_health_proven(const struct llmperf_session *session)
{
    struct lp_attribution_progress now;

    lp_attribution_progress(session->attribution, &now);
    return now.reported != session->health.before.reported;
}

static void report_dead(struct lp_health *health, uint64_t launches, uint64_t silent_ns)
{
    health->dead = true;
    health->dead_ns = lp_clock_now();
    health->state.deaths++;
    lp_log(LLMPERF_LOG_ERROR,
           "no records received: %" PRIu64
           " launches of kernels and graphs in %.1f s, and the driver reported none of them: "
           "device numbers are missing, host times continue. If no single kernel has run for all "
           "that time (it would hold back all records), restart the program, and start the session "
           "or call llmperf_prewarm() before it loads kernels",
           launches, (double)silent_ns / 1e9);
}

static void report_recovered(struct lp_health *health)
{
    health->dead = false;
    lp_log(LLMPERF_LOG_WARN, "records are received again: the driver reports kernels after %.1f s",
           (double)(lp_clock_now() - health->dead_ns) / 1e9);
}

/* How long has the driver delivered no record although launches await theirs? */
static void follow_silence(struct lp_health *health, uint64_t reported, uint64_t pending,
                           bool flushed, uint64_t now_ns)
{
    bool moved = reported != health->reported;

    health->reported = reported;
    if (pending > 0 && !moved && health->silent_ns > 0) {
        health->looks += flushed;
        return;
    }
    health->silent_ns = pending > 0 ? now_ns : 0;
    health->looks = 0;
}

static void look_for_death(struct llmperf_session *session, bool flushed, uint64_t pending,
                           uint64_t now_ns)
{
    struct lp_health *health = &session->health;
    struct lp_attribution_progress now;
    uint64_t launches;

    lp_attribution_progress(session->attribution, &now);
    follow_silence(health, now.reported, pending, flushed, now_ns);
    launches = now.awaited - health->before.awaited;
    if (lp_health_proven(session)) {
        if (health->dead)
            report_recovered(health);
    } else if (!health->dead && launches > 0 && health->looks >= DEAD_LOOKS &&
               now_ns - health->silent_ns >= DEAD_NS) {
        report_dead(health, launches, now_ns - health->silent_ns);
    }
}

/* The verdict "dead" has its own messages. */
static void report_verdict(uint32_t before, const llmperf_ledger *ledger, uint32_t verdict)
{
    char line[512];

    if (verdict == LLMPERF_VERDICT_INCOMPLETE && before != LLMPERF_VERDICT_DEAD)
        lp_log(LLMPERF_LOG_WARN, "incomplete: %s",
               lp_ledger_fault(ledger, 0, line, sizeof(line)) ? line : "the device source failed");
}

static void set_state(struct llmperf_session *session, const llmperf_ledger *ledger, uint32_t which,
                      uint64_t now_ns)
{
    struct lp_health *health = &session->health;
    llmperf_session_state *state = &health->state;
    uint32_t verdict = lp_ledger_verdict(ledger);

    if (verdict != state->verdict) {
        report_verdict(state->verdict, ledger, verdict);
        state->verdict_changes += state->verdict != 0;
        state->verdict_ns = now_ns;
    }
    state->struct_size = sizeof(*state);
    state->verdict = verdict;
    state->state = which;
    state->updated_ns = now_ns;
    state->launches_expected =
        verdict == LLMPERF_VERDICT_NO_DEVICE ? LLMPERF_UNKNOWN : ledger->launches_expected;
    state->graph_launches =
        verdict == LLMPERF_VERDICT_NO_DEVICE ? LLMPERF_UNKNOWN : ledger->graph_launches;
    state->kernels_seen = ledger->kernels_seen;
    state->records_dropped = ledger->records_dropped;
    state->regions_dropped = ledger->regions_dropped;
    state->windows = session->watch.triggers.count;
    state->window_open = session->watch.open;
    state->detached = lp_detach_is_out(session);
    publish(health);
}

void lp_health_look(struct llmperf_session *session, bool flushed)
{
    struct lp_health *health = &session->health;
    uint64_t now_ns = lp_clock_now(), pending = lp_attribution_pending(session->attribution);
    struct lp_device_stats stats;
    llmperf_ledger ledger;

    /* A recording has no driver that could fail to deliver records. */
    if (session->source && session->source->ops->live && !session->paused)
        look_for_death(session, flushed, pending, now_ns);
    health->state.launches_pending = pending;
    health->state.silent_ms = health->silent_ns ? (double)(now_ns - health->silent_ns) / 1e6 : 0;
    lp_session_fill_ledger(session, &ledger, &stats);
    set_state(session, &ledger, session->paused ? LLMPERF_STATE_PAUSED : LLMPERF_STATE_RUNNING,
              now_ns);
}

void lp_health_end(struct llmperf_session *session, const llmperf_ledger *ledger)
{
    session->health.dead = false;
    session->health.state.launches_pending = 0;
    session->health.state.silent_ms = 0;
    set_state(session, ledger, LLMPERF_STATE_STOPPED, lp_clock_now());
}
