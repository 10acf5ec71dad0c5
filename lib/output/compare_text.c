/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison for people and for programs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/output/compare.h"
#include "lib/output/markdown.h"
#include "lib/output/output.h"

#define ROWS_MOST   50 /* of a table for people */
#define SINGLE_MOST 10 /* of these, what only one run has */

struct runs {
    const llmperf_profile *base, *fresh;
};

static uint32_t verdict_of(const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    return ledger.verdict;
}

static const char *name_of(const llmperf_profile *profile)
{
    const char *name = llmperf_profile_fact(profile, "run_id");

    return name ? name : "(unnamed)";
}

static void put_run(struct lp_text *out, const char *role, const llmperf_profile *profile)
{
    uint32_t verdict = verdict_of(profile);

    lp_text_printf(out, "- %s: %s, %s%s\n", role, name_of(profile), llmperf_verdict_name(verdict),
                   verdict == LLMPERF_VERDICT_COMPLETE
                       ? ""
                       : ": its device times may lack something, see its report");
}

static void put_change(struct lp_text *out, const struct lp_compare_row *row)
{
    if (isnan(row->change))
        lp_text_puts(out, " – |");
    else
        lp_text_printf(out, " %s%s |", row->change > 0 ? "+" : "", LP_NUMBER(row->change * 100, 3));
    if (isnan(row->noise_ms) || !(row->base.mean_ms > 0))
        lp_text_puts(out, " not known |");
    else
        lp_text_printf(out, " %s |", LP_NUMBER(row->noise_ms / row->base.mean_ms * 100, 2));
}

static void put_number(struct lp_text *out, double value)
{
    if (isnan(value))
        lp_text_puts(out, " – |");
    else
        lp_text_printf(out, " %s |", LP_NUMBER(value, 4));
}

static void put_row(struct lp_text *out, const struct lp_compare_row *row)
{
    lp_text_puts(out, "| ");
    lp_md_code(out, *row->region ? row->region : "(no region)");
    lp_text_printf(out, " | %s |", row->quantity);
    put_number(out, row->base.mean_ms);
    put_number(out, row->fresh.mean_ms);
    put_change(out, row);
    lp_text_printf(out, " %" PRIu64 " / %" PRIu64 " | %s |\n", row->base.instances,
                   row->fresh.instances, lp_compare_verdict_name(row->verdict));
}

static bool is_judged(const struct lp_compare_row *row)
{
    return row->verdict == LP_COMPARE_SLOWER || row->verdict == LP_COMPARE_FASTER;
}

static bool is_single(const struct lp_compare_row *row)
{
    return row->verdict == LP_COMPARE_ONLY_BASE || row->verdict == LP_COMPARE_ONLY_NEW;
}

static void put_table(struct lp_text *out, const struct lp_comparison *comparison, bool judged)
{
    size_t shown = 0, single = 0, left = 0;

    lp_text_puts(out, "| Region | Quantity | Base ms | New ms | Change % | Noise % | Instances | "
                      "Verdict |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
    for (size_t i = 0; i < comparison->rows.count; i++) {
        const struct lp_compare_row *row = &comparison->rows.items[i];

        if (row->verdict == LP_COMPARE_MINOR || is_judged(row) != judged)
            continue;
        if (shown++ < ROWS_MOST && (!is_single(row) || single++ < SINGLE_MOST))
            put_row(out, row);
        else
            left++;
    }
    if (left > 0)
        lp_text_printf(out, "\n%zu more rows are in the JSON.\n", left);
}

static size_t count_minor(const struct lp_comparison *comparison)
{
    size_t count = 0;

    for (size_t i = 0; i < comparison->rows.count; i++)
        count += comparison->rows.items[i].verdict == LP_COMPARE_MINOR;
    return count;
}

static size_t count_single(const struct lp_comparison *comparison)
{
    size_t count = 0;

    for (size_t i = 0; i < comparison->rows.count; i++)
        count += is_single(&comparison->rows.items[i]);
    return count;
}

static void write_md(const struct runs *runs, const struct lp_comparison *comparison,
                     struct lp_text *out)
{
    lp_text_puts(out, "# llmperf compare\n\n");
    put_run(out, "base", runs->base);
    put_run(out, "new", runs->fresh);
    lp_text_printf(out, "\n**%s**: %" PRIu64 " slower, %" PRIu64 " faster by more than %s %%.\n",
                   comparison->slower ? "Regression" : "No regression", comparison->slower,
                   comparison->faster, LP_NUMBER(comparison->threshold * 100, 3));
    if (count_single(comparison) > 0)
        lp_text_printf(out, "\n%zu rows are of one run only and not judged.\n",
                       count_single(comparison));
    if (comparison->slower + comparison->faster > 0) {
        lp_text_puts(out, "\n");
        put_table(out, comparison, true);
    }
    lp_text_puts(out, "\n## Everything else\n\n");
    put_table(out, comparison, false);
    lp_text_printf(
        out,
        "\nTimes are means per instance of the region; device time is the sum of what an "
        "instance launched, nested regions included. Noise is the difference that chance "
        "alone makes in 1 of 100 cases. Rows below 1 %% of both runs, which are not judged: %zu.\n",
        count_minor(comparison));
}

static void put_side(struct lp_json *json, const char *key, const struct lp_compare_side *side)
{
    lp_json_open(json, key, '{');
    lp_json_number(json, "mean_ms", side->mean_ms);
    lp_json_number(json, "standard_error_ms", side->error_ms);
    lp_json_number(json, "total_ms", isnan(side->mean_ms) ? (double)NAN : side->total_ms);
    lp_json_count(json, "instances", side->instances);
    lp_json_close(json, '}');
}

static void put_json_run(struct lp_json *json, const char *key, const llmperf_profile *profile)
{
    lp_json_open(json, key, '{');
    lp_json_string(json, "run_id", llmperf_profile_fact(profile, "run_id"));
    lp_json_string(json, "verdict", llmperf_verdict_name(verdict_of(profile)));
    lp_json_close(json, '}');
}

static void write_json(const struct runs *runs, const struct lp_comparison *comparison,
                       struct lp_text *out)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };

    lp_json_open(&json, NULL, '{');
    lp_json_integer(&json, "schema_version", 1);
    put_json_run(&json, "base", runs->base);
    put_json_run(&json, "new", runs->fresh);
    lp_json_number(&json, "threshold_percent", comparison->threshold * 100);
    lp_json_count(&json, "slower", comparison->slower);
    lp_json_count(&json, "faster", comparison->faster);
    lp_json_open(&json, "rows", '[');
    for (size_t i = 0; i < comparison->rows.count; i++) {
        const struct lp_compare_row *row = &comparison->rows.items[i];

        lp_json_open(&json, NULL, '{');
        lp_json_string(&json, "region", row->region);
        lp_json_string(&json, "quantity", row->quantity);
        put_side(&json, "base", &row->base);
        put_side(&json, "new", &row->fresh);
        lp_json_number(&json, "change_percent", row->change * 100);
        lp_json_number(&json, "noise_ms", row->noise_ms);
        lp_json_string(&json, "verdict", lp_compare_verdict_name(row->verdict));
        lp_json_close(&json, '}');
    }
    lp_json_close(&json, ']');
    lp_json_close(&json, '}');
    lp_text_add(out, json.text.bytes ? json.text.bytes : "", json.text.length);
    out->failed |= json.text.failed;
    lp_text_clear(&json.text);
}

int llmperf_compare(const llmperf_profile *base, const llmperf_profile *fresh,
                    double threshold_percent, uint32_t format, char **text_out,
                    uint64_t *slower_out)
{
    struct runs runs = { base, fresh };
    struct lp_comparison comparison = { .classes = NULL };
    struct lp_text text = { NULL, 0, 0, false };
    int status;

    if (!base || !fresh || !text_out)
        return lp_error(LLMPERF_EINVAL, "two profiles and text_out are required");
    if (!(threshold_percent >= 0) || format > LLMPERF_COMPARE_JSON)
        return lp_error(LLMPERF_EINVAL,
                        "the threshold is a percentage from 0 on, the format one of "
                        "LLMPERF_COMPARE_");
    status = lp_compare(base, fresh, threshold_percent / 100, &comparison);
    if (status == 0) {
        if (format == LLMPERF_COMPARE_JSON)
            write_json(&runs, &comparison, &text);
        else
            write_md(&runs, &comparison, &text);
        status = lp_text_take(&text, text_out);
    }
    if (status == 0 && slower_out)
        *slower_out = comparison.slower;
    lp_compare_clear(&comparison);
    return status;
}
