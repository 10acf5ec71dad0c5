/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of device work: kernels by name, CUDA graphs, triggered windows, GPUs that share a
 * stage. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/limits/facts.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/tables_md.h"
#include "lib/profile/fields.h"

#define WINDOWS_WITH_KERNELS 3u /* the newest windows */
#define TOP_KERNELS          10u

void lp_table_kernel_names(const struct lp_findings *findings, size_t limit, struct lp_text *out)
{
    size_t count = findings->tables.kernels.count;

    /* If each name has one row, the table of rows has the same content. */
    if (count == lp_row_count(findings->profile, LP_ROW_KERNEL))
        return;
    lp_text_puts(out,
                 "| Kernel, all regions | Rows below | Total ms | Calls | Mean ms | Share % |\n"
                 "| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < count && i < limit; i++) {
        const struct lp_kernel_total *total = &findings->tables.kernels.items[i];

        lp_text_puts(out, "|");
        lp_md_cell_code(out, total->name);
        lp_md_cell_count(out, total->rows);
        lp_md_cell_number(out, total->total_ms);
        lp_md_cell_count(out, total->calls);
        lp_md_cell_number(out, total->mean_ms);
        lp_md_cell_number(out, 100 * total->share);
        lp_text_puts(out, "\n");
    }
    if (count > limit)
        lp_text_printf(out, "\n%zu more names in kernels.md.\n", count - limit);
    lp_text_puts(out, "\n");
}

static void capture_heading(const llmperf_capture_stats *row, bool first, struct lp_text *out)
{
    lp_text_puts(out, first ? "Launched in " : "\nLaunched in ");
    if (row->region && *row->region)
        lp_md_code(out, row->region);
    else
        lp_text_puts(out, row->region ? "no region" : "an unknown region");
    lp_text_printf(out,
                   ", device %d:\n\n| Captured in | Kernels and memcpys | Total ms | Own ms | us "
                   "per call | Share %% |\n| --- | ---: | ---: | ---: | ---: | ---: |\n",
                   row->device);
}

void lp_captures_md(const struct lp_findings *findings, size_t limit, struct lp_text *out)
{
    size_t count = findings->tables.captures.count;

    for (size_t i = 0; i < count && i < limit; i++) {
        const struct lp_capture_finding *row = &findings->tables.captures.items[i];

        if (row->first)
            capture_heading(&row->stats, i == 0, out);
        lp_text_puts(out, "|");
        lp_md_cell_region(out, row->stats.captured_in);
        lp_md_cell_count(out, row->stats.kernel_count + row->stats.memory_count);
        lp_md_cell_number(out, row->total_ms);
        lp_md_cell_number(out, row->stats.exclusive_ms);
        lp_md_cell_number(out, 1e3 * row->call_ms);
        lp_md_cell_number(out, 100 * row->stats.share);
        lp_text_puts(out, "\n");
    }
    if (count > limit)
        lp_text_printf(out, "\n%zu more rows in metrics.json.\n", count - limit);
    lp_text_puts(
        out, "\nDevice work of graphs that a region launched, by the region that was open when the "
             "nodes were captured. Nested capture regions are included in Total and excluded from "
             "Own. Times are sums: branches that run at the same time both count.\n");
}

static void window_value(const llmperf_window_stats *window, struct lp_text *out)
{
    lp_text_puts(out, " ");
    lp_md_number(out, window->value);
    if (window->unit) {
        lp_text_puts(out, " ");
        lp_md_text(out, window->unit);
        lp_text_printf(out, " of %" PRIu64, window->value_units);
    }
    lp_text_puts(out, " |");
}

static void window_row(const struct lp_window_finding *row, struct lp_text *out)
{
    const llmperf_window_stats *window = &row->stats;

    lp_text_puts(out, "|");
    lp_md_cell_count(out, window->number);
    lp_md_cell_code(out, window->rule);
    window_value(window, out);
    lp_md_cell_count(out, window->units);
    lp_md_cell_count(out, window->units_left_out);
    lp_md_cell_number(out, row->wall_ms);
    lp_md_cell_number(out, row->busy_ms);
    lp_md_cell_number(out, row->idle_ms);
    lp_md_cell_count(out, window->kernel_count);
    lp_md_cell_count(out, window->memory_count);
    lp_text_puts(out, "\n");
}

static void window_kernels(const llmperf_profile *profile, const struct lp_window_finding *window,
                           struct lp_text *out)
{
    lp_text_printf(out,
                   "\nWindow %" PRIu64 ", longest first:\n\n| Kernel | Region | Calls | Total ms "
                   "| us per call |\n| --- | --- | ---: | ---: | ---: |\n",
                   window->stats.number);
    for (size_t i = 0; i < window->kernels && i < TOP_KERNELS; i++) {
        llmperf_window_kernel kernel = LLMPERF_WINDOW_KERNEL_INIT;

        llmperf_profile_window_kernel(profile, window->first_kernel + i, &kernel);
        lp_text_puts(out, "|");
        lp_md_cell_code(out, kernel.name);
        lp_md_cell_region(out, kernel.region);
        lp_md_cell_count(out, kernel.calls);
        lp_md_cell_number(out, kernel.total_ms);
        lp_md_cell_number(out, 1e3 * window->per_call * kernel.total_ms);
        lp_text_puts(out, "\n");
    }
}

void lp_windows_md(const struct lp_findings *findings, struct lp_text *out)
{
    size_t count = findings->tables.windows.count;

    lp_text_puts(out, "| Window | Rule | Value | Calls | Not collected | Wall ms | Busy ms | Idle "
                      "ms | Kernels | Memcpys and memsets |\n| ---: | --- | --- | ---: | ---: | "
                      "---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < count; i++)
        window_row(&findings->tables.windows.items[i], out);
    for (size_t i = count > WINDOWS_WITH_KERNELS ? count - WINDOWS_WITH_KERNELS : 0; i < count; i++)
        window_kernels(findings->profile, &findings->tables.windows.items[i], out);
    lp_text_puts(
        out,
        "\nThese calls were collected completely because a rule fired; times are means per call. "
        "They are not a random sample, so the other device numbers of this report exclude them.\n");
}

static void put_causes(const struct lp_findings *findings, struct lp_text *out)
{
    for (size_t i = 0; i < findings->ranks.rows.count; i++) {
        const struct lp_rank *rank = &findings->ranks.rows.items[i];

        if (rank->cause)
            lp_text_printf(out, "\nThe others wait for GPU %" PRId32 " in `%s`: %s.\n",
                           rank->device, rank->region, rank->cause);
    }
}

void lp_ranks_md(const struct lp_findings *findings, struct lp_text *out)
{
    if (findings->ranks.rows.count == 0)
        return;
    lp_text_puts(out,
                 "\n## GPUs that work together\n\nPer call; kernel times are sums. A collective "
                 "moves data once the last GPU has arrived: waiting is before, transfer after "
                 "that. Where the calls of the GPUs could not be matched, waiting is a lower "
                 "bound (at least): the time in collectives beyond the GPU with the least.\n\n| "
                 "Stage | GPU | Calls | Wall ms | Computing ms | In collectives ms | Collectives | "
                 "Waiting ms | Transfer ms | Arrives last % |\n| --- | ---: | ---: | ---: | ---: | "
                 "---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < findings->ranks.rows.count; i++) {
        const struct lp_rank *rank = &findings->ranks.rows.items[i];

        lp_text_puts(out, "|");
        lp_md_cell_region_of(out, rank->region,
                             lp_shown_process(findings->profile, rank->process_id));
        lp_md_cell_device(out, rank->device);
        lp_md_cell_count(out, rank->instances);
        lp_md_cell_number(out, rank->wall_ms);
        lp_md_cell_number(out, rank->compute_ms);
        lp_md_cell_number(out, rank->collective_ms);
        lp_md_cell_number(out, rank->collective_count);
        if (isnan(rank->transfer_ms) && !isnan(rank->waiting_ms))
            lp_text_printf(out, " at least %s |", LP_NUMBER(rank->waiting_ms, 3));
        else
            lp_md_cell_number(out, rank->waiting_ms);
        lp_md_cell_number(out, rank->transfer_ms);
        lp_md_cell_number(out, 100 * rank->last_share);
        lp_text_puts(out, "\n");
    }
    put_causes(findings, out);
}

static void collective_row(const struct lp_findings *findings, const struct lp_collective *row,
                           struct lp_text *out)
{
    const char *how[] = { row->algorithm, row->protocol, row->dtype };
    struct lp_text name = { NULL, 0, 0, false };

    lp_text_puts(&name, row->kind ? row->kind : row->kernel);
    for (size_t i = 0; i < 3; i++)
        if (how[i])
            lp_text_printf(&name, ", %s", how[i]);
    lp_text_puts(out, "|");
    if (row->region)
        lp_md_cell_region_of(out, row->region,
                             lp_shown_process(findings->profile, row->process_id));
    else
        lp_md_cell_text(out, "(no stage)");
    lp_md_cell_device(out, row->device);
    lp_md_cell_text(out, name.bytes);
    lp_text_clear(&name);
    lp_md_cell_count(out, row->ranks);
    lp_md_cell_count(out, row->calls);
    lp_md_cell_number(out, row->message_bytes / 1e3);
    lp_md_cell_number(out, 1e3 * row->mean_ms);
    lp_md_cell_number(out, 1e3 * row->waiting_ms);
    if (strcmp(row->transfer_source, LP_TRANSFER_RANKS) == 0)
        lp_md_cell_number(out, 1e3 * row->transfer_ms);
    else
        lp_text_printf(out, " about %s |", LP_NUMBER(1e3 * row->transfer_ms, 3));
    lp_md_cell_number(out, row->bus_gbs);
    lp_md_cell_number(out, row->bus_elapsed_gbs);
    lp_md_cell_number(out, 100 * row->link_share);
    lp_md_cell_number(out, 100 * row->overlap_share);
    lp_text_puts(out, "\n");
}

void lp_collectives_md(const struct lp_findings *findings, size_t limit, struct lp_text *out)
{
    const struct lp_collective *rows = findings->collectives.rows.items;
    const char *said = NULL;

    if (findings->collectives.rows.count == 0)
        return;
    lp_text_puts(out,
                 "\n## Collectives\n\nPer call. Transfer begins when the last GPU has arrived; "
                 "\"about\" is an estimate, the shortest call of the same kernel and grid. Bus "
                 "bandwidth is that of nccl-tests, over the transfer and over the whole call. "
                 "Link: share of one direction's peak. Overlap: share of the time in which compute "
                 "kernels ran on the same GPU.\n\n| Stage | GPU | Collective | GPUs | Calls | "
                 "Message KB | Call us | Waiting us | Transfer us | Bus GB/s | Whole call GB/s | "
                 "Link % | Overlap % |\n| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | "
                 "---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < findings->collectives.rows.count && i < limit; i++)
        collective_row(findings, &rows[i], out);
    for (size_t i = 0; i < findings->collectives.rows.count && i < limit; i++) {
        if (rows[i].reason && (!said || strcmp(said, rows[i].reason) != 0))
            lp_text_printf(out, "\n%s: %s.\n", rows[i].kernel, rows[i].reason);
        said = rows[i].reason;
    }
}
