/* SPDX-License-Identifier: Apache-2.0 */
/* Findings from energy and clocks. */
#include <math.h>

#include "lib/base/dtype.h"
#include "lib/findings/findings.h"
#include "lib/profile/fields.h"
#include "llmperf/region.h"

static const llmperf_energy *gpu_of(const struct lp_findings *findings, int32_t device)
{
    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_ENERGY); i++) {
        const llmperf_energy *row = lp_row_at(findings->profile, LP_ROW_ENERGY, i);

        if (row->device == device)
            return row;
    }
    return NULL;
}

static const char *why_no_energy(const struct lp_findings *findings,
                                 const llmperf_region_stats *stats, const llmperf_energy *gpu)
{
    const char *fact = llmperf_profile_fact(findings->profile, LP_ENERGY_FACT);

    if (stats->kind != LLMPERF_REGION_STAGE)
        return "energy is given for stages only";
    if (!gpu)
        return fact ? fact : "NVML was not read in this run";
    if (gpu->reason)
        return gpu->reason;
    if (isnan(gpu->stages_j))
        return "several processes used the GPU at the same time";
    return "calls of stages ran at the same time, or energy was not read during all calls";
}

/* The clock that the peak in use assumes; NaN: not known. */
static double peak_clock(const struct lp_limits *limits)
{
    llmperf_hardware_value clock = LLMPERF_HARDWARE_VALUE_INIT;
    int peak = lp_peak_find(limits->dtype);
    bool tensor = peak >= 0 && lp_peak_is_tensor(peak);

    if (!limits->hardware || peak < 0 || limits->peak.origin == LLMPERF_ORIGIN_USER ||
        llmperf_hardware_quantity(limits->hardware,
                                  tensor ? LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ
                                         : LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ,
                                  &clock) < 0)
        return NAN;
    return clock.value;
}

static void set_energy(const struct lp_findings *findings, struct lp_region_finding *region)
{
    const llmperf_region_stats *stats = &region->stats;
    const llmperf_energy *gpu = gpu_of(findings, stats->device);
    bool counted = stats->tokens != LLMPERF_UNKNOWN && stats->tokens > 0;
    double clock = peak_clock(&findings->limits);
    bool overlaps = lp_findings_overlaps(findings, stats->path);

    if (overlaps)
        region->stats.energy_j = region->stats.energy_error_j = NAN;
    region->energy_reason =
        isnan(region->stats.energy_j) ? why_no_energy(findings, stats, gpu) : NULL;
    region->token_j = counted ? region->stats.energy_j / (double)stats->tokens : (double)NAN;
    region->token_j_reason = region->energy_reason ? region->energy_reason
                             : counted             ? NULL
                                                   : "no tokens were counted";
    region->mfu_at_clock = region->use.mfu * clock / stats->sm_clock_mhz;
    region->clock_reason = isnan(stats->sm_clock_mhz)    ? why_no_energy(findings, stats, gpu)
                           : region->mfu_reason          ? region->mfu_reason
                           : isnan(region->mfu_at_clock) ? "the clock that the peak assumes is "
                                                           "not known"
                                                         : NULL;
}

void lp_regions_set_energy(struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++)
        set_energy(findings, &findings->regions.items[i]);
}

const char *lp_throttle_words(const llmperf_energy *gpu)
{
    double most = fmax(gpu->power_cap_share, fmax(gpu->thermal_share, gpu->slowdown_share));

    if (!(most > 0))
        return NULL;
    return most <= gpu->power_cap_share ? "power cap"
           : most <= gpu->thermal_share ? "temperature"
                                        : "hardware slowdown";
}
