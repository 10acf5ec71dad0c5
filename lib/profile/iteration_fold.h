/* SPDX-License-Identifier: Apache-2.0 */
/** Busy time of a sequence of intervals on a device, and the causes of the gaps between them. For
 * lib/profile only. */
#ifndef LP_PROFILE_ITERATION_FOLD_H
#define LP_PROFILE_ITERATION_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/profile/iterations.h"

/** Running median in constant space, within a few per cent: it moves half of the way up or down. */
static inline uint64_t lp_follow_median(uint64_t median, uint64_t value)
{
    uint64_t step = median / 64 + 1;
    uint64_t next = value > median ? median + step : median - step;

    return median == 0 ? value : next;
}

/** Add an interval that starts after all earlier ones: its busy time, and the cause of the gap
 * before it. A launch takes some latency to reach an idle GPU. Within that latency the gap is
 * charged to the host even if the launch call precedes the gap. Without branches, since these could
 * not be predicted. */
static inline void lp_fold_span(struct lp_span_sums *sums, const struct lp_span *span)
{
    uint64_t frontier_ns = sums->frontier_ns, end_ns = span->start_ns + span->length_ns;
    uint64_t from_ns = span->start_ns > frontier_ns ? span->start_ns : frontier_ns;
    uint64_t queued_ns = lp_queued_before(span->start_ns, span->queued);
    uint64_t launched_ns = span->start_ns - queued_ns;
    uint64_t least_ns = sums->latency_ns < queued_ns ? sums->latency_ns : queued_ns;
    bool late = launched_ns > frontier_ns;
    uint64_t ready_ns = late ? span->start_ns : launched_ns + least_ns;
    uint64_t gap_ns = from_ns - frontier_ns;
    uint64_t host_ns = ready_ns > frontier_ns ? ready_ns - frontier_ns : 0;
    uint64_t latency_ns = lp_follow_median(sums->latency_ns, queued_ns);

    sums->idle_launch_ns += host_ns < LP_HOST_GAP_NS ? host_ns : 0;
    sums->idle_host_ns += host_ns < LP_HOST_GAP_NS ? 0 : host_ns;
    sums->queued_ns += queued_ns;
    sums->idle_wait_ns += gap_ns - host_ns;
    sums->frontier_ns = end_ns > frontier_ns ? end_ns : frontier_ns;
    sums->busy_ns += sums->frontier_ns - frontier_ns - gap_ns;
    sums->latency_ns = late && queued_ns > 0 ? latency_ns : sums->latency_ns;
}

#endif
