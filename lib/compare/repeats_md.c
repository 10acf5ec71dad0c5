/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/output/format/markdown.h"
#include "lib/compare/repeats_text.h"
#include "lib/base/text.h"
#include "llmperf/sys/check.h"

#define ROWS_MOST  100 /* rows of a table */
#define LINES_MOST 10  /* differences that get a sentence each */

static void put_lines(const char *title, const char *const *lines, size_t count,
                      struct lp_text *out)
{
    if (count == 0)
        return;
    lp_text_printf(out, "\n%s\n\n", title);
    for (size_t i = 0; i < count; i++) {
        lp_text_puts(out, "- ");
        lp_md_text(out, lines[i]);
        lp_text_puts(out, "\n");
    }
}

static void put_runs(const struct lp_repeats *repeats, struct lp_text *out)
{
    lp_text_puts(out, "| Run | Name | Created | Tier | Verdict | Duration ms | GPU busy ms |\n"
                      "| ---: | --- | --- | --- | --- | ---: | ---: |\n");
    for (size_t run = 0; run < repeats->count; run++) {
        const struct lp_findings *findings = repeats->findings[run];

        lp_text_puts(out, "|");
        lp_md_cell_count(out, run + 1);
        lp_md_cell_text(out, llmperf_profile_fact(findings->profile, "run_id"));
        lp_md_cell_text(out, llmperf_profile_fact(findings->profile, "created_at"));
        lp_md_cell_text(out, llmperf_profile_fact(findings->profile, "tier"));
        lp_md_cell_text(out, llmperf_name(LLMPERF_NAME_VERDICT, findings->ledger.verdict));
        lp_md_cell_number(out, lp_duration_ms(findings->profile));
        lp_md_cell_number(out, findings->device_known
                                   ? lp_fact_number(findings->profile, "gpu_busy_ms")
                                   : (double)NAN);
        lp_text_puts(out, "\n");
    }
}

/* Most runs have one process, so the first is not named. */
static void put_process(const struct lp_repeats_subject *subject, struct lp_text *out)
{
    if (subject->process > 0)
        lp_text_printf(out, ", process %u", subject->process + 1);
}

/* "wall_ms.mean of `LLM@prefill`", "gpu_busy_ms of the run". */
static void put_name(const struct lp_repeats_row *row, struct lp_text *out)
{
    lp_md_text(out, row->quantity);
    if (row->subject->scope == LP_REPEATS_RUN) {
        lp_text_puts(out, " of the run");
        return;
    }
    lp_text_puts(out, " of ");
    lp_md_code(out, *row->subject->region ? row->subject->region : "(no region)");
    put_process(row->subject, out);
}

/* "1, 3" */
static void put_outliers(const struct lp_repeats *repeats, const struct lp_repeats_row *row,
                         struct lp_text *out)
{
    const char *comma = "";

    for (size_t run = 0; run < repeats->count; run++) {
        if (!lp_repeats_is_outlier(row, run, repeats->threshold))
            continue;
        lp_text_printf(out, "%s%zu", comma, run + 1);
        comma = ", ";
    }
}

static bool has_outlier(const struct lp_repeats *repeats, const struct lp_repeats_row *row)
{
    for (size_t run = 0; run < repeats->count; run++)
        if (lp_repeats_is_outlier(row, run, repeats->threshold))
            return true;
    return false;
}

static void put_difference(const struct lp_repeats *repeats, const struct lp_repeats_row *row,
                           struct lp_text *out)
{
    lp_text_puts(out, "- ");
    put_name(row, out);
    lp_text_printf(out, ": %s %% spread, from %s to %s %s", LP_NUMBER(100 * row->spread, 3),
                   LP_NUMBER(row->min, 4), LP_NUMBER(row->max, 4), row->unit);
    if (has_outlier(repeats, row)) {
        lp_text_puts(out, "; outliers: run ");
        put_outliers(repeats, row, out);
    }
    lp_text_puts(out, "\n");
}

static void put_verdict(const struct lp_repeats *repeats, struct lp_text *out)
{
    const char *percent = LP_NUMBER(100 * repeats->threshold, 3);
    size_t listed = 0;

    if (repeats->judged == 0)
        lp_text_puts(out, "\n**Unknown**: two of the runs have no times to compare.\n");
    else if (repeats->differing == 0)
        lp_text_printf(out, "\n**Within %s %%**: all %zu compared times over %zu runs.\n", percent,
                       repeats->judged, repeats->count);
    else
        lp_text_printf(out,
                       "\n**The runs differ**: %zu of %zu times differ by more than %s %% over "
                       "%zu runs.\n\n",
                       repeats->differing, repeats->judged, percent, repeats->count);
    for (size_t i = 0; i < repeats->rows.count; i++) {
        const struct lp_repeats_row *row = &repeats->rows.items[i];

        if (row->judged && row->differs && listed++ < LINES_MOST)
            put_difference(repeats, row, out);
    }
    if (listed > LINES_MOST)
        lp_text_printf(out, "- and %zu more\n", listed - LINES_MOST);
}

static void put_quantity(const struct lp_repeats_row *row, struct lp_text *out)
{
    lp_text_puts(out, " ");
    lp_md_text(out, row->quantity);
    put_process(row->subject, out);
    lp_text_puts(out, " |");
}

static void put_row(const struct lp_repeats *repeats, const struct lp_repeats_row *row,
                    struct lp_text *out)
{
    const struct lp_repeats_subject *subject = row->subject;

    lp_text_puts(out, "|");
    if (subject->scope == LP_REPEATS_RUN)
        lp_md_cell_text(out, "the run");
    else
        lp_md_cell_region(out, subject->region);
    if (subject->time) {
        lp_text_printf(out, " %s ", subject->time);
        lp_md_text(out, row->quantity);
        lp_text_puts(out, " |");
    } else {
        put_quantity(row, out);
    }
    lp_md_cell_device(out, subject->device);
    lp_md_cell_number(out, row->mean);
    lp_md_cell_number(out, row->std);
    lp_md_cell_number(out, 100 * row->cv);
    lp_md_cell_number(out, row->min);
    lp_md_cell_number(out, row->max);
    lp_md_cell_number(out, 100 * row->spread);
    lp_md_cell_count(out, row->count);
    lp_text_puts(out, " ");
    put_outliers(repeats, row, out);
    lp_text_puts(out, " |\n");
}

/* The run and stages: all numbers. Operators: the main times. Kernel classes: the mean. */
enum table { TABLE_RUN, TABLE_STAGES, TABLE_OPERATORS, TABLE_ITERATIONS };

static bool is_in(const struct lp_repeats_row *row, enum table table)
{
    const struct lp_repeats_subject *subject = row->subject;

    if (row->count == 0)
        return false;
    switch (table) {
    case TABLE_RUN:
        return subject->scope == LP_REPEATS_RUN;
    case TABLE_STAGES:
        return subject->scope == LP_REPEATS_REGION && subject->is_stage;
    case TABLE_OPERATORS:
        return subject->scope == LP_REPEATS_REGION && !subject->is_stage &&
               (strcmp(row->quantity, "wall_ms.mean") == 0 ||
                strcmp(row->quantity, "gpu_busy_ms") == 0);
    default:
        return subject->scope == LP_REPEATS_ITERATION &&
               (!subject->is_class || strcmp(row->quantity, "mean") == 0);
    }
}

static void put_table(const struct lp_repeats *repeats, const char *title, enum table table,
                      struct lp_text *out)
{
    size_t shown = 0;

    for (size_t i = 0; i < repeats->rows.count; i++) {
        const struct lp_repeats_row *row = &repeats->rows.items[i];

        if (!is_in(row, table) || shown++ >= ROWS_MOST)
            continue;
        if (shown == 1)
            lp_text_printf(out,
                           "\n## %s\n\n| Of | Quantity | Device | Mean | Std | CV %% | Min | Max | "
                           "Spread %% | Runs | Apart |\n| --- | --- | ---: | ---: | ---: | ---: | "
                           "---: | ---: | ---: | ---: | --- |\n",
                           title);
        put_row(repeats, row, out);
    }
    if (shown > ROWS_MOST)
        lp_text_printf(out, "\n%zu more rows in the JSON.\n", shown - ROWS_MOST);
}

static void put_repeats(const struct lp_repeats *repeats, struct lp_text *out)
{
    lp_text_puts(out, "# llmperf repeats\n\n");
    put_runs(repeats, out);
    put_lines("**The runs are not repeats of each other**; differences:",
              repeats->differences.items, repeats->differences.count, out);
    put_verdict(repeats, out);
    put_lines("Limitations:", repeats->cautions.items, repeats->cautions.count, out);
    put_table(repeats, "The run", TABLE_RUN, out);
    put_table(repeats, "Stages", TABLE_STAGES, out);
    put_table(repeats, "Iterations", TABLE_ITERATIONS, out);
    put_table(repeats, "Other regions", TABLE_OPERATORS, out);
    lp_text_printf(
        out,
        "\nTimes are ms. Std is of the runs (n - 1), CV is std / mean, spread is (max - min) / "
        "mean. Apart: outliers, runs more than %s %% and more than 5.2 median absolute deviations "
        "away from the median. Checked are duration and GPU busy time of the run, and mean wall "
        "time and GPU busy time of regions that take at least 1 %% of the run.\n",
        LP_NUMBER(100 * repeats->threshold, 3));
}

int llmperf_repeats_compare(const llmperf_profile *const *profiles, size_t count,
                            double threshold_percent, uint32_t format, char **text_out,
                            uint64_t *findings_out)
{
    struct lp_repeats repeats = { .findings = NULL };
    struct lp_text text = { NULL, 0, 0, false };
    int status;

    if (!profiles || !text_out || count < 2)
        return lp_error(LLMPERF_EINVAL, "two profiles or more and text_out are required");
    for (size_t i = 0; i < count; i++)
        if (!profiles[i])
            return lp_error(LLMPERF_EINVAL, "profile %zu of %zu is NULL", i + 1, count);
    if (!(threshold_percent >= 0) || format > LLMPERF_TEXT_JSON)
        return lp_error(
            LLMPERF_EINVAL,
            "the threshold must be a percentage, 0 or more, and the format one of LLMPERF_TEXT_");
    if ((status = lp_repeats_read(&repeats, profiles, count, threshold_percent / 100)) == 0) {
        if (format == LLMPERF_TEXT_JSON)
            lp_repeats_json(&repeats, &text);
        else
            put_repeats(&repeats, &text);
        status = lp_text_take(&text, text_out);
    }
    if (status == 0 && findings_out)
        *findings_out = repeats.differences.count + repeats.differing;
    lp_repeats_clear(&repeats);
    return status;
}
