/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/presence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/profile/profile.h"
#include "lib/session/session.h"
#include "lib/regions/hold.h"
#include "lib/regions/sampler.h"

#define FIRST_UNITS 50u
#define LEAST_UNITS 4u
#define MOST_UNITS  1000u
#define SPAN_NS     UINT64_C(1000000000) /* longer than that a span waits for no instance */

/* Graphs that are made while CUPTI is out have no capture regions: it stays until a program has
 * made those that it makes at its start. */
#define QUIET_NS UINT64_C(2000000000)

#define START_NS      UINT64_C(300000000000) /* without a first instance */
#define ALONE_NS      UINT64_C(30000000000)  /* without a further one, */
#define ALONE_RECORDS 1000u                  /* and so many records meanwhile */
#define MAKING_NS     UINT64_C(60000000000)  /* while graphs are made */
#define AGAIN_NS      UINT64_C(100000000)    /* after a device that was not idle */
#define BUSY_LIMIT    20u                    /* then it never is */
#define REFUSED_NS    UINT64_C(60000000000)  /* after another profiler that had CUPTI */

#define KNOWN_NS UINT64_C(1500000000) /* after it what a span collected is in */

/* What is not measured: launches between instances, the first ones after CUPTI came. */
#define SHARE_OF_BUDGET 0.85

/* CUPTI keeps about 0.1 MiB each time that it comes and goes (12.9, 13.0, 13.5): so the distance
 * grows with the number of spans, by 0.1 s each, up to a minute. */
#define APART_NS    UINT64_C(2000000000)
#define GROWS_NS    UINT64_C(100000000)
#define FARTHEST_NS UINT64_C(60000000000)

static double next_random(struct lp_presence *presence)
{
    uint64_t mixed = (presence->random += UINT64_C(0x9e3779b97f4a7c15));

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (double)(mixed >> 40) / (double)(1u << 24);
}

static void begin_span(struct llmperf_session *session, uint32_t units, uint64_t now_ns)
{
    struct lp_presence *presence = &session->presence;

    lp_sampling_begin_span(session);
    lp_sampler_span(units);
    presence->state = LP_PRESENT_SPAN;
    presence->since_ns = now_ns;
    presence->next_ns = now_ns;
    presence->over_ns = 0;
    presence->came = presence->seen_came = session->activities;
    presence->seen_ns = now_ns;
}

void lp_presence_begin(struct llmperf_session *session)
{
    struct lp_presence *presence = &session->presence;
    uint64_t now_ns = lp_clock_now();

    if (!(session->options.flags & LLMPERF_SESSION_DETACH) || !session->sampling.on ||
        !session->source->ops->detach)
        return;
    if (presence->units == 0) {
        presence->units = FIRST_UNITS;
        presence->random = now_ns;
    } else if (presence->state == LP_PRESENT_ALWAYS) { /* It was not safe before a pause either. */
        lp_sampler_span(0);
        lp_sampler_span_over(false); /* The source came with its records on. */
        return;
    }
    if (!lp_presence_is_away(session)) {
        begin_span(session, presence->units, now_ns);
        return;
    }
    lp_sampler_span(0); /* It was out before a pause too. */
    lp_sampler_span_over(true);
    presence->state = LP_PRESENT_NOT;
}

void lp_presence_end(struct llmperf_session *session)
{
    struct lp_presence *presence = &session->presence;

    lp_hold_free();
    if (presence->state == LP_PRESENT_JOINS)
        presence->state = LP_PRESENT_NOT;
}

bool lp_presence_is_away(const struct llmperf_session *session)
{
    return session->presence.state == LP_PRESENT_NOT || session->presence.state == LP_PRESENT_JOINS;
}

static void stay(struct llmperf_session *session, const char *why)
{
    lp_hold_free();
    lp_sampler_span_over(false);
    session->presence.state = LP_PRESENT_ALWAYS;
    lp_log(LLMPERF_LOG_WARN,
           "detach: CUPTI stays in the process from here on, as without detach: %s", why);
}

/* Collecting costs as much as coming and going, or what else the budget has until the next span. */
static void choose_units(struct lp_presence *presence, const struct lp_span_cost *cost,
                         double budget_ns)
{
    double units = FIRST_UNITS, held_ns = (double)presence->held_ns;

    if (cost->cost_ns > 0)
        units = fmax(held_ns, budget_ns - held_ns) / cost->cost_ns * cost->units;
    if (cost->all > 0)
        units = fmin(units, (double)SPAN_NS / 2 * cost->all / fmax(cost->all_ns, 1));
    presence->units = (uint32_t)fmin(fmax(units, LEAST_UNITS), MOST_UNITS);
}

/* By now the instances of the span are in. */
static void judge_span(struct llmperf_session *session)
{
    struct lp_presence *presence = &session->presence;
    struct lp_span_cost cost = lp_sampling_end_span(session);
    double budget = session->sampling.budget * SHARE_OF_BUDGET;
    double cost_ns = (double)presence->held_ns + cost.cost_ns;
    double apart_ns = fmin((double)APART_NS + (double)(GROWS_NS * presence->spans), FARTHEST_NS);
    double jitter = 0.75 + next_random(presence) / 2;

    choose_units(presence, &cost, budget * apart_ns);
    presence->next_ns = presence->since_ns + (uint64_t)(apart_ns * jitter);
    presence->next_work_ns = presence->since_work_ns + cost_ns / budget * jitter;
    presence->judged = true;
    lp_log(
        LLMPERF_LOG_DEBUG,
        "detach: a thread was held for %.1f ms and %.0f instances cost %.1f ms; CUPTI comes back "
        "after %.1f s of instances, for %" PRIu32,
        (double)presence->held_ns / 1e6, cost.units, cost.cost_ns / 1e6,
        (presence->next_work_ns - presence->since_work_ns) / 1e9, presence->units);
    presence->held_ns = 0;
}

static void end_span(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_presence *presence = &session->presence;

    presence->spans++;
    presence->all_held_ns += presence->held_ns;
    presence->since_ns = now_ns;
    presence->since_work_ns = lp_sampling_work_ns(session);
    presence->judged = false;
    presence->state = LP_PRESENT_NOT;
}

void lp_presence_leave(struct llmperf_session *session)
{
    struct lp_presence *presence = &session->presence;
    int status = session->source->ops->detach->leave(session->source);
    uint64_t now_ns = lp_clock_now();
    char why[256];

    if (status < 0) {
        snprintf(why, sizeof(why), "%s", llmperf_last_error());
        stay(session, why);
        return;
    }
    lp_sampler_span_over(true);
    presence->held_ns += lp_hold_free();
    presence->busy = 0;
    end_span(session, now_ns);
}

static void join(struct llmperf_session *session)
{
    struct lp_presence *presence = &session->presence;
    int status = session->source->ops->detach->join(session->source);
    uint64_t now_ns = lp_clock_now();

    if (status < 0) {
        lp_hold_free();
        lp_log(LLMPERF_LOG_WARN, "detach: CUPTI did not come back, which is tried again: %s",
               llmperf_last_error());
        presence->next_ns = now_ns + REFUSED_NS;
        presence->state = LP_PRESENT_NOT;
        return;
    }
    presence->all_away_ns += now_ns - presence->since_ns;
    begin_span(session, presence->units, now_ns);
    presence->held_ns += lp_hold_free();
}

static bool graphs_are_quiet(struct lp_presence *presence, uint64_t now_ns)
{
    if (presence->graphs != presence->quiet_graphs) {
        presence->quiet_graphs = presence->graphs;
        presence->quiet_ns = now_ns;
    }
    return presence->graphs == 0 || now_ns - presence->quiet_ns >= QUIET_NS;
}

/* Records come, and no instance begins? A program that starts takes its time for the first one. */
static bool is_alone(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_presence *presence = &session->presence;
    uint64_t seen = lp_sampler_seen();

    if (seen != presence->seen) {
        presence->seen = seen;
        presence->seen_ns = now_ns;
        presence->seen_came = session->activities;
    }
    return session->activities - presence->seen_came > ALONE_RECORDS &&
           now_ns - presence->seen_ns >= (seen == 0 ? START_NS : ALONE_NS);
}

/* Why it can go on like this no longer; NULL: it can. */
static const char *find_obstacle(struct llmperf_session *session, bool quiet, uint64_t now_ns)
{
    const struct lp_presence *presence = &session->presence;

    if (lp_sampler_several())
        return "another thread launches than the one that opens the sampled regions";
    if (is_alone(session, now_ns))
        return "the program works on the device and opens no sampled region";
    if (!quiet && presence->over_ns > 0 && now_ns - presence->over_ns >= MAKING_NS)
        return "the program keeps making CUDA graphs, of which nothing would be known";
    if (presence->busy >= BUSY_LIMIT)
        return "the device was not idle, a stream was captured, or several devices are in use, "
               "where sampled regions began";
    return NULL;
}

/* A thread whose launches brought no record captures them. */
static void look_at_span(struct llmperf_session *session, bool quiet, uint64_t now_ns)
{
    struct lp_presence *presence = &session->presence;
    bool late = now_ns - presence->since_ns >= SPAN_NS && lp_sampler_span_left() < presence->units;

    if ((late || lp_sampler_span_left() == 0) && presence->over_ns == 0)
        presence->over_ns = now_ns;
    if (presence->over_ns == 0 || !quiet || now_ns < presence->next_ns ||
        session->activities == presence->came)
        return;
    lp_hold_ask(session->source->ops->detach->ready);
    presence->state = LP_PRESENT_LEAVES;
}

/* true: a thread is held, and the device is idle. */
static bool look_at_leaving(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_presence *presence = &session->presence;
    enum lp_hold hold = lp_hold_look();

    if (hold != LP_HOLD_HELD && hold != LP_HOLD_BUSY)
        return false;
    if (hold == LP_HOLD_HELD && session->source->ops->detach->idle() && lp_hold_take())
        return true;
    presence->held_ns += lp_hold_free();
    presence->busy++;
    presence->next_ns = now_ns + AGAIN_NS;
    presence->state = LP_PRESENT_SPAN;
    return false;
}

static bool look_at_presence(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_presence *presence = &session->presence;
    bool quiet = graphs_are_quiet(presence, now_ns);
    const char *obstacle = find_obstacle(session, quiet, now_ns);

    if (obstacle)
        stay(session, obstacle);
    else if (presence->state == LP_PRESENT_LEAVES)
        return look_at_leaving(session, now_ns);
    else
        look_at_span(session, quiet, now_ns);
    return false;
}

bool lp_presence_look(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_presence *presence = &session->presence;

    if (!session->sampling.on) /* A pause: a thread that was asked for would come behind it. */
        return false;
    switch (presence->state) {
    case LP_PRESENT_ALWAYS:
        return false;
    case LP_PRESENT_SPAN:
    case LP_PRESENT_LEAVES:
        return look_at_presence(session, now_ns);
    case LP_PRESENT_NOT:
        if (!presence->judged && now_ns - presence->since_ns >= KNOWN_NS)
            judge_span(session);
        if (presence->judged && now_ns >= presence->next_ns &&
            lp_sampling_work_ns(session) >= presence->next_work_ns) {
            lp_hold_ask(NULL);
            presence->state = LP_PRESENT_JOINS;
        }
        return false;
    case LP_PRESENT_JOINS:
        if (lp_hold_look() == LP_HOLD_BUSY) {
            presence->held_ns += lp_hold_free();
            lp_hold_ask(NULL);
        } else if (lp_hold_take()) {
            join(session);
        }
    }
    return false;
}

int lp_presence_fill(const struct llmperf_session *session, llmperf_profile *profile)
{
    const struct lp_presence *presence = &session->presence;
    uint64_t now_ns = session->stop_ns ? session->stop_ns : lp_clock_now();
    uint64_t away_ns = presence->all_away_ns;
    char note[256];

    if (session->options.detach_lacks && session->source && session->source->ops->live) {
        snprintf(note, sizeof(note), "detach: without effect, it needs %s",
                 session->options.detach_lacks);
        return lp_profile_note(profile, note);
    }
    if (presence->spans == 0)
        return 0;
    if (lp_presence_is_away(session))
        away_ns += now_ns - presence->since_ns;
    snprintf(note, sizeof(note),
             "detach: CUPTI was out of the process for %.1f %% of the time, and left it %" PRIu64
             " times; the thread that launches was held for %.1f ms in all, %.1f ms each time",
             100 * (double)away_ns / (double)(now_ns - session->start_ns), presence->spans,
             (double)presence->all_held_ns / 1e6,
             (double)presence->all_held_ns / 1e6 / (double)presence->spans);
    return lp_profile_note(profile, note);
}
