/* SPDX-License-Identifier: Apache-2.0 */
/* Findings that need only one region row. */
#include <math.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/findings/limits/measured.h"
#include "lib/findings/findings.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"

const char *lp_clock_words(uint32_t clock)
{
    return clock == LLMPERF_CLOCK_DEVICE ? "GPU time" : "host time";
}

/* Below this, no percentile above the median is known. */
#define CALLS_FOR_PERCENTILES 20

void lp_variation_text(const struct lp_region_finding *region, struct lp_text *out)
{
    lp_text_printf(out, "%s: the %s of its %" PRIu64 " calls%s varies, std / mean is %.0f %%; ",
                   region->stats.path, lp_clock_words(region->clock),
                   region->stats.instances - region->warm_up_calls,
                   region->warm_up_ms > 0 ? " after warm-up" : "", 100 * region->variation);
    lp_text_puts(out, region->stats.instances >= CALLS_FOR_PERCENTILES
                          ? "look at the percentiles, not at the mean."
                          : "the mean of so few calls says little, so profile more of them.");
}

bool lp_findings_varies(const struct lp_region_finding *region)
{
    return region->stats.kind == LLMPERF_REGION_STAGE && region->stats.instances > 1 &&
           region->variation > 0.10;
}

const char *lp_work_origin(uint32_t origin)
{
    switch (origin) {
    case LLMPERF_WORK_PROGRAM:
        return "program";
    case LLMPERF_WORK_MODEL:
        return "model";
    default:
        return NULL;
    }
}

bool lp_findings_describes(const struct lp_findings *findings, int32_t device)
{
    const struct lp_machine *machine = findings->machine;

    for (size_t i = 0; i < lp_machine_gpu_count(machine); i++) {
        const char *name = lp_machine_gpu_text(machine, i, "name");

        if (lp_machine_gpu_number(machine, i, "device") == device)
            return name && findings->limits.gpu_name &&
                   strcmp(name, findings->limits.gpu_name) == 0;
    }
    return true;
}

/* The first reason why a value is not known. */
static const char *why_not(const struct lp_findings *findings, const llmperf_region_stats *region,
                           bool compute, const char *reason)
{
    const struct lp_limits *limits = &findings->limits;
    bool has_work = (compute ? region->flops : region->bytes) != LLMPERF_UNKNOWN;

    if (has_work && findings->withheld)
        return "less than 95 % of launches and device time is accounted for (see the ledger)";
    if (has_work && !lp_findings_describes(findings, region->device))
        return "the region ran on another GPU than the one that hardware describes";
    if (has_work && limits->hardware_reason[0])
        return limits->hardware_reason;
    return has_work && compute && limits->dtype_reason[0] ? limits->dtype_reason : reason;
}

static void set_use(const struct lp_findings *findings, struct lp_region_finding *region)
{
    const llmperf_region_stats *stats = &region->stats;
    llmperf_utilisation *use = &region->use;

    lp_limits_apply(lp_findings_describes(findings, stats->device) ? &findings->limits : NULL,
                    stats, findings->device_known && !findings->withheld, use);
    region->mfu_reason = isnan(use->mfu) ? why_not(findings, stats, true, use->mfu_reason) : NULL;
    region->mbu_reason = isnan(use->mbu) ? why_not(findings, stats, false, use->mbu_reason) : NULL;
    /* A utilisation above 1 would be misread. */
    if (use->mbu > 1) {
        use->mbu = use->mbu_elapsed = NAN;
        region->mbu_reason =
            "above 1: the bytes fit in the L2 cache and are not read from device memory";
    }
    region->floor_reason =
        isnan(use->time_floor_ms) ? why_not(findings, stats, true, use->floor_reason) : NULL;
    region->ratio_reason =
        isnan(use->floor_ratio) ? why_not(findings, stats, true, use->ratio_reason) : NULL;
    region->bound_reason = use->bound == LLMPERF_BOUND_UNKNOWN
                               ? why_not(findings, stats, true, use->bound_reason)
                               : NULL;
}

static const char no_elapsed_time[] =
    "the elapsed time is not known: no call was complete, or one was cut by the start or the end "
    "of the session";
static const char at_once[] =
    "calls ran at the same time: the sum of their wall times is not elapsed time";

static void set_elapsed(struct lp_region_finding *region, bool overlaps)
{
    const char *reason = overlaps ? at_once : no_elapsed_time;
    bool stage = region->collected_ms > 0 && !isnan(region->stats.active_ms);

    if (overlaps)
        region->use.mfu_elapsed = region->use.mbu_elapsed = NAN;
    if (stage && region->stats.truncated == 0) {
        region->use.mfu_elapsed = region->use.mfu * fmin(1, region->busy_share);
        region->use.mbu_elapsed = region->use.mbu * fmin(1, region->busy_share);
        region->use.wall_ratio = region->use.floor_ratio / fmin(1, region->busy_share);
    }
    region->mfu_elapsed_reason = !isnan(region->use.mfu_elapsed) ? NULL
                                 : region->mfu_reason            ? region->mfu_reason
                                                                 : reason;
    region->mbu_elapsed_reason = !isnan(region->use.mbu_elapsed) ? NULL
                                 : region->mbu_reason            ? region->mbu_reason
                                                                 : reason;
}

/* In a stage whose calls overlapped, or around one. */
static bool is_at_once(const struct lp_findings *findings, const char *path)
{
    for (size_t i = 0; i < findings->stages.count; i++)
        if (findings->stages.items[i].overlaps &&
            (lp_region_is_in(path, findings->stages.items[i].region) ||
             lp_region_is_in(findings->stages.items[i].region, path)))
            return true;
    return false;
}

void lp_regions_set_elapsed(struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++)
        set_elapsed(&findings->regions.items[i],
                    is_at_once(findings, findings->regions.items[i].stats.path));
}

/* Share of a measured peak. If the share of the data-sheet peak is unknown, so is this one, for the
 * same reason. */
static double share_of(double achieved, double measured_peak, const char *measured_reason,
                       const char *peak_reason, const char **reason)
{
    double share = achieved / measured_peak;

    *reason = peak_reason            ? peak_reason
              : isnan(measured_peak) ? measured_reason
              : !(share <= 1) ? "above 1: faster than the measured peak; measure again on an idle "
                                "GPU (llmperf hardware --measure)"
                              : NULL;
    return *reason ? NAN : share;
}

static void set_measured_use(const struct lp_findings *findings, struct lp_region_finding *region)
{
    const struct lp_limits *limits = &findings->limits;

    region->mfu_measured =
        share_of(region->use.achieved_tflops, limits->measured_tflops,
                 limits->measured_tflops_reason, region->mfu_reason, &region->mfu_measured_reason);
    region->mbu_measured =
        share_of(region->use.achieved_gbs, limits->measured_bandwidth_gbs,
                 limits->measured_gbs_reason, region->mbu_reason, &region->mbu_measured_reason);
}

static double of_call(uint64_t amount, const llmperf_region_stats *stats)
{
    return amount == LLMPERF_UNKNOWN || stats->instances == 0
               ? (double)NAN
               : (double)amount / (double)stats->instances;
}

static void set_known(const struct lp_findings *findings, struct lp_region_finding *region)
{
    const struct lp_row_kind *kind = &lp_row_kinds[LP_ROW_REGION];
    bool device = findings->device_known, instance = region->stats.instances > 0;

    region->known = region->stats;
    for (size_t i = 0; i < kind->count; i++) {
        const struct lp_row_field *field = &kind->fields[i];
        bool idle = field->unknown == LP_UNKNOWN_NO_IDLE;

        if (field->offset < sizeof(region->known) &&
            ((!device && (idle || field->unknown == LP_UNKNOWN_NO_DEVICE)) ||
             (!instance && (idle || field->unknown == LP_UNKNOWN_NO_INSTANCE))))
            lp_field_forget(field, &region->known);
    }
}

static void set_rates(struct lp_region_finding *region)
{
    const llmperf_region_stats *stats = &region->stats;
    double collected_ms = lp_collected_ms(stats);

    region->busy_share = stats->instances > 0 && collected_ms > 0 && stats->device >= 0
                             ? lp_collected_busy_ms(stats) / collected_ms
                             : (double)NAN;
    region->floor_call_ms =
        region->use.time_floor_ms / ((double)stats->instances * collected_ms / stats->wall_sum_ms);
    region->busy_error =
        stats->skipped_fraction > 0
            ? lp_error_of(stats->estimate_ms, stats->estimate_low_ms, stats->estimate_high_ms)
            : (struct lp_interval){ 1, 1 };
    region->flops_call = of_call(stats->flops, stats);
    region->bytes_call = of_call(stats->bytes, stats);

    region->scale = collected_ms > 0 && collected_ms < stats->wall_sum_ms
                        ? stats->wall_sum_ms / collected_ms
                        : 1;
    region->variation =
        stats->instances > 0 ? lp_variation(stats->wall_std_ms, stats->wall_mean_ms) : (double)NAN;
}

int lp_regions_add(struct lp_findings *findings)
{
    size_t count = lp_row_count(findings->profile, LP_ROW_REGION);
    struct lp_counter_index counters;

    if (lp_counter_index_init(&counters, findings->profile) < 0 ||
        lp_vector_reserve(&findings->regions, count) < 0) {
        lp_counter_index_clear(&counters);
        return LLMPERF_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct lp_region_finding *region = &findings->regions.items[findings->regions.count++];

        *region = (struct lp_region_finding){ .stats = LLMPERF_REGION_STATS_INIT };
        llmperf_profile_region(findings->profile, i, &region->stats);
        set_use(findings, region);
        set_measured_use(findings, region);
        set_known(findings, region);
        set_rates(region);
        lp_measured_of(&counters, &findings->limits, &region->stats, &region->measured);
    }
    lp_counter_index_clear(&counters);
    return 0;
}

const struct lp_region_finding *lp_rows_of(const struct lp_findings *findings, const char *path)
{
    size_t at = path ? lp_profile_find_region(findings->profile, path) : findings->regions.count;
    const struct lp_region_finding *row = findings->regions.items + at;

    return at < findings->regions.count && strcmp(row->stats.path, path) == 0 ? row : NULL;
}

const struct lp_region_finding *lp_rows_next(const struct lp_findings *findings,
                                             const struct lp_region_finding *row)
{
    const struct lp_region_finding *end = findings->regions.items + findings->regions.count;

    return row + 1 < end && strcmp(row[1].stats.path, row->stats.path) == 0 ? row + 1 : NULL;
}

bool lp_findings_is_first(const struct lp_findings *findings, size_t region)
{
    const struct lp_region_finding *row = &findings->regions.items[region];

    return lp_rows_of(findings, row->stats.path) == row;
}

bool lp_findings_is_empty(const struct lp_findings *findings)
{
    return findings->regions.count == 0 && lp_row_count(findings->profile, LP_ROW_KERNEL) == 0;
}
