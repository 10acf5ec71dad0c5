/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/cost_centres.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/findings/findings.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"
#include "lib/findings/recommend.h"

/* Kernel classes in words for readers who do not know GPUs. */
static const char *plain_class(const char *kernel_class)
{
    static const char *const words[][2] = {
        { "GEMM", "matrix products" },
        { "attention", "attention" },
        { "MoE", "MoE expert layers" },
        { "norm", "normalisation" },
        { "elementwise", "element-wise kernels" },
        { "copy/cast", "data movement and conversion kernels" },
        { "reduction", "reductions and softmax" },
        { "collective", "communication between GPUs" },
        { "sampling", "token sampling" },
        { "memory op", "memory copies" },
        { "other", "other kernels" },
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i][0], kernel_class) == 0)
            return words[i][1];
    return kernel_class;
}

/* Wall time of all calls of a stage / of its collected calls. 1 without sampling. */
static double scale_of(const struct lp_findings *findings, const char *label)
{
    double all_ms = 0, collected_ms = 0;

    for (size_t i = 0; label && i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;

        if (stats->kind != LLMPERF_REGION_STAGE || strcmp(stats->label, label) != 0)
            continue;
        all_ms += stats->wall_sum_ms;
        collected_ms += lp_collected_ms(stats);
    }
    return collected_ms > 0 && collected_ms < all_ms ? all_ms / collected_ms : 1;
}

static int add(struct lp_cost_centres *centres, const char *stage, const char *what, double ms)
{
    struct lp_cost_centre row = { stage, what, ms, NAN };

    return ms > 0 ? lp_vector_push(&centres->rows, row) : 0;
}

static int add_waiting(struct lp_cost_centres *centres, const struct lp_findings *findings,
                       const llmperf_region_stats *stats, double idle_ms)
{
    const struct lp_stage_iterations *stage = lp_findings_iterations(findings, stats->path);
    double scale = scale_of(findings, stats->label);
    int status;

    if (stage && stage->overlaps)
        return 0;
    if (!stage || stage->times[LP_TIME_SPAN].count == 0)
        return add(centres, stats->label, "GPU idle", scale * idle_ms);
    if ((status = add(centres, stats->label, "GPU idle, waiting for the host to launch",
                      scale * stage->times[LP_TIME_IDLE_LAUNCH].sum_ms)) < 0 ||
        (status = add(centres, stats->label, "gaps between dependent kernels",
                      scale * stage->times[LP_TIME_IDLE_WAIT].sum_ms)) < 0)
        return status;
    return add(centres, stats->label, "host work before and after the GPU work", stage->host_ms);
}

static int compare(const void *left, const void *right)
{
    const struct lp_cost_centre *a = left, *b = right;

    return (a->ms < b->ms) - (a->ms > b->ms);
}

/* Without a device: the stage's wall time less that of its nested stages. */
static double own_wall_ms(const struct lp_findings *findings, const char *path, double wall_ms)
{
    for (size_t i = lp_profile_find_region(findings->profile, path);
         i < findings->regions.count &&
         lp_region_is_in(findings->regions.items[i].stats.path, path);
         i++) {
        const struct lp_region_finding *inner = &findings->regions.items[i];

        if (inner->advised && inner->around && strcmp(inner->around, path) == 0)
            wall_ms -= lp_stage_sum_of(findings, inner->stats.path, -1).wall_ms;
    }
    return wall_ms;
}

static int add_regions(struct lp_cost_centres *centres, const struct lp_findings *findings,
                       double *all_ms)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;
        struct lp_stage_sum sum;

        if (!findings->regions.items[i].advised)
            continue;
        sum = lp_stage_sum_of(findings, stats->path, -1);
        centres->together |= sum.rows > 1;
        if (!findings->regions.items[i].around)
            *all_ms += sum.time_ms;
        status = findings->device_known ? add_waiting(centres, findings, stats, sum.idle_ms)
                                        : add(centres, stats->label, "host time",
                                              own_wall_ms(findings, stats->path, sum.wall_ms));
    }
    return status;
}

int lp_cost_centres_init(struct lp_cost_centres *centres, const struct lp_findings *findings)
{
    double all_ms = 0;
    int status;

    *centres = (struct lp_cost_centres){ 0 };
    status = add_regions(centres, findings, &all_ms);
    for (size_t i = 0; status == 0 && i < findings->class_totals.rows.count; i++) {
        const struct lp_class_total *row = &findings->class_totals.rows.items[i];

        status = add(centres, row->stage, plain_class(row->kernel_class),
                     scale_of(findings, row->stage) * row->total_ms);
    }
    for (size_t i = 0; i < centres->rows.count; i++)
        centres->rows.items[i].share = all_ms > 0 ? centres->rows.items[i].ms / all_ms : NAN;
    if (centres->rows.count > 0)
        qsort(centres->rows.items, centres->rows.count, sizeof(*centres->rows.items), compare);
    return status;
}

void lp_cost_centres_clear(struct lp_cost_centres *centres)
{
    lp_vector_clear(&centres->rows);
}
