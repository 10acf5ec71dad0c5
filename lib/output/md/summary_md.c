/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/cost_centres.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/format/markdown.h"
#include "lib/output/format/documents.h"
#include "lib/output/md/sections_md.h"
#include "lib/profile/profile.h"
#include "lib/base/text.h"

#define TOP 3

static void add_seconds(struct lp_text *out, double ms)
{
    lp_text_printf(out, ms >= 1000 ? "%s s" : "%s ms", LP_NUMBER(ms >= 1000 ? ms / 1000 : ms, 3));
}

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
    uint64_t calls = stats->instances - (region->warm_up_ms > 0);
    size_t processes = lp_stage_sum_of(findings, stats->path, -1).processes;

    lp_text_puts(out, "- ");
    lp_md_code(out, stats->label);
    lp_text_puts(out, stats->instances == 1 ? " took " : " takes ");
    add_seconds(out, region->call_ms);
    lp_text_printf(out, " of %s", lp_clock_words(region->clock));
    if (calls > 1)
        lp_text_printf(out, " on average (%" PRIu64 " calls)", calls);
    if (region->warm_up_ms > 0) {
        lp_text_puts(out, " after a first call of ");
        add_seconds(out, region->warm_up_ms);
        lp_text_puts(out, " (warm-up)");
    }
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
        add_seconds(out, region->floor_call_ms);
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
        add_seconds(out, duration);
        lp_text_puts(out, ".\n\n");
    }
    for (size_t i = 0; i < findings->regions.count; i++)
        if (findings->regions.items[i].advised && findings->regions.items[i].stats.instances > 0)
            stage_line(findings, &findings->regions.items[i], out);
}

static void add_costs(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_cost_centres *centres = &findings->cost_centres;

    lp_text_puts(out, "\n## Where the time goes\n\n");
    if (centres->rows.count == 0)
        lp_text_puts(out, "Unknown: no stage was marked, and no GPU work was seen.\n");
    for (size_t i = 0; i < centres->rows.count && i < TOP; i++) {
        const struct lp_cost_centre *row = &centres->rows.items[i];

        lp_text_printf(out, "%zu. **", i + 1);
        lp_md_text(out, row->what);
        lp_text_puts(out, "** in ");
        if (row->stage)
            lp_md_code(out, row->stage);
        else
            lp_text_puts(out, "no stage");
        lp_text_puts(out, ": ");
        add_seconds(out, row->ms);
        if (!isnan(row->share))
            lp_text_printf(out, ", %s %% of the time of all stages%s",
                           LP_NUMBER(100 * row->share, 2),
                           centres->together ? ", summed over processes and GPUs" : "");
        lp_text_puts(out, "\n");
    }
}

static void add_actions(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_puts(out, "\n## Where to act\n\n");
    if (findings->advice.rows.count == 0)
        lp_text_puts(out, "No rule applies to this run.\n");
    lp_advice_md(findings, 0, TOP, out);
}

static const char *verdict_words(uint32_t verdict)
{
    switch (verdict) {
    case LLMPERF_VERDICT_COMPLETE:
        return NULL;
    case LLMPERF_VERDICT_SAMPLED:
        return "The run was sampled: only a share of the work was collected, and the times above "
               "are extrapolated from it.";
    case LLMPERF_VERDICT_NO_DEVICE:
        return "No GPU was observed: all times are host times.";
    case LLMPERF_VERDICT_DEAD:
        return "Kernels were launched, but no records were received: GPU times are unknown.";
    default:
        return "Records are missing: GPU times are lower bounds.";
    }
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
    const char *words = verdict_words(findings->ledger.verdict);
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
    }
    return status;
}
