/* SPDX-License-Identifier: Apache-2.0 */
/* Times of stages, or of the outermost regions if there are no stages; there may be hundreds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/vector.h"
#include "lib/findings/limits/facts.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/tables_md.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"

/* Rows of a region, one for each device; they are adjacent in the profile. */
struct shown {
    size_t first, rows;
    double busy_ms, wall_ms; /* sort keys */
};

struct shown_list {
    LP_VECTOR(struct shown) items;
    bool stages;  /* false: the outermost regions */
    bool walls;   /* a row has a wall time */
    bool warm_up; /* a row has a first call that is warm-up */
    bool at_once; /* calls of a row ran at the same time */
};

/* A nested stage is marked, because its time is part of its parent's. */
static void stage_cell(const llmperf_region_stats *region, uint32_t process_id, struct lp_text *out)
{
    lp_text_puts(out, region->depth > 0 && *region->path ? " ↳" : "");
    lp_md_cell_region_of(out, region->path, process_id);
}

static void stage_time_row(const struct lp_findings *findings, const struct shown_list *list,
                           const struct lp_region_finding *row, struct lp_text *out)
{
    const llmperf_region_stats *region = &row->known;
    const struct lp_stage_iterations *stage =
        row->clock == LLMPERF_CLOCK_DEVICE ? lp_findings_iterations(findings, region->path) : NULL;
    const llmperf_iteration_stats *elapsed = stage ? &stage->times[LP_TIME_ELAPSED] : NULL;

    lp_text_puts(out, "|");
    stage_cell(region, lp_shown_process(findings->profile, region->process_id), out);
    lp_text_puts(out, elapsed ? " GPU |" : " host |");
    lp_md_cell_count(out, region->instances);
    lp_md_cell_number(out, row->active_ms);
    lp_md_cell_number(out, row->call_ms);
    lp_md_cell_number(out, row->variation * row->call_ms);
    if (elapsed)
        lp_md_percentiles(out, LP_ROW_SPREAD, elapsed);
    else
        lp_md_percentiles(out, LP_ROW_REGION, region);
    lp_md_cell_number(out, region->wall_mean_ms);
    if (list->warm_up)
        lp_md_cell_number(out, row->warm_up_ms);
    if (list->at_once)
        lp_md_cell_number(out, row->at_once);
    lp_md_cell_count(out, region->tokens);
    lp_md_cell_number(out, row->tokens_per_s);
    lp_text_puts(out, "\n");
}

static void stage_device_row(const struct lp_region_finding *row, uint32_t process_id, bool sampled,
                             struct lp_text *out)
{
    const llmperf_region_stats *region = &row->stats;

    lp_text_puts(out, "|");
    stage_cell(region, process_id, out);
    lp_md_cell_device(out, region->device);
    if (sampled)
        lp_md_cell_count(out, row->collected_calls);
    lp_md_cell_number(out, row->collected_ms);
    lp_md_cell_number(out, region->gpu_busy_ms);
    lp_md_cell_number(out, 100 * row->busy_share);
    lp_md_cell_number(out, row->collected_ms > 0 && !isnan(region->idle_ms)
                               ? fmax(row->collected_ms - region->gpu_busy_ms, 0)
                               : region->idle_ms);
    lp_md_cell_number(out, region->exclusive_gpu_busy_ms);
    lp_md_cell_number(out, region->kernel_ms);
    lp_md_cell_count(out, region->kernel_count);
    lp_md_cell_number(out, region->memcpy_ms);
    lp_text_puts(out, "\n");
}

/* Rows of a region on several devices repeat its wall times, which are shown once. */
static bool is_same_region(const llmperf_region_stats *a, const llmperf_region_stats *b)
{
    return a->process_id == b->process_id && a->path && b->path && strcmp(a->path, b->path) == 0;
}

static bool has_stages(const struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++)
        if (findings->regions.items[i].stats.kind == LLMPERF_REGION_STAGE)
            return true;
    return false;
}

/* Work outside of regions has device times but no wall time. */
static bool is_shown(const llmperf_region_stats *region, bool stages)
{
    return !*region->path || (stages ? region->kind == LLMPERF_REGION_STAGE : region->depth == 0);
}

static int add_row(struct shown_list *list, const struct lp_findings *findings, size_t index)
{
    const llmperf_region_stats *region = &findings->regions.items[index].stats;
    struct shown *shown = list->items.count > 0 ? &list->items.items[list->items.count - 1] : NULL;
    double busy_ms = isnan(region->gpu_busy_ms) ? 0 : region->gpu_busy_ms;

    if (!is_shown(region, list->stages))
        return 0;
    if (shown && is_same_region(&findings->regions.items[shown->first].stats, region)) {
        shown->rows = index - shown->first + 1;
        shown->busy_ms += busy_ms;
        return 0;
    }
    list->walls = list->walls || *region->path;
    list->warm_up = list->warm_up || findings->regions.items[index].warm_up_ms > 0;
    list->at_once = list->at_once || findings->regions.items[index].at_once > 1;
    return lp_vector_push(
        &list->items,
        ((struct shown){ index, 1, busy_ms, region->instances > 0 ? region->wall_sum_ms : 0 }));
}

static int compare_shown(const void *left, const void *right)
{
    const struct shown *a = left, *b = right;
    int order = (a->busy_ms < b->busy_ms) - (a->busy_ms > b->busy_ms);

    if (order == 0)
        order = (a->wall_ms < b->wall_ms) - (a->wall_ms > b->wall_ms);
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

/* Stages in tree order, other regions by time. 0 or LLMPERF_ENOMEM. */
static int find_shown(struct shown_list *list, const struct lp_findings *findings)
{
    *list = (struct shown_list){ .stages = has_stages(findings) };
    for (size_t i = 0; i < findings->regions.count; i++)
        if (add_row(list, findings, i) < 0)
            return lp_error(LLMPERF_ENOMEM, "out of memory");
    if (!list->stages && list->items.count > 0)
        qsort(list->items.items, list->items.count, sizeof(*list->items.items), compare_shown);
    return 0;
}

static void add_time_heads(const struct shown_list *list, struct lp_text *out)
{
    lp_text_puts(out, "| Region | Clock | Calls | Time ms | Mean ms | Std ms |");
    lp_md_percentile_heads(out);
    lp_text_printf(out,
                   " Host mean ms |%s%s Tokens | Tokens/s |\n"
                   "| --- | --- | ---: | ---: | ---: | ---: |",
                   list->warm_up ? " Warm-up ms |" : "", list->at_once ? " At a time |" : "");
    lp_md_percentile_rules(out);
    lp_text_printf(out, " ---: |%s%s ---: | ---: |\n", list->warm_up ? " ---: |" : "",
                   list->at_once ? " ---: |" : "");
}

static void add_time_table(const struct lp_findings *findings, const struct shown_list *list,
                           size_t count, struct lp_text *out)
{
    add_time_heads(list, out);
    for (size_t i = 0; i < count; i++) {
        const struct lp_region_finding *row = &findings->regions.items[list->items.items[i].first];

        if (*row->stats.path)
            stage_time_row(findings, list, row, out);
    }
    lp_text_puts(
        out, "\nTime is the time in which at least one call was in progress; mean and std are of "
             "one call. Clock host: from the begin to the end of the region. Clock GPU: the host "
             "launches ahead and leaves earlier, so a call lasts until its GPU work has ended. It "
             "starts at its begin, or when the GPU has finished earlier work. Tokens/s is tokens / "
             "time. A percentile needs enough calls: p95 20, p99 100.");
    if (list->warm_up)
        lp_text_puts(out, " Mean and tokens/s leave out a first call that is warm-up; time "
                          "includes it.");
    if (list->at_once)
        lp_text_puts(out, " Several threads can be in a region at the same time: tokens/s is of "
                          "all of them together.");
    lp_text_puts(out, "\n");
}

static void add_device_table(const struct lp_findings *findings, const struct shown_list *list,
                             size_t count, struct lp_text *out)
{
    bool sampled = lp_is_sampled(findings->profile);

    lp_text_printf(out,
                   "| Region | Device |%s Time ms | GPU busy ms | Busy %% | Idle ms | Own busy ms "
                   "| Kernels ms | Kernels | Memcpys ms |\n"
                   "| --- | ---: |%s ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
                   sampled ? " Collected calls |" : "", sampled ? " ---: |" : "");
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < list->items.items[i].rows; k++) {
            const struct lp_region_finding *row =
                &findings->regions.items[list->items.items[i].first + k];

            stage_device_row(row, lp_shown_process(findings->profile, row->stats.process_id),
                             sampled, out);
        }
    lp_text_puts(out, "\nGPU busy is the union of device intervals of work launched in the region, "
                      "nested regions included; own busy excludes them; kernels ms is a sum. Busy "
                      "and idle add up to the time. Busy is above 100 % only where the region is "
                      "not a stage and the host left it before its device work was done.\n");
    if (sampled)
        lp_text_puts(
            out,
            "\nThis run was sampled: all columns of this table are for the collected calls (–: of "
            "a part of each call, see the stages in it). Time is what as much work takes in the "
            "mean of all calls of the table above, since collecting makes a call longer.\n");
}

static void add_tables(const struct lp_findings *findings, const struct shown_list *list,
                       size_t limit, struct lp_text *out)
{
    size_t all = list->items.count, count = list->stages || all < limit ? all : limit;

    if (!list->walls)
        lp_text_puts(out, "No region was marked.\n");
    else if (!list->stages)
        lp_text_puts(out, "No stage was marked (prefill, decode_all, decode_step, vision); these "
                          "are the outermost regions, longest first.\n\n");
    if (list->walls)
        add_time_table(findings, list, count, out);
    if (findings->device_known && all > 0) {
        lp_text_puts(out, "\n");
        add_device_table(findings, list, count, out);
    }
    if (count < all)
        lp_text_printf(out, "\n%zu more in stages.md.\n", all - count);
}

int lp_table_stages(const struct lp_findings *findings, size_t limit, struct lp_text *out)
{
    struct shown_list list;
    int status = find_shown(&list, findings);

    if (status == 0)
        add_tables(findings, &list, limit, out);
    lp_vector_clear(&list.items);
    return status;
}
