/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "lib/record/record.h"
#include "lib/statistics/stage_sampling.h"

/* An interval needs: at most one call in so many of unknown chance, one in so many that could not
 * be collected; a mean of at most this skewness (Cochran's rule: 5 / sqrt(n) times that of the
 * calls); and a variance of this many degrees of freedom. */
#define UNKNOWN_PART  10
#define MISSED_PART   20
#define SKEW_MOST     0.2
#define FREEDOM_LEAST 2.0

static double weight_of(uint32_t chance)
{
    double every = LP_CHANCE_EVERY(chance);

    return every > 1 ? every * LP_CHANCE_COST_EVERY / (LP_CHANCE_COST_EVERY - 1) : 1;
}

static void count_apart(struct lp_stage_sampling *sampling, const struct lp_sampled_call *call)
{
    if (call->chance & LP_CHANCE_FIRST) {
        sampling->first++;
        sampling->first_ms += call->wall_ms;
    } else {
        sampling->measured++;
        sampling->measured_ms += call->wall_ms;
    }
}

void lp_stage_sampling_add(struct lp_stage_sampling *sampling, const struct lp_sampled_call *call)
{
    uint32_t chance = call->chance;
    struct lp_expected expected;

    if (call->collected && (chance & (LP_CHANCE_FIRST | LP_CHANCE_COST)))
        count_apart(sampling, call);
    if (chance & LP_CHANCE_FIRST)
        return;
    sampling->calls++;
    sampling->unknown += chance == 0;
    if (chance == 0)
        return;
    expected = lp_host_times_add(&sampling->host,
                                 call->collected              ? LP_CALL_COLLECTED
                                 : chance & LP_CHANCE_TOUCHED ? LP_CALL_BESIDE
                                                              : LP_CALL_ALONE,
                                 weight_of(chance), call->wall_ms, call->size);
    sampling->missed += (chance & LP_CHANCE_MISSED) != 0;
    sampling->collected += call->collected;
    for (size_t i = 0; call->collected && !(chance & LP_CHANCE_COST) && i < LP_SAMPLED_VALUES; i++)
        if (!isnan(call->values[i]))
            lp_estimate_add(&sampling->estimates[i], weight_of(chance), call->values[i], expected);
}

/* NULL: the estimate has an interval. */
static const char *why_no_interval(const struct lp_stage_sampling *sampling,
                                   const struct lp_estimated *estimated)
{
    if (sampling->unknown > sampling->calls / UNKNOWN_PART)
        return "the chance with which calls were collected is not known: they were collected in "
               "bursts, in windows for all threads, or inside other sampled calls";
    if (sampling->missed > sampling->collected / MISSED_PART)
        return "too many of the chosen calls could not be collected, because another thread was "
               "switching records";
    if (isnan(estimated->half) || estimated->calls < LP_ESTIMATE_CALLS)
        return "fewer than 10 calls of equal weight were sampled";
    if (estimated->skew > SKEW_MOST || estimated->freedom < FREEDOM_LEAST)
        return "a few calls took much longer or shorter than the others, and the sample is too "
               "small for them";
    return NULL;
}

void lp_stage_sampling_estimate(const struct lp_stage_sampling *sampling, size_t quantity,
                                llmperf_iteration_stats *stats)
{
    const struct lp_estimate *estimate = &sampling->estimates[quantity];
    struct lp_estimated estimated = lp_estimate_mean(estimate, &sampling->host);
    bool all = estimate->count == sampling->calls && estimate->count > 0; /* without error */

    stats->estimate_calls = sampling->calls;
    stats->estimate_collected = estimate->count;
    stats->estimate_ms = estimated.mean;
    stats->estimate_reason = all ? NULL : why_no_interval(sampling, &estimated);
    if (stats->estimate_reason)
        return;
    estimated.half = all ? 0 : estimated.half;
    stats->estimate_low_ms = fmax(estimated.mean - estimated.half, 0);
    stats->estimate_high_ms = estimated.mean + estimated.half;
}
