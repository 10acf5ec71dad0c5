/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/tables_md.h"
#include "lib/profile/percentiles.h"
#include "llmperf/region.h"
#include "lib/findings/recommend.h"

#define TOP_REGIONS 20 /* where there are no stages */

/* Shares are of means: tier light knows the device times of some calls only. */
static void time_rows(const struct lp_stage_iterations *stage, struct lp_text *out)
{
    const llmperf_iteration_stats *wall = &stage->times[LP_TIME_WALL];
    const llmperf_iteration_stats *elapsed = &stage->times[LP_TIME_ELAPSED];
    const llmperf_iteration_stats *whole = elapsed->count == wall->count ? elapsed : wall;

    for (size_t i = 0; i < LP_TIMES; i++) {
        const llmperf_iteration_stats *stats = &stage->times[i];

        if (stats->count == 0)
            continue;
        lp_text_puts(out, "| ");
        for (int level = 0; level < lp_time_names[i].level; level++)
            lp_text_puts(out, "…");
        lp_text_printf(out, "%s%s |", lp_time_names[i].level > 0 ? " " : "",
                       lp_time_names[i].heading);
        lp_md_cell_number(out, stats->mean_ms);
        lp_md_cell_number(out, 100 * stats->mean_ms / whole->mean_ms);
        for (size_t k = 0; k < LP_PERCENTILE_COUNT; k++)
            lp_md_cell_number(out, lp_percentile(LP_ROW_SPREAD, stats, k));
        lp_md_cell_number(out, stats->max_ms);
        lp_text_puts(out, "\n");
    }
}

static void estimate_row(const char *name, const llmperf_iteration_stats *stats,
                         struct lp_text *out)
{
    lp_text_printf(out, "| %s |", name);
    lp_md_cell_count(out, stats->estimate_collected);
    lp_text_puts(out, " ");
    lp_md_interval(out, stats->estimate_ms,
                   (struct lp_interval){ stats->estimate_low_ms, stats->estimate_high_ms }, 4);
    lp_text_puts(out, " |\n");
}

/* Means of all calls, from the sample of them. The first call stands for no other. */
static void add_estimates(const struct lp_stage_iterations *stage, struct lp_text *out)
{
    const llmperf_iteration_stats *busy = &stage->times[LP_TIME_BUSY];

    if (busy->count == 0 || busy->estimate_calls == LLMPERF_UNKNOWN)
        return;
    lp_text_printf(out,
                   "\nEstimated for all calls but %s (%" PRIu64
                   "), from the sampled ones, with 95 %% confidence:\n\n"
                   "| Part | Sampled | Mean ms |\n| --- | ---: | ---: |\n",
                   stage->warm_up[LP_TIME_WALL].calls > 1 ? "warm-up" : "the first",
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

static void add_stage(const struct lp_stage_iterations *stage, struct lp_text *out)
{
    uint64_t calls = stage->times[LP_TIME_WALL].count, collected = stage->times[LP_TIME_BUSY].count;

    lp_md_code(out, stage->region);
    lp_text_printf(out, ": %" PRIu64 " calls%s", calls,
                   stage->warm_up[LP_TIME_WALL].calls > 0 ? " after warm-up" : "");
    if (collected > 0 && collected < calls)
        lp_text_printf(out, ", device times of %" PRIu64 " of them", collected);
    lp_text_puts(out, ".\n\n| Part | Mean ms | Of a call % |");
    for (size_t i = 0; i < LP_PERCENTILE_COUNT; i++)
        lp_text_printf(out, " %s ms |", lp_percentiles[i].name);
    lp_text_puts(out, " Max ms |\n| --- | ---: | ---: |");
    for (size_t i = 0; i < LP_PERCENTILE_COUNT; i++)
        lp_text_puts(out, " ---: |");
    lp_text_puts(out, " ---: |\n");
    time_rows(stage, out);
    add_estimates(stage, out);
    if (stage->overlaps)
        lp_text_puts(out, "\nSeveral calls ran on the device at once: the idle time of one "
                          "contains work of others.\n");
    lp_text_puts(out, "\n");
}

/* One call has no spread, and its parts are in its waterfall; host times are those of the table of
 * stages. */
void lp_iterations_md(const struct lp_findings *findings, struct lp_text *out)
{
    size_t before = out->length;

    for (size_t i = 0; i < findings->stages.count; i++)
        if (findings->stages.items[i].times[LP_TIME_WALL].count > 1 &&
            findings->stages.items[i].times[LP_TIME_ELAPSED].count > 0)
            add_stage(&findings->stages.items[i], out);
    if (out->length > before)
        lp_text_puts(out, "Waiting for launch: the GPU was idle because the host had not launched "
                          "the next work yet. Gaps between kernels: the next work was launched in "
                          "time, but a dependency or the GPU's own latency delayed it.\n");
}

static const char *capital(uint32_t severity)
{
    static const char *const words[] = { "High", "Medium", "Low" };

    return words[severity - LLMPERF_SEVERITY_HIGH];
}

/* ", saves up to 40.9 ms** (0.160 ms a call: 978 tokens/s instead of 845)" */
static void add_saving(const struct lp_recommendation *row, struct lp_text *out)
{
    const llmperf_advice *advice = &row->advice;
    bool rate = !isnan(advice->mended_tokens_per_s);

    if (!(advice->saving_ms > 0)) {
        lp_text_puts(out, "**");
        return;
    }
    lp_text_printf(out, ", saves up to %s ms%s**", LP_NUMBER(advice->saving_ms, 3),
                   advice->once ? " once per process start" : "");
    if (!isnan(advice->saving_call_ms))
        lp_text_printf(out, " (%s ms a call%s", LP_NUMBER(advice->saving_call_ms, 3),
                       rate ? ": " : ")");
    if (rate)
        lp_text_printf(out, "%s%s tokens/s instead of %s)",
                       isnan(advice->saving_call_ms) ? " (" : "",
                       LP_NUMBER(advice->mended_tokens_per_s, 3), LP_NUMBER(row->tokens_per_s, 3));
}

void lp_advice_md(const struct lp_findings *findings, size_t first, size_t last,
                  struct lp_text *out)
{
    size_t count = findings->advice.rows.count;

    for (size_t i = first; i < count && i < last; i++) {
        const llmperf_advice *row = &findings->advice.rows.items[i].advice;

        lp_text_printf(out, "%zu. **%s", i + 1, capital(row->severity));
        add_saving(&findings->advice.rows.items[i], out);
        lp_text_puts(out, ": ");
        lp_md_text(out, row->text);
        if (row->stage && strchr(row->stage, '/')) {
            lp_text_puts(out, " Rows: ");
            lp_md_code(out, row->stage);
            lp_text_puts(out, ".");
        }
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

static void add_vision(const struct lp_findings *findings, struct lp_text *out)
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

void lp_stages_section_md(const struct lp_findings *findings, struct lp_text *out)
{
    lp_table_stages(findings, lp_findings_top(findings, TOP_REGIONS), out);
    add_vision(findings, out);
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
