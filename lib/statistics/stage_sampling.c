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

/* The same rule for a kernel that runs in some calls only: in so many, and not in so many. */
#define SOME_LEAST 25

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

static double time_of(const struct lp_sampled_call *call, size_t by, size_t row)
{
    return row < call->times[by].count ? (double)call->times[by].items[row] / 1e6 : 0;
}

/* Rows that did not run in a call count as 0 there. */
static int add_rows(struct lp_stage_sampling *sampling, const struct lp_sampled_call *call,
                    struct lp_expected expected, size_t by)
{
    static const struct lp_sampled_row fresh = { 0 };

    while (sampling->rows[by].count < call->times[by].count)
        if (lp_vector_push(&sampling->rows[by], fresh) < 0)
            return LLMPERF_ENOMEM;
    for (size_t i = 0; i < sampling->rows[by].count; i++) {
        struct lp_sampled_row *row = &sampling->rows[by].items[i];
        double ms = time_of(call, by, i);

        if (call->chance & LP_CHANCE_FIRST) {
            row->first_ms += ms;
            continue;
        }
        if (ms > 0 && row->ran++ == 0)
            row->estimate = sampling->nothing;
        if (row->ran > 0)
            lp_estimate_add(&row->estimate, weight_of(call->chance), ms, expected);
    }
    return 0;
}

static int add_all_rows(struct lp_stage_sampling *sampling, const struct lp_sampled_call *call,
                        struct lp_expected expected)
{
    double sum_ms = 0;

    if (!call->times)
        return 0;
    for (size_t by = 0; by < LP_SAMPLED_BY; by++)
        if (add_rows(sampling, call, expected, by) < 0)
            return LLMPERF_ENOMEM;
    if (call->chance & LP_CHANCE_FIRST)
        return 0;
    for (size_t i = 0; i < call->times[LP_SAMPLED_KERNELS].count; i++)
        sum_ms += time_of(call, LP_SAMPLED_KERNELS, i);
    lp_estimate_add(&sampling->kernels, weight_of(call->chance), sum_ms, expected);
    lp_estimate_add(&sampling->nothing, weight_of(call->chance), 0, expected);
    return 0;
}

int lp_stage_sampling_add(struct lp_stage_sampling *sampling, const struct lp_sampled_call *call)
{
    uint32_t chance = call->chance;
    struct lp_expected expected;

    if (call->collected && (chance & (LP_CHANCE_FIRST | LP_CHANCE_COST)))
        count_apart(sampling, call);
    if (chance & LP_CHANCE_FIRST)
        return call->collected ? add_all_rows(sampling, call, (struct lp_expected){ { 0 } }) : 0;
    sampling->calls++;
    sampling->unknown += chance == 0;
    if (chance == 0)
        return 0;
    expected = lp_host_times_add(&sampling->host,
                                 call->collected              ? LP_CALL_COLLECTED
                                 : chance & LP_CHANCE_TOUCHED ? LP_CALL_BESIDE
                                                              : LP_CALL_ALONE,
                                 weight_of(chance), call->wall_ms, call->size);
    sampling->missed += (chance & LP_CHANCE_MISSED) != 0;
    sampling->collected += call->collected;
    if (!call->collected || (chance & LP_CHANCE_COST))
        return 0;
    for (size_t i = 0; call->values && i < LP_SAMPLED_VALUES; i++)
        if (!isnan(call->values[i]))
            lp_estimate_add(&sampling->estimates[i], weight_of(chance), call->values[i], expected);
    return add_all_rows(sampling, call, expected);
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

/* The mean of all calls. If all were collected it has no error. NULL: it has an interval. */
static const char *estimate_mean(const struct lp_stage_sampling *sampling,
                                 const struct lp_estimate *estimate, double share,
                                 struct lp_estimated *out)
{
    bool all = estimate->count == sampling->calls && estimate->count > 0;

    *out = lp_estimate_mean(estimate, &sampling->host, share);
    if (all)
        out->half = 0;
    return all ? NULL : why_no_interval(sampling, out);
}

void lp_stage_sampling_estimate(const struct lp_stage_sampling *sampling, size_t quantity,
                                llmperf_iteration_stats *stats)
{
    const struct lp_estimate *estimate = &sampling->estimates[quantity];
    struct lp_estimated estimated;

    stats->estimate_reason = estimate_mean(sampling, estimate, 1, &estimated);
    stats->estimate_calls = sampling->calls;
    stats->estimate_collected = estimate->count;
    stats->estimate_ms = estimated.mean;
    if (stats->estimate_reason)
        return;
    stats->estimate_low_ms = fmax(estimated.mean - estimated.half, 0);
    stats->estimate_high_ms = estimated.mean + estimated.half;
}

/* Of a kernel that runs in some calls only. */
static const char *why_rare(const struct lp_sampled_row *row)
{
    uint64_t without = row->estimate.count - row->ran;

    if (row->ran == 0)
        return "it ran in none of the sampled calls";
    return without > 0 && (row->ran < SOME_LEAST || without < SOME_LEAST)
               ? "it ran, or did not run, in fewer than 25 of the sampled calls"
               : NULL;
}

struct lp_sampled_total lp_stage_sampling_total(const struct lp_stage_sampling *sampling,
                                                enum lp_sampled_by by, size_t index)
{
    static const struct lp_sampled_row none = { 0 };
    const struct lp_sampled_row *row =
        index < sampling->rows[by].count ? &sampling->rows[by].items[index] : &none;
    struct lp_sampled_total total = { sampling->nothing.count, NAN, NAN, NAN, NULL };
    const struct lp_estimate *estimate = row->ran > 0 ? &row->estimate : &sampling->nothing;
    double calls = (double)sampling->calls;
    double share = lp_estimate_plain(estimate) / lp_estimate_plain(&sampling->kernels);
    struct lp_estimated estimated;

    total.reason = estimate_mean(sampling, estimate, share, &estimated);
    if (!total.reason && total.collected < sampling->calls)
        total.reason = why_rare(row);
    total.ms = row->first_ms + calls * estimated.mean;
    if (total.reason)
        return total;
    total.low_ms = row->first_ms + calls * fmax(estimated.mean - estimated.half, 0);
    total.high_ms = row->first_ms + calls * (estimated.mean + estimated.half);
    return total;
}

void lp_stage_sampling_clear(struct lp_stage_sampling *sampling)
{
    for (size_t by = 0; sampling && by < LP_SAMPLED_BY; by++)
        lp_vector_clear(&sampling->rows[by]);
}
