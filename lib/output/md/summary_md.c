/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>

#include "lib/base/number.h"
#include "lib/findings/cost_centres.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/format/markdown.h"
#include "lib/output/format/documents.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"
#include "lib/output/md/tables_md.h"
#include "lib/profile/profile.h"
#include "lib/base/text.h"

#define TOP         3
#define TOP_CENTRES 5
#define TOP_ROWS    5 /* of operators and of kernels */

/* How the GPUs of a stage share its work. */
static void add_company(const struct lp_findings *findings, const char *path, struct lp_text *out)
{
    struct lp_rank_spread spread = lp_ranks_spread(&findings->ranks, path);

    if (spread.gpus > 0)
        lp_text_printf(
            out, "; %zu GPUs work on it together and spend %s to %s ms per call in communication",
            spread.gpus, LP_NUMBER(spread.least_ms, 3), LP_NUMBER(spread.most_ms, 3));
}

static void stage_line(const struct lp_findings *findings, const struct lp_region_finding *region,
                       struct lp_text *out)
{
    const llmperf_region_stats *stats = &region->stats;
    uint64_t calls = stats->instances - region->warm_up_calls;
    size_t processes = lp_stage_sum_of(findings, stats->path, -1).processes;

    lp_text_puts(out, "- ");
    lp_md_code(out, stats->label);
    lp_text_puts(out, stats->instances == 1 ? " took " : " takes ");
    lp_md_time(out, region->call_ms);
    lp_text_printf(out, " of %s", lp_clock_words(region->clock));
    if (calls > 1)
        lp_text_printf(out, " on average (%" PRIu64 " calls)", calls);
    lp_md_warm_up(out, region);
    if (processes > 1)
        lp_text_printf(out, " in the busiest of %zu processes", processes);
    if (region->at_once > 1)
        lp_text_printf(out, ", %s calls at a time", LP_NUMBER(region->at_once, 2));
    if (!isnan(region->tokens_per_s))
        lp_text_printf(out, ", which is %s tokens/s%s", LP_NUMBER(region->tokens_per_s, 3),
                       region->rate == LLMPERF_RATE_TOTAL ? " in all" : "");
    /* A lower bound above the measured time comes from a wrong peak, dtype or count; the notes say
     * so. */
    if (stats->truncated == 0 && region->floor_call_ms > 0 &&
        region->floor_call_ms <= region->call_ms && !(region->use.floor_ratio < 1)) {
        lp_text_puts(out, "; this GPU could do it in ");
        lp_md_time(out, region->floor_call_ms);
        lp_text_puts(out, " at best");
    }
    add_company(findings, stats->path, out);
    lp_text_puts(out, ".\n");
}

static void add_result(const struct lp_findings *findings, struct lp_text *out)
{
    double duration = lp_duration_ms(findings->profile);

    if (!isnan(duration)) {
        lp_text_puts(out, "The profile covers ");
        lp_md_time(out, duration);
        lp_text_puts(out, ".\n\n");
    }
    for (size_t i = 0; i < findings->regions.count; i++)
        if (findings->regions.items[i].advised && findings->regions.items[i].stats.instances > 0)
            stage_line(findings, &findings->regions.items[i], out);
}

/* The rows shown and the rest are all of the time. */
static void add_rest(const struct lp_cost_centres *centres, struct lp_text *out)
{
    double shown = 0;

    for (size_t i = 0; i < centres->rows.count && i < TOP_CENTRES; i++)
        shown += centres->rows.items[i].share;
    if (centres->all_ms > 0) {
        lp_text_printf(out, "\nEverything else: %s %%. All of it is ",
                       LP_NUMBER(fmax(0, 100 - 100 * shown), 3));
        lp_md_time(out, centres->all_ms);
        lp_text_printf(out, ": the time of all stages%s and of work outside of them.\n",
                       centres->together ? ", summed over processes and GPUs," : "");
    }
    if (centres->overlapped)
        lp_text_puts(out, "\nKernels ran at the same time: their times are scaled so that they add "
                          "up to the elapsed time.\n");
}

static void add_costs(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN("Cost centre", struct lp_cost_centre, what),
        LP_COLUMN_CODE("Stage", struct lp_cost_centre, stage),
        LP_COLUMN_DURATION("Time", struct lp_cost_centre, ms),
        LP_COLUMN_TIMES("Share %", struct lp_cost_centre, share, 100),
        LP_COLUMN("Where to act", struct lp_cost_centre, act),
        LP_COLUMN_DURATION("Saves up to", struct lp_cost_centre, saving_ms),
    };
    const struct lp_cost_centres *centres = &findings->cost_centres;
    struct lp_table table = { LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&centres->rows) };

    if (table.row_count > TOP_CENTRES)
        table.row_count = TOP_CENTRES;
    lp_text_puts(out, "\n## Where the time goes\n\n");
    if (centres->rows.count == 0) {
        lp_text_puts(out, "Unknown: no stage was marked, and no GPU work was seen.\n");
        return;
    }
    lp_table_add(findings, &table, out);
    add_rest(centres, out);
}

static void add_actions(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_puts(out, "\n## Where to act\n\n");
    if (findings->advice.rows.count == 0)
        lp_text_puts(out, "No rule applies to this run.\n");
    lp_advice_md(findings, 0, TOP, out);
}

static void add_uncertain_limits(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_limits *limits = &findings->limits;
    const char *reason = limits->hardware_reason[0] ? limits->hardware_reason
                         : limits->dtype_reason[0]  ? limits->dtype_reason
                                                    : NULL;

    if (reason) {
        lp_text_puts(out, "- The limits of the GPU are not fully known: ");
        lp_md_text(out, reason);
        lp_text_puts(out, ".\n");
    }
    if (isnan(limits->peak.value) || limits->peak.confidence == LLMPERF_CONFIDENCE_HIGH)
        return;
    lp_text_printf(out, "- The peak of the GPU has only %s confidence.\n",
                   llmperf_name(LLMPERF_NAME_CONFIDENCE, limits->peak.confidence));
}

static void add_uncertain(const struct lp_findings *findings, struct lp_text *out)
{
    const char *shared_by = llmperf_profile_fact(findings->profile, LP_SHARED_BY_FACT);
    const char *words = lp_verdict_words(findings->ledger.verdict);
    size_t before;

    lp_text_puts(out, "\n## What is uncertain\n\n");
    before = out->length;
    if (words)
        lp_text_printf(out, "- %s\n", words);
    lp_problems_md(findings->profile, out);
    add_uncertain_limits(findings, out);
    if (llmperf_profile_fact(findings->profile, "model_warning.0"))
        lp_text_puts(out, "- The model's description has warnings: see assumptions.md.\n");
    if (shared_by)
        lp_text_printf(out,
                       "- No parallel layout was given for the %s: each is compared with the work "
                       "of the whole model.\n",
                       shared_by);
    lp_variation_md(findings, out);
    if (out->length == before)
        lp_text_puts(out, "- Nothing is known to be missing. assumptions.md lists the assumptions "
                          "behind the numbers.\n");
}

static void add_environment(const struct lp_findings *findings, struct lp_text *out)
{
    const llmperf_about *about = &findings->about.values;
    const llmperf_profile *profile = findings->profile;

    lp_text_puts(out, "\n## Environment\n\n");
    lp_pair_head(out);
    lp_pair_text(out, "Program", about->program);
    lp_pair_text(out, "Model", about->model);
    lp_pair_text(out, "GPU", about->gpu);
    if (about->gpus > 0)
        lp_pair_count(out, "GPUs", about->gpus);
    lp_pair_text(out, "dtype", about->dtype);
    if (!isnan(about->batch))
        lp_pair_text(out, "Batch size of decode", LP_NUMBER(about->batch, 3));
    lp_pair_text(out, "Driver", lp_machine_text(findings->machine, "driver.kernel_version"));
    lp_pair_text(out, "CUDA of the driver",
                 lp_machine_text(findings->machine, "driver.cuda_version"));
    lp_pair_text(out, "Tier", llmperf_profile_fact(profile, "tier"));
    lp_pair_text(out, "Created", llmperf_profile_fact(profile, "created_at"));
    lp_pair_text(out, "Run", llmperf_profile_fact(profile, "run_id"));
}

static void add_aggregates(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_aggregates *sums = &findings->sums;

    lp_text_puts(out, "\n## Aggregates\n\n");
    lp_pair_head(out);
    lp_pair_number(out, "Profiled ms", lp_duration_ms(findings->profile));
    if (!findings->device_known)
        return;
    lp_pair_number(out, "GPU time of all kernels, memcpys and memsets ms", sums->device_ms);
    lp_pair_count(out, "Kernels", sums->kernel_count);
    lp_pair_number(out, "Memcpys ms", sums->memcpy_ms);
    lp_pair_number(out, "Launched outside of regions ms", sums->outside_ms);
}

static bool is_advised(const struct lp_findings *findings, const void *row)
{
    (void)findings;
    return ((const struct lp_region_finding *)row)->advised;
}

/* Of all stages; a nested one is part of the one around it. */
static void show_stage_share(const struct lp_findings *findings, const void *row,
                             struct lp_text *out)
{
    const char *path = ((const struct lp_region_finding *)row)->stats.path;

    lp_md_number(out,
                 100 * lp_stage_sum_of(findings, path, -1).time_ms / findings->cost_centres.all_ms);
}

static void add_stages(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_REGION("Stage", struct lp_region_finding, stats.path),
        LP_COLUMN("Calls", struct lp_region_finding, known.instances),
        LP_COLUMN("Time of a call ms", struct lp_region_finding, call_ms),
        LP_COLUMN("Tokens/s", struct lp_region_finding, tokens_per_s),
        LP_COLUMN_NUMBER("Of all time %", show_stage_share),
        LP_COLUMN_TIMES("GPU busy %", struct lp_region_finding, busy_share, 100),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&findings->regions),
                                    .has = is_advised };

    lp_text_puts(out, "\n## Stages\n\n");
    lp_table_add(findings, &table, out);
}

static void add_use(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_REGION("Stage", struct lp_region_finding, stats.path),
        LP_COLUMN("Time / bound", struct lp_region_finding, use.wall_ratio),
        LP_COLUMN_TIMES("MFU %", struct lp_region_finding, use.mfu_elapsed, 100),
        LP_COLUMN_TIMES("while busy", struct lp_region_finding, use.mfu, 100),
        LP_COLUMN_TIMES("MBU %", struct lp_region_finding, use.mbu_elapsed, 100),
        LP_COLUMN_TIMES("while busy", struct lp_region_finding, use.mbu, 100),
        LP_COLUMN_WORDS("Limited by", lp_show_bound),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&findings->regions),
                                    .has = is_advised };

    lp_text_puts(out, "\n## MFU and MBU\n\n");
    lp_table_add(findings, &table, out);
    lp_text_puts(out, "\n");
    lp_overall_md(findings, out);
}

static void add_tables(const struct lp_findings *findings, struct lp_text *out)
{
    add_environment(findings, out);
    add_aggregates(findings, out);
    add_stages(findings, out);
    add_use(findings, out);
    lp_text_puts(out, "\n## Top operators\n\n");
    lp_table_operators(findings, TOP_ROWS, out);
    lp_text_puts(out, "\n## Top kernels\n\n");
    if (findings->tables.kernels.count == 0)
        lp_text_puts(out, "No kernels: no device activity was observed.\n");
    lp_table_kernel_names(findings, TOP_ROWS, out);
}

int lp_summary_md(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    int status;

    if ((status = lp_findings_of(profile, &findings)) == 0) {
        lp_text_puts(out, "# Summary: ");
        lp_md_text(out, findings->about.title);
        lp_text_puts(out, "\n\n");
        add_result(findings, out);
        if (findings->withheld)
            lp_text_puts(out,
                         "\nWhere the time goes is withheld: too much of the work is missing.\n");
        else
            add_costs(findings, out);
        add_actions(findings, out);
        add_uncertain(findings, out);
        add_tables(findings, out);
    }
    return status;
}
