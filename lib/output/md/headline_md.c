/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/findings/limits/facts.h"
#include "lib/output/md/headline_md.h"
#include "lib/output/md/table.h"
#include "lib/output/format/markdown.h"
#include "lib/profile/profile.h"
#include "lib/record/paths.h"
#include "llmperf/region.h"

/* A stage with more rows (one for each process and GPU) gets one line for all of them. */
#define ROWS_OF_A_STAGE 2

/* Three digits: four say no more to a reader. */
static void add_number(struct lp_text *out, double value)
{
    lp_text_puts(out, LP_NUMBER(value, 3));
}

static void add_percent(struct lp_text *out, double share)
{
    lp_text_printf(out, "%s %%", LP_NUMBER(100 * share, 3));
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

/* "; GPU busy 0.9384 ± 0.010 ms per call". */
static void add_estimate(const llmperf_iteration_stats *busy, struct lp_text *out)
{
    if (busy->estimate_calls == LLMPERF_UNKNOWN || isnan(busy->estimate_ms))
        return;
    lp_text_puts(out, "; GPU busy ");
    lp_md_interval(out, busy->estimate_ms,
                   (struct lp_interval){ busy->estimate_low_ms, busy->estimate_high_ms }, 4);
    lp_text_puts(out, " ms per call");
    if (busy->estimate_reason)
        lp_text_printf(out, " (no interval: %s)", busy->estimate_reason);
}

/* "- `LLM@decode_step`: 8 of 400 calls, 2.000 % of its work". */
static void add_sampled_stage(const struct lp_findings *findings,
                              const struct lp_stage_iterations *stage, struct lp_text *out)
{
    size_t row = lp_profile_find_region(findings->profile, stage->region);

    lp_text_puts(out, "- ");
    lp_md_code(out, stage->region);
    if (lp_label_is_found(stage->region)) {
        lp_text_printf(out, ": %.0f calls, found as a whole in what was collected\n",
                       lp_all_calls(stage, LP_TIME_WALL));
        return;
    }
    lp_text_printf(out, ": %.0f of %.0f calls", lp_all_calls(stage, LP_TIME_BUSY),
                   lp_all_calls(stage, LP_TIME_WALL));
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
    lp_text_puts(out, " of all work by host time. ±: 95 % confidence interval.\n");
    for (size_t i = 0; i < findings->stages.count; i++) {
        if (!findings->stages.items[i].sampled)
            continue;
        lp_text_puts(out, any ? "" : "\n");
        add_sampled_stage(findings, &findings->stages.items[i], out);
        any = true;
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
    add_number(out, row->stats.gpu_busy_ms);
    lp_text_puts(out, row->busy_share > 1 ? " ms in total, partly after the region"
                                          : " ms in total, with several calls at once");
}

static void add_rate_percent(struct lp_text *out, double share, const struct lp_interval *error)
{
    static const struct lp_interval exact = { 1, 1 };

    lp_md_interval(out, 100 * share, lp_interval_of_rate(100 * share, error ? *error : exact), 3);
    lp_text_puts(out, " %");
}

/* "23.7 % (26.0 ± 0.4 % while busy)". NaN: not known.
 * region  Whose errors they have; NULL: none. */
static void share_of(const struct lp_region_finding *region, double elapsed, double busy,
                     struct lp_text *out)
{
    if (isnan(busy)) {
        lp_text_puts(out, LP_MD_UNKNOWN);
        return;
    }
    if (!isnan(elapsed)) {
        add_rate_percent(out, elapsed, region ? &region->call_error : NULL);
        lp_text_puts(out, " (");
    }
    add_rate_percent(out, busy, region ? &region->busy_error : NULL);
    lp_text_puts(out, isnan(elapsed) ? " while busy" : " while busy)");
}

/* ", MBU 23.7 % (26.0 % while busy)". */
static void add_share(struct lp_text *out, const char *name, const struct lp_region_finding *row,
                      double elapsed, double busy)
{
    if (isnan(busy))
        return;
    lp_text_printf(out, ", %s ", name);
    share_of(row, elapsed, busy, out);
}

/* ", limited by launches by the host (62.5 % of the elapsed time)" */
static void add_limit(const struct lp_region_finding *row, struct lp_text *out)
{
    const char *words = lp_limit_words(row);
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
        add_number(out, ratio);
        lp_text_printf(out, "x the %s",
                       lp_bound_words(use->compute_floor_ms, use->memory_floor_ms));
        if (row->floor_call_ms > 0)
            lp_text_printf(out, " of %s ms", LP_NUMBER(row->floor_call_ms, 3));
    }
    add_share(out, "MBU", row, use->mbu_elapsed, use->mbu);
    add_share(out, "MFU", row, use->mfu_elapsed, use->mfu);
}

static void add_rate(const struct lp_region_finding *row, struct lp_text *out)
{
    lp_md_interval(out, row->tokens_per_s, lp_interval_of_rate(row->tokens_per_s, row->call_error),
                   3);
    lp_text_puts(out, row->rate == LLMPERF_RATE_TOTAL  ? " tokens/s in all"
                      : row->rate == LLMPERF_RATE_HOST ? " tokens/s (host time)"
                                                       : " tokens/s");
}

/* "14.07 ms of GPU time, mean of 3, 2.000 at a time". */
static void add_call(const struct lp_region_finding *row, struct lp_text *out)
{
    uint64_t calls = row->stats.instances - row->warm_up_calls;

    lp_md_interval(out, row->call_ms, lp_interval_of(row->call_ms, row->call_error), 3);
    lp_text_printf(out, " ms of %s, ", lp_clock_words(row->clock));
    lp_text_puts(out, calls > 1 ? "mean of " : "");
    lp_text_printf(out, "%" PRIu64 "%s", calls, calls > 1 ? " calls" : " call");
    lp_md_warm_up(out, row);
    if (row->clock == LLMPERF_CLOCK_DEVICE) {
        lp_text_puts(out, " (the host left after ");
        add_number(out, row->stats.wall_mean_ms);
        lp_text_puts(out, " ms)");
    }
    if (row->at_once > 1) {
        lp_text_puts(out, ", ");
        add_number(out, row->at_once);
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

/* Is the stage mostly one nested stage, which has a line of its own? Advice is not about it. */
static bool is_frame(const struct lp_findings *findings, const char *path)
{
    for (size_t i = lp_profile_find_region(findings->profile, path);
         i < findings->regions.count && strcmp(findings->regions.items[i].stats.path, path) == 0;
         i++)
        if (findings->regions.items[i].advised)
            return false;
    return true;
}

/* Stages that have less than this of the time of the main one get a line together. */
#define SHORT_STAGE 0.02

static void add_stage_sentences(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_region_finding *main = lp_main_stage(findings);
    double main_ms = main ? main->active_ms : 0, short_ms = 0;
    size_t left_out = 0;

    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *region = &findings->regions.items[i].stats;
        struct lp_stage_sum sum;

        if (region->kind != LLMPERF_REGION_STAGE || is_frame(findings, region->path))
            continue;
        sum = lp_stage_sum_of(findings, region->path, -1);
        if (sum.rows > ROWS_OF_A_STAGE ? sum.instances == 0 || !lp_findings_is_first(findings, i)
                                       : region->instances == 0)
            continue;
        if (sum.time_ms < SHORT_STAGE * main_ms) {
            short_ms += sum.time_ms / (double)sum.rows;
            left_out++;
        } else if (sum.rows > ROWS_OF_A_STAGE)
            lp_stage_rows_md(findings, region->path, out);
        else
            add_stage_sentence(&findings->regions.items[i], findings->device_known,
                               lp_shown_process(findings->profile, region->process_id), out);
    }
    if (left_out > 0)
        lp_text_printf(out, "- %zu shorter %s, %s ms in all: see *Stages*\n", left_out,
                       left_out > 1 ? "stages" : "stage", LP_NUMBER(short_ms, 3));
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
    add_number(out, findings->sums.device_ms);
    lp_text_puts(out, " ms of device time");
    if (wall_ms > 0) {
        lp_text_puts(out, " in ");
        add_number(out, wall_ms);
        lp_text_puts(out, " ms of host time");
    }
    if (!isnan(duration_ms)) {
        lp_text_puts(out, ". The whole run: ");
        add_number(out, duration_ms);
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
        add_number(out, findings->sums.device_ms);
        lp_text_puts(out, " ms of device time");
    }
    if (!isnan(duration)) {
        lp_text_puts(out, device ? " in " : "Profiled for ");
        add_number(out, duration);
        lp_text_puts(out, " ms");
    }
    lp_text_puts(out, device || !isnan(duration) ? ".\n" : "");
}

/* "Profiling itself cost about 6.6 % of the time of `LLM@decode_step` (estimated). Estimated from
 * 0.65 us a launch …." A cost that is not above its error is left out. */
static void add_profiler_cost(const struct lp_findings *findings, struct lp_text *out)
{
    bool any = false, estimated = false;

    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *region = &findings->regions.items[i];
        const struct lp_profiler_cost *cost = &region->profiler;

        if (!region->advised || cost->call_ms < cost->error_ms ||
            !(cost->share >= (region == lp_main_stage(findings) ? 0.001 : 0.01)))
            continue;
        lp_text_puts(out, any ? ", " : "\nProfiling itself cost about ");
        lp_text_printf(out, "%s %% of the time of ", LP_NUMBER(100 * cost->share, 2));
        lp_md_code(out, region->stats.label);
        lp_text_puts(out, isnan(cost->error_ms) ? " (estimated)" : " (measured)");
        estimated |= isnan(cost->error_ms);
        any = true;
    }
    lp_text_puts(out, any ? "." : "");
    if (estimated)
        lp_text_printf(out, " Estimates: %s us a launch and %s us a graph node, %s.",
                       LP_NUMBER(findings->profiler_rates.launch_us, 2),
                       LP_NUMBER(findings->profiler_rates.node_us, 2),
                       findings->profiler_rates.source);
    lp_text_puts(out, any ? "\n" : "");
}

bool lp_verdict_is_usual(const struct lp_findings *findings)
{
    return findings->ledger.verdict == LLMPERF_VERDICT_COMPLETE ||
           findings->ledger.verdict == LLMPERF_VERDICT_SAMPLED ||
           findings->ncu_kernels.rows.count > 0;
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
        lp_text_puts(out, lp_verdict_is_usual(findings)
                              ? "**A part of the program was measured.**\n\n"
                              : "**Incomplete: device times are lower bounds.**\n\n");
        lp_problems_md(profile, out);
        break;
    }
    if (!findings->withheld)
        add_profiler_cost(findings, out);
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

static const struct lp_region_finding *stage_of(const struct lp_findings *findings,
                                                bool (*is)(const char *label))
{
    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *row = &findings->regions.items[i];

        if (row->advised && is(row->stats.label) && row->call_ms > 0 && row->at_once <= 1)
            return row;
    }
    return NULL;
}

static void add_latency(const struct lp_serving_finding *serving, enum lp_latency_id id,
                        const char *before, struct lp_text *out)
{
    const llmperf_latency *row = serving->latencies[id];

    if (!row)
        return;
    lp_text_printf(out, "%s %s ms (p50)", before, LP_NUMBER(row->p50_ms, 3));
    if (!isnan(row->p99_ms))
        lp_text_printf(out, ", %s ms (p99)", LP_NUMBER(row->p99_ms, 3));
}

/* TTFT and TPOT: of requests, else what the stages say about them. */
static void add_latencies(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_serving_finding *serving = &findings->serving;
    const struct lp_region_finding *prefill = stage_of(findings, lp_label_is_prefill);
    const struct lp_region_finding *step = stage_of(findings, lp_label_is_decode);

    if (serving->totals && serving->latencies[LP_LATENCY_TTFT]) {
        add_latency(serving, LP_LATENCY_TTFT, "Requests: TTFT", out);
        add_latency(serving, LP_LATENCY_TPOT, "; TPOT", out);
        lp_text_printf(out, "; %s output tokens/s.\n\n",
                       LP_NUMBER(serving->totals->output_tokens_per_s, 3));
    } else if (prefill && step) {
        lp_text_printf(out,
                       "TTFT is at least %s ms (a prefill), TPOT %s ms (a decode step); no "
                       "requests were reported.\n\n",
                       LP_NUMBER(prefill->call_ms, 3), LP_NUMBER(step->call_ms, 3));
    }
}

/* What adds most to the lower bound. */
static const struct lp_waterfall_part *largest_loss(const struct lp_waterfall *waterfall)
{
    const struct lp_waterfall_part *largest = NULL;

    for (size_t i = 0; i < waterfall->parts.count; i++) {
        const struct lp_waterfall_part *part = &waterfall->parts.items[i];

        if (part->kind != LP_PART_BOUND && part->kind != LP_PART_PROFILER &&
            (!largest || part->ms > largest->ms))
            largest = part;
    }
    return largest;
}

/* Without a waterfall: the stage that advice is about with most time. */
const struct lp_region_finding *lp_main_stage(const struct lp_findings *findings)
{
    const struct lp_waterfall *waterfall = lp_main_waterfall(findings);
    const struct lp_region_finding *longest = NULL;

    if (waterfall)
        return &findings->regions.items[waterfall->finding];
    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *row = &findings->regions.items[i];

        if (row->advised && row->active_ms > 0 && row->call_ms > 0 &&
            (!longest || row->active_ms > longest->active_ms))
            longest = row;
    }
    return longest;
}

/* Profiling is worth a word at the top from this share of a call on. */
#define PROFILER_SHARE 0.1

/* " Profiling itself takes 17.1 % of a call; without it about 0.976 ms a call (estimated)." */
static void add_profiler(const struct lp_region_finding *row, double share, bool most,
                         struct lp_text *out)
{
    bool sampled = row->stats.skipped_fraction > 0;
    double left = 1 - (sampled ? row->profiler.share : share);

    lp_text_puts(out, " Profiling itself takes ");
    add_percent(out, share);
    lp_text_printf(out, " of a %scall%s", sampled ? "collected " : "",
                   most ? ", more than any other part" : "");
    if (left > 0 && left < 1) {
        lp_text_printf(out, "; without it about %s ms a call", LP_NUMBER(left * row->call_ms, 3));
        if (!isnan(row->tokens_per_s))
            lp_text_printf(out, ", %s tokens/s", LP_NUMBER(row->tokens_per_s / left, 3));
        lp_text_puts(out, isnan(row->profiler.error_ms) ? " (estimated)" : " (measured)");
    }
    lp_text_puts(out, ".");
}

/* "; of that most is attention: reduction, 31.1 %": that a stage is nested says nothing of why. */
static void add_loss_inside(const struct lp_findings *findings,
                            const struct lp_waterfall_part *loss, struct lp_text *out)
{
    const struct lp_waterfall *inner =
        loss->kind == LP_PART_NESTED ? lp_waterfall_of(&findings->waterfalls, loss->region) : NULL;
    const struct lp_waterfall_part *most = inner ? largest_loss(inner) : NULL;

    if (most) {
        lp_text_puts(out, "; the largest part of that is ");
        lp_part_name_md(most, out);
        lp_text_puts(out, ", ");
        add_percent(out, most->ms / inner->elapsed_ms);
    }
}

static void add_loss(const struct lp_findings *findings, const struct lp_region_finding *row,
                     const struct lp_waterfall *waterfall, struct lp_text *out)
{
    const struct lp_waterfall_part *loss = waterfall ? largest_loss(waterfall) : NULL;
    const struct lp_profiler_cost *cost = &row->profiler;
    double cost_ms = cost->before_ms + cost->after_ms + cost->launch_ms + cost->host_ms;
    bool most = loss && cost_ms > loss->ms;

    if (most || (loss && cost_ms >= PROFILER_SHARE * waterfall->elapsed_ms))
        add_profiler(row, cost_ms / waterfall->elapsed_ms, most, out);
    if (!loss)
        return;
    lp_text_printf(out, " Largest part%s%s: ", most ? " of the program" : "",
                   waterfall->bound_reason ? "" : " above the bound");
    lp_part_name_md(loss, out);
    lp_text_puts(out, ", ");
    add_percent(out, loss->ms / waterfall->elapsed_ms);
    lp_text_puts(out, " of a call");
    add_loss_inside(findings, loss, out);
    lp_text_puts(out, ".");
}

/* "`LLM@decode_step` takes **1.18 ms** a call, **845 tokens/s**: 4.84x its memory-bandwidth bound
 * of 0.245 ms. Largest part above the bound: Gaps between kernels, 13.5 %." */
static void add_outcome(const struct lp_findings *findings, struct lp_text *out)
{
    const struct lp_waterfall *waterfall = lp_main_waterfall(findings);
    const struct lp_region_finding *row = lp_main_stage(findings);
    double ratio;

    if (!row)
        return;
    ratio = isnan(row->use.wall_ratio) ? row->call_ms / row->floor_call_ms : row->use.wall_ratio;
    lp_md_code(out, row->stats.label);
    lp_text_printf(out, " takes **%s ms** a call", LP_NUMBER(row->call_ms, 3));
    if (!isnan(row->tokens_per_s))
        lp_text_printf(out, ", **%s tokens/s**", LP_NUMBER(row->tokens_per_s, 3));
    if (ratio >= 1)
        lp_text_printf(out, ": **%sx** its %s of %s ms", LP_NUMBER(ratio, 3),
                       lp_bound_words(row->use.compute_floor_ms, row->use.memory_floor_ms),
                       LP_NUMBER(row->floor_call_ms, 3));
    lp_text_puts(out, ".");
    add_loss(findings, row, waterfall, out);
    lp_text_puts(out, "\n\n");
}

void lp_overall_md(const struct lp_findings *findings, struct lp_text *out)
{
    const llmperf_overall *all = &findings->overall.values;

    lp_text_puts(out, "All stages together: ");
    if (isnan(all->mfu) && isnan(all->mbu)) {
        lp_text_puts(out, "MFU and MBU are unknown: ");
        lp_md_text(out, all->mbu_reason);
        lp_text_puts(out, ".\n");
        return;
    }
    lp_text_puts(out, "MBU ");
    share_of(NULL, all->mbu_elapsed, all->mbu, out);
    lp_text_puts(out, ", MFU ");
    share_of(NULL, all->mfu_elapsed, all->mfu, out);
    lp_text_puts(out, ".\n");
}

/* "ncu measured **578 us** a call of `gemm` in `LLM@mlp`, 33.9 % of the time of the kernels that it
 * measured. It is limited by memory." */
static void add_ncu_outcome(const struct lp_ncu_kernel *first, struct lp_text *out)
{
    lp_text_printf(out, "ncu measured **%s us** a call of ",
                   LP_NUMBER(1e3 * first->duration_ms, 3));
    lp_md_code(out, first->short_name ? first->short_name : first->region);
    if (first->short_name && first->region && first->region[0]) {
        lp_text_puts(out, " in ");
        lp_md_code(out, first->region);
    }
    if (!isnan(first->share)) {
        lp_text_puts(out, ", ");
        add_percent(out, first->share);
        lp_text_puts(out, " of the time of the kernels that it measured");
    }
    lp_text_printf(out,
                   ".%s%s%s Rates of the program are not known: other work was not measured.\n",
                   first->bound ? " It is limited by " : "", first->bound ? first->bound : "",
                   first->bound ? "." : "");
}

void lp_headline_md(const struct lp_findings *findings, struct lp_text *out)
{
    const char *found = llmperf_profile_fact(findings->profile, LP_FOUND_TEXT_FACT);
    size_t before;

    if (findings->withheld && findings->ncu_kernels.rows.count > 0 &&
        !isnan(findings->ncu_kernels.rows.items[0].duration_ms)) {
        add_ncu_outcome(&findings->ncu_kernels.rows.items[0], out);
        return;
    }
    if (findings->withheld) {
        double coverage = lp_coverage(&findings->ledger);

        if (isnan(coverage)) {
            lp_text_puts(out, "Totals and rates are withheld: the source does not say how much of "
                              "the work it measured.\n");
            return;
        }
        lp_text_puts(out, "Summary withheld: ");
        add_percent(out, coverage);
        lp_text_puts(out, " of launches and device time is accounted for; 95 % is required.\n");
        return;
    }
    add_outcome(findings, out);
    if (found) {
        lp_md_text(out, found);
        lp_text_puts(out, "\n\n");
    }
    add_latencies(findings, out);
    before = out->length;
    add_stage_sentences(findings, out);
    if (out->length > before)
        lp_text_puts(out, "\n");
    if (!isnan(findings->overall.values.mfu) || !isnan(findings->overall.values.mbu))
        lp_overall_md(findings, out);
    add_totals(findings, out);
    add_missing_dtype(findings, out);
}
