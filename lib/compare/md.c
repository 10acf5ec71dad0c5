/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison as Markdown. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/compare/text.h"
#include "lib/findings/findings.h"
#include "lib/output/format/markdown.h"

#define ROWS_MOST   50 /* rows of a table */
#define SINGLE_MOST 10 /* of these, rows of one run only */

enum shown { SHOW_JUDGED, SHOW_PARTS, SHOW_WORK, SHOW_REST };

static size_t count_rows(const struct lp_comparison *comparison,
                         bool (*counts)(const struct lp_compare_row *row))
{
    size_t count = 0;

    for (size_t i = 0; i < comparison->rows.count; i++)
        count += counts(&comparison->rows.items[i]);
    return count;
}

static bool has_other_work(const struct lp_compare_row *row)
{
    return row->work.amount != LP_COMPARE_AMOUNTS && row->work.ratio != 1 && !isnan(row->change);
}

static const char *shown_noun(const struct lp_comparison *comparison,
                              const struct lp_compare_key *key)
{
    const char *noun = lp_compare_noun(comparison, key);

    return strcmp(noun, "gpu") == 0 ? "GPU" : noun;
}

/* Runs */

static void put_count(struct lp_text *out, size_t count, const char *one, const char *many)
{
    lp_text_printf(out, "%zu %s", count, count == 1 ? one : many);
}

static void put_ranks(struct lp_text *out, const struct lp_compare_ranks *ranks)
{
    if (ranks->gpus > 0 && ranks->one_gpu_each) {
        put_count(out, ranks->processes.count, "rank", "ranks");
        return;
    }
    put_count(out, ranks->processes.count, "process", "processes");
    if (ranks->gpus > 0) {
        lp_text_puts(out, " on ");
        put_count(out, ranks->gpus, "GPU", "GPUs");
    }
}

/* What a run's verdict means for its device times. */
static void put_device_times(struct lp_text *out, const llmperf_ledger *ledger)
{
    if (ledger->verdict == LLMPERF_VERDICT_SAMPLED)
        lp_text_printf(out,
                       ": device times cover %s %% of its work, and the noise includes "
                       "sampling error",
                       LP_NUMBER(ledger->sampled_fraction * 100, 3));
    else if (ledger->verdict == LLMPERF_VERDICT_NO_DEVICE)
        lp_text_puts(out, ": host times only");
    else if (ledger->verdict != LLMPERF_VERDICT_COMPLETE)
        lp_text_puts(out, ": its device times may be incomplete, see its report");
}

/* Regions that the other side lacks, from 1 % of the time on. */
static void put_coverage(struct lp_text *out, const struct lp_compare_coverage *coverage)
{
    bool host = isnan(coverage->device);
    double share = host ? coverage->host : coverage->device;

    if (share < 0.99)
        lp_text_printf(out, "; %s %% of its %s of both sides", LP_NUMBER(share * 100, 3),
                       host ? "host time is in regions" : "device time is in regions or kernels");
}

/* Runs whose clocks differ differ in speed for that reason alone. */
static void put_clocks(struct lp_text *out, const llmperf_profile *profile)
{
    llmperf_energy gpu = LLMPERF_ENERGY_INIT;

    for (size_t i = 0; llmperf_profile_energy(profile, i, &gpu) == 0; i++) {
        const char *words = lp_throttle_words(&gpu);

        if (isnan(gpu.sm_clock_mhz))
            continue;
        lp_text_printf(out, "; SM clock of GPU %d %s MHz", gpu.device,
                       LP_NUMBER(gpu.sm_clock_mhz, 4));
        if (words)
            lp_text_printf(out, ", clocks were throttled %s %% of the time (most by %s)",
                           LP_NUMBER(gpu.throttled_share * 100, 3), words);
    }
}

static void put_run(struct lp_text *out, const char *role, const llmperf_profile *profile,
                    const struct lp_compare_ranks *ranks,
                    const struct lp_compare_coverage *coverage)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    const char *name = llmperf_profile_fact(profile, "run_id");

    llmperf_profile_ledger(profile, &ledger);
    lp_text_printf(out, "- %s: ", role);
    lp_md_text(out, name ? name : "(unnamed)");
    lp_text_printf(out, ", %s", llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    put_device_times(out, &ledger);
    if (ranks) {
        lp_text_puts(out, ledger.verdict == LLMPERF_VERDICT_COMPLETE ? ", " : "; ");
        put_ranks(out, ranks);
    }
    put_coverage(out, coverage);
    put_clocks(out, profile);
    lp_text_puts(out, "\n");
}

static void put_runs(struct lp_text *out, const struct lp_compared *compared)
{
    const struct lp_comparison *comparison = compared->comparison;

    for (size_t i = 0; i < comparison->ranks.count; i++) {
        bool base = i < compared->base->count;

        put_run(out, base ? "base" : "new",
                base ? compared->base->profiles[i]
                     : compared->fresh->profiles[i - compared->base->count],
                comparison->has_ranks ? &comparison->ranks.items[i] : NULL,
                &comparison->coverage.items[i]);
    }
}

static bool a_stage_is_slower(const struct lp_comparison *comparison)
{
    for (size_t i = 0; i < comparison->changes.count; i++)
        if (comparison->changes.items[i].significant && comparison->changes.items[i].change_ms > 0)
            return true;
    return false;
}

static void put_verdict(struct lp_text *out, const struct lp_compared *compared)
{
    const struct lp_comparison *comparison = compared->comparison;

    if (comparison->reason[0])
        lp_text_printf(out, "\n**Not comparable**: %s.\n", comparison->reason);
    lp_text_printf(out, "\n%s: %" PRIu64 " slower, %" PRIu64 " faster by more than %s %%.\n",
                   comparison->reason[0] ? "In what both runs contain"
                   : comparison->slower  ? "**Regression**"
                                         : "**No regression**",
                   comparison->slower, comparison->faster,
                   LP_NUMBER(comparison->threshold * 100, 3));
    if (comparison->slower > 0 && comparison->changes.count > 0 && !a_stage_is_slower(comparison))
        lp_text_puts(out, "\nNo stage is slower as a whole. What is slower are single kernels or "
                          "regions, see below.\n");
    if (compared->base->count == 1 || compared->fresh->count == 1)
        lp_text_puts(out, "\nNoise is estimated within single runs and does not include the "
                          "variation between runs. Compare folders of repeats (llmperf run "
                          "--repeat 5) before you trust a difference of a few percent.\n");
    if (comparison->other_work > 0) {
        lp_text_puts(out, "\nNot judged because the work per call differs: ");
        put_count(out, comparison->other_work, "row", "rows");
        lp_text_puts(out, ", see *Other work*.\n");
    }
    if (comparison->small > 0) {
        lp_text_puts(out, "\nNot counted because it changes its stage by less than 0.5 %: ");
        put_count(out, comparison->small, "row", "rows");
        lp_text_puts(out, ".\n");
    }
    if (comparison->parts_slower + comparison->parts_faster > 0)
        lp_text_printf(out, "\nSingle ranks: %" PRIu64 " slower, %" PRIu64 " faster, see below.\n",
                       comparison->parts_slower, comparison->parts_faster);
    if (comparison->has_ranks && !comparison->paired)
        lp_text_printf(
            out,
            "\nThe runs have different ranks, so ranks are not compared with each other and all "
            "rows are for whole jobs.%s\n",
            comparison->same_gpus
                ? ""
                : " Device times are sums over different numbers of GPUs and not judged.");
}

/* Rows */

static void put_change(struct lp_text *out, const struct lp_compare_row *row)
{
    double change_ms = row->fresh.of.mean_ms - row->base.of.mean_ms;

    if (isnan(change_ms))
        lp_text_puts(out, " – |");
    else
        lp_text_printf(out, " %s%s |", change_ms > 0 ? "+" : "", LP_NUMBER(change_ms, 3));
    if (!(row->change < LP_PERCENT_MOST))
        lp_text_puts(out, " – |");
    else
        lp_text_printf(out, " %s%s |", row->change > 0 ? "+" : "", LP_NUMBER(row->change * 100, 3));
    if (row->change >= LP_PERCENT_MOST)
        lp_text_puts(out, " – |");
    else if (isnan(row->noise_ms) || !(row->base.of.mean_ms > 0))
        lp_text_puts(out, " unknown |");
    else
        lp_text_printf(out, " %s |", LP_NUMBER(row->noise_ms / row->base.of.mean_ms * 100, 2));
}

static void put_percent(struct lp_text *out, const char *before, double share)
{
    lp_text_printf(out, "%s%s%s %%", before, share > 0 ? "+" : "", LP_NUMBER(share * 100, 3));
}

/* Which amount of work differs, and the time per unit of it. */
static void put_work(struct lp_text *out, const struct lp_compare_row *row)
{
    const char *amount =
        row->work.amount == LP_COMPARE_FLOPS ? "FLOPs" : lp_compare_amount_name(row->work.amount);
    double each = lp_compare_change_of_each(row);

    if (!amount || isnan(row->change)) {
        lp_text_puts(out, " – |");
    } else if (row->work.ratio == 1) {
        lp_text_puts(out, " same |");
    } else {
        lp_text_printf(out, " %s", amount);
        put_percent(out, " ", row->work.ratio - 1);
        if (!isnan(each))
            put_percent(out, ", time of each ", each);
        lp_text_puts(out, " |");
    }
}

static void put_number(struct lp_text *out, double value)
{
    if (isnan(value))
        lp_text_puts(out, " – |");
    else
        lp_text_printf(out, " %s |", LP_NUMBER(value, 4));
}

/* Process or GPU of the row; in a row of a job also the rank with the largest value on each
 * side. */
static void put_of(struct lp_text *out, const struct lp_comparison *comparison,
                   const struct lp_compare_row *row)
{
    const char *noun = shown_noun(comparison, &row->key);
    uint32_t base = row->base.runs ? row->base.number : LP_COMPARE_NOBODY;
    uint32_t fresh = row->fresh.runs ? row->fresh.number : LP_COMPARE_NOBODY;

    if (row->key.scope != LP_COMPARE_JOB)
        lp_text_printf(out, " %s %" PRIu32 " |", noun, row->key.number);
    else if (base == LP_COMPARE_NOBODY && fresh == LP_COMPARE_NOBODY)
        lp_text_puts(out, " job |");
    else if (base == fresh || base == LP_COMPARE_NOBODY || fresh == LP_COMPARE_NOBODY)
        lp_text_printf(out, " job (%s %" PRIu32 ") |", noun,
                       base == LP_COMPARE_NOBODY ? fresh : base);
    else
        lp_text_printf(out, " job (%s %" PRIu32 ", then %" PRIu32 ") |", noun, base, fresh);
}

static void put_row(struct lp_text *out, const struct lp_comparison *comparison,
                    const struct lp_compare_row *row)
{
    lp_text_puts(out, "| ");
    lp_md_code(out, *row->key.region ? row->key.region : "(no region)");
    lp_text_puts(out, " |");
    if (comparison->has_ranks)
        put_of(out, comparison, row);
    lp_md_cell_text(out, row->key.quantity);
    put_number(out, row->base.of.mean_ms);
    put_number(out, row->fresh.of.mean_ms);
    put_change(out, row);
    if (count_rows(comparison, has_other_work) > 0)
        put_work(out, row);
    lp_text_printf(out, " %" PRIu64 " / %" PRIu64 " | %s |\n", row->base.of.instances,
                   row->fresh.of.instances, lp_compare_verdict_name(row->verdict));
}

static bool is_judged(const struct lp_compare_row *row)
{
    return row->verdict == LP_COMPARE_SLOWER || row->verdict == LP_COMPARE_FASTER;
}

static bool is_single(const struct lp_compare_row *row)
{
    return row->verdict == LP_COMPARE_ONLY_BASE || row->verdict == LP_COMPARE_ONLY_NEW;
}

static bool is_shown(const struct lp_compare_row *row, enum shown shown)
{
    bool job = row->key.scope == LP_COMPARE_JOB;

    if (row->verdict == LP_COMPARE_MINOR)
        return false;
    if (shown == SHOW_WORK || shown == SHOW_REST)
        return job && !is_judged(row) && (row->verdict == LP_COMPARE_WORK) == (shown == SHOW_WORK);
    return is_judged(row) && job == (shown == SHOW_JUDGED);
}

static void put_table(struct lp_text *out, const struct lp_comparison *comparison, enum shown what)
{
    bool work = count_rows(comparison, has_other_work) > 0;
    size_t shown = 0, single = 0, left = 0;

    lp_text_printf(
        out,
        "| Region |%s Quantity | Base ms | New ms | Change ms | Change %% | Noise %% |%s Calls "
        "| Verdict |\n| --- |%s --- | ---: | ---: | ---: | ---: | ---: |%s ---: | --- "
        "|\n",
        comparison->has_ranks ? " Of |" : "", work ? " Work |" : "",
        comparison->has_ranks ? " --- |" : "", work ? " --- |" : "");
    for (size_t i = 0; i < comparison->rows.count; i++) {
        const struct lp_compare_row *row = &comparison->rows.items[i];

        if (!is_shown(row, what))
            continue;
        if (shown++ < ROWS_MOST && (!is_single(row) || single++ < SINGLE_MOST))
            put_row(out, comparison, row);
        else
            left++;
    }
    if (left > 0)
        lp_text_printf(out, "\n%zu more rows in the JSON.\n", left);
}

static bool is_minor(const struct lp_compare_row *row)
{
    return row->verdict == LP_COMPARE_MINOR;
}

static bool is_quiet_part(const struct lp_compare_row *row)
{
    return row->key.scope != LP_COMPARE_JOB && !is_judged(row) && !is_minor(row);
}

static void put_meaning(struct lp_text *out, const struct lp_compared *compared)
{
    const struct lp_comparison *comparison = compared->comparison;

    lp_text_printf(
        out,
        "\nTimes are means per call of the region; device time is the sum of what a call launched, "
        "nested regions included. Noise is the difference that chance alone exceeds in 1 of 100 "
        "cases. Rows below 1 %% of both runs, which are not judged: %zu.\n",
        count_rows(comparison, is_minor));
    if (comparison->has_ranks)
        lp_text_printf(
            out,
            "\nThe wall time of a job is that of the slowest process in the region; its device "
            "time "
            "is the sum over its GPUs. Computing: time without collectives on the GPU that "
            "computes "
            "longest. Communicating: time in collectives on the GPU with the least. Waiting: time "
            "in collectives before the last GPU arrived, of the GPU that waits longest. Ranks work "
            "on the same steps, so they are not repeats of each other: noise comes from each rank "
            "alone. Unchanged rows of single ranks, in the JSON: %zu.\n",
            count_rows(comparison, is_quiet_part));
    if (compared->base->count > 1 || compared->fresh->count > 1)
        lp_text_puts(out, "\nA side with several runs shows the mean of their means; its noise is "
                          "their spread.\n");
}

void lp_compare_md(const struct lp_compared *compared, struct lp_text *out)
{
    const struct lp_comparison *comparison = compared->comparison;

    lp_text_printf(out, "# llmperf compare%s%s\n\n",
                   comparison->reason[0] ? ": not comparable: " : "", comparison->reason);
    lp_changes_md(comparison, out);
    put_runs(out, compared);
    put_verdict(out, compared);
    lp_causes_md(comparison, out);
    lp_compare_requests_md(compared, out);
    if (count_rows(comparison, is_single) > 0)
        lp_text_printf(out, "\n%zu rows exist on one side only and are not judged.\n",
                       count_rows(comparison, is_single));
    if (comparison->slower + comparison->faster > 0) {
        lp_text_puts(out, "\n");
        put_table(out, comparison, SHOW_JUDGED);
    }
    if (comparison->parts_slower + comparison->parts_faster > 0) {
        lp_text_puts(out, "\n## Single ranks\n\n");
        put_table(out, comparison, SHOW_PARTS);
    }
    if (comparison->other_work > 0) {
        lp_text_puts(out, "\n## Other work\n\nThe work per call differs from the base. Whether it "
                          "became slower or faster depends on how time scales with work, so look "
                          "at the nested regions, or compare runs with the same work.\n\n");
        put_table(out, comparison, SHOW_WORK);
    }
    lp_text_puts(out, "\n## All other rows\n\n");
    put_table(out, comparison, SHOW_REST);
    put_meaning(out, compared);
}
