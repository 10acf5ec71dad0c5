/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/findings/advice.h"
#include "lib/findings/view.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"
#include "lib/findings/kernel_class.h"
#include "lib/findings/recommend.h"

size_t lp_view_gpu(const struct lp_view *view)
{
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

    if (llmperf_profile_kernel_count(view->profile) > 0)
        llmperf_profile_kernel(view->profile, 0, &kernel);
    for (size_t i = 0; i < lp_machine_gpu_count(view->machine); i++)
        if (lp_machine_gpu_number(view->machine, i, "device") == kernel.device)
            return i;
    return 0;
}

bool lp_view_varies(const llmperf_region_stats *region)
{
    return region->kind == LLMPERF_REGION_STAGE && region->instances > 1 &&
           lp_variation(region->wall_std_ms, region->wall_mean_ms) > 0.10;
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

bool lp_view_describes(const struct lp_view *view, int32_t device)
{
    const struct lp_machine *machine = view->machine;

    for (size_t i = 0; i < lp_machine_gpu_count(machine); i++) {
        const char *name = lp_machine_gpu_text(machine, i, "name");

        if (lp_machine_gpu_number(machine, i, "device") == device)
            return name && view->limits.gpu_name && strcmp(name, view->limits.gpu_name) == 0;
    }
    return true;
}

/* The first thing that keeps a value from being known. */
static const char *why_not(const struct lp_view *view, const llmperf_region_stats *region,
                           bool compute, const char *reason)
{
    const struct lp_limits *limits = &view->limits;
    bool given = (compute ? region->flops : region->bytes) != LLMPERF_UNKNOWN;

    if (given && view->withheld)
        return "less than 95 % of launches and device time is accounted for (see the ledger)";
    if (given && !lp_view_describes(view, region->device))
        return "the region ran on another GPU than hardware describes";
    if (given && limits->hardware_reason[0])
        return limits->hardware_reason;
    return given && compute && limits->dtype_reason[0] ? limits->dtype_reason : reason;
}

static void set_use(const struct lp_view *view, struct lp_region_view *region)
{
    const llmperf_region_stats *stats = &region->stats;
    llmperf_utilisation *use = &region->use;

    lp_limits_apply(lp_view_describes(view, stats->device) ? &view->limits : NULL, stats,
                    view->device_known && !view->withheld, use);
    region->mfu_reason = isnan(use->mfu) ? why_not(view, stats, true, use->mfu_reason) : NULL;
    region->mbu_reason = isnan(use->mbu) ? why_not(view, stats, false, use->mbu_reason) : NULL;
    /* Every reader takes a utilisation for a share. */
    if (use->mbu > 1) {
        use->mbu = NAN;
        region->mbu_reason =
            "above 1: the bytes fit in the L2 cache and need not come from device memory";
    }
    region->bound_reason =
        use->bound == LLMPERF_BOUND_UNKNOWN ? why_not(view, stats, true, use->bound_reason) : NULL;
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

static void set_measured_use(const struct lp_view *view, struct lp_region_view *region)
{
    const struct lp_limits *limits = &view->limits;

    region->mfu_measured =
        share_of(region->use.achieved_tflops, limits->ceiling_tflops, limits->ceiling_tflops_reason,
                 region->mfu_reason, &region->mfu_measured_reason);
    region->mbu_measured =
        share_of(region->use.achieved_gbs, limits->ceiling_gbs, limits->ceiling_gbs_reason,
                 region->mbu_reason, &region->mbu_measured_reason);
}

static int add_regions(struct lp_view *view)
{
    size_t count = llmperf_profile_region_count(view->profile);

    if (lp_vector_reserve(&view->regions, count) < 0)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct lp_region_view *region = &view->regions.items[view->regions.count++];

        *region = (struct lp_region_view){ .stats = LLMPERF_REGION_STATS_INIT };
        llmperf_profile_region(view->profile, i, &region->stats);
        set_use(view, region);
        set_measured_use(view, region);
    }
    return 0;
}

/* More than rounding and records that came late. */
#define OVERLAP 1.05

/* Each instance's busy time counts what it shares with another one; that of the region does not. */
static bool overlaps(const struct lp_view *view, const struct lp_stage_iterations *stage)
{
    double busy_ms = 0;

    for (size_t i = lp_profile_find_region(view->profile, stage->region); i < view->regions.count;
         i++) {
        const llmperf_region_stats *stats = &view->regions.items[i].stats;

        if (strcmp(stats->path, stage->region) != 0)
            break;
        if (stats->gpu_busy_ms > 0)
            busy_ms += stats->gpu_busy_ms;
    }
    return busy_ms > 0 && stage->times[LP_TIME_BUSY].count > 0 &&
           stage->times[LP_TIME_BUSY].sum_ms > OVERLAP * busy_ms;
}

static int add_stages(struct lp_view *view)
{
    size_t rows = llmperf_profile_iteration_stats_count(view->profile);

    for (size_t row = 0; row < rows;) {
        struct lp_stage_iterations stage;

        row = lp_stage_iterations_read(&stage, view->profile, row);
        stage.overlaps = overlaps(view, &stage);
        if (lp_vector_push(&view->stages, stage) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

int lp_view_init(struct lp_view *view, const llmperf_profile *profile)
{
    double coverage;
    int status;

    *view = (struct lp_view){ .profile = profile, .ledger = LLMPERF_LEDGER_INIT };
    llmperf_profile_ledger(profile, &view->ledger);
    coverage = lp_coverage(&view->ledger);
    view->device_known = lp_device_known(&view->ledger);
    view->withheld =
        view->ledger.verdict == LLMPERF_VERDICT_INCOMPLETE && !(coverage >= LP_HEADLINE_COVERAGE);
    view->machine = lp_machine_open(profile);
    lp_limits_init(&view->limits, profile, view->machine, lp_view_gpu(view));
    if ((status = lp_kernel_classes_open(NULL, &view->classes)) == LLMPERF_ENOMEM)
        return status;
    if (status < 0)
        status = 0; /* without classes */
    else
        status = lp_class_totals_init(&view->class_totals, profile, view->classes);
    if (status < 0 || (status = add_regions(view)) < 0 || (status = add_stages(view)) < 0 ||
        (status = lp_ranks_init(&view->ranks, view)) < 0)
        return status;
    return lp_advice_add(view);
}

void lp_view_clear(struct lp_view *view)
{
    lp_recommendations_clear(&view->advice);
    lp_ranks_clear(&view->ranks);
    lp_vector_clear(&view->stages);
    lp_vector_clear(&view->regions);
    lp_class_totals_clear(&view->class_totals);
    lp_limits_clear(&view->limits);
    lp_machine_free(view->machine);
    lp_kernel_classes_free(view->classes);
    *view = (struct lp_view){ .profile = NULL };
}

bool lp_view_is_first(const struct lp_view *view, size_t region)
{
    return region == 0 || strcmp(view->regions.items[region - 1].stats.path,
                                 view->regions.items[region].stats.path) != 0;
}

bool lp_view_is_empty(const struct lp_view *view)
{
    return view->regions.count == 0 && llmperf_profile_kernel_count(view->profile) == 0;
}
