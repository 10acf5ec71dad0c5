/* SPDX-License-Identifier: Apache-2.0 */
/* Times of stages, or of the outermost regions if there are no stages; there may be hundreds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/vector.h"
#include "lib/findings/limits/facts.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/table.h"
#include "lib/output/md/tables_md.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"
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
    bool walls;   /* a row is a region */
    bool called;  /* a row has a call, complete or not: ncu sees none */
    bool timed;   /* a row has a complete call */
    bool busy;    /* a row has a busy time */
    bool warm_up; /* a row has calls that are warm-up */
    bool at_once; /* calls of a row ran at the same time */
};

/* A nested stage is marked, because its time is part of its parent's. */
static void show_stage(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const llmperf_region_stats *region = &((const struct lp_region_finding *)row)->stats;

    lp_text_puts(out, region->depth > 0 && *region->path ? "↳ " : "");
    lp_show_region(findings, region->path, region->process_id, out);
}

/* Times of its calls on its clock; NULL: those of the region itself. */
static const llmperf_iteration_stats *times_of(const struct lp_findings *findings,
                                               const struct lp_region_finding *row)
{
    const struct lp_stage_iterations *stage = lp_findings_iterations(findings, row->stats.path);
    bool host = row->clock != LLMPERF_CLOCK_DEVICE;

    return stage && (!host || row->warm_up_calls > 0)
               ? &stage->times[host ? LP_TIME_WALL : LP_TIME_ELAPSED]
               : NULL;
}

static void show_clock(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    (void)findings;
    lp_text_puts(out, ((const struct lp_region_finding *)row)->clock == LLMPERF_CLOCK_DEVICE
                          ? "GPU"
                          : "host");
}

static void show_std(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const struct lp_region_finding *region = row;

    (void)findings;
    lp_md_number(out, region->variation * region->call_ms);
}

static void show_percentile(const struct lp_findings *findings, const struct lp_region_finding *row,
                            size_t number, struct lp_text *out)
{
    const llmperf_iteration_stats *times = times_of(findings, row);

    lp_md_number(out, times ? lp_percentile(LP_ROW_SPREAD, times, number)
                            : lp_percentile(LP_ROW_REGION, &row->known, number));
}

static void show_p50(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    show_percentile(findings, row, 0, out);
}

static void show_p95(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    show_percentile(findings, row, 1, out);
}

static void show_p99(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    show_percentile(findings, row, 2, out);
}

static void show_warm_up(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    uint64_t calls = ((const struct lp_region_finding *)row)->warm_up_calls;

    (void)findings;
    lp_md_count(out, calls > 0 ? calls : LLMPERF_UNKNOWN);
}

static void show_collected(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    lp_md_count(out, lp_is_sampled(findings->profile)
                         ? ((const struct lp_region_finding *)row)->collected_calls
                         : LLMPERF_UNKNOWN);
}

static void show_idle(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const struct lp_region_finding *region = row;
    double idle_ms = region->stats.idle_ms;

    (void)findings;
    lp_md_number(out, region->collected_ms > 0 && !isnan(idle_ms)
                          ? fmax(region->collected_ms - region->stats.gpu_busy_ms, 0)
                          : idle_ms);
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
    list->called = list->called || region->instances + region->truncated > 0;
    list->timed = list->timed || region->instances > 0;
    list->busy = list->busy || region->gpu_busy_ms > 0;
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

static void add_time_table(const struct lp_findings *findings, const struct shown_list *list,
                           const struct lp_region_finding **rows, size_t count, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_WORDS("Stage", show_stage),
        LP_COLUMN_WORDS("Clock", show_clock),
        LP_COLUMN("Calls", struct lp_region_finding, known.instances),
        LP_COLUMN("Time ms", struct lp_region_finding, active_ms),
        LP_COLUMN_ERROR("Mean ms", LP_CELL_TIME, struct lp_region_finding, call_ms, 1, call_error),
        LP_COLUMN_NUMBER("Std ms", show_std),
        LP_COLUMN_NUMBER("p50 ms", show_p50),
        LP_COLUMN_NUMBER("p95 ms", show_p95),
        LP_COLUMN_NUMBER("p99 ms", show_p99),
        LP_COLUMN("Host mean ms", struct lp_region_finding, known.wall_mean_ms),
        LP_COLUMN_NUMBER("Warm-up calls", show_warm_up),
        LP_COLUMN("Warm-up ms", struct lp_region_finding, warm_up_ms),
        LP_COLUMN("Tokens", struct lp_region_finding, known.tokens),
        LP_COLUMN_ERROR("Tokens/s", LP_CELL_RATE, struct lp_region_finding, tokens_per_s, 1,
                        call_error),
        LP_COLUMN("Calls at a time", struct lp_region_finding, at_once),
    };
    struct lp_table table = { LP_TABLE_COLUMNS(columns), .rows = rows, .row_count = count };

    table.column_count -= !list->at_once;
    lp_table_add(findings, &table, out);
    if (!list->timed)
        return;
    lp_text_puts(
        out, "\nTime is the time in which at least one call was in progress; mean and std are of "
             "one call. Clock host: from the begin to the end of the region. Clock GPU: the host "
             "launches ahead and leaves earlier, so a call lasts until its GPU work has ended. It "
             "starts at its begin, or when the GPU has finished earlier work. Tokens/s is tokens / "
             "time. A percentile needs enough calls: p95 20, p99 100.");
    if (list->warm_up)
        lp_text_puts(out, " Calls and time include warm-up, the first calls that are slower than "
                          "all later ones; mean, std, percentiles, tokens/s and busy % leave it "
                          "out.");
    if (list->at_once)
        lp_text_puts(out, " Several threads can be in a region at the same time: tokens/s is of "
                          "all of them together.");
    lp_text_puts(out, "\n");
}

static void add_device_table(const struct lp_findings *findings, const struct shown_list *list,
                             const struct lp_region_finding **rows, size_t count,
                             struct lp_text *out)
{
    const struct lp_column columns[] = {
        LP_COLUMN_WORDS("Stage", show_stage),
        LP_COLUMN("GPU", struct lp_region_finding, stats.device),
        LP_COLUMN_NUMBER("Collected calls", show_collected),
        LP_COLUMN("Time ms", struct lp_region_finding, collected_ms),
        LP_COLUMN("GPU busy ms", struct lp_region_finding, stats.gpu_busy_ms),
        LP_COLUMN_TIMES(list->warm_up ? "Busy % after warm-up" : "Busy %", struct lp_region_finding,
                        busy_share, 100),
        LP_COLUMN_NUMBER("Idle ms", show_idle),
        LP_COLUMN("Own busy ms", struct lp_region_finding, stats.exclusive_gpu_busy_ms),
        LP_COLUMN("Kernels ms", struct lp_region_finding, stats.kernel_ms),
        LP_COLUMN("Kernels", struct lp_region_finding, stats.kernel_count),
        LP_COLUMN("Memcpys ms", struct lp_region_finding, stats.memcpy_ms),
        LP_COLUMN_ESTIMATE("GPU busy ms, all calls", struct lp_region_finding, stats.estimate_ms),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), .rows = rows, .row_count = count };

    lp_table_add(findings, &table, out);
    if (!list->busy)
        return;
    lp_text_puts(out, "\nGPU busy is the union of device intervals of work launched in the region, "
                      "nested regions included; own busy excludes them; kernels ms is a sum. Busy "
                      "and idle add up to the time. Busy is above 100 % only where the region is "
                      "not a stage and the host left it before its device work was done.\n");
    if (lp_is_sampled(findings->profile))
        lp_text_puts(
            out,
            "\nThis run was sampled: all other columns of this table are for the collected calls "
            "(–: of a part of each call, see the stages in it). Time is what as much work takes in "
            "the "
            "mean of all calls of the table above, since collecting makes a call longer.\n");
}

/* Rows of the chosen regions: of each the first, or one for each device. */
static size_t rows_of(const struct lp_findings *findings, const struct shown_list *list,
                      size_t count, bool devices, const struct lp_region_finding **rows)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        const struct shown *shown = &list->items.items[i];
        const struct lp_region_finding *first = &findings->regions.items[shown->first];

        if (!devices && !*first->stats.path)
            continue;
        for (size_t k = 0; k < (devices ? shown->rows : 1); k++)
            rows[found++] = first + k;
    }
    return found;
}

static void add_tables(const struct lp_findings *findings, const struct shown_list *list,
                       size_t limit, struct lp_text *out)
{
    size_t all = list->items.count, count = list->stages || all < limit ? all : limit;
    const struct lp_region_finding **rows =
        calloc(findings->regions.count + 1, sizeof(const struct lp_region_finding *));

    if (!rows) {
        out->failed = true;
        return;
    }
    if (!list->walls)
        lp_text_puts(out, "No region was marked.\n");
    else if (!list->stages)
        lp_text_puts(out, "No stage was marked (prefill, decode_all, decode_step, vision); these "
                          "are the outermost regions, longest first.\n\n");
    if (list->called)
        add_time_table(findings, list, rows, rows_of(findings, list, count, false, rows), out);
    if (findings->device_known && all > 0) {
        lp_text_puts(out, list->called || !list->walls ? "\n" : "");
        add_device_table(findings, list, rows, rows_of(findings, list, count, true, rows), out);
    }
    if (count < all)
        lp_text_printf(out, "\n%zu more in stages.md.\n", all - count);
    free(rows);
}

void lp_table_stages(const struct lp_findings *findings, size_t limit, struct lp_text *out)
{
    struct shown_list list;

    if (find_shown(&list, findings) == 0)
        add_tables(findings, &list, limit, out);
    else
        out->failed = true;
    lp_vector_clear(&list.items);
}
