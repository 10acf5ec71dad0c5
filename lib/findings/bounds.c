/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/bounds.h"

#include <math.h>
#include <string.h>

#include "lib/findings/findings.h"
#include "lib/profile/fields.h"
#include "llmperf/region.h"

double lp_bound_part(const struct lp_time_spent *spent, uint32_t bound)
{
    switch (bound) {
    case LLMPERF_BOUND_COMMUNICATION:
        return spent->collective_ms - spent->rank_ms;
    case LLMPERF_BOUND_LAUNCH:
        return spent->launch_ms;
    case LLMPERF_BOUND_GAPS:
        return spent->gaps_ms;
    case LLMPERF_BOUND_RANK:
        return spent->rank_ms;
    case LLMPERF_BOUND_HOST:
        return spent->host_ms;
    case LLMPERF_BOUND_COPY:
        return spent->copy_ms;
    default:
        return NAN;
    }
}

/* LLMPERF_BOUND_… with the largest part; _UNKNOWN: the work itself takes LP_BUSY_SHARE or more, or
 * nothing was measured. */
static uint32_t bound_of_time(const struct lp_time_spent *spent)
{
    uint32_t largest = LLMPERF_BOUND_UNKNOWN;

    if (!(spent->work_ms < LP_BUSY_SHARE * spent->elapsed_ms))
        return LLMPERF_BOUND_UNKNOWN;
    for (uint32_t bound = LLMPERF_BOUND_COMMUNICATION; bound <= LLMPERF_BOUND_COPY; bound++)
        if (largest == LLMPERF_BOUND_UNKNOWN ||
            lp_bound_part(spent, bound) > lp_bound_part(spent, largest))
            largest = bound;
    return largest;
}

/* From this ratio to its bound on, a stage does not reach it: the bound does not limit it. */
#define FAR 1.5

const char *lp_limit_words(const struct lp_region_finding *region)
{
    uint32_t bound = region->use.bound;
    static const char *const words[] = {
        [LLMPERF_BOUND_COMPUTE] = "compute",
        [LLMPERF_BOUND_MEMORY] = "memory bandwidth",
        [LLMPERF_BOUND_BALANCED] = "compute and memory bandwidth",
        [LLMPERF_BOUND_COMMUNICATION] = "communication between GPUs",
        [LLMPERF_BOUND_LAUNCH] = "launches by the host",
        [LLMPERF_BOUND_GAPS] = "gaps between kernels",
        [LLMPERF_BOUND_RANK] = "waiting for another rank",
        [LLMPERF_BOUND_HOST] = "other work of the host",
        [LLMPERF_BOUND_COPY] = "copies between host and device",
    };

    if (bound >= LLMPERF_BOUND_COMPUTE && bound <= LLMPERF_BOUND_BALANCED &&
        region->use.floor_ratio >= FAR)
        return "kernels that are far from their bound";
    return bound < LP_LENGTH(words) ? words[bound] : NULL;
}

/* Collectives that a stage launched on this GPU, nested regions included. */
static double collectives_of(const struct lp_findings *findings, const llmperf_region_stats *stats)
{
    double sum = 0;

    for (size_t i = 0; i < findings->kernel_classes.count; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        if (strcmp(findings->kernel_classes.items[i], "collective") != 0)
            continue;
        llmperf_profile_kernel(findings->profile, i, &kernel);
        if (kernel.total_ms > 0 && kernel.device == stats->device &&
            lp_region_is_in(kernel.region, stats->path))
            sum += kernel.total_ms;
    }
    return sum;
}

/* Part of the busy time in which copies between host and device run and no kernel does: at least
 * this, as kernels that run at the same time count twice. */
static double copies_of(const struct lp_findings *findings, const llmperf_region_stats *stats)
{
    double alone_ms = stats->gpu_busy_ms - stats->kernel_ms, sum = 0;

    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *row = lp_row_at(findings->profile, LP_ROW_KERNEL, i);

        if (row->total_ms > 0 && row->device == stats->device &&
            lp_region_is_in(row->region, stats->path) &&
            (strstr(row->name, "[memcpy HtoD") || strstr(row->name, "[memcpy DtoH")))
            sum += row->total_ms;
    }
    return stats->gpu_busy_ms > 0 ? fmax(0, fmin(sum, alone_ms)) / stats->gpu_busy_ms : 0;
}

/* Iterations are those of all processes together: a row has its part of them. */
static void measure(const struct lp_findings *findings, const struct lp_stage_iterations *stage,
                    struct lp_region_finding *region)
{
    struct lp_time_spent *spent = &region->spent;
    struct lp_stage_sum all = lp_stage_sum_of(findings, region->stats.path, -1);
    double part = all.instances > 0 ? (double)region->stats.instances / (double)all.instances : 1;
    double busy_ms = part * stage->times[LP_TIME_BUSY].sum_ms;
    double calls = (double)stage->times[LP_TIME_ELAPSED].count;
    double rank_ms = lp_ranks_waiting(&findings->ranks, region->stats.path, region->stats.device);

    spent->elapsed_ms = part * stage->times[LP_TIME_ELAPSED].sum_ms;
    spent->launch_ms =
        part * (stage->times[LP_TIME_IDLE_LAUNCH].sum_ms - calls * region->profiler.launch_ms);
    spent->gaps_ms = part * stage->times[LP_TIME_IDLE_WAIT].sum_ms;
    spent->host_ms =
        part * (stage->times[LP_TIME_BEFORE].sum_ms + stage->times[LP_TIME_AFTER].sum_ms +
                stage->times[LP_TIME_IDLE_HOST].sum_ms -
                calls * (region->profiler.before_ms + region->profiler.after_ms +
                         region->profiler.host_ms));
    spent->collective_ms = fmin(busy_ms, collectives_of(findings, &region->stats));
    spent->rank_ms = fmin(spent->collective_ms, rank_ms);
    spent->copy_ms =
        fmin(busy_ms - spent->collective_ms, busy_ms * copies_of(findings, &region->stats));
    spent->work_ms = busy_ms - spent->collective_ms - spent->copy_ms;
}

static const char no_causes[] =
    "the GPU is idle for most of the host time, and why is not known: no call was followed with "
    "its launches and its device work";

static void set_bound(const struct lp_findings *findings, struct lp_region_finding *region)
{
    const struct lp_stage_iterations *stage = lp_findings_iterations(findings, region->stats.path);
    uint32_t bound;

    if (stage && !stage->overlaps && stage->times[LP_TIME_SPAN].sum_ms > 0 &&
        stage->times[LP_TIME_ELAPSED].sum_ms > 0)
        measure(findings, stage, region);
    bound = bound_of_time(&region->spent);
    if (bound != LLMPERF_BOUND_UNKNOWN) {
        region->use.bound = bound;
        region->bound_reason = NULL;
    } else if (isnan(region->spent.elapsed_ms) && (!stage || !stage->overlaps) &&
               region->busy_share < LP_BUSY_SHARE) {
        region->use.bound = LLMPERF_BOUND_UNKNOWN;
        region->bound_reason = no_causes;
    }
}

void lp_bounds_set(struct lp_findings *findings)
{
    static const struct lp_time_spent unknown = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };

    for (size_t i = 0; i < findings->regions.count; i++) {
        struct lp_region_finding *region = &findings->regions.items[i];

        region->spent = unknown;
        if (findings->device_known && !findings->withheld &&
            !lp_counters_delay(findings->profile) && region->stats.kind == LLMPERF_REGION_STAGE &&
            region->stats.device >= 0)
            set_bound(findings, region);
    }
}
