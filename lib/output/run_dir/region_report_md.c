/* SPDX-License-Identifier: Apache-2.0 */
/* Region reports as Markdown. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/output/format/markdown.h"
#include "lib/output/run_dir/region_ncu.h"
#include "lib/output/run_dir/region_report.h"
#include "lib/findings/limits/measured.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"

static double device_value(const struct lp_region_set *set, double value)
{
    return set->findings->device_known ? value : NAN;
}

static void put_overview(const struct lp_region_set *set, const struct lp_region_filter *filter,
                         struct lp_text *out)
{
    lp_text_puts(out,
                 "| region | device | process | calls | wall ms | device busy ms | own busy ms | "
                 "kernels | kernel ms | selected ms |\n"
                 "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < set->parts.count; i++) {
        const struct lp_region_part *part = &set->parts.items[i];
        const llmperf_region_stats *region = &part->row->stats;

        if (!lp_region_filter_shows(filter, part))
            continue;
        lp_text_puts(out, "|");
        lp_md_cell_region(out, region->path);
        lp_md_cell_device(out, region->device);
        lp_md_cell_count(out, region->process_id);
        lp_md_cell_count(out, region->instances);
        lp_md_cell_number(out, region->instances > 0 ? region->wall_sum_ms : NAN);
        lp_md_cell_number(out, device_value(set, region->gpu_busy_ms));
        lp_md_cell_number(out, device_value(set, region->exclusive_gpu_busy_ms));
        lp_md_cell_count(out, set->findings->device_known ? part->calls : LLMPERF_UNKNOWN);
        lp_md_cell_number(out, device_value(set, part->total_ms));
        lp_md_cell_number(out, device_value(set, part->selected_ms));
        lp_text_puts(out, "\n");
    }
    lp_text_puts(out, "\nA region includes the regions nested in it; \"own\" does not.\n");
}

static void put_row(struct lp_text *out, const char *name, double value)
{
    lp_text_puts(out, "|");
    lp_md_cell_text(out, name);
    lp_md_cell_number(out, value);
    lp_text_puts(out, "\n");
}

static void put_time(const struct lp_region_set *set, const struct lp_region_part *part,
                     struct lp_text *out)
{
    const llmperf_region_stats *region = &part->row->known;
    char name[32];

    lp_text_puts(out, "\n| time | ms |\n| --- | --- |\n");
    put_row(out, "wall, mean", region->wall_mean_ms);
    for (size_t i = 0; i < LP_PERCENTILE_COUNT; i++) {
        snprintf(name, sizeof(name), "wall, %s", lp_percentiles[i].name);
        put_row(out, name, lp_percentile(LP_ROW_REGION, region, i));
    }
    put_row(out, "device busy", device_value(set, region->gpu_busy_ms));
    put_row(out, "device idle", device_value(set, region->idle_ms));
}

/* Measured / analytic, over all calls. */
static double ratio_of(double measured, uint64_t analytic, uint64_t instances)
{
    return analytic == LLMPERF_UNKNOWN || analytic == 0 || isnan(measured)
               ? NAN
               : measured * (double)instances / (double)analytic;
}

static void explain(struct lp_text *out, const char *what, double ratio, const char *more,
                    const char *less)
{
    if (isnan(ratio) || fabs(ratio - 1) <= 0.05)
        return;
    lp_text_printf(
        out, "\nThe counters measured %s than the %s given: ", ratio > 1 ? "more" : "less", what);
    lp_text_puts(out, ratio > 1 ? more : less);
    lp_text_puts(out, "\n");
}

static void put_pair(struct lp_text *out, const char *name, uint64_t analytic, double measured,
                     uint64_t instances)
{
    lp_text_puts(out, "|");
    lp_md_cell_text(out, name);
    lp_md_cell_number(out, analytic == LLMPERF_UNKNOWN ? NAN : (double)analytic);
    lp_md_cell_number(out, measured * (double)instances);
    lp_md_cell_number(out, ratio_of(measured, analytic, instances));
    lp_text_puts(out, "\n");
}

static void put_work(const struct lp_region_part *part, struct lp_text *out)
{
    const llmperf_region_stats *region = &part->row->stats;
    const struct lp_measured *measured = &part->row->measured;

    lp_text_puts(out,
                 "\n| work | given | measured | measured / given |\n| --- | --- | --- | --- |\n");
    put_pair(out, "FLOPs", region->flops, measured->flops, region->instances);
    put_pair(out, "bytes of device memory", region->bytes, measured->bytes, region->instances);
    lp_text_puts(out, "\n| utilisation | |\n| --- | --- |\n");
    put_row(out, "MFU", part->row->use.mfu_elapsed);
    put_row(out, "MFU while busy", part->row->use.mfu);
    put_row(out, "HFU (measured)", measured->hfu);
    put_row(out, "MBU", part->row->use.mbu_elapsed);
    put_row(out, "MBU while busy", part->row->use.mbu);
    put_row(out, "intensity, FLOPs per byte (given)", part->row->use.intensity);
    put_row(out, "intensity, FLOPs per byte (measured)", measured->intensity);
    if (measured->hfu_reason) {
        lp_text_puts(out, "\nHFU is unknown: ");
        lp_md_text(out, measured->hfu_reason);
        lp_text_puts(out, ".\n");
    }
    explain(out, "FLOPs", ratio_of(measured->flops, region->flops, region->instances),
            "tile padding, recomputation, or an algorithm that does more work.",
            "a dtype that the preset does not count, or operations outside of tensor cores.");
    explain(out, "bytes", ratio_of(measured->bytes, region->bytes, region->instances),
            "data that is read again after leaving the cache, and activations.",
            "cache hits in L2.");
}

static void put_counter(struct lp_text *out, const llmperf_metric_stats *metric)
{
    lp_text_puts(out, "|");
    lp_md_cell_code(out, metric->name);
    lp_md_cell_text(out, metric->text ? metric->text : metric->unit);
    lp_md_cell_number(out, metric->mean);
    lp_md_cell_number(out, metric->min);
    lp_md_cell_number(out, metric->max);
    lp_md_cell_count(out, metric->count);
    lp_text_puts(out, "\n");
}

static void put_counters(const struct lp_region_set *set, const llmperf_region_stats *region,
                         struct lp_text *out)
{
    const llmperf_profile *profile = set->findings->profile;
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
    bool any = false;

    for (size_t i = lp_counter_index_find(&set->counters, region->path);
         i < lp_row_count(profile, LP_ROW_METRIC) &&
         llmperf_profile_metric(profile, i, &metric) == 0 && metric.region &&
         strcmp(metric.region, region->path) == 0;
         i++) {
        if (metric.kernel || (metric.device >= 0 && metric.device != region->device) ||
            (metric.source && strcmp(metric.source, "ncu") == 0))
            continue;
        if (!any)
            lp_text_puts(out, "\n| counter | unit | mean | min | max | results |\n"
                              "| --- | --- | --- | --- | --- | --- |\n");
        any = true;
        put_counter(out, &metric);
    }
    lp_region_ncu_md(set, region, out);
}

static void put_patterns(struct lp_text *out, const char *word, const struct lp_patterns *patterns)
{
    for (size_t i = 0; i < lp_patterns_count(patterns); i++) {
        lp_text_puts(out, i ? ", " : word);
        lp_md_code(out, lp_patterns_text(patterns, i));
    }
}

static void put_selection(const struct lp_region_part *part, struct lp_text *out)
{
    lp_text_puts(out, "\nKernels: ");
    if (!part->rule || (!part->rule->include && !part->rule->exclude))
        lp_text_puts(out, "all");
    put_patterns(out, "only ", part->rule ? part->rule->include : NULL);
    put_patterns(out, part->rule && part->rule->include ? ", without " : "without ",
                 part->rule ? part->rule->exclude : NULL);
    lp_text_printf(out, " (%" PRIu64 " of %" PRIu64 " calls)\n\n", part->selected_calls,
                   part->calls);
}

static void put_kernels(const struct lp_region_part *part, struct lp_text *out)
{
    put_selection(part, out);
    if (part->kernels.count == 0) {
        lp_text_puts(out, part->calls > 0 ? "No kernel of this region matches the selection.\n"
                                          : "No kernels.\n");
        return;
    }
    lp_text_puts(out, "| kernel | calls | total ms | mean ms | share |\n"
                      "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < part->kernels.count; i++) {
        const struct lp_region_kernel *kernel = &part->kernels.items[i];

        lp_text_puts(out, "|");
        lp_md_cell_code(out, kernel->name);
        lp_md_cell_count(out, kernel->calls);
        lp_md_cell_number(out, kernel->total_ms);
        lp_md_cell_number(out, kernel->total_ms / (double)kernel->calls);
        lp_md_cell_number(out, part->selected_ms > 0 ? kernel->total_ms / part->selected_ms : NAN);
        lp_text_puts(out, "\n");
    }
    if (part->kernels_left > 0) {
        lp_text_printf(out, "\n%zu more kernels took ", part->kernels_left);
        lp_md_number(out, part->left_ms);
        lp_text_puts(out, " ms.\n");
    }
}

static void put_region(const struct lp_region_set *set, const struct lp_region_part *part,
                       struct lp_text *out)
{
    const llmperf_region_stats *region = &part->row->stats;
    const bool *wanted = set->options.sections;

    lp_text_puts(out, "\n## ");
    lp_md_code(out, region->path);
    if (region->device >= 0)
        lp_text_printf(out, " on device %d", region->device);
    lp_text_puts(out, "\n");
    if (wanted[LP_SECTION_TIME])
        put_time(set, part, out);
    if (wanted[LP_SECTION_WORK])
        put_work(part, out);
    if (wanted[LP_SECTION_COUNTERS])
        put_counters(set, region, out);
    if (wanted[LP_SECTION_KERNELS])
        put_kernels(part, out);
}

/* Without regions: what the run did. */
static void put_baseline(const struct lp_region_set *set, struct lp_text *out)
{
    size_t kernels = lp_row_count(set->findings->profile, LP_ROW_KERNEL);
    double total = 0;

    for (size_t i = 0; i < kernels; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(set->findings->profile, i, &kernel);
        total += kernel.total_ms;
    }
    lp_text_puts(out, "\n");
    lp_text_puts(out, lp_region_nothing(set));
    lp_text_printf(out,
                   ".\n\nThe whole run: %zu regions, %zu kernels, memcpys and memsets by name, ",
                   set->findings->regions.count, kernels);
    lp_md_number(out, device_value(set, total));
    lp_text_puts(out, " ms on the device. See ../report.md.\n");
}

int lp_region_report_md(const struct lp_region_set *set, const struct lp_region_filter *filter,
                        struct lp_text *out)
{
    const char *run_id = llmperf_profile_fact(set->findings->profile, "run_id");
    struct lp_region_totals totals;
    char scope[64];

    lp_region_scope_name(filter, scope, sizeof(scope));
    lp_region_totals_of(set, filter, &totals);
    lp_text_puts(out, "# ");
    lp_md_text(out, filter->label ? filter->label : "Regions");
    lp_text_puts(out, "\n\nRun ");
    lp_md_text(out, run_id ? run_id : LP_MD_UNKNOWN);
    lp_text_printf(out, ", scope %s, verdict %s.\n", scope,
                   llmperf_name(LLMPERF_NAME_VERDICT, set->findings->ledger.verdict));
    if (totals.regions == 0) {
        put_baseline(set, out);
        return out->failed ? LLMPERF_ENOMEM : 0;
    }
    lp_text_printf(out, "%" PRIu64 " selected kernels took ", totals.calls);
    lp_md_number(out, device_value(set, totals.kernel_ms));
    lp_text_puts(out, " ms; work shared by regions is counted once.\n\n");
    put_overview(set, filter, out);
    if (set->matched > set->parts.count)
        lp_text_printf(out, "\n%zu more regions are not shown; these have the most device time.\n",
                       set->matched - set->parts.count);
    for (size_t i = 0; i < set->parts.count; i++)
        if (lp_region_filter_shows(filter, &set->parts.items[i]))
            put_region(set, &set->parts.items[i], out);
    return out->failed ? LLMPERF_ENOMEM : 0;
}
