/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/html/html_tables.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/number.h"
#include "lib/findings/limits/facts.h"
#include "lib/output/format/html.h"
#include "lib/output/html/svg.h"
#include "llmperf/region.h"
#include "lib/findings/recommend.h"
#include "lib/profile/fields.h"

/* Rows of the table; metrics.json and kernels.md have all. */
#define KERNELS_MOST 500

void lp_html_advice(const struct lp_findings *findings, struct lp_text *out)
{
    if (findings->advice.rows.count == 0) {
        lp_text_puts(out, "<p>None: no rule applies to this run.</p>\n");
        return;
    }
    lp_text_puts(out, "<ol class=\"advice\">\n");
    for (size_t i = 0; i < findings->advice.rows.count; i++) {
        const llmperf_advice *row = &findings->advice.rows.items[i].advice;

        lp_text_printf(out,
                       "<li><span class=\"severity\">%s</span>: <span "
                       "data-text=\"/recommendations/%zu/text\">",
                       lp_severity_name(row->severity), i);
        lp_html_text(out, row->text);
        lp_text_puts(out, "</span>");
        if (row->saving_ms > 0) {
            lp_text_puts(out, " Possible saving: up to ");
            lp_html_number(out, LP_POINTER("/recommendations/%zu/saving_ms", i), row->saving_ms);
            lp_text_puts(out, " ms.");
        }
        lp_text_puts(out, "</li>\n");
    }
    lp_text_puts(out, "</ol>\n");
}

static double of_device(const struct lp_findings *findings, double value)
{
    return findings->device_known ? value : NAN;
}

static void region_cell(const struct lp_findings *findings, const llmperf_region_stats *stats,
                        struct lp_text *out)
{
    uint32_t process_id = lp_shown_process(findings->profile, stats->process_id);

    if (*stats->path && process_id > 0) {
        lp_text_puts(out, "<td class=\"t\"><code>");
        lp_html_path(out, stats->path);
        lp_text_printf(out, "</code> of process %" PRIu32 "</td>", process_id);
    } else if (*stats->path) {
        lp_html_cell_code(out, stats->path);
    } else {
        lp_html_cell_text(out, "(no region)");
    }
}

static void device_cell(int32_t device, struct lp_text *out)
{
    lp_html_cell_count(out, NULL, device < 0 ? LLMPERF_UNKNOWN : (uint64_t)device);
}

static void stage_row(const struct lp_findings *findings, size_t i, struct lp_text *out)
{
    const llmperf_region_stats *stats = &findings->regions.items[i].known;

    lp_html_row_open(out, LP_POINTER("/regions/%zu", i));
    region_cell(findings, stats, out);
    device_cell(stats->device, out);
    lp_html_cell_count(out, NULL, stats->instances);
    lp_html_cell_number(out, NULL, stats->wall_sum_ms);
    lp_html_cell_number(out, NULL, stats->wall_mean_ms);
    lp_html_cell_number(out, NULL, stats->wall_p50_ms);
    lp_html_cell_number(out, NULL, stats->wall_p99_ms);
    lp_html_cell_count(out, NULL, findings->regions.items[i].collected_calls);
    lp_html_cell_number(out, NULL, stats->gpu_busy_ms);
    lp_html_cell_number(out, NULL, stats->idle_ms);
    lp_html_cell_count(out, NULL, stats->kernel_count);
    lp_html_cell_count(out, NULL, stats->tokens);
    lp_html_cell_number(out, NULL, findings->regions.items[i].tokens_per_s);
    lp_text_puts(out, "</tr>\n");
}

void lp_html_stages(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_html_column columns[] = { { "Region", NULL },
                                                     { "Device", "device" },
                                                     { "Instances", "instances" },
                                                     { "Wall ms", "wall_ms/sum" },
                                                     { "Mean ms", "wall_ms/mean" },
                                                     { "p50 ms", "wall_ms/p50" },
                                                     { "p99 ms", "wall_ms/p99" },
                                                     { "Collected calls", "collected_instances" },
                                                     { "GPU busy ms", "gpu_busy_ms" },
                                                     { "Idle ms", "idle_ms" },
                                                     { "Kernels", "kernel_count" },
                                                     { "Tokens", "tokens" },
                                                     { "Tokens/s", "tokens_per_s" },
                                                     { NULL, NULL } };
    size_t others = 0;

    lp_html_rows_open(out, "Stages of the program; a nested stage is part of the one above it.",
                      columns);
    for (size_t i = 0; i < findings->regions.count; i++)
        if (findings->regions.items[i].stats.kind == LLMPERF_REGION_STAGE)
            stage_row(findings, i, out);
        else
            others++;
    lp_html_table_close(out);
    if (others > 0) {
        lp_text_printf(out, "<details><summary>%zu other regions</summary>\n", others);
        lp_html_rows_open(out, "Regions inside and outside of stages.", columns);
        for (size_t i = 0; i < findings->regions.count; i++)
            if (findings->regions.items[i].stats.kind != LLMPERF_REGION_STAGE)
                stage_row(findings, i, out);
        lp_html_table_close(out);
        lp_text_puts(out, "</details>\n");
    }
    lp_text_puts(
        out,
        "<p class=\"note\">GPU busy is the union of the intervals of all work launched in the "
        "region, nested regions included, and of the collected calls only. Vision is nested in "
        "prefill and counted once.</p>\n");
}

static void utilisation_row(const struct lp_findings *findings, size_t i, struct lp_text *out)
{
    const struct lp_region_finding *region = &findings->regions.items[i];
    const llmperf_utilisation *use = &region->use;

    lp_html_row_open(out, LP_POINTER("/regions/%zu", i));
    region_cell(findings, &region->stats, out);
    lp_html_cell_number(out, NULL, use->time_floor_ms);
    lp_html_cell_number(out, NULL, use->wall_ratio);
    lp_html_cell_number(out, NULL, use->floor_ratio);
    lp_html_cell_percent(out, NULL, use->mbu_elapsed);
    lp_html_cell_percent(out, NULL, use->mbu);
    lp_html_cell_percent(out, NULL, region->mbu_measured);
    lp_html_cell_percent(out, NULL, use->mfu_elapsed);
    lp_html_cell_percent(out, NULL, use->mfu);
    lp_html_cell_percent(out, NULL, region->mfu_measured);
    lp_html_cell_percent(out, NULL, use->mfu_limit);
    lp_html_cell_text(out, use->bound == LLMPERF_BOUND_UNKNOWN
                               ? NULL
                               : llmperf_name(LLMPERF_NAME_BOUND, use->bound));
    lp_html_cell_text(out, lp_work_origin(region->stats.flops_origin));
    lp_text_puts(out, "</tr>\n");
}

void lp_html_utilisation(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_html_column columns[] = { { "Region", NULL },
                                                     { "Bound ms", "time_floor_ms" },
                                                     { "Wall/bound", "wall_ratio" },
                                                     { "Busy/bound", "floor_ratio" },
                                                     { "MBU", "mbu_elapsed" },
                                                     { "while busy", "mbu" },
                                                     { "of measured", "mbu_measured" },
                                                     { "MFU", "mfu_elapsed" },
                                                     { "while busy", "mfu" },
                                                     { "of measured", "mfu_measured" },
                                                     { "MFU limit", "mfu_limit" },
                                                     { "Limited by", NULL },
                                                     { "FLOPs from", NULL },
                                                     { NULL, NULL } };

    lp_text_puts(out, "<p>Peak ");
    lp_html_number(out,
                   findings->limits.dtype[0]
                       ? LP_POINTER("/hardware/peak/%s", findings->limits.dtype)
                       : "/hardware/peak/none",
                   findings->limits.peak.value);
    lp_text_puts(out, " TFLOP/s, dense (dtype ");
    lp_html_text(out, findings->limits.dtype[0] ? findings->limits.dtype : "unknown");
    lp_text_puts(out, "); bandwidth ");
    lp_html_number(out, "/hardware/bandwidth_gbs", findings->limits.bandwidth.value);
    lp_text_puts(out, " GB/s; ridge ");
    lp_html_number(out, "/hardware/ridge", findings->limits.ridge);
    lp_text_puts(out, " FLOP/B.</p>\n");
    lp_html_rows_open(
        out,
        lp_is_sampled(findings->profile)
            ? "The bound is the roofline lower bound on time, for the work of the collected calls."
            : "The bound is the roofline lower bound on time, for the work of all calls.",
        columns);
    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;

        if (stats->flops != LLMPERF_UNKNOWN || stats->bytes != LLMPERF_UNKNOWN)
            utilisation_row(findings, i, out);
    }
    lp_html_table_close(out);
    lp_text_puts(
        out,
        "<p class=\"note\">Wall/bound: wall time over the bound; busy/bound: GPU busy time over "
        "it. "
        "They are equal where the device worked longer than the host was in the region. MFU and "
        "MBU are over elapsed time (wall time, or GPU busy time where that is longer), while busy: "
        "over GPU busy time. Limited by: memory or compute, the one whose bound is at least 1.2x "
        "the other; balanced, neither is; communication, the links; launch, wall/bound above 3 and "
        "the GPU busy for less than half of the wall time. For decode look at wall/bound first, "
        "then at MBU: MFU is necessarily small there. Regions with unknown work are not "
        "listed.</p>\n");
}

static void spread_row(const char *name, const char *base, const llmperf_iteration_stats *stats,
                       struct lp_text *out)
{
    if (stats->count == 0)
        return;
    lp_text_puts(out, "<tr>");
    lp_html_cell_text(out, name);
    lp_html_cell_number(out, LP_POINTER("%s/mean", base), stats->mean_ms);
    lp_html_cell_number(out, LP_POINTER("%s/std", base), stats->std_ms);
    lp_html_cell_number(out, LP_POINTER("%s/min", base), stats->min_ms);
    for (size_t i = 0; i < LP_PERCENTILE_COUNT; i++)
        lp_html_cell_number(out, LP_POINTER("%s/%s", base, lp_percentiles[i].name),
                            lp_percentile(LP_ROW_SPREAD, stats, i));
    lp_html_cell_number(out, LP_POINTER("%s/max", base), stats->max_ms);
    lp_html_cell_number(out, LP_POINTER("%s/sum", base), stats->sum_ms);
    lp_text_puts(out, "</tr>\n");
}

static void iteration_table(const struct lp_findings *findings, size_t i, struct lp_text *out)
{
#define HEADING(F, p, ...) "#" #p " ms",
    static const char *const headings[] = {
        "Part",    "#Mean ms", "#Std ms", "#Min ms", LP_PERCENTILES(HEADING, ) "#Max ms",
        "#Sum ms", NULL
    };
#undef HEADING
    const struct lp_stage_iterations *stage = &findings->stages.items[i];
    char word[LP_POINTER_BYTES];

    lp_html_table_open(out, "How the time of an iteration is spent.", headings);
    for (size_t time = 0; time < LP_TIMES; time++)
        spread_row(lp_time_names[time].heading,
                   LP_POINTER("/iterations/%zu/%s", i, lp_time_names[time].member),
                   &stage->times[time], out);
    for (size_t row = 0; row < stage->class_count; row++) {
        llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;

        llmperf_profile_iteration_stats(findings->profile, stage->first_class + row, &stats);
        spread_row(
            stats.quantity,
            LP_POINTER("/iterations/%zu/class_ms/%.200s", i, lp_pointer_word(word, stats.quantity)),
            &stats, out);
    }
    lp_html_table_close(out);
}

void lp_html_iterations(const struct lp_findings *findings, struct lp_text *out)
{
    if (findings->stages.count == 0)
        lp_text_puts(out, "<p>Unknown: no stage was recorded iteration by iteration.</p>\n");
    for (size_t i = 0; i < findings->stages.count; i++) {
        lp_text_puts(out, "<h3><code>");
        lp_html_text(out, findings->stages.items[i].region);
        lp_text_puts(out, "</code>, iterations: ");
        lp_html_count(out, LP_POINTER("/iterations/%zu/count", i),
                      findings->stages.items[i].times[LP_TIME_WALL].count);
        lp_text_puts(out, "</h3>\n");
        if (findings->stages.items[i].times[LP_TIME_WALL].count > 1)
            lp_svg_histogram(findings, i, out);
        iteration_table(findings, i, out);
    }
}

static void add_ranks(const struct lp_findings *findings, struct lp_text *out)
{
    static const char *const headings[] = { "Stage",
                                            "#Process",
                                            "#GPU",
                                            "#Wall ms",
                                            "#Computing ms",
                                            "#In collectives ms",
                                            "#Collectives",
                                            "#Waiting ms, at least",
                                            NULL };

    if (findings->ranks.rows.count == 0)
        return;
    lp_html_table_open(out,
                       "GPUs that work together, per call. A collective ends after the last GPU "
                       "has arrived; the others wait for it.",
                       headings);
    for (size_t i = 0; i < findings->ranks.rows.count; i++) {
        const struct lp_rank *rank = &findings->ranks.rows.items[i];

        lp_text_puts(out, "<tr>");
        lp_html_cell_code(out, rank->region);
        lp_html_cell_count(out, LP_POINTER("/ranks/%zu/process_id", i), rank->process_id);
        lp_html_cell_count(out, LP_POINTER("/ranks/%zu/device", i), (uint64_t)rank->device);
        lp_html_cell_number(out, LP_POINTER("/ranks/%zu/wall_ms", i), rank->wall_ms);
        lp_html_cell_number(out, LP_POINTER("/ranks/%zu/compute_ms", i), rank->compute_ms);
        lp_html_cell_number(out, LP_POINTER("/ranks/%zu/collective_ms", i), rank->collective_ms);
        lp_html_cell_number(out, LP_POINTER("/ranks/%zu/collective_count", i),
                            rank->collective_count);
        lp_html_cell_number(out, LP_POINTER("/ranks/%zu/waiting_ms", i), rank->waiting_ms);
        lp_text_puts(out, "</tr>\n");
    }
    lp_html_table_close(out);
}

void lp_html_classes(const struct lp_findings *findings, struct lp_text *out)
{
    static const char *const headings[] = { "Stage",  "Kernel class",    "#Total ms",
                                            "#Calls", "#Share of stage", NULL };

    lp_svg_classes(findings, out);
    if (findings->class_totals.rows.count == 0)
        return;
    lp_html_table_open(out, "Device time by stage and kernel class; nested stages are excluded.",
                       headings);
    for (size_t i = 0; i < findings->class_totals.rows.count; i++) {
        const struct lp_class_total *row = &findings->class_totals.rows.items[i];

        lp_text_puts(out, "<tr>");
        lp_html_cell_code(out, row->stage);
        lp_html_cell_text(out, row->kernel_class);
        lp_html_cell_number(out, LP_POINTER("/kernel_classes/%zu/total_ms", i), row->total_ms);
        lp_html_cell_count(out, LP_POINTER("/kernel_classes/%zu/calls", i), row->calls);
        lp_html_cell_percent(out, LP_POINTER("/kernel_classes/%zu/share", i), row->share);
        lp_text_puts(out, "</tr>\n");
    }
    lp_html_table_close(out);
    add_ranks(findings, out);
}

void lp_html_operators(const struct lp_findings *findings, struct lp_text *out)
{
    static const char *const headings[] = { "Operator", "Stage",        "#Calls", "#Wall ms",
                                            "#Mean ms", "#GPU busy ms", NULL };
    size_t count = lp_row_count(findings->profile, LP_ROW_OPERATOR);

    if (count == 0) {
        lp_text_puts(out, "<p>No operator was marked (regions below a stage).</p>\n");
        return;
    }
    lp_html_table_open(out, "Regions below a stage, at any depth.", headings);
    for (size_t i = 0; i < count; i++) {
        llmperf_operator_stats op = LLMPERF_OPERATOR_STATS_INIT;

        llmperf_profile_operator(findings->profile, i, &op);
        lp_text_puts(out, "<tr>");
        lp_html_cell_code(out, op.name);
        lp_html_cell_code(out, op.stage);
        lp_html_cell_count(out, LP_POINTER("/operators/%zu/calls", i), op.calls);
        lp_html_cell_number(out, LP_POINTER("/operators/%zu/total_time_ms", i), op.total_time_ms);
        lp_html_cell_number(out, LP_POINTER("/operators/%zu/mean_ms", i), op.mean_ms);
        lp_html_cell_number(out, LP_POINTER("/operators/%zu/cuda_time_ms", i),
                            of_device(findings, op.cuda_time_ms));
        lp_text_puts(out, "</tr>\n");
    }
    lp_html_table_close(out);
}

static void kernel_row(size_t i, const llmperf_kernel_stats *kernel, struct lp_text *out)
{
    lp_html_row_open(out, LP_POINTER("/kernels/%zu", i));
    lp_text_puts(out, "<td class=\"t\"><code title=\"");
    lp_html_text(out, kernel->demangled);
    lp_text_puts(out, "\">");
    lp_html_text(out, kernel->short_name);
    lp_text_puts(out, "</code></td>");
    if (kernel->region && *kernel->region)
        lp_html_cell_code(out, kernel->region);
    else
        lp_html_cell_text(out, kernel->region ? "(no region)" : "(unknown launch)");
    device_cell(kernel->device, out);
    lp_html_cell_number(out, NULL, kernel->total_ms);
    lp_html_cell_percent(out, NULL, kernel->share);
    lp_html_cell_count(out, NULL, kernel->calls);
    lp_html_cell_number(out, NULL, kernel->mean_ms);
    lp_html_cell_number(out, NULL, kernel->p50_ms);
    lp_html_cell_number(out, NULL, kernel->p99_ms);
    lp_text_puts(out, "</tr>\n");
}

void lp_html_kernels(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_html_column columns[] = {
        { "Kernel", NULL },       { "Region", NULL },
        { "Device", "device" },   { "Total ms", "total_ms" },
        { "Share", "share" },     { "Calls", "calls" },
        { "Mean ms", "mean_ms" }, { "p50 ms", "p50_ms" },
        { "p99 ms", "p99_ms" },   { NULL, NULL }
    };
    size_t count = lp_row_count(findings->profile, LP_ROW_KERNEL);
    size_t most = lp_findings_top(findings, KERNELS_MOST);

    if (count == 0) {
        lp_text_puts(out, "<p>No device activity was seen.</p>\n");
        return;
    }
    lp_html_rows_open(out, "Kernels, memcpys and memsets; hover over a name to see it in full.",
                      columns);
    for (size_t i = 0; i < count && i < most; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(findings->profile, i, &kernel);
        kernel_row(i, &kernel, out);
    }
    lp_html_table_close(out);
    if (count > most)
        lp_text_puts(
            out, "<p class=\"note\">The longest ones; metrics.json and kernels.md list all.</p>\n");
}
