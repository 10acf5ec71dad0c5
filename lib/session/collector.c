/* SPDX-License-Identifier: Apache-2.0 */
/** The collector thread: reads host records and activities, attributes them, commits. All work of a
 * session happens here. */
#include <stdatomic.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/session/found_model.h"
#include "lib/session/session.h"
#include "lib/session/session_counters.h"
#include "lib/session/session_trace.h"
#include "lib/counters/counters.h"
#include "lib/device/device.h"
#include "lib/sources/replay/recording.h"
#include "lib/regions/sampler.h"

#define ROUND_NS       UINT64_C(20000000) /* longest sleep between two rounds */
#define SHORT_ROUND_NS UINT64_C(2000000)
#define ROUND_SAMPLES  24u
#define COMMIT_NS      UINT64_C(1000000000)
#define HEALTH_NS      UINT64_C(200000000)
#define OUTSTANDING_NS UINT64_C(100000000) /* on an idle device */

/* A recording has its own time: that of its newest record. */
static uint64_t host_time(const struct llmperf_session *session)
{
    return !session->source || session->source->ops->live ? lp_clock_now() : 0;
}

/* false: the program ends. CUPTI crashes if called after the driver's own exit handlers. */
static bool may_call_driver(const struct llmperf_session *session)
{
    return !atomic_load(&session->driver_gone) || session->source->cupti_version == 0;
}

static void look_at_ignored(struct llmperf_session *session)
{
    if (session->ignores || !session->source || session->source->ops->live || !lp_capture_ignored())
        return;
    session->ignores = true;
    lp_log(LLMPERF_LOG_WARN, "%s", LP_IGNORES);
}

/* Flush complete records from the driver. Returns when the flush began; 0: none was made. */
static uint64_t ask_driver(struct llmperf_session *session, bool force)
{
    uint64_t asked_ns = lp_clock_now();

    if (!session->source || !may_call_driver(session))
        return 0;
    session->source->ops->flush(session->source, force);
    lp_flush_made(session, lp_clock_now());
    return asked_ns;
}

/* Work that does not need every record, after the records of rings and driver. */
static void look_behind(struct llmperf_session *session, uint64_t asked_ns)
{
    uint64_t now_ns = lp_clock_now();

    lp_flush_look(session, now_ns);
    look_at_ignored(session);
    if (session->stop_ns == 0 &&
        (asked_ns > 0 || now_ns - session->health.state.updated_ns >= HEALTH_NS))
        lp_health_look(session, asked_ns > 0);
}

/* One round. Launches are always read before the activities that they explain. */
static void do_round(struct llmperf_session *session, bool flush, bool force)
{
    struct lp_device_source *source = session->source;
    uint64_t asked_ns = flush ? ask_driver(session, force) : 0;
    uint64_t begin_ns = host_time(session);
    int status = 0;

    lp_found_model_take(session); /* before the calls that follow the announcement */
    if (source)
        source->ops->take(source);
    if (!source || source->ops->live)
        lp_capture_drain(&session->sink);
    if (source && source->ops->live)
        lp_attribution_now(session->attribution, lp_clock_now());
    if (source && (source->ops->live || session->playing))
        status = source->ops->deliver(source, &session->sink);
    if (status <= 0 || source->ops->live)
        lp_graph_ends_settle(&session->graph_ends, session->attribution);
    if (status < 0)
        lp_session_fail(session, status);
    lp_session_counters_deliver(session);
    session->playing = session->playing && status > 0;
    if (asked_ns > 0 && source->ops->live)
        lp_attribution_answered(session->attribution, asked_ns);
    lp_attribution_settle(session->attribution, host_time(session), false);
    lp_serving_settle(session->serving, begin_ns);
    lp_totals_settle_memory(session->totals, begin_ns);
    look_behind(session, asked_ns);
}

static void collect_outstanding(struct llmperf_session *session)
{
    uint64_t seen = session->activities, moved_ns = lp_clock_now();

    while (session->playing)
        do_round(session, false, false);
    if (!session->source || !session->source->ops->live)
        return;
    do_round(session, true, false);
    while (lp_clock_now() - moved_ns < lp_flush_patience(session)) {
        lp_wake_wait(ROUND_NS / 8);
        do_round(session, true, false);
        if (session->activities != seen)
            moved_ns = lp_clock_now();
        seen = session->activities;
    }
    do_round(session, true, true);
}

/* Before records are disabled: later replays would overwrite the end times of undelivered graph
 * records (CUPTI 13.0). */
static void bring_in_graphs(struct llmperf_session *session)
{
    struct lp_graph_wait wait = LP_GRAPH_WAIT(lp_clock_now());

    if (!session->source->ops->live || !lp_attribution_has_graphs(session->attribution))
        return;
    do_round(session, true, false);
    while (!lp_graph_wait_over(&wait, session->attribution, lp_clock_now())) {
        lp_wake_wait(LP_GRAPH_FLUSH_NS);
        do_round(session, true, false);
    }
}

/* The device is idle: the first flush delivers everything, the next one nothing. Records that did
 * not come are not awaited again, because a thread waits at the safepoint. */
static void bring_in_all(struct llmperf_session *session)
{
    uint64_t begin_ns = lp_clock_now(), seen, pending;
    bool late = false;

    do {
        seen = session->activities;
        late = lp_clock_now() - begin_ns > OUTSTANDING_NS;
        do_round(session, true, late);
        pending = lp_attribution_pending(session->attribution);
    } while (!late && (session->activities != seen || pending > session->detach.unreported));
    session->detach.unreported = pending;
}

/* In this order: new launches no longer count, calls in progress end, records are disabled. The
 * driver creates the record of a launch after the callback that counts it. */
static void stop_capture(struct llmperf_session *session)
{
    bool device = session->source && !session->paused && may_call_driver(session);
    uint64_t now_ns = lp_clock_now();

    if (device && session->sampling.on)
        lp_sampler_suspend();
    lp_detach_end(session); /* first, so that no thread waits there during the following waits */
    if (!session->source || session->source->ops->live)
        lp_capture_end();
    if (!device)
        return;
    if (session->source->ops->live) {
        lp_threads_await_calls();
        lp_capture_drain(&session->sink);
        bring_in_graphs(session);
    }
    lp_sampling_end(session, now_ns);
    session->source->ops->pause(session->source);
}

static int pause_session(struct llmperf_session *session)
{
    if (session->paused)
        return lp_error(LLMPERF_ESTATE, "the session is already paused");
    if (session->counters)
        lp_counters_pause(session->counters, true);
    stop_capture(session);
    if (!session->source || session->source->ops->live)
        do_round(session, true, false);
    lp_attribution_close_regions(session->attribution);
    lp_serving_interrupt(session->serving);
    session->paused = true;
    lp_health_look(session, false);
    return 0;
}

static int resume_session(struct llmperf_session *session)
{
    int status;

    if (!session->paused)
        return lp_error(LLMPERF_ESTATE, "the session is not paused");
    if (session->source && (status = session->source->ops->start(session->source)) < 0)
        return status;
    lp_detach_begin(session);
    if (!session->source || session->source->ops->live) {
        lp_capture_drain(&session->sink);
        lp_capture_begin(session->options.ring_bytes, false);
    }
    if (session->counters)
        lp_counters_pause(session->counters, false);
    session->paused = false;
    lp_health_begin(session);
    return 0;
}

static void end_health(struct llmperf_session *session, const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    if (llmperf_profile_ledger(profile, &ledger) == 0)
        lp_health_end(session, &ledger);
}

static int finish_session(struct llmperf_session *session, llmperf_profile **profile_out)
{
    struct lp_device_stats stats = { 0 };
    int status;

    session->stop_ns = lp_clock_now();
    lp_session_counters_stop(session, !session->source || may_call_driver(session));
    stop_capture(session);
    collect_outstanding(session);
    look_at_ignored(session);
    lp_capture_ignore_end();
    lp_attribution_settle(session->attribution, host_time(session), true);
    lp_structure_settle(session->structure, LP_STRUCTURE_END, session->attribution);
    lp_counter_totals_settle(session->counter_totals);
    lp_gpu_watch_end(session);
    lp_totals_settle_energy(session->totals);
    lp_serving_settle(session->serving, UINT64_MAX);
    lp_totals_settle_memory(session->totals, UINT64_MAX);
    lp_attribution_close_regions(session->attribution);
    lp_session_environment(session, !session->source || may_call_driver(session));
    if (session->source)
        session->source->ops->stats(session->source, &stats);
    stats.no_device = stats.no_device || !session->source;
    stats.process_id = stats.process_id ? stats.process_id : (uint32_t)session->pid;
    stats.duration_ns =
        stats.duration_ns ? stats.duration_ns : session->stop_ns - session->start_ns;
    status = lp_recorder_close(session->recorder, &stats,
                               session->environment ? session->environment : "{}");
    session->recorder = NULL;
    if (status < 0)
        lp_session_fail(session, status);
    lp_session_trace_close(session, &stats);
    lp_session_commit(session, false);
    status = lp_store_close(session->store);
    session->store = NULL;
    if (status < 0 && session->unwritten == 0)
        lp_session_written(session, status);
    if ((status = lp_session_profile(session, false, profile_out)) == 0)
        end_health(session, *profile_out);
    if (!session->source || may_call_driver(session))
        lp_session_counters_close(session);
    if (session->source && may_call_driver(session)) /* here and not when the session is freed:
                                                        CUPTI must be available when stop returns */
        session->source->ops->close(session->source);
    session->source = NULL;
    return status;
}

static int read_ledger(struct llmperf_session *session, llmperf_ledger *ledger)
{
    llmperf_profile *profile;
    int status = lp_session_profile(session, false, &profile);

    if (status < 0)
        return status;
    ledger->struct_size = sizeof(*ledger);
    status = llmperf_profile_ledger(profile, ledger);
    llmperf_profile_free(profile);
    return status;
}

static int answer(struct llmperf_session *session, struct lp_request *request)
{
    switch (request->kind) {
    case LP_REQUEST_PAUSE:
        return pause_session(session);
    case LP_REQUEST_RESUME:
        return resume_session(session);
    case LP_REQUEST_STOP:
        return finish_session(session, &request->profile);
    case LP_REQUEST_LEDGER:
        do_round(session, false, false);
        return read_ledger(session, &request->ledger);
    case LP_REQUEST_SNAPSHOT:
        do_round(session, true, false);
        lp_structure_settle(session->structure, LP_STRUCTURE_ALL, session->attribution);
        return lp_session_profile(session, false, &request->profile);
    default:
        do_round(session, true, false);
        lp_session_commit(session, true);
        if (session->failed < 0)
            return lp_error(session->failed, "%s", session->failure);
        return session->unwritten < 0
                   ? lp_error(session->unwritten, "%s", session->unwritten_reason)
                   : 0;
    }
}

/* One second, or more if there are so many names that writing takes over a tenth of it: the rings
 * have precedence. */
static uint64_t commit_period(const struct llmperf_session *session)
{
    uint64_t gentle = 10 * session->commit_cost_ns;

    return gentle > COMMIT_NS ? gentle : COMMIT_NS;
}

/* The GPU holds few samples, whatever the buffer size (172 of preset pm on GH100), so they are read
 * before there are that many. */
static uint64_t round_length(const struct llmperf_session *session)
{
    uint64_t interval = session->counters ? lp_counters_interval(session->counters) : 0;
    uint64_t length = interval ? ROUND_SAMPLES * interval : ROUND_NS;

    return length > ROUND_NS ? ROUND_NS : length < SHORT_ROUND_NS ? SHORT_ROUND_NS : length;
}

void *lp_session_collect(void *context)
{
    struct llmperf_session *session = context;
    struct lp_request *request = NULL;
    bool stop = false;

    while (!stop) {
        uint64_t now;
        bool commit;

        if (!session->playing)
            lp_wake_wait(lp_sampler_settles() ? LP_GRAPH_FLUSH_NS : round_length(session));
        if (session->injected && lp_session_take_attached(session)) {
            lp_detach_begin(session);
            lp_health_begin(session);
            lp_session_commit(session, true);
        }
        request = lp_request_take(&session->requests);
        now = lp_clock_now();
        commit = now - session->committed_ns >= commit_period(session);
        do_round(session, lp_flush_is_due(session, now, commit), false);
        lp_sampling_settle(session, now);
        lp_sampling_adjust(session, now);
        if (lp_detach_look(session, now)) {
            bring_in_all(session);
            lp_detach_leave(session);
        }
        lp_watch_look(session, now);
        lp_gpu_watch_look(session, now);
        lp_counter_pace_adjust(session, now);
        if (commit)
            lp_session_commit(session, true);
        if (!request)
            continue;
        stop = request->kind == LP_REQUEST_STOP;
        lp_request_answer(&session->requests, request, answer(session, request));
    }
    return NULL;
}
