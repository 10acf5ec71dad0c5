/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of device work: CUDA graphs, triggered windows, GPUs that share a stage. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/limits/facts.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/folds.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"
#include "lib/profile/fields.h"

#define WINDOWS_WITH_KERNELS 3u /* the newest windows */
#define TOP_KERNELS          10u
#define TOP_CAPTURES         20u
#define TOP_COLLECTIVES      20u

/* Rows of one launching region and device. */
static size_t add_captures(const struct lp_findings *findings, size_t first, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_WORDS("Captured in", lp_show_fold_region),
        LP_COLUMN("Rows", struct lp_fold, rows),
        LP_COLUMN("Kernels and memcpys", struct lp_fold, calls),
        LP_COLUMN("Total ms", struct lp_fold, total_ms),
        LP_COLUMN("Own ms", struct lp_fold, wall_ms),
        LP_COLUMN_TIMES("us per call", struct lp_fold, call_ms, 1e3),
        LP_COLUMN_TIMES("Share %", struct lp_fold, share, 100),
    };
    const struct lp_capture_finding *rows = findings->tables.captures.items;
    struct lp_folds folds = { 0 };
    size_t i = first;

    do {
        const llmperf_capture_stats *stats = &rows[i].stats;
        const struct lp_fold fold = { .name = "",
                                      .region = stats->captured_in,
                                      .calls = stats->kernel_count + stats->memory_count,
                                      .total_ms = rows[i].total_ms,
                                      .wall_ms = stats->exclusive_ms,
                                      .share = stats->share,
                                      .call_ms = rows[i].call_ms };

        out->failed |= lp_folds_add(&folds, 0, &fold) < 0;
    } while (++i < findings->tables.captures.count && !rows[i].first);
    lp_text_puts(out, "Launched in ");
    if (rows[first].stats.region && *rows[first].stats.region)
        lp_md_code(out, rows[first].stats.region);
    else
        lp_text_puts(out, rows[first].stats.region ? "no region" : "an unknown region");
    lp_text_printf(out, ", device %d:\n\n", rows[first].stats.device);
    lp_folds_sort(&folds);
    lp_table_add(findings,
                 &(const struct lp_table){ LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&folds.items),
                                           .limit = TOP_CAPTURES, .all_in = "metrics.json" },
                 out);
    lp_text_puts(out, "\n");
    lp_folds_clear(&folds);
    return i;
}

void lp_captures_md(const struct lp_findings *findings, struct lp_text *out)
{
    for (size_t i = 0; i < findings->tables.captures.count;)
        i = add_captures(findings, i, out);
    if (findings->tables.captures.count > 0)
        lp_text_puts(out,
                     "Device work of graphs that a region launched, by the region that was open "
                     "when the nodes were captured. Nested capture regions are included in Total "
                     "and excluded from Own; * stands for a number, such as that of a layer. "
                     "Times are sums: branches that run at the same time both count.\n");
}

static void show_value(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const llmperf_window_stats *window = &((const struct lp_window_finding *)row)->stats;

    (void)findings;
    lp_md_number(out, window->value);
    if (window->unit) {
        lp_text_puts(out, " ");
        lp_md_text(out, window->unit);
        lp_text_printf(out, " of %" PRIu64, window->value_units);
    }
}

static void add_window_kernels(const struct lp_findings *findings,
                               const struct lp_window_finding *window, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_CODE("Kernel", llmperf_window_kernel, name),
        LP_COLUMN_REGION("Region", llmperf_window_kernel, region),
        LP_COLUMN("Calls", llmperf_window_kernel, calls),
        LP_COLUMN("Total ms", llmperf_window_kernel, total_ms),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    .rows = lp_row_at(findings->profile, LP_ROW_WINDOW_KERNEL,
                                                      window->first_kernel),
                                    .row_size = lp_row_kinds[LP_ROW_WINDOW_KERNEL].row_size,
                                    .row_count = window->kernels,
                                    .limit = TOP_KERNELS,
                                    .all_in = "metrics.json" };

    lp_text_printf(out, "\nWindow %" PRIu64 ", longest first:\n\n", window->stats.number);
    lp_table_add(findings, &table, out);
}

void lp_windows_md(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN("Window", struct lp_window_finding, stats.number),
        LP_COLUMN_CODE("Rule", struct lp_window_finding, stats.rule),
        LP_COLUMN_WORDS("Value", show_value),
        LP_COLUMN("Calls", struct lp_window_finding, stats.units),
        LP_COLUMN("Not collected", struct lp_window_finding, stats.units_left_out),
        LP_COLUMN("Wall ms", struct lp_window_finding, wall_ms),
        LP_COLUMN("Busy ms", struct lp_window_finding, busy_ms),
        LP_COLUMN("Idle ms", struct lp_window_finding, idle_ms),
        LP_COLUMN("Kernels", struct lp_window_finding, stats.kernel_count),
        LP_COLUMN("Memcpys and memsets", struct lp_window_finding, stats.memory_count),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    LP_TABLE_VECTOR(&findings->tables.windows) };
    size_t count = table.row_count;

    if (count == 0)
        return;
    lp_table_add(findings, &table, out);
    for (size_t i = count > WINDOWS_WITH_KERNELS ? count - WINDOWS_WITH_KERNELS : 0; i < count; i++)
        add_window_kernels(findings, &findings->tables.windows.items[i], out);
    lp_text_puts(
        out,
        "\nThese calls were collected completely because a rule fired; times are means per call. "
        "They are not a random sample, so the other device numbers of this report exclude them.\n");
}

static void add_causes(const struct lp_findings *findings, struct lp_text *out)
{
    for (size_t i = 0; i < findings->ranks.rows.count; i++) {
        const struct lp_rank *rank = &findings->ranks.rows.items[i];

        if (rank->cause)
            lp_text_printf(out, "\nThe others wait for GPU %" PRId32 " in `%s`: %s.\n",
                           rank->device, rank->region, rank->cause);
    }
}

static void show_waiting(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const struct lp_rank *rank = row;

    (void)findings;
    if (isnan(rank->transfer_ms) && !isnan(rank->waiting_ms))
        lp_text_printf(out, "at least %s", LP_NUMBER(rank->waiting_ms, 3));
    else
        lp_md_number(out, rank->waiting_ms);
}

void lp_ranks_md(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_REGION_OF("Stage", struct lp_rank, region, process_id),
        LP_COLUMN("GPU", struct lp_rank, device),
        LP_COLUMN("Calls", struct lp_rank, instances),
        LP_COLUMN("Wall ms", struct lp_rank, wall_ms),
        LP_COLUMN("Computing ms", struct lp_rank, compute_ms),
        LP_COLUMN("In collectives ms", struct lp_rank, collective_ms),
        LP_COLUMN("Collectives", struct lp_rank, collective_count),
        LP_COLUMN_NUMBER("Waiting ms", show_waiting),
        LP_COLUMN("Transfer ms", struct lp_rank, transfer_ms),
        LP_COLUMN_TIMES("Arrives last %", struct lp_rank, last_share, 100),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    LP_TABLE_VECTOR(&findings->ranks.rows) };

    if (table.row_count == 0)
        return;
    lp_text_puts(out, "Per call; kernel times are sums. A collective moves data once the last GPU "
                      "has arrived: waiting is before, transfer after that. Where the calls of the "
                      "GPUs could not be matched, waiting is a lower bound (at least): the time in "
                      "collectives beyond the GPU with the least.\n\n");
    lp_table_add(findings, &table, out);
    add_causes(findings, out);
}

static void show_collective_stage(const struct lp_findings *findings, const void *row,
                                  struct lp_text *out)
{
    const struct lp_collective *collective = row;

    if (collective->region)
        lp_show_region(findings, collective->region, collective->process_id, out);
    else
        lp_text_puts(out, "(no stage)");
}

static void show_collective(const struct lp_findings *findings, const void *row,
                            struct lp_text *out)
{
    const struct lp_collective *collective = row;
    const char *how[] = { collective->algorithm, collective->protocol, collective->dtype };

    (void)findings;
    lp_md_text(out, collective->kind ? collective->kind : collective->kernel);
    for (size_t i = 0; i < 3; i++)
        if (how[i]) {
            lp_text_puts(out, ", ");
            lp_md_text(out, how[i]);
        }
}

static void show_transfer(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const struct lp_collective *collective = row;

    (void)findings;
    if (strcmp(collective->transfer_source, LP_TRANSFER_RANKS) == 0)
        lp_md_number(out, 1e3 * collective->transfer_ms);
    else
        lp_text_printf(out, "about %s", LP_NUMBER(1e3 * collective->transfer_ms, 3));
}

void lp_collectives_md(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_WORDS("Stage", show_collective_stage),
        LP_COLUMN("GPU", struct lp_collective, device),
        LP_COLUMN_WORDS("Collective", show_collective),
        LP_COLUMN("GPUs", struct lp_collective, ranks),
        LP_COLUMN("Calls", struct lp_collective, calls),
        LP_COLUMN_TIMES("Message KB", struct lp_collective, message_bytes, 1e-3),
        LP_COLUMN_TIMES("Call us", struct lp_collective, mean_ms, 1e3),
        LP_COLUMN_TIMES("Waiting us", struct lp_collective, waiting_ms, 1e3),
        LP_COLUMN_NUMBER("Transfer us", show_transfer),
        LP_COLUMN("Bus GB/s", struct lp_collective, bus_gbs),
        LP_COLUMN("Whole call GB/s", struct lp_collective, bus_elapsed_gbs),
        LP_COLUMN_TIMES("Link %", struct lp_collective, link_share, 100),
        LP_COLUMN_TIMES("Overlap %", struct lp_collective, overlap_share, 100),
    };
    const struct lp_collective *rows = findings->collectives.rows.items;
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    LP_TABLE_VECTOR(&findings->collectives.rows),
                                    .limit = lp_findings_top(findings, TOP_COLLECTIVES),
                                    .all_in = "metrics.json" };
    const char *said = NULL;

    if (table.row_count == 0)
        return;
    lp_text_puts(out,
                 "Per call. Transfer begins when the last GPU has arrived; \"about\" is an "
                 "estimate, the shortest call of the same kernel and grid. Bus bandwidth is that "
                 "of nccl-tests, over the transfer and over the whole call. Link: share of one "
                 "direction's peak. Overlap: share of the time in which compute kernels ran on the "
                 "same GPU.\n\n");
    lp_table_add(findings, &table, out);
    for (size_t i = 0; i < table.row_count && i < table.limit; i++) {
        if (rows[i].reason && (!said || strcmp(said, rows[i].reason) != 0))
            lp_text_printf(out, "\n%s: %s.\n", rows[i].kernel, rows[i].reason);
        said = rows[i].reason;
    }
}
