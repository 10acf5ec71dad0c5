/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/output/format/captures.h"
#include "lib/output/format/markdown.h"
#include "lib/output/format/row_fields.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"

/* Complete instances of a region on a device; 0: not known. */
static uint64_t instances_of(const llmperf_profile *profile, const llmperf_capture_stats *row)
{
    size_t count = lp_row_count(profile, LP_ROW_REGION);
    size_t i = row->region ? lp_profile_find_region(profile, row->region) : count;

    for (; i < count; i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        llmperf_profile_region(profile, i, &region);
        if (strcmp(region.path, row->region) != 0)
            break;
        if (region.device == row->device)
            return region.truncated == 0 ? region.instances : 0;
    }
    return 0;
}

static void add_row(const llmperf_capture_stats *row, uint64_t instances, struct lp_text *out)
{
    double ms = row->kernel_ms + row->memory_ms;

    lp_text_puts(out, "|");
    lp_md_cell_region(out, row->captured_in);
    lp_md_cell_count(out, row->kernel_count + row->memory_count);
    lp_md_cell_number(out, ms);
    lp_md_cell_number(out, row->exclusive_ms);
    lp_md_cell_number(out, instances > 0 ? 1e3 * ms / (double)instances : NAN);
    lp_md_cell_number(out, 100 * row->share);
    lp_text_puts(out, "\n");
}

static bool is_same_launch(const llmperf_capture_stats *a, const llmperf_capture_stats *b)
{
    return a->device == b->device &&
           (!a->region || !b->region ? a->region == b->region : !strcmp(a->region, b->region));
}

static void add_heading(const llmperf_capture_stats *row, bool first, struct lp_text *out)
{
    lp_text_puts(out, first ? "Launched in " : "\nLaunched in ");
    if (row->region && *row->region)
        lp_md_code(out, row->region);
    else
        lp_text_puts(out, row->region ? "no region" : "a place that was not seen");
    lp_text_printf(out,
                   ", device %d:\n\n"
                   "| Captured in | Kernels and copies | Total ms | Own ms | us an instance "
                   "| Share %% |\n| --- | ---: | ---: | ---: | ---: | ---: |\n",
                   row->device);
}

void lp_captures_md(const llmperf_profile *profile, size_t limit, struct lp_text *out)
{
    size_t count = lp_row_count(profile, LP_ROW_CAPTURE);
    llmperf_capture_stats before = LLMPERF_CAPTURE_STATS_INIT;
    uint64_t instances = 0;

    if (count == 0) {
        lp_text_puts(out, "No kernel of a CUDA graph was seen.\n");
        return;
    }
    for (size_t i = 0; i < count && i < limit; i++) {
        llmperf_capture_stats row = LLMPERF_CAPTURE_STATS_INIT;

        llmperf_profile_capture(profile, i, &row);
        if (i == 0 || !is_same_launch(&row, &before)) {
            instances = instances_of(profile, &row);
            add_heading(&row, i == 0, out);
        }
        add_row(&row, instances, out);
        before = row;
    }
    if (count > limit)
        lp_text_printf(out, "\n%zu more rows in metrics.json.\n", count - limit);
    lp_text_puts(out, "\nWhat a region launched as a graph, by the region that was open when the "
                      "nodes were captured, nested ones included; own leaves them out. Sums: "
                      "branches that run at the same time count both.\n");
}

static void put_capture(struct lp_metrics *metrics, const llmperf_capture_stats *row,
                        uint64_t instances)
{
    struct lp_json *json = &metrics->json;
    double ms = row->kernel_ms + row->memory_ms;

    lp_json_open(json, NULL, '{');
    lp_put_row(metrics, LP_ROW_CAPTURE, NULL, row, instances);
    lp_put_number(metrics, "instance_ms", instances > 0 ? ms / (double)instances : NAN,
                  LP_REASON_NO_INSTANCE);
    lp_json_close(json, '}');
}

void lp_put_captures(struct lp_metrics *metrics)
{
    size_t count = lp_row_count(metrics->findings->profile, LP_ROW_CAPTURE);
    llmperf_capture_stats before = LLMPERF_CAPTURE_STATS_INIT;
    uint64_t instances = 0;

    lp_json_open(&metrics->json, "captures", '[');
    for (size_t i = 0; i < count; i++) {
        llmperf_capture_stats row = LLMPERF_CAPTURE_STATS_INIT;

        llmperf_profile_capture(metrics->findings->profile, i, &row);
        if (i == 0 || !is_same_launch(&row, &before))
            instances = instances_of(metrics->findings->profile, &row);
        put_capture(metrics, &row, instances);
        before = row;
    }
    lp_json_close(&metrics->json, ']');
}
