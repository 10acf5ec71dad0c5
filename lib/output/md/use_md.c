/* SPDX-License-Identifier: Apache-2.0 */
/* How well work uses the GPU: its limits, regions, and the longest kernels on the roofline. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/kernel_work.h"
#include "lib/findings/limits/facts.h"
#include "lib/findings/reports/shown_regions.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"
#include "llmperf/sys/hardware.h"

void lp_limit_md(struct lp_text *out, const char *name, const char *unit,
                 const llmperf_hardware_value *value)
{
    lp_text_puts(out, "- ");
    lp_md_text(out, name);
    lp_text_puts(out, ": ");
    lp_md_number(out, value->value);
    lp_text_printf(out, " %s", unit);
    if (!value->source)
        return;
    lp_text_printf(out, " (%s, confidence %s: ", llmperf_name(LLMPERF_NAME_ORIGIN, value->origin),
                   llmperf_name(LLMPERF_NAME_CONFIDENCE, value->confidence));
    lp_md_text(out, value->source);
    lp_text_puts(out, ")");
}

static void add_limit(struct lp_text *out, const char *name, const char *unit,
                      const llmperf_hardware_value *value, double measured)
{
    lp_limit_md(out, name, unit, value);
    if (!isnan(measured))
        lp_text_printf(out, "; measured: %s, %s %% of it", LP_NUMBER(measured, 4),
                       LP_NUMBER(100 * measured / value->value, 3));
    lp_text_puts(out, "\n");
}

static void add_limits(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_limits *limits = &findings->limits;
    const char *measured = llmperf_hardware_measured(limits->hardware);
    char name[64];

    if (!limits->hardware) {
        lp_text_puts(out, "Peaks and bandwidth are unknown: ");
        lp_md_text(out, limits->hardware_reason);
        lp_text_puts(out, "\n");
        return;
    }
    lp_text_puts(out, "Limits of the GPU:\n\n");
    if (limits->dtype[0]) {
        snprintf(name, sizeof(name), "%s peak", limits->dtype);
        add_limit(out, name, "TFLOP/s", &limits->peak, limits->measured_tflops);
    }
    add_limit(out, "memory bandwidth", "GB/s", &limits->bandwidth, limits->measured_bandwidth_gbs);
    lp_text_puts(out, "- measured peaks: ");
    lp_md_text(out, measured ? measured
                             : "none on this GPU with this driver; see llmperf hardware "
                               "--measure");
    lp_text_puts(out, "\n");
    if (!isnan(limits->ridge))
        lp_text_printf(out, "- ridge: %s FLOP/B; work below it is memory-bound\n",
                       LP_NUMBER(limits->ridge, 4));
    if (limits->dtype_reason[0]) {
        lp_text_puts(out, "\nMFU, floors and bounds are unknown: ");
        lp_md_text(out, limits->dtype_reason);
        lp_text_puts(out, ".\n");
    }
}

static bool has_work(const struct lp_region_finding *region)
{
    return region->stats.flops != LLMPERF_UNKNOWN || region->stats.bytes != LLMPERF_UNKNOWN;
}

static bool has_any_work(const struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++)
        if (has_work(&findings->regions.items[i]))
            return true;
    return false;
}

/* Regions lack different values; each reason appears once. */
static void add_reason(const char *name, const char *reason, const char **last, struct lp_text *out)
{
    if (!reason || (*last && strcmp(*last, reason) == 0))
        return;
    *last = reason;
    lp_text_printf(out, "- %s is unknown in some rows: ", name);
    lp_md_text(out, reason);
    lp_text_puts(out, "\n");
}

static void add_reasons(const struct lp_findings *findings, struct lp_text *out)
{
    const char *mfu = findings->limits.dtype_reason, *mbu = NULL,
               *bound = mfu; /* the dtype is reported above */

    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *region = &findings->regions.items[i];

        if (!has_work(region))
            continue;
        add_reason("MFU", region->mfu_reason, &mfu, out);
        add_reason("MBU", region->mbu_reason, &mbu, out);
        add_reason("The bound", region->bound_reason, &bound, out);
    }
}

static void show_origin(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const llmperf_region_stats *stats = &((const struct lp_region_finding *)row)->stats;
    const char *flops = lp_work_origin(stats->flops_origin);
    const char *bytes = lp_work_origin(stats->bytes_origin);
    const char *other = flops && bytes && strcmp(flops, bytes) != 0 ? bytes : NULL;

    (void)findings;
    lp_text_printf(out, "%s%s%s",
                   flops   ? flops
                   : bytes ? bytes
                           : LP_MD_UNKNOWN,
                   other ? ", " : "", other ? other : "");
}

static void add_regions(const struct lp_findings *findings, const struct lp_shown_regions *chosen,
                        struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_REGION_OF("Region", struct lp_region_finding, stats.path, stats.process_id),
        LP_COLUMN("GPU", struct lp_region_finding, stats.device),
        LP_COLUMN("Lower bound ms", struct lp_region_finding, use.time_floor_ms),
        LP_COLUMN("Time / bound", struct lp_region_finding, use.wall_ratio),
        LP_COLUMN_ERROR("Busy / bound", LP_CELL_TIME, struct lp_region_finding, use.floor_ratio, 1,
                        busy_error),
        LP_COLUMN_ERROR("MBU %", LP_CELL_RATE, struct lp_region_finding, use.mbu_elapsed, 100,
                        call_error),
        LP_COLUMN_ERROR("while busy", LP_CELL_RATE, struct lp_region_finding, use.mbu, 100,
                        busy_error),
        LP_COLUMN_TIMES("of measured", struct lp_region_finding, mbu_measured, 100),
        LP_COLUMN_ERROR("MFU %", LP_CELL_RATE, struct lp_region_finding, use.mfu_elapsed, 100,
                        call_error),
        LP_COLUMN_ERROR("while busy", LP_CELL_RATE, struct lp_region_finding, use.mfu, 100,
                        busy_error),
        LP_COLUMN_TIMES("of measured", struct lp_region_finding, mfu_measured, 100),
        LP_COLUMN("FLOP/B", struct lp_region_finding, use.intensity),
        LP_COLUMN("TFLOP/s", struct lp_region_finding, use.achieved_tflops),
        LP_COLUMN("GB/s", struct lp_region_finding, use.achieved_gbs),
        LP_COLUMN_WORDS("Bound", lp_show_bound),
        LP_COLUMN_WORDS("Work from", show_origin),
    };
    size_t count = findings->regions.count, shown = 0;
    const struct lp_region_finding **rows =
        calloc(count + 1, sizeof(const struct lp_region_finding *));
    struct lp_table table = { LP_TABLE_COLUMNS(columns), .rows = rows };

    for (size_t i = 0; rows && i < count; i++)
        if (chosen->shown[i])
            rows[shown++] = &findings->regions.items[i];
    table.row_count = shown;
    lp_table_add(findings, &table, out);
    lp_shown_regions_note(chosen, out);
    out->failed |= !rows;
    free(rows);
}

static void add_legend(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_printf(out,
                   "\nThe lower bound is that of the roofline: the least time that the work of %s "
                   "calls takes at the GPU's peak and bandwidth. ",
                   lp_is_sampled(findings->profile) ? "the collected" : "all");
    lp_text_puts(
        out,
        "MFU and MBU are over elapsed time: wall time, or GPU busy time where that is longer; "
        "while busy: over GPU busy time, like TFLOP/s and GB/s; of measured: over measured peaks. "
        "For decode look at time / bound first, then at MBU: MFU is always small there.\n\n"
        "Bound: memory or compute, the one whose bound is at least 1.2x the other; balanced, "
        "neither is; launch, gaps, host, copy, rank or communication, where that takes more of the "
        "elapsed time than the work on the GPU.\n");
}

static bool is_work_missing(const struct lp_findings *findings, struct lp_text *out)
{
    if (findings->withheld)
        lp_text_puts(out, "Withheld: too much of the work is missing from the ledger.\n");
    else if (!has_any_work(findings))
        lp_text_puts(out, "Unknown: the program counted no FLOPs or bytes "
                          "(llmperf\\_region\\_count), and no model was given to compute them "
                          "from.\n");
    return findings->withheld || !has_any_work(findings);
}

static void add_use(const struct lp_findings *findings, struct lp_text *out)
{
    struct lp_shown_regions chosen;

    if (is_work_missing(findings, out))
        return;
    lp_overall_md(findings, out);
    lp_text_puts(out, "\n");
    if (lp_shown_regions_choose(&chosen, findings, has_work) < 0)
        out->failed = true;
    else
        add_regions(findings, &chosen, out);
    lp_shown_regions_clear(&chosen);
    add_legend(findings, out);
    add_reasons(findings, out);
}

static void add_kernels(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_CODE("Kernel", struct lp_kernel_work, short_name),
        LP_COLUMN("GPU", struct lp_kernel_work, device),
        LP_COLUMN_TIMES("Kernel time %", struct lp_kernel_work, share, 100),
        LP_COLUMN_TIMES("GFLOP", struct lp_kernel_work, flops, 1e-9),
        LP_COLUMN_TIMES("MB", struct lp_kernel_work, bytes, 1e-6),
        LP_COLUMN("FLOP/B", struct lp_kernel_work, intensity),
        LP_COLUMN("TFLOP/s", struct lp_kernel_work, achieved_tflops),
        LP_COLUMN("Roof TFLOP/s", struct lp_kernel_work, attainable_tflops),
        LP_COLUMN_PER("% of roof", struct lp_kernel_work, achieved_tflops, 100, attainable_tflops),
        LP_COLUMN("GB/s", struct lp_kernel_work, achieved_gbs),
        LP_COLUMN("Most FLOPs in", struct lp_kernel_work, dtype),
        LP_COLUMN("Counted by", struct lp_kernel_work, source),
    };
    const struct lp_kernel_works *works = &findings->kernel_works;
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&works->rows) };
    bool any = false;

    for (size_t i = 0; i < works->rows.count; i++)
        any |= works->rows.items[i].source != NULL;
    if (works->rows.count == 0)
        return;
    lp_text_puts(out, "\n### Top kernels on the roofline\n\n");
    if (!any) {
        lp_text_puts(out, "Unknown: ");
        lp_md_text(out, works->rows.items[0].reason);
        lp_text_puts(out, ".\n");
        return;
    }
    lp_table_add(findings, &table, out);
    lp_text_puts(
        out,
        "\nFLOPs and bytes are per call; the roof is that of the dtype with the most FLOPs.\n");
    lp_md_reasons(out, LP_MD_UNKNOWN " in the table", &works->rows.items[0].reason,
                  works->rows.count, sizeof(works->rows.items[0]));
}

void lp_use_md(const struct lp_findings *findings, struct lp_text *out)
{
    add_limits(findings, out);
    lp_text_puts(out, "\n");
    add_use(findings, out);
    add_kernels(findings, out);
}
