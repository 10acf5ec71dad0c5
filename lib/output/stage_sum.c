/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/stage_sum.h"

#include <math.h>
#include <string.h>

#include "lib/output/view.h"

static bool is_row_of(const llmperf_region_stats *region, const char *path, int32_t device)
{
    return strcmp(region->path, path) == 0 && (device < 0 || region->device == device);
}

/* Host times repeat in the rows of the GPUs of a process. */
static bool is_first_of_process(const struct lp_view *view, size_t index, int32_t device)
{
    const llmperf_region_stats *region = &view->regions.items[index].stats;

    for (size_t i = 0; i < index; i++)
        if (is_row_of(&view->regions.items[i].stats, region->path, device) &&
            view->regions.items[i].stats.process_id == region->process_id)
            return false;
    return true;
}

static double time_of(const struct lp_view *view, const llmperf_region_stats *region)
{
    if (lp_view_overlaps(view, region->path))
        return region->gpu_busy_ms;
    return view->device_known ? fmax(region->wall_sum_ms, region->gpu_busy_ms)
                              : region->wall_sum_ms;
}

struct lp_stage_sum lp_stage_sum_of(const struct lp_view *view, const char *path, int32_t device)
{
    struct lp_stage_sum sum = { 0 };

    for (size_t i = 0; i < view->regions.count; i++) {
        const llmperf_region_stats *region = &view->regions.items[i].stats;

        if (!is_row_of(region, path, device))
            continue;
        sum.rows++;
        sum.time_ms += fmax(0, time_of(view, region)); /* 0 where it is not known */
        sum.busy_ms += fmax(0, region->gpu_busy_ms);
        sum.idle_ms += fmax(0, region->idle_ms);
        if (!is_first_of_process(view, i, device))
            continue;
        sum.processes++;
        sum.instances += region->instances;
        sum.wall_ms += region->wall_sum_ms;
    }
    return sum;
}
