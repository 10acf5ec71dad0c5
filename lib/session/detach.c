/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/detach.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/profile/profile.h"
#include "lib/session/session.h"
#include "lib/regions/safepoint.h"
#include "lib/regions/sampler.h"

#define FIRST_UNITS 50u
#define LEAST_UNITS 4u
#define MOST_UNITS  1000u
#define BURST_NS    UINT64_C(1000000000) /* a burst does not wait longer for a call */

/* Graphs created while CUPTI is detached have no capture regions, so it stays attached until the
 * program has created its initial graphs. */
#define QUIET_NS UINT64_C(2000000000)

#define START_NS      UINT64_C(300000000000) /* limit without a first call */
#define ALONE_NS      UINT64_C(30000000000)  /* limit without a further call, */
#define ALONE_RECORDS 1000u                  /* with this many records meanwhile */
#define MAKING_NS     UINT64_C(60000000000)  /* limit while graphs are created */
#define AGAIN_NS      UINT64_C(100000000)    /* retry after the device was not idle */
#define BUSY_LIMIT    20u /* attempts; then the device is considered always busy */
#define REFUSED_NS    UINT64_C(60000000000) /* retry after another profiler had CUPTI */

#define KNOWN_NS UINT64_C(1500000000) /* after this time all records of a burst have arrived */

/* Allowance for what is not measured: launches between calls, and the first ones after
 * attaching. */
#define SHARE_OF_BUDGET 0.85

/* CUPTI leaks about 0.1 MiB at each detach and attach (12.9, 13.0, 13.5). So the interval grows by
 * 0.1 s with each burst, up to one minute. */
#define SPACING_NS  UINT64_C(2000000000)
#define GROWS_NS    UINT64_C(100000000)
#define FARTHEST_NS UINT64_C(60000000000)

/* from -> set of to. */
static const uint8_t transitions[] = {
    [LP_DETACH_OFF] = 1u << LP_DETACH_BURST,
    [LP_DETACH_BURST] = 1u << LP_DETACH_BURST | 1u << LP_DETACH_LEAVING | 1u << LP_DETACH_OFF,
    [LP_DETACH_LEAVING] = 1u << LP_DETACH_BURST | 1u << LP_DETACH_OUT | 1u << LP_DETACH_OFF,
    [LP_DETACH_OUT] = 1u << LP_DETACH_JOINING,
    [LP_DETACH_JOINING] = 1u << LP_DETACH_BURST | 1u << LP_DETACH_OUT,
};

/* The only function that changes the state. */
static void enter(struct lp_detach *detach, enum lp_detach_state to)
{
    bool legal = transitions[detach->state] & 1u << to;

    assert(legal);
    (void)legal;
    detach->state = to;
}

static double next_random(struct lp_detach *detach)
{
    uint64_t mixed = (detach->random += UINT64_C(0x9e3779b97f4a7c15));

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (double)(mixed >> 40) / (double)(1u << 24);
}

static void begin_burst(struct llmperf_session *session, uint32_t units, uint64_t now_ns)
{
    struct lp_detach *detach = &session->detach;

    lp_sampling_begin_burst(session);
    lp_sampler_burst(units);
    enter(detach, LP_DETACH_BURST);
    detach->since_ns = now_ns;
    detach->next_ns = now_ns;
    detach->over_ns = 0;
    detach->came = detach->seen_came = session->activities;
    detach->seen_ns = now_ns;
}

static void begin_bursts(struct llmperf_session *session)
{
    struct lp_detach *detach = &session->detach;
    uint64_t now_ns = lp_clock_now();

    if (!(session->options.flags & LLMPERF_SESSION_DETACH) || !session->source->ops->detach)
        return;
    if (detach->units == 0) {
        detach->units = FIRST_UNITS;
        detach->random = now_ns;
    } else if (detach->state == LP_DETACH_OFF) { /* it was not safe before a pause either */
        lp_sampler_burst(0);
        lp_sampler_end_bursts(); /* the source was attached with records enabled */
        return;
    }
    if (!lp_detach_is_out(session)) {
        begin_burst(session, detach->units, now_ns);
        return;
    }
    lp_sampler_burst(0); /* it was detached before a pause, too */
    lp_sampler_detach();
}

void lp_detach_begin(struct llmperf_session *session)
{
    lp_sampling_begin(session);
    if (!session->sampling.on)
        return;
    begin_bursts(session);
    lp_sampler_go();
}

void lp_detach_end(struct llmperf_session *session)
{
    struct lp_detach *detach = &session->detach;

    lp_safepoint_release();
    if (detach->state == LP_DETACH_JOINING)
        enter(detach, LP_DETACH_OUT);
}

bool lp_detach_is_out(const struct llmperf_session *session)
{
    return session->detach.state == LP_DETACH_OUT || session->detach.state == LP_DETACH_JOINING;
}

static void stay(struct llmperf_session *session, const char *why)
{
    lp_safepoint_release();
    lp_sampler_end_bursts();
    enter(&session->detach, LP_DETACH_OFF);
    lp_log(LLMPERF_LOG_WARN,
           "detach: CUPTI stays in the process from here on, as without detach: %s", why);
}

/* Calls to collect, so that collecting costs as much as attaching and detaching, or uses the rest
 * of the budget until the next burst. */
static void choose_units(struct lp_detach *detach, const struct lp_burst_cost *cost,
                         double budget_ns)
{
    double units = FIRST_UNITS, stopped_ns = (double)detach->stopped_ns;

    if (cost->cost_ns > 0)
        units = fmax(stopped_ns, budget_ns - stopped_ns) / cost->cost_ns * cost->units;
    if (cost->all > 0)
        units = fmin(units, (double)BURST_NS / 2 * cost->all / fmax(cost->all_ns, 1));
    detach->units = (uint32_t)fmin(fmax(units, LEAST_UNITS), MOST_UNITS);
}

/* All records of the burst have arrived. */
static void judge_burst(struct llmperf_session *session)
{
    struct lp_detach *detach = &session->detach;
    struct lp_burst_cost cost = lp_sampling_end_burst(session);
    double budget = session->sampling.budget * SHARE_OF_BUDGET;
    double cost_ns = (double)detach->stopped_ns + cost.cost_ns;
    double spacing_ns = fmin((double)SPACING_NS + (double)(GROWS_NS * detach->bursts), FARTHEST_NS);
    double jitter = 0.75 + next_random(detach) / 2;

    choose_units(detach, &cost, budget * spacing_ns);
    detach->next_ns = detach->since_ns + (uint64_t)(spacing_ns * jitter);
    detach->next_work_ns = detach->since_work_ns + cost_ns / budget * jitter;
    detach->judged = true;
    lp_log(
        LLMPERF_LOG_DEBUG,
        "detach: a thread was stopped for %.1f ms, and collecting %.0f calls cost %.1f ms; CUPTI "
        "comes back after %.1f s of sampled regions, for %" PRIu32 " calls",
        (double)detach->stopped_ns / 1e6, cost.units, cost.cost_ns / 1e6,
        (detach->next_work_ns - detach->since_work_ns) / 1e9, detach->units);
    detach->stopped_ns = 0;
}

static void end_burst(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_detach *detach = &session->detach;

    detach->bursts++;
    detach->all_stopped_ns += detach->stopped_ns;
    detach->since_ns = now_ns;
    detach->since_work_ns = lp_sampling_work_ns(session);
    detach->judged = false;
    enter(detach, LP_DETACH_OUT);
}

void lp_detach_leave(struct llmperf_session *session)
{
    struct lp_detach *detach = &session->detach;
    int status = session->source->ops->detach->leave(session->source);
    uint64_t now_ns = lp_clock_now();
    char why[256];

    if (status < 0) {
        snprintf(why, sizeof(why), "%s", llmperf_last_error());
        stay(session, why);
        return;
    }
    detach->stopped_ns += lp_safepoint_release();
    detach->busy = 0;
    end_burst(session, now_ns);
}

static void join(struct llmperf_session *session)
{
    struct lp_detach *detach = &session->detach;
    int status = session->source->ops->detach->join(session->source);
    uint64_t now_ns = lp_clock_now();

    if (status < 0) {
        lp_safepoint_release();
        lp_log(LLMPERF_LOG_WARN, "detach: CUPTI did not come back, which is tried again: %s",
               llmperf_last_error());
        detach->next_ns = now_ns + REFUSED_NS;
        enter(detach, LP_DETACH_OUT);
        return;
    }
    detach->all_out_ns += now_ns - detach->since_ns;
    begin_burst(session, detach->units, now_ns);
    detach->stopped_ns += lp_safepoint_release();
}

static bool graphs_are_quiet(struct lp_detach *detach, uint64_t now_ns)
{
    if (detach->graphs != detach->quiet_graphs) {
        detach->quiet_graphs = detach->graphs;
        detach->quiet_ns = now_ns;
    }
    return detach->graphs == 0 || now_ns - detach->quiet_ns >= QUIET_NS;
}

/* Records come, but no call begins. A starting program may take long until its first call. */
static bool is_alone(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_detach *detach = &session->detach;
    uint64_t seen = lp_sampler_calls().seen;

    if (seen != detach->seen) {
        detach->seen = seen;
        detach->seen_ns = now_ns;
        detach->seen_came = session->activities;
    }
    return session->activities - detach->seen_came > ALONE_RECORDS &&
           now_ns - detach->seen_ns >= (seen == 0 ? START_NS : ALONE_NS);
}

/* Why sampling in bursts must end; NULL: it need not. */
static const char *find_obstacle(struct llmperf_session *session, bool quiet, uint64_t now_ns)
{
    const struct lp_detach *detach = &session->detach;

    if (lp_sampler_several())
        return "another thread launches than the one that opens the sampled regions";
    if (is_alone(session, now_ns))
        return "the program works on the device and opens no sampled region";
    if (!quiet && detach->over_ns > 0 && now_ns - detach->over_ns >= MAKING_NS)
        return "the program keeps making CUDA graphs, of which nothing would be known";
    if (detach->busy >= BUSY_LIMIT)
        return "the device was not idle, a stream was captured, or several devices are in use, "
               "where sampled regions began";
    return NULL;
}

/* A thread whose launches have no records is capturing them into a graph. */
static void look_at_burst(struct llmperf_session *session, bool quiet, uint64_t now_ns)
{
    struct lp_detach *detach = &session->detach;
    bool late = now_ns - detach->since_ns >= BURST_NS && lp_sampler_burst_left() < detach->units;

    if ((late || lp_sampler_burst_left() == 0) && detach->over_ns == 0)
        detach->over_ns = now_ns;
    if (detach->over_ns == 0 || !quiet || now_ns < detach->next_ns ||
        session->activities == detach->came)
        return;
    lp_safepoint_request(session->source->ops->detach->ready);
    enter(detach, LP_DETACH_LEAVING);
}

/* true: a thread waits at the safepoint, the device is idle, and no call is being collected. */
static bool look_at_leaving(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_detach *detach = &session->detach;
    enum lp_safepoint thread = lp_safepoint_state();

    if (thread != LP_SAFEPOINT_WAITING && thread != LP_SAFEPOINT_MISSED)
        return false;
    if (thread == LP_SAFEPOINT_WAITING && session->source->ops->detach->idle() &&
        lp_safepoint_take() && lp_sampler_detach())
        return true;
    detach->stopped_ns += lp_safepoint_release();
    detach->busy++;
    detach->next_ns = now_ns + AGAIN_NS;
    enter(detach, LP_DETACH_BURST);
    return false;
}

static bool look_at_cupti(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_detach *detach = &session->detach;
    bool quiet = graphs_are_quiet(detach, now_ns);
    const char *obstacle = find_obstacle(session, quiet, now_ns);

    if (obstacle)
        stay(session, obstacle);
    else if (detach->state == LP_DETACH_LEAVING)
        return look_at_leaving(session, now_ns);
    else
        look_at_burst(session, quiet, now_ns);
    return false;
}

bool lp_detach_look(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_detach *detach = &session->detach;

    if (!session->sampling.on) /* during a pause a request would stop a thread after it */
        return false;
    switch (detach->state) {
    case LP_DETACH_OFF:
        return false;
    case LP_DETACH_BURST:
    case LP_DETACH_LEAVING:
        return look_at_cupti(session, now_ns);
    case LP_DETACH_OUT:
        if (!detach->judged && now_ns - detach->since_ns >= KNOWN_NS)
            judge_burst(session);
        if (detach->judged && now_ns >= detach->next_ns &&
            lp_sampling_work_ns(session) >= detach->next_work_ns) {
            lp_safepoint_request(NULL);
            enter(detach, LP_DETACH_JOINING);
        }
        return false;
    case LP_DETACH_JOINING:
        if (lp_safepoint_state() == LP_SAFEPOINT_MISSED) {
            detach->stopped_ns += lp_safepoint_release();
            lp_safepoint_request(NULL);
        } else if (lp_safepoint_take()) {
            join(session);
        }
    }
    return false;
}

int lp_detach_fill(const struct llmperf_session *session, llmperf_profile *profile)
{
    const struct lp_detach *detach = &session->detach;
    uint64_t now_ns = session->stop_ns ? session->stop_ns : lp_clock_now();
    uint64_t out_ns = detach->all_out_ns;

    if (session->options.detach_lacks && session->source && session->source->ops->live)
        return lp_profile_note(profile, "detach has no effect: it needs %s",
                               session->options.detach_lacks);
    if (detach->bursts == 0)
        return 0;
    if (lp_detach_is_out(session))
        out_ns += now_ns - detach->since_ns;
    return lp_profile_note(
        profile,
        "detach: CUPTI was out of the process for %.1f %% of the time, and left it %" PRIu64
        " times; the thread that launches was stopped for %.1f ms in all, %.1f ms each time",
        100 * (double)out_ns / (double)(now_ns - session->start_ns), detach->bursts,
        (double)detach->all_stopped_ns / 1e6,
        (double)detach->all_stopped_ns / 1e6 / (double)detach->bursts);
}
