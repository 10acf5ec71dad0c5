/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/findings/advice.h"
#include "lib/findings/counter_index.h"
#include "lib/findings/findings.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"
#include "lib/findings/kernel_class.h"
#include "lib/findings/recommend.h"

static size_t find_gpu(const struct lp_findings *findings)
{
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

    if (llmperf_profile_kernel_count(findings->profile) > 0)
        llmperf_profile_kernel(findings->profile, 0, &kernel);
    for (size_t i = 0; i < lp_machine_gpu_count(findings->machine); i++)
        if (lp_machine_gpu_number(findings->machine, i, "device") == kernel.device)
            return i;
    return 0;
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

/* The first thing that keeps a value from being known. */
static const char *why_not(const struct lp_findings *findings, const llmperf_region_stats *region,
                           bool compute, const char *reason)
{
    const struct lp_limits *limits = &findings->limits;
    bool given = (compute ? region->flops : region->bytes) != LLMPERF_UNKNOWN;

    if (given && findings->withheld)
        return "less than 95 % of launches and device time is accounted for (see the ledger)";
    if (given && !lp_findings_describes(findings, region->device))
        return "the region ran on another GPU than hardware describes";
    if (given && limits->hardware_reason[0])
        return limits->hardware_reason;
    return given && compute && limits->dtype_reason[0] ? limits->dtype_reason : reason;
}

static void set_use(const struct lp_findings *findings, struct lp_region_finding *region)
{
    const llmperf_region_stats *stats = &region->stats;
    llmperf_utilisation *use = &region->use;

    lp_limits_apply(lp_findings_describes(findings, stats->device) ? &findings->limits : NULL,
                    stats, findings->device_known && !findings->withheld, use);
    region->mfu_reason = isnan(use->mfu) ? why_not(findings, stats, true, use->mfu_reason) : NULL;
    region->mbu_reason = isnan(use->mbu) ? why_not(findings, stats, false, use->mbu_reason) : NULL;
    /* Every reader takes a utilisation for a share. */
    if (use->mbu > 1) {
        use->mbu = NAN;
        region->mbu_reason =
            "above 1: the bytes fit in the L2 cache and need not come from device memory";
    }
    region->bound_reason = use->bound == LLMPERF_BOUND_UNKNOWN
                               ? why_not(findings, stats, true, use->bound_reason)
                               : NULL;
}

/* A share of a ceiling. Where the share of the peak is not known, this is not for the same reason.
 */
static double share_of(double achieved, double ceiling, const char *ceiling_reason,
                       const char *peak_reason, const char **reason)
{
    double share = achieved / ceiling;

    *reason = peak_reason      ? peak_reason
              : isnan(ceiling) ? ceiling_reason
              : !(share <= 1)  ? "above 1: faster than what was measured; measure again on an "
                                 "idle GPU (llmperf hardware --measure)"
                               : NULL;
    return *reason ? NAN : share;
}

static void set_measured_use(const struct lp_findings *findings, struct lp_region_finding *region)
{
    const struct lp_limits *limits = &findings->limits;

    region->mfu_measured =
        share_of(region->use.achieved_tflops, limits->ceiling_tflops, limits->ceiling_tflops_reason,
                 region->mfu_reason, &region->mfu_measured_reason);
    region->mbu_measured =
        share_of(region->use.achieved_gbs, limits->ceiling_gbs, limits->ceiling_gbs_reason,
                 region->mbu_reason, &region->mbu_measured_reason);
}

static void set_rates(struct lp_region_finding *region)
{
    const llmperf_region_stats *stats = &region->stats;

    region->variation =
        stats->instances > 0 ? lp_variation(stats->wall_std_ms, stats->wall_mean_ms) : (double)NAN;
    region->tokens_per_s = stats->tokens != LLMPERF_UNKNOWN && stats->wall_sum_ms > 0
                               ? (double)stats->tokens * 1e3 / stats->wall_sum_ms
                               : (double)NAN;
}

static int add_regions(struct lp_findings *findings)
{
    size_t count = llmperf_profile_region_count(findings->profile);
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
        set_rates(region);
        lp_measured_of(&counters, &findings->limits, &region->stats, &region->measured);
    }
    lp_counter_index_clear(&counters);
    return 0;
}

/* More than rounding and records that came late. */
#define OVERLAP 1.05

/* Each instance's busy time counts what it shares with another one; that of the region does not. */
static bool overlaps(const struct lp_findings *findings, const struct lp_stage_iterations *stage)
{
    double busy_ms = 0;

    for (size_t i = lp_profile_find_region(findings->profile, stage->region);
         i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;

        if (strcmp(stats->path, stage->region) != 0)
            break;
        if (stats->gpu_busy_ms > 0)
            busy_ms += stats->gpu_busy_ms;
    }
    return busy_ms > 0 && stage->times[LP_TIME_BUSY].count > 0 &&
           stage->times[LP_TIME_BUSY].sum_ms > OVERLAP * busy_ms;
}

static int add_stages(struct lp_findings *findings)
{
    size_t rows = llmperf_profile_iteration_stats_count(findings->profile);

    for (size_t row = 0; row < rows;) {
        struct lp_stage_iterations stage;

        row = lp_stage_iterations_read(&stage, findings->profile, row);
        stage.overlaps = overlaps(findings, &stage);
        if (lp_vector_push(&findings->stages, stage) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

/* Without the table no class is known. */
static int add_classes(struct lp_findings *findings)
{
    const llmperf_profile *profile = findings->profile;
    size_t count = llmperf_profile_kernel_count(profile);
    int status = lp_kernel_classes_open(NULL, &findings->classes);

    if (status < 0)
        return status == LLMPERF_ENOMEM ? status : 0;
    if (lp_vector_reserve(&findings->kernel_classes, count) < 0)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        findings->kernel_classes.items[findings->kernel_classes.count++] =
            lp_kernel_class(findings->classes, kernel.demangled, kernel.kind);
    }
    return lp_class_totals_init(&findings->class_totals, profile, findings->kernel_classes.items);
}

static int work_out(struct lp_findings *findings)
{
    int status;

    if ((status = add_classes(findings)) < 0 || (status = add_regions(findings)) < 0 ||
        (status = add_stages(findings)) < 0 ||
        (status = lp_ranks_init(&findings->ranks, findings)) < 0 ||
        (status = lp_advice_add(findings)) < 0 ||
        (status = lp_cost_centres_init(&findings->cost_centres, findings)) < 0)
        return status;
    return lp_kernel_works_read(&findings->kernel_works, findings);
}

static void free_findings(struct lp_kept *kept)
{
    struct lp_findings *findings = (struct lp_findings *)kept;

    lp_kernel_works_clear(&findings->kernel_works);
    lp_cost_centres_clear(&findings->cost_centres);
    lp_recommendations_clear(&findings->advice);
    lp_ranks_clear(&findings->ranks);
    lp_vector_clear(&findings->stages);
    lp_vector_clear(&findings->regions);
    lp_class_totals_clear(&findings->class_totals);
    lp_vector_clear(&findings->kernel_classes);
    lp_limits_clear(&findings->limits);
    lp_machine_free(findings->machine);
    lp_kernel_classes_free(findings->classes);
    free(findings);
}

int lp_findings_of(const llmperf_profile *profile, const struct lp_findings **findings_out)
{
    struct lp_findings *findings = (struct lp_findings *)lp_profile_kept(profile);
    int status;

    if ((*findings_out = findings))
        return 0;
    if (!(findings = calloc(1, sizeof(*findings))))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    findings->kept.free = free_findings;
    findings->profile = profile;
    findings->ledger = (llmperf_ledger)LLMPERF_LEDGER_INIT;
    llmperf_profile_ledger(profile, &findings->ledger);
    findings->device_known = lp_device_known(&findings->ledger);
    findings->withheld = findings->ledger.verdict == LLMPERF_VERDICT_INCOMPLETE &&
                         !(lp_coverage(&findings->ledger) >= LP_HEADLINE_COVERAGE);
    findings->machine = lp_machine_open(profile);
    findings->gpu = find_gpu(findings);
    lp_aggregates_read(&findings->sums, profile);
    lp_limits_init(&findings->limits, profile, findings->machine, findings->gpu);
    if ((status = work_out(findings)) < 0) {
        free_findings(&findings->kept);
        return lp_error(status, "out of memory");
    }
    *findings_out = (const struct lp_findings *)lp_profile_keep(profile, &findings->kept);
    return 0;
}

bool lp_findings_is_first(const struct lp_findings *findings, size_t region)
{
    return region == 0 || strcmp(findings->regions.items[region - 1].stats.path,
                                 findings->regions.items[region].stats.path) != 0;
}

bool lp_findings_is_empty(const struct lp_findings *findings)
{
    return findings->regions.count == 0 && llmperf_profile_kernel_count(findings->profile) == 0;
}
