/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>

#include "lib/base/number.h"
#include "lib/findings/limits/facts.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/format/markdown.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"

/* A stage with more rows (one for each process and GPU) gets one line for all of them. */
#define ROWS_OF_A_STAGE 2

static void add_percent(struct lp_text *out, double share)
{
    lp_md_number(out, 100 * share);
    lp_text_puts(out, " %");
}

void lp_problems_md(const llmperf_profile *profile, struct lp_text *out)
{
    const char *problem;

    for (size_t i = 0; (problem = llmperf_profile_problem(profile, i)); i++) {
        lp_text_puts(out, "- ");
        lp_md_text(out, problem);
        lp_text_puts(out, "\n");
    }
}

static void add_complete(const llmperf_ledger *ledger, struct lp_text *out)
{
    lp_text_printf(out, "**Complete**: %" PRIu64 " kernels seen", ledger->kernels_seen);
    if (ledger->graph_launches > 0)
        lp_text_printf(out, " from %" PRIu64 " launches and %" PRIu64 " graph launches",
                       ledger->launches_expected, ledger->graph_launches);
    else
        lp_text_printf(out, " from %" PRIu64 " launches", ledger->launches_expected);
    if (!isnan(ledger->attributed_gpu_time_share)) {
        lp_text_puts(out, ", ");
        add_percent(out, ledger->attributed_gpu_time_share);
        lp_text_puts(out, " of device time has a known launch");
    }
    lp_text_puts(out, ".\n");
}

static void add_no_device(const llmperf_profile *profile, struct lp_text *out)
{
    const char *reason = llmperf_profile_fact(profile, "source_reason");

    lp_text_puts(out, "**No device: host times only.**");
    if (reason) {
        lp_text_puts(out, " ");
        lp_md_text(out, reason);
    }
    lp_text_puts(out, "\n");
    if (llmperf_profile_problem(profile, 0)) {
        lp_text_puts(out, "\nHost times are lower bounds:\n\n");
        lp_problems_md(profile, out);
    }
}

/* "; GPU busy 0.9384 ms per call (95 % interval: 0.9280 to 0.9489)". */
static void add_estimate(const llmperf_iteration_stats *busy, struct lp_text *out)
{
    if (busy->estimate_calls == LLMPERF_UNKNOWN || isnan(busy->estimate_ms))
        return;
    lp_text_printf(out, "; GPU busy %s ms per call ", LP_NUMBER(busy->estimate_ms, 4));
    if (busy->estimate_reason)
        lp_text_printf(out, "(no interval: %s)", busy->estimate_reason);
    else
        lp_text_printf(out, "(95 %% interval: %s to %s)", LP_NUMBER(busy->estimate_low_ms, 4),
                       LP_NUMBER(busy->estimate_high_ms, 4));
}

/* "- `LLM@decode_step`: 8 of 400 calls, 2.000 % of its work". */
static void add_sampled_stage(const struct lp_findings *findings,
                              const struct lp_stage_iterations *stage, struct lp_text *out)
{
    size_t row = lp_profile_find_region(findings->profile, stage->region);

    lp_text_puts(out, "- ");
    lp_md_code(out, stage->region);
    lp_text_printf(out, ": %" PRIu64 " of %" PRIu64 " calls", stage->times[LP_TIME_BUSY].count,
                   stage->times[LP_TIME_WALL].count);
    if (row < findings->regions.count) {
        lp_text_puts(out, ", ");
        add_percent(out, 1 - findings->regions.items[row].stats.skipped_fraction);
        lp_text_puts(out, " of its work");
    }
    add_estimate(&stage->times[LP_TIME_BUSY], out);
    lp_text_puts(out, "\n");
}

static void add_sampled(const struct lp_findings *findings, struct lp_text *out)
{
    bool any = false;

    if (llmperf_profile_problem(findings->profile, 0)) {
        lp_text_puts(out, "**Sampled** (tier light): device times are unknown.\n\n");
        lp_problems_md(findings->profile, out);
        return;
    }
    lp_text_puts(out, "**Sampled** (tier light): device times are those of the collected calls, ");
    add_percent(out, findings->ledger.sampled_fraction);
    lp_text_puts(out, " of all work by host time.\n");
    for (size_t i = 0; i < findings->stages.count; i++) {
        if (!findings->stages.items[i].sampled)
            continue;
        lp_text_puts(out, any ? "" : "\n");
        add_sampled_stage(findings, &findings->stages.items[i], out);
        any = true;
    }
}

void lp_verdict_md(const struct lp_findings *findings, struct lp_text *out)
{
    const llmperf_profile *profile = findings->profile;
    const llmperf_ledger *ledger = &findings->ledger;

    switch (ledger->verdict) {
    case LLMPERF_VERDICT_COMPLETE:
        add_complete(ledger, out);
        break;
    case LLMPERF_VERDICT_SAMPLED:
        add_sampled(findings, out);
        break;
    case LLMPERF_VERDICT_NO_DEVICE:
        add_no_device(profile, out);
        break;
    case LLMPERF_VERDICT_DEAD:
        lp_text_puts(out,
                     "**No records received**: kernels were launched, but the driver reported none "
                     "of them. Device times are unknown; the host times below are valid.\n\n");
        lp_problems_md(profile, out);
        break;
    default:
        lp_text_puts(out, "**Incomplete: device times are lower bounds.**\n\n");
        lp_problems_md(profile, out);
        break;
    }
}

/* More than rounding. */
#define WHOLE 1.005

/* If device work ends after its region and no elapsed time is known, a share means nothing. */
static void add_busy(const struct lp_region_finding *row, struct lp_text *out)
{
    lp_text_printf(out, ", GPU %" PRId32 " busy ", row->stats.device);
    if (row->busy_share <= WHOLE) {
        add_percent(out, fmin(1, row->busy_share));
        return;
    }
    lp_md_number(out, row->stats.gpu_busy_ms);
    lp_text_puts(out, row->busy_share > 1 ? " ms in total, partly after the region"
                                          : " ms in total, with several calls at once");
}

/* ", MBU 23.74 % (25.98 % while busy)". */
static void add_share(struct lp_text *out, const char *name, double elapsed, double busy)
{
    if (isnan(busy))
        return;
    lp_text_printf(out, ", %s ", name);
    if (isnan(elapsed)) {
        add_percent(out, busy);
        lp_text_puts(out, " while busy");
        return;
    }
    add_percent(out, elapsed);
    lp_text_puts(out, " (");
    add_percent(out, busy);
    lp_text_puts(out, " while busy)");
}

/* ", limited by launches by the host (62.5 % of the elapsed time)" */
static void add_limit(const struct lp_region_finding *row, struct lp_text *out)
{
    const char *words = lp_limit_words(row->use.bound);
    double part = lp_bound_part(&row->spent, row->use.bound) / row->spent.elapsed_ms;

    if (!words)
        return;
    lp_text_printf(out, ", limited by %s", words);
    if (isnan(part))
        return;
    lp_text_puts(out, " (");
    add_percent(out, part);
    lp_text_puts(out, " of the elapsed time)");
}

/* In decode the ratio to the lower bound matters most, then MBU; MFU is always small there. */
static void add_utilisation(const struct lp_region_finding *row, struct lp_text *out)
{
    const llmperf_utilisation *use = &row->use;
    double ratio = isnan(row->collected_ms) ? use->floor_ratio : use->wall_ratio;

    if (!isnan(ratio)) {
        lp_text_puts(out, isnan(row->collected_ms) ? ", GPU busy time " : ", ");
        lp_md_number(out, ratio);
        lp_text_printf(out, "x the %s",
                       lp_bound_words(use->compute_floor_ms, use->memory_floor_ms));
    }
    add_share(out, "MBU", use->mbu_elapsed, use->mbu);
    add_share(out, "MFU", use->mfu_elapsed, use->mfu);
}

static void add_rate(const struct lp_region_finding *row, struct lp_text *out)
{
    lp_md_number(out, row->tokens_per_s);
    lp_text_puts(out, row->rate == LLMPERF_RATE_TOTAL  ? " tokens/s in all"
                      : row->rate == LLMPERF_RATE_HOST ? " tokens/s (host time)"
                                                       : " tokens/s");
}

/* "14.07 ms of GPU time, mean of 3, 2.000 at a time". */
static void add_call(const struct lp_region_finding *row, struct lp_text *out)
{
    bool warm_up = row->warm_up_ms > 0;

    lp_md_number(out, row->call_ms);
    lp_text_printf(out, " ms of %s, ", lp_clock_words(row->clock));
    lp_text_puts(out, row->stats.instances - warm_up > 1 ? "mean of " : "");
    lp_text_printf(out, "%" PRIu64 "%s", row->stats.instances - warm_up,
                   row->stats.instances - warm_up > 1 ? " calls" : " call");
    if (warm_up) {
        lp_text_puts(out, " after warm-up (first call ");
        lp_md_number(out, row->warm_up_ms);
        lp_text_puts(out, " ms)");
    }
    if (row->clock == LLMPERF_CLOCK_DEVICE) {
        lp_text_puts(out, " (the host left after ");
        lp_md_number(out, row->stats.wall_mean_ms);
        lp_text_puts(out, " ms)");
    }
    if (row->at_once > 1) {
        lp_text_puts(out, ", ");
        lp_md_number(out, row->at_once);
        lp_text_puts(out, " at a time");
    }
}

/* "LLM@prefill: 12.34 ms of host time, mean of 3 calls, 41500 tokens/s, 1.30x the compute bound,
 * GPU 0 busy 92.1 %." */
static void add_stage_sentence(const struct lp_region_finding *row, bool device,
                               uint32_t process_id, struct lp_text *out)
{
    const llmperf_region_stats *region = &row->stats;

    lp_text_puts(out, "- ");
    lp_md_code(out, region->path);
    if (process_id > 0)
        lp_text_printf(out, " of process %" PRIu32, process_id);
    lp_text_puts(out, ": ");
    add_call(row, out);
    if (!isnan(row->tokens_per_s)) {
        lp_text_puts(out, ", ");
        add_rate(row, out);
    }
    add_utilisation(row, out);
    if (device && region->device >= 0)
        add_busy(row, out);
    add_limit(row, out);
    lp_text_puts(out, "\n");
}

static void add_stage_sentences(const struct lp_findings *findings, struct lp_text *out)
{
    bool any = false;

    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *region = &findings->regions.items[i].stats;
        struct lp_stage_sum sum;

        if (region->kind != LLMPERF_REGION_STAGE)
            continue;
        sum = lp_stage_sum_of(findings, region->path, -1);
        if (sum.rows > ROWS_OF_A_STAGE ? sum.instances == 0 || !lp_findings_is_first(findings, i)
                                       : region->instances == 0)
            continue;
        lp_text_puts(out, any ? "" : "\n");
        any = true;
        if (sum.rows > ROWS_OF_A_STAGE)
            lp_stage_rows_md(findings, region->path, out);
        else
            add_stage_sentence(&findings->regions.items[i], findings->device_known,
                               lp_shown_process(findings->profile, region->process_id), out);
    }
}

/* Host time of the calls that the device time of a sampled run belongs to; 0: not known. */
static double collected_wall_ms(const struct lp_findings *findings)
{
    double sum = 0;

    for (size_t i = 0; i < findings->stages.count; i++)
        if (findings->stages.items[i].sampled)
            sum += lp_stage_sum_of(findings, findings->stages.items[i].region, -1).collected_ms;
    return sum;
}

static void add_sampled_totals(const struct lp_findings *findings, double duration_ms,
                               struct lp_text *out)
{
    double wall_ms = collected_wall_ms(findings);

    lp_text_puts(out, "The collected calls: ");
    lp_md_number(out, findings->sums.device_ms);
    lp_text_puts(out, " ms of device time");
    if (wall_ms > 0) {
        lp_text_puts(out, " in ");
        lp_md_number(out, wall_ms);
        lp_text_puts(out, " ms of host time");
    }
    if (!isnan(duration_ms)) {
        lp_text_puts(out, ". The whole run: ");
        lp_md_number(out, duration_ms);
        lp_text_puts(out, " ms");
    }
    lp_text_puts(out, ".\n");
}

static void add_totals(const struct lp_findings *findings, struct lp_text *out)
{
    double duration = lp_duration_ms(findings->profile);
    bool device = findings->device_known;

    if (device && findings->ledger.sampled_fraction < 1) {
        add_sampled_totals(findings, duration, out);
        return;
    }
    if (device) {
        lp_text_puts(out,
                     findings->ledger.verdict == LLMPERF_VERDICT_INCOMPLETE ? "At least " : "");
        lp_md_number(out, findings->sums.device_ms);
        lp_text_puts(out, " ms of device time");
    }
    if (!isnan(duration)) {
        lp_text_puts(out, device ? " in " : "Profiled for ");
        lp_md_number(out, duration);
        lp_text_puts(out, " ms");
    }
    lp_text_puts(out, device || !isnan(duration) ? ".\n" : "");
}

/* "Profiling itself cost about 6.6 % of the time of `LLM@decode_step` (estimated from 0.65 us a
 * launch …)." A cost that is not above its error is left out. */
static void add_profiler_cost(const struct lp_findings *findings, struct lp_text *out)
{
    bool any = false;

    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *region = &findings->regions.items[i];
        const struct lp_profiler_cost *cost = &region->profiler;

        if (!region->advised || !(cost->share >= 0.001) || cost->call_ms < cost->error_ms)
            continue;
        lp_text_puts(out, any ? ", " : "\nProfiling itself cost about ");
        lp_text_printf(out, "%s %% of the time of ", LP_NUMBER(100 * cost->share, 2));
        lp_md_code(out, region->stats.label);
        if (isnan(cost->error_ms))
            lp_text_printf(out, " (estimated from %s us a launch and %s us a graph node, %s)",
                           LP_NUMBER(findings->profiler_rates.launch_us, 2),
                           LP_NUMBER(findings->profiler_rates.node_us, 2),
                           findings->profiler_rates.source);
        else
            lp_text_puts(out, " (measured)");
        any = true;
    }
    lp_text_puts(out, any ? ".\n" : "");
}

static bool has_flops(const struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++)
        if (findings->regions.items[i].stats.flops != LLMPERF_UNKNOWN)
            return true;
    return false;
}

/* Only the dtype is missing: say so at the top. */
static void add_missing_dtype(const struct lp_findings *findings, struct lp_text *out)
{
    if (!findings->device_known || !findings->limits.hardware ||
        !findings->limits.dtype_reason[0] || !has_flops(findings))
        return;
    lp_text_puts(out, "\nMFU, lower bounds and the advice based on them are withheld: ");
    lp_md_text(out, findings->limits.dtype_reason);
    lp_text_puts(out, ".\n");
}

void lp_headline_md(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_puts(out, "\n");
    if (findings->withheld) {
        if (isnan(lp_coverage(&findings->ledger))) {
            lp_text_puts(out, "Totals and rates are withheld: the source does not say how much of "
                              "the work it measured.\n");
            return;
        }
        lp_text_puts(out, "Summary withheld: ");
        add_percent(out, lp_coverage(&findings->ledger));
        lp_text_puts(out, " of launches and device time is accounted for; 95 % is required.\n");
        return;
    }
    add_totals(findings, out);
    add_stage_sentences(findings, out);
    add_profiler_cost(findings, out);
    add_missing_dtype(findings, out);
}
