/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/findings.h"

#include <math.h>
#include <string.h>

#include "lib/findings/findings.h"
#include "lib/profile/profile.h"

static double time_of(const struct lp_findings *findings, const llmperf_region_stats *region)
{
    if (lp_findings_overlaps(findings, region->path))
        return region->gpu_busy_ms;
    return findings->device_known ? fmax(region->wall_sum_ms, region->gpu_busy_ms)
                                  : region->wall_sum_ms;
}

struct lp_stage_sum lp_stage_sum_of(const struct lp_findings *findings, const char *path,
                                    int32_t device)
{
    const llmperf_region_stats *before = NULL;
    struct lp_stage_sum sum = { 0 };

    for (size_t i = lp_profile_find_region(findings->profile, path); i < findings->regions.count;
         i++) {
        const llmperf_region_stats *region = &findings->regions.items[i].stats;
        bool again;

        if (strcmp(region->path, path) != 0)
            break;
        if (device >= 0 && region->device != device)
            continue;
        /* Host times repeat in the rows of the GPUs of a process. */
        again = before && before->process_id == region->process_id;
        before = region;
        sum.rows++;
        sum.time_ms += fmax(0, time_of(findings, region)); /* 0 where it is not known */
        sum.busy_ms += fmax(0, region->gpu_busy_ms);
        sum.idle_ms += fmax(0, region->idle_ms);
        if (again)
            continue;
        sum.processes++;
        sum.instances += region->instances;
        sum.wall_ms += region->wall_sum_ms;
    }
    return sum;
}
