/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/counter_pace.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/record/paths.h"
#include "lib/session/session.h"
#include "lib/counters/counters.h"

#define USUAL_NS       200000.0  /* tier counters, before regions are known */
#define USUAL_LIGHT_NS 1000000.0 /* tier light */
#define FINEST_NS      50000.0   /* below it the GPU's buffer fills faster than it is read */
#define COARSEST_NS    1000000.0
#define SHARE          0.5  /* of a core */
#define SHARE_REQUEST  0.9  /* if the user requested an interval: just below losing samples */
#define SHARE_LIGHT    0.05 /* the same in tier light */
#define SAMPLES_WANTED 4.0  /* samples wanted per interval of work; two are needed */
#define STEP_NS        10000.0
#define LOOK_NS        UINT64_C(1000000000)
#define CHANGED_NS     UINT64_C(4000000000) /* until regions are known at the new interval */
#define REQUEST_NS     UINT64_C(50000000)   /* with a requested interval: losses show soon */
#define CHANGES_MOST   6u                   /* each costs samples */
#define SAMPLES_LEAST  500u  /* to know the cost of a sample and the share of losses */
#define LOST_MOST      0.005 /* of all samples; more: the interval is too short */
#define LONGER         1.25  /* step after a loss */

uint64_t lp_counter_pace_begin(struct lp_counter_pace *pace, uint32_t tier, uint64_t requested_ns)
{
    bool light = tier == LLMPERF_TIER_LIGHT;

    *pace = (struct lp_counter_pace){ .requested_ns = requested_ns,
                                      .share = light ? SHARE_LIGHT : SHARE };
    snprintf(pace->reason, sizeof(pace->reason), "%s",
             requested_ns ? "requested"
                          : "default: no matching region was long enough to derive an interval");
    if (requested_ns)
        return (uint64_t)fmax((double)requested_ns, USUAL_NS);
    return (uint64_t)(light ? USUAL_LIGHT_NS : USUAL_NS);
}

uint64_t lp_counter_pace_sustained(struct lp_counter_pace *pace, uint64_t current_ns,
                                   double sample_ns, double lost_share)
{
    double requested = (double)pace->requested_ns;
    double affordable = ceil(sample_ns / SHARE_REQUEST / STEP_NS) * STEP_NS;
    double next = pace->changes == 0 ? fmax(requested, affordable) : (double)current_ns;

    if (lost_share > LOST_MOST)
        next = fmax(next, (double)current_ns * LONGER);
    if (next > requested)
        snprintf(pace->reason, sizeof(pace->reason),
                 "%.6g us was requested; this machine cannot read samples fast enough for that",
                 requested / 1e3);
    return (uint64_t)next;
}

static double finest(const struct lp_counter_pace *pace, double sample_ns)
{
    double affordable = ceil(sample_ns / pace->share / STEP_NS) * STEP_NS;

    return fmin(fmax(FINEST_NS, affordable), COARSEST_NS);
}

uint64_t lp_counter_pace_fit(const struct lp_counter_pace *pace, double active_ns, double sample_ns)
{
    double fit = floor(active_ns / SAMPLES_WANTED / STEP_NS) * STEP_NS;

    return (uint64_t)fmin(fmax(fit, finest(pace, sample_ns)), COARSEST_NS);
}

static bool is_wanted(void *session, uint32_t node)
{
    return lp_counters_watches(((struct llmperf_session *)session)->counters, node);
}

static void report(struct lp_counter_pace *pace, const struct lp_counter_active *shortest)
{
    struct lp_text path = { NULL, 0, 0, false };

    lp_path_print(&path, shortest->node);
    snprintf(pace->reason, sizeof(pace->reason), "%.200s takes %.4g ms per call",
             path.failed || !path.bytes ? "a region" : path.bytes, shortest->length_ns / 1e6);
    lp_text_clear(&path);
}

static void change(struct llmperf_session *session, uint64_t interval_ns)
{
    struct lp_counter_pace *pace = &session->counter_pace;

    pace->changes++;
    lp_log(LLMPERF_LOG_INFO, "counters are sampled every %.6g us: %s", (double)interval_ns / 1e3,
           pace->reason);
    lp_counters_resample(session->counters, interval_ns, &session->sink);
}

/* As often as the shortest region of interest needs. */
static void fit_regions(struct llmperf_session *session, const struct lp_counters_state *state,
                        uint64_t current_ns)
{
    struct lp_counter_pace *pace = &session->counter_pace;
    struct lp_counter_active shortest;
    uint64_t fit;
    double sample_ns = state->samples > 0 ? (double)state->cost_ns / (double)state->samples : 0;
    /* Regions that are too short even at the shortest interval do not count. */
    if (!lp_counter_totals_shortest(session->counter_totals, 2 * finest(pace, sample_ns), is_wanted,
                                    session, &shortest))
        return;
    report(pace, &shortest);
    fit = lp_counter_pace_fit(pace, shortest.length_ns, sample_ns);
    if ((double)fit < 0.8 * (double)current_ns || (double)fit > 1.5 * (double)current_ns)
        change(session, fit);
}

/* The requested interval, unless samples are lost. */
static void fit_request(struct llmperf_session *session, const struct lp_counters_state *state,
                        uint64_t current_ns)
{
    struct lp_counter_pace *pace = &session->counter_pace;
    double samples = (double)(state->samples - pace->samples);
    double lost = (double)(state->samples_lost - pace->lost);
    double sample_ns = (double)(state->cost_ns - pace->cost_ns) / samples;
    bool first = pace->samples == 0; /* their cost includes the set-up */
    uint64_t next;

    if (samples < SAMPLES_LEAST)
        return;
    pace->samples = state->samples;
    pace->lost = state->samples_lost;
    pace->cost_ns = state->cost_ns;
    if (first)
        return;
    next = lp_counter_pace_sustained(pace, current_ns, sample_ns, lost / (samples + lost));
    if (next != current_ns)
        change(session, next);
}

static uint64_t look_period(const struct lp_counter_pace *pace)
{
    if (pace->requested_ns)
        return REQUEST_NS;
    return pace->changes > 0 ? CHANGED_NS : LOOK_NS;
}

void lp_counter_pace_adjust(struct llmperf_session *session, uint64_t now_ns)
{
    struct lp_counter_pace *pace = &session->counter_pace;
    struct lp_counters_state state;
    uint64_t current_ns;

    if (!session->counters || session->paused || pace->changes >= CHANGES_MOST ||
        now_ns - pace->looked_ns < look_period(pace) ||
        (current_ns = lp_counters_interval(session->counters)) == 0)
        return;
    pace->looked_ns = now_ns;
    lp_counters_state(session->counters, &state);
    if (pace->requested_ns)
        fit_request(session, &state, current_ns);
    else
        fit_regions(session, &state, current_ns);
}
