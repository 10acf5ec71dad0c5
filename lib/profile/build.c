/* SPDX-License-Identifier: Apache-2.0 */
/** Profiles built row by row, for readers that have totals instead of records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/statistics/histogram.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"

const char *lp_profile_path(llmperf_profile *profile, uint32_t node)
{
    struct lp_text text = { NULL, 0, 0, false };
    const char *copy;

    if (node == LP_PATH_UNKNOWN)
        return NULL;
    lp_text_puts(&text, "");
    lp_path_print(&text, node);
    copy = text.failed ? NULL : lp_profile_text(profile, text.bytes);
    lp_text_clear(&text);
    return copy;
}

int lp_profile_add_region(llmperf_profile *profile, uint32_t node,
                          const llmperf_region_stats *stats)
{
    struct lp_region_row row = { *stats, { NULL, 0 } };
    const struct lp_path *path = lp_path_get(node);
    uint32_t stage = lp_path_stage(node);

    LP_NO_ESTIMATE(&row.stats);
    row.stats.energy_j = row.stats.energy_error_j = row.stats.sm_clock_mhz = NAN;
    row.stats.struct_size = sizeof(row.stats);
    row.stats.active_ms = row.stats.collected_wall_ms = NAN;
    row.stats.path = lp_profile_path(profile, node);
    row.stats.label = lp_profile_text(profile, path->label);
    row.stats.depth = node == LP_PATH_ROOT ? 0 : path->depth - 1;
    row.stats.kind = node == LP_PATH_ROOT ? LLMPERF_REGION_OPERATOR : lp_path_kind(node);
    row.stats.parent = row.stats.depth > 0 ? lp_profile_path(profile, path->parent) : NULL;
    row.stats.stage =
        stage == LP_PATH_ROOT ? NULL : lp_profile_text(profile, lp_path_get(stage)->label);
    if (!row.stats.path || !row.stats.label || (row.stats.depth > 0 && !row.stats.parent) ||
        (stage != LP_PATH_ROOT && !row.stats.stage))
        return lp_out_of_memory();
    return lp_vector_push(&profile->regions, row);
}

static int measure(llmperf_profile *profile, struct lp_kernel_row *row,
                   const uint64_t *durations_ns, size_t count)
{
    struct lp_histogram histogram = { 0 };
    llmperf_kernel_stats *stats = &row->stats;
    int status = 0;

    stats->total_ms = 0;
    stats->min_ms = INFINITY;
    stats->max_ms = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        double ms = (double)durations_ns[i] / 1e6;

        stats->total_ms += ms;
        stats->min_ms = fmin(stats->min_ms, ms);
        stats->max_ms = fmax(stats->max_ms, ms);
        status = lp_histogram_add(&histogram, durations_ns[i]);
    }
    stats->mean_ms = stats->total_ms / (double)count;
    lp_set_percentiles(LP_ROW_KERNEL, stats, &histogram, stats->min_ms, stats->max_ms);
    if (status == 0)
        status = lp_profile_histogram(profile, &histogram, &row->durations);
    lp_histogram_clear(&histogram);
    return status;
}

int lp_profile_add_kernel(llmperf_profile *profile, const llmperf_kernel_stats *stats,
                          const uint64_t *durations_ns, size_t count)
{
    struct lp_kernel_row row = { *stats, { NULL, 0 } };
    int status;

    row.stats.struct_size = sizeof(row.stats);
    row.stats.name = lp_profile_text(profile, stats->name);
    row.stats.region = lp_profile_text(profile, stats->region);
    row.stats.captured_in = NULL;
    LP_NO_ESTIMATE(&row.stats);
    if (!row.stats.name || (stats->region && !row.stats.region))
        return lp_out_of_memory();
    if (durations_ns && count > 0 && (status = measure(profile, &row, durations_ns, count)) < 0)
        return status;
    return lp_vector_push(&profile->kernels, row);
}

llmperf_kernel_shape lp_kernel_shape_of(const llmperf_kernel_stats *kernel)
{
    llmperf_kernel_shape row = LLMPERF_KERNEL_SHAPE_INIT;

    lp_row_forget(LP_ROW_KERNEL_SHAPE, &row);
    row.name = kernel->name;
    row.region = kernel->region;
    row.captured_in = kernel->captured_in;
    row.kind = kernel->kind;
    row.device = kernel->device;
    return row;
}

static uint64_t shape_number(uint32_t number)
{
    return number == LP_SHAPE_UNKNOWN ? LLMPERF_UNKNOWN : number;
}

/* Blocks and threads are 1 or more. */
static uint64_t shape_extent(uint32_t extent)
{
    return extent == 0 ? LLMPERF_UNKNOWN : extent;
}

void lp_kernel_shape_fill(llmperf_kernel_shape *row, const struct lp_shape *shape)
{
    row->grid_x = shape_extent(shape->grid[0]);
    row->grid_y = shape_extent(shape->grid[1]);
    row->grid_z = shape_extent(shape->grid[2]);
    row->block_x = shape_extent(shape->block[0]);
    row->block_y = shape_extent(shape->block[1]);
    row->block_z = shape_extent(shape->block[2]);
    row->source = lp_memory_kind_name(shape->source);
    row->destination = lp_memory_kind_name(shape->destination);
    row->call = lp_copy_call_name(shape->call);
    if (row->kind != LLMPERF_ACTIVITY_KERNEL)
        return;
    row->registers = shape_number(shape->registers);
    row->static_shared_bytes = shape_number(shape->static_shared);
    row->dynamic_shared_bytes = shape_number(shape->dynamic_shared);
}

int lp_profile_shape_kernel(llmperf_profile *profile, const struct lp_shape *shape)
{
    const llmperf_kernel_stats *kernel = &profile->kernels.items[profile->kernels.count - 1].stats;
    llmperf_kernel_shape row = lp_kernel_shape_of(kernel);

    if (isnan(kernel->total_ms))
        return 0;
    lp_kernel_shape_fill(&row, shape);
    row.calls = kernel->calls;
    row.bytes = kernel->bytes;
    row.total_ms = kernel->total_ms;
    row.mean_ms = kernel->mean_ms;
    row.min_ms = kernel->min_ms;
    row.max_ms = kernel->max_ms;
    return lp_vector_push(&profile->kernel_shapes, row);
}
