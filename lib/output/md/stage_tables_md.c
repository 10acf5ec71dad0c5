/* SPDX-License-Identifier: Apache-2.0 */
/* Times of stages; of the outermost regions where no stage was marked, which may be hundreds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/vector.h"
#include "lib/findings/facts.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/tables_md.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"

/* Rows of a region, one for each device, which stand together in the profile. */
struct shown {
    size_t first, rows;
    double busy_ms, wall_ms; /* what it is ranked by */
};

struct shown_list {
    LP_VECTOR(struct shown) items;
    bool stages; /* else the outermost regions */
    bool walls;  /* any has a time on the host */
};

/* A nested stage is marked: its time is part of the one above. */
static void stage_cell(const llmperf_region_stats *region, uint32_t process_id, struct lp_text *out)
{
    lp_text_puts(out, region->depth > 0 && *region->path ? " ↳" : "");
    lp_md_cell_region_of(out, region->path, process_id);
}

static void stage_wall_row(const llmperf_region_stats *region, uint32_t process_id,
                           struct lp_text *out)
{
    bool rate = region->tokens != LLMPERF_UNKNOWN && region->wall_sum_ms > 0;
    bool any = region->instances > 0;

    lp_text_puts(out, "|");
    stage_cell(region, process_id, out);
    lp_md_cell_count(out, region->instances);
    lp_md_cell_number(out, any ? region->wall_sum_ms : NAN);
    lp_md_cell_number(out, any ? region->wall_mean_ms : NAN);
    lp_md_cell_number(out, any ? region->wall_std_ms : NAN);
    lp_md_percentiles(out, LP_ROW_REGION, any ? region : NULL);
    lp_md_cell_count(out, region->tokens);
    lp_md_cell_number(out, rate ? (double)region->tokens * 1e3 / region->wall_sum_ms : NAN);
    lp_text_puts(out, "\n");
}

static void stage_device_row(const llmperf_region_stats *region, uint32_t process_id,
                             struct lp_text *out)
{
    double wall_ms = lp_collected_ms(region);
    bool wall = region->instances > 0 && wall_ms > 0 && region->device >= 0;

    lp_text_puts(out, "|");
    stage_cell(region, process_id, out);
    lp_md_cell_device(out, region->device);
    lp_md_cell_number(out, region->gpu_busy_ms);
    lp_md_cell_number(out, wall ? 100 * region->gpu_busy_ms / wall_ms : NAN);
    lp_md_cell_number(out, region->idle_ms);
    lp_md_cell_number(out, region->exclusive_gpu_busy_ms);
    lp_md_cell_number(out, region->kernel_ms);
    lp_md_cell_count(out, region->kernel_count);
    lp_md_cell_number(out, region->memcpy_ms);
    lp_text_puts(out, "\n");
}

/* Wall times repeat in the rows of a region that used several devices: it is shown once. */
static bool is_same_region(const llmperf_region_stats *a, const llmperf_region_stats *b)
{
    return a->process_id == b->process_id && a->path && b->path && strcmp(a->path, b->path) == 0;
}

static llmperf_region_stats row_of(const llmperf_profile *profile, size_t index)
{
    llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

    llmperf_profile_region(profile, index, &region);
    return region;
}

static bool has_stages(const llmperf_profile *profile)
{
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_REGION); i++)
        if (row_of(profile, i).kind == LLMPERF_REGION_STAGE)
            return true;
    return false;
}

/* What was launched with no region open has device times, but no time on the host. */
static bool is_shown(const llmperf_region_stats *region, bool stages)
{
    return !*region->path || (stages ? region->kind == LLMPERF_REGION_STAGE : region->depth == 0);
}

static int add_row(struct shown_list *list, const llmperf_profile *profile, size_t index)
{
    llmperf_region_stats region = row_of(profile, index), last;
    struct shown *shown;

    if (!is_shown(&region, list->stages))
        return 0;
    if (list->items.count > 0) {
        shown = &list->items.items[list->items.count - 1];
        last = row_of(profile, shown->first);
        if (is_same_region(&last, &region)) {
            shown->rows = index - shown->first + 1;
            shown->busy_ms += isnan(region.gpu_busy_ms) ? 0 : region.gpu_busy_ms;
            return 0;
        }
    }
    list->walls = list->walls || *region.path;
    return lp_vector_push(
        &list->items, ((struct shown){ index, 1, isnan(region.gpu_busy_ms) ? 0 : region.gpu_busy_ms,
                                       region.instances > 0 ? region.wall_sum_ms : 0 }));
}

static int compare_shown(const void *left, const void *right)
{
    const struct shown *a = left, *b = right;
    int order = (a->busy_ms < b->busy_ms) - (a->busy_ms > b->busy_ms);

    if (order == 0)
        order = (a->wall_ms < b->wall_ms) - (a->wall_ms > b->wall_ms);
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

/* Stages in the order of the tree, other regions by their time. 0 or LLMPERF_ENOMEM */
static int find_shown(struct shown_list *list, const llmperf_profile *profile)
{
    *list = (struct shown_list){ .stages = has_stages(profile) };
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_REGION); i++)
        if (add_row(list, profile, i) < 0)
            return lp_error(LLMPERF_ENOMEM, "out of memory");
    if (!list->stages && list->items.count > 0)
        qsort(list->items.items, list->items.count, sizeof(*list->items.items), compare_shown);
    return 0;
}

static void add_wall_table(const llmperf_profile *profile, const struct shown_list *list,
                           size_t count, struct lp_text *out)
{
    lp_text_puts(out, "| Region | Instances | Wall ms | Mean ms | Std ms |");
    lp_md_percentile_heads(out);
    lp_text_puts(out, " Tokens | Tokens/s |\n| --- | ---: | ---: | ---: | ---: |");
    lp_md_percentile_rules(out);
    lp_text_puts(out, " ---: | ---: |\n");
    for (size_t i = 0; i < count; i++) {
        llmperf_region_stats region = row_of(profile, list->items.items[i].first);

        if (*region.path)
            stage_wall_row(&region, lp_shown_process(profile, region.process_id), out);
    }
}

static void add_device_table(const llmperf_profile *profile, const struct shown_list *list,
                             size_t count, struct lp_text *out)
{
    lp_text_puts(out, "| Region | Device | GPU busy ms | Busy/wall % | Idle ms | Own busy ms "
                      "| Kernels ms | Kernels | Copies ms |\n"
                      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < list->items.items[i].rows; k++) {
            llmperf_region_stats region = row_of(profile, list->items.items[i].first + k);

            stage_device_row(&region, lp_shown_process(profile, region.process_id), out);
        }
    lp_text_puts(
        out, "\nGPU busy is the union of device intervals of work launched in the region, nested "
             "regions included; own busy leaves them out; kernels ms is the sum. Busy/wall above "
             "100 %: the host left the region before its device work was done. Wall ms adds up "
             "all instances: where several threads are in a region at once, tokens/s, busy/wall "
             "and idle are those of one thread.\n");
    if (lp_is_sampled(profile))
        lp_text_puts(out, "\nThis run sampled: device columns are of the instances that were "
                          "collected, and busy/wall and idle hold them against the host time of "
                          "as much work.\n");
}

static void add_tables(const llmperf_profile *profile, const struct shown_list *list, size_t limit,
                       struct lp_text *out)
{
    size_t all = list->items.count, count = list->stages || all < limit ? all : limit;
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    if (!list->walls)
        lp_text_puts(out, "No region was marked.\n");
    else if (!list->stages)
        lp_text_puts(
            out, "No stage was marked (prefill, decode_all, decode_step, vision); these are the "
                 "outermost regions, those with the most time first.\n\n");
    if (list->walls)
        add_wall_table(profile, list, count, out);
    if (lp_device_known(&ledger) && all > 0) {
        lp_text_puts(out, "\n");
        add_device_table(profile, list, count, out);
    }
    if (count < all)
        lp_text_printf(out, "\n%zu more in stages.md.\n", all - count);
}

int lp_table_stages(const llmperf_profile *profile, size_t limit, struct lp_text *out)
{
    struct shown_list list;
    int status = find_shown(&list, profile);

    if (status == 0)
        add_tables(profile, &list, limit, out);
    lp_vector_clear(&list.items);
    return status;
}
