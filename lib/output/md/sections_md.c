/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "llmperf/region.h"
#include "lib/findings/recommend.h"

/* Shares are of means: tier light knows the device times of some calls only. */
static void spread_row(const llmperf_iteration_stats *stats, const llmperf_iteration_stats *wall,
                       struct lp_text *out)
{
    lp_md_cell_number(out, stats->mean_ms);
    lp_md_cell_number(out, 100 * stats->mean_ms / wall->mean_ms);
    lp_md_percentiles(out, LP_ROW_SPREAD, stats);
    lp_md_cell_number(out, stats->max_ms);
    lp_text_puts(out, "\n");
}

static void time_rows(const struct lp_stage_iterations *stage, struct lp_text *out)
{
    for (size_t i = 0; i < LP_TIMES; i++) {
        if (stage->times[i].count == 0)
            continue;
        lp_text_puts(out, "| ");
        for (int level = 0; level < lp_time_names[i].level; level++)
            lp_text_puts(out, "…");
        lp_text_printf(out, "%s%s |", lp_time_names[i].level > 0 ? " " : "",
                       lp_time_names[i].heading);
        spread_row(&stage->times[i], &stage->times[LP_TIME_WALL], out);
    }
}

/* Host time before the first and after the last kernel. */
static void host_row(const struct lp_stage_iterations *stage, struct lp_text *out)
{
    const llmperf_iteration_stats *wall = &stage->times[LP_TIME_WALL];

    if (!(stage->host_ms > 0))
        return;
    lp_text_puts(out, "| Host only, before and after the GPU work |");
    lp_md_cell_number(out, stage->host_ms / (double)wall->count);
    lp_md_cell_number(out, 100 * stage->host_ms / wall->sum_ms);
    for (int i = 0; i < 4; i++)
        lp_md_cell_number(out, NAN);
    lp_text_puts(out, "\n");
}

static void class_rows(const struct lp_findings *findings, const struct lp_stage_iterations *stage,
                       struct lp_text *out)
{
    for (size_t i = 0; i < stage->class_count; i++) {
        llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;

        llmperf_profile_iteration_stats(findings->profile, stage->first_class + i, &stats);
        if (!(stats.sum_ms > 0))
            continue;
        lp_text_puts(out, "| Kernels: ");
        lp_md_text(out, stats.quantity);
        lp_text_puts(out, " |");
        spread_row(&stats, &stage->times[LP_TIME_WALL], out);
    }
}

static void estimate_row(const char *name, const llmperf_iteration_stats *stats,
                         struct lp_text *out)
{
    lp_text_printf(out, "| %s |", name);
    lp_md_cell_count(out, stats->estimate_collected);
    lp_md_cell_number(out, stats->estimate_ms);
    if (isnan(stats->estimate_low_ms))
        lp_md_cell_text(out, NULL);
    else
        lp_text_printf(out, " %s to %s |", LP_NUMBER(stats->estimate_low_ms, 4),
                       LP_NUMBER(stats->estimate_high_ms, 4));
    lp_text_puts(out, "\n");
}

/* Means of all calls, from the sample of them. The first call stands for no other. */
static void add_estimates(const struct lp_stage_iterations *stage, struct lp_text *out)
{
    const llmperf_iteration_stats *busy = &stage->times[LP_TIME_BUSY];

    if (busy->count == 0 || busy->estimate_calls == LLMPERF_UNKNOWN)
        return;
    lp_text_printf(out,
                   "\nEstimated for all calls but the first (%" PRIu64
                   "), from the sampled ones:\n\n"
                   "| Part | Sampled | Mean ms | 95 %% interval ms |\n"
                   "| --- | ---: | ---: | ---: |\n",
                   busy->estimate_calls);
    for (size_t i = LP_TIME_WALL + 1; i < LP_TIMES; i++)
        if (stage->times[i].count > 0)
            estimate_row(lp_time_names[i].heading, &stage->times[i], out);
    if (busy->estimate_reason)
        lp_text_printf(out, "\nNo interval: %s.\n", busy->estimate_reason);
    if (!isnan(stage->first.busy_ms))
        lp_text_printf(out, "\nThe first call: %s ms, GPU busy %s ms.\n",
                       LP_NUMBER(stage->first.wall_ms, 4), LP_NUMBER(stage->first.busy_ms, 4));
}

static void add_stage(const struct lp_findings *findings, const struct lp_stage_iterations *stage,
                      struct lp_text *out)
{
    lp_text_puts(out, "### ");
    lp_md_code(out, stage->region);
    lp_text_puts(out, "\n\n");
    lp_md_count(out, stage->times[LP_TIME_WALL].count);
    lp_text_puts(out, stage->times[LP_TIME_WALL].count == 1 ? " iteration" : " iterations");
    if (stage->times[LP_TIME_BUSY].count > 0 &&
        stage->times[LP_TIME_BUSY].count < stage->times[LP_TIME_WALL].count) {
        lp_text_puts(out, ", device times of ");
        lp_md_count(out, stage->times[LP_TIME_BUSY].count);
        lp_text_puts(out, " of them");
    }
    lp_text_puts(out, ".\n\n");
    lp_text_puts(out, "| Part | Mean ms | Of wall % |");
    lp_md_percentile_heads(out);
    lp_text_puts(out, " Max ms |\n| --- | ---: | ---: |");
    lp_md_percentile_rules(out);
    lp_text_puts(out, " ---: |\n");
    time_rows(stage, out);
    host_row(stage, out);
    class_rows(findings, stage, out);
    add_estimates(stage, out);
    if (stage->overlaps)
        lp_text_puts(out, "\nSeveral calls ran on the device at once: the idle time of one "
                          "contains work of others.\n");
    lp_text_puts(out, "\n");
}

void lp_iterations_md(const struct lp_findings *findings, struct lp_text *out)
{
    if (findings->stages.count == 0) {
        lp_text_puts(out, "Unknown: no stage was recorded iteration by iteration.\n");
        return;
    }
    for (size_t i = 0; i < findings->stages.count; i++)
        add_stage(findings, &findings->stages.items[i], out);
    lp_text_puts(out, "Waiting for launch: the GPU was idle because the host had not launched the "
                      "next work yet. Gaps between kernels: the next work was launched in time, "
                      "but a dependency or the GPU's own latency delayed it. Kernel times are "
                      "sums, so kernels that run at the same time both count.\n");
}

static const char *capital(uint32_t severity)
{
    static const char *const words[] = { "High", "Medium", "Low" };

    return words[severity - LLMPERF_SEVERITY_HIGH];
}

static void add_saving(const struct lp_recommendation *row, struct lp_text *out)
{
    if (!(row->advice.saving_ms > 0))
        return;
    lp_text_printf(out, " Possible saving: up to %s ms", LP_NUMBER(row->advice.saving_ms, 4));
    lp_gain_words(row, out);
}

void lp_advice_md(const struct lp_findings *findings, size_t limit, struct lp_text *out)
{
    size_t count = findings->advice.rows.count;

    for (size_t i = 0; i < count && i < limit; i++) {
        const llmperf_advice *row = &findings->advice.rows.items[i].advice;

        lp_text_printf(out, "%zu. **%s**: ", i + 1, capital(row->severity));
        lp_md_text(out, row->text);
        add_saving(&findings->advice.rows.items[i], out);
        lp_text_puts(out, "\n");
    }
}

static bool is_vision_of(const llmperf_region_stats *inner, const llmperf_region_stats *outer)
{
    const char *name = strchr(inner->label, '@');

    return name && strcmp(name, "@vision") == 0 && *outer->path &&
           strcmp(inner->path, outer->path) != 0 && lp_region_is_in(inner->path, outer->path);
}

static void vision_line(const struct lp_findings *findings, const char *inner, const char *outer,
                        struct lp_text *out)
{
    struct lp_stage_sum vision = lp_stage_sum_of(findings, inner, -1);
    struct lp_stage_sum stage = lp_stage_sum_of(findings, outer, -1);
    bool device = findings->device_known && stage.busy_ms > 0;
    double part = device ? vision.busy_ms : vision.wall_ms;
    double whole = device ? stage.busy_ms : stage.wall_ms;

    lp_text_puts(out, "\nVision is part of ");
    lp_md_code(out, outer);
    lp_text_printf(out, " and counted once: %s of its %s ms %s (%s %%)", LP_NUMBER(part, 4),
                   LP_NUMBER(whole, 4), device ? "of GPU busy time" : "of wall time",
                   LP_NUMBER(100 * part / whole, 3));
    if (stage.processes > 1)
        lp_text_printf(out, ", %zu processes together", stage.processes);
    lp_text_puts(out, ".\n");
}

void lp_vision_md(const struct lp_findings *findings, struct lp_text *out)
{
    for (size_t i = 0; i < findings->regions.count; i++)
        for (size_t k = 0; k < findings->regions.count; k++) {
            const llmperf_region_stats *outer = &findings->regions.items[i].stats;
            const llmperf_region_stats *inner = &findings->regions.items[k].stats;

            if (outer->kind == LLMPERF_REGION_STAGE && is_vision_of(inner, outer) &&
                lp_findings_is_first(findings, i) && lp_findings_is_first(findings, k))
                vision_line(findings, inner->path, outer->path, out);
        }
}

void lp_variation_md(const struct lp_findings *findings, struct lp_text *out)
{
    struct lp_text line = { NULL, 0, 0, false };
    const char *last = "";

    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *region = &findings->regions.items[i];

        if (!lp_findings_varies(region) || strcmp(region->stats.path, last) == 0)
            continue;
        last = region->stats.path;
        lp_variation_text(region, &line);
        lp_text_puts(out, "- ");
        lp_md_text(out, line.bytes ? line.bytes : "");
        lp_text_puts(out, "\n");
        lp_text_clear(&line);
    }
}
