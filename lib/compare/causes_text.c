/* SPDX-License-Identifier: Apache-2.0 */
/* What made the difference, in words and as JSON. */
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/compare/text.h"
#include "lib/output/format/markdown.h"

#define NAMED_MOST 3    /* causes of a sentence */
#define LINES_MOST 8    /* changes in Markdown */
#define ROWS_MOST  10   /* causes of a change in a table */
#define LITTLE     0.01 /* the same number of calls, the same factor */

static const char *label_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static const char *words_of(const struct lp_cause *cause)
{
    switch (cause->kind) {
    case LP_PART_OVERLAP:
        return "kernels that ran at the same time";
    case LP_PART_GAPS:
        return "gaps between kernels";
    case LP_PART_LAUNCH:
        return "GPU idle, waiting for launches";
    case LP_PART_HOST:
        return "GPU idle, waiting for other work of the host";
    case LP_PART_BEFORE:
        return "host time before the first kernel";
    case LP_PART_AFTER:
        return "host time after the last kernel";
    default:
        return lp_part_names[cause->kind].heading;
    }
}

static bool is_about(double a, double b)
{
    return fabs(a - b) <= LITTLE * b;
}

/* A mean over calls of the stage is seldom exactly whole. */
static void put_count(struct lp_text *out, double calls)
{
    if (is_about(calls, round(calls)))
        lp_text_printf(out, "%.0f", round(calls));
    else
        lp_text_puts(out, LP_NUMBER(calls, 3));
}

static void put_calls(struct lp_text *out, double calls)
{
    put_count(out, calls);
    lp_text_puts(out, is_about(calls, 1) ? " call" : " calls");
}

/* "(3.0x, 32 calls)", "(new, 1 call of 25 MB)" */
static void put_amounts(struct lp_text *out, const struct lp_cause *cause)
{
    const struct lp_cause_side *base = &cause->base, *fresh = &cause->fresh;
    const struct lp_cause_side *there = fresh->calls > 0 ? fresh : base;
    const char *chance = cause->significant ? "" : "; not significant";

    if (!(there->calls > 0)) { /* idle and host times */
        lp_text_printf(out, " (%s instead of %s ms%s)", LP_NUMBER(fresh->ms, 3),
                       LP_NUMBER(base->ms, 3), chance);
        return;
    }
    if (!(base->calls > 0))
        lp_text_puts(out, " (new, ");
    else if (!(fresh->calls > 0))
        lp_text_puts(out, " (gone, ");
    else
        lp_text_printf(out, " (%sx, ", LP_NUMBER(fresh->ms / base->ms, 2));
    put_calls(out, there->calls);
    if (there->bytes > 0) { /* of several sizes no mean says anything */
        lp_text_puts(out, is_about(there->calls, 1) ? " of " : ", ");
        lp_text_size(out, there->bytes);
        lp_text_puts(out, is_about(there->calls, 1) ? "" : " in all");
    }
    if (base->calls > 0 && fresh->calls > 0 && !is_about(fresh->calls, base->calls)) {
        lp_text_puts(out, " instead of ");
        put_count(out, base->calls);
    }
    if (base->calls > 0 && fresh->calls > 0 && fresh->bytes > 0 &&
        !is_about(fresh->bytes, base->bytes)) {
        lp_text_puts(out, ", before ");
        lp_text_size(out, base->bytes);
    }
    lp_text_printf(out, "%s)", chance);
}

static void put_cause(struct lp_text *out, const struct lp_cause *cause)
{
    if (cause->kind != LP_PART_KERNELS)
        lp_text_puts(out, words_of(cause));
    else
        lp_text_puts(out, cause->name);
    if (cause->region)
        lp_text_printf(out, " in %s", label_of(cause->region));
    if (cause->replaced)
        lp_text_printf(out, " in place of %s", cause->replaced);
    put_amounts(out, cause);
    if (cause->call)
        lp_text_printf(out, ", %s ms of it in %s", LP_NUMBER(fabs(cause->call_ms), 3), cause->call);
}

static void put_causes(struct lp_text *out, const struct lp_stage_change *change, double threshold)
{
    size_t named = 0;

    for (size_t i = 0; i < change->causes.count && named < NAMED_MOST; i++) {
        const struct lp_cause *cause = &change->causes.items[i];
        double ms = cause->change_ms;

        if (!lp_cause_counts(change, cause, threshold))
            continue;
        if (named == 0 && change->significant && ms * change->change_ms > 0)
            lp_text_printf(out, ": %s ms of it is ", LP_NUMBER(fabs(ms), 3));
        else
            lp_text_printf(out, "%s %s%s ms ", named ? ";" : ": in it", ms > 0 ? "+" : "",
                           LP_NUMBER(ms, 3));
        put_cause(out, cause);
        named++;
    }
}

static void put_relative(struct lp_text *out, double base_ms, double fresh_ms)
{
    double change = fresh_ms / base_ms - 1;

    if (!(base_ms > 0))
        return;
    if (change < LP_PERCENT_MOST)
        lp_text_printf(out, " (%s %%)", LP_NUMBER(fabs(change) * 100, 2));
    else
        lp_text_printf(out, " (%sx)", LP_NUMBER(fresh_ms / base_ms, 2));
}

static void put_first_call(struct lp_text *out, const struct lp_stage_change *change)
{
    lp_text_printf(out,
                   "The warm-up of %s is %s ms %s: its first calls take %s ms more than the later "
                   "ones, in base %s ms (compilation, autotuning, allocation, loading of modules; "
                   "once per process start)",
                   label_of(change->region), LP_NUMBER(fabs(change->change_ms), 4),
                   change->change_ms > 0 ? "slower" : "faster", LP_NUMBER(change->fresh.mean_ms, 4),
                   LP_NUMBER(change->base.mean_ms, 4));
}

static const struct lp_compare_row *row_of(const struct lp_comparison *comparison,
                                           const char *region, const char *quantity)
{
    for (size_t i = 0; i < comparison->rows.count; i++) {
        const struct lp_compare_row *row = &comparison->rows.items[i];

        if (row->key.scope == LP_COMPARE_JOB && strcmp(row->key.quantity, quantity) == 0 &&
            strcmp(row->key.region, region) == 0)
            return row;
    }
    return NULL;
}

/* The work of a call, if it differs. */
static void put_work(struct lp_text *out, const struct lp_comparison *comparison,
                     const char *region)
{
    const struct lp_compare_row *row = row_of(comparison, region, "wall");

    if (row && row->work.amount != LP_COMPARE_AMOUNTS && fabs(row->work.ratio - 1) > 0)
        lp_text_printf(out, "; a call does other work (%s %s%s %%)",
                       lp_compare_amount_name(row->work.amount), row->work.ratio > 1 ? "+" : "",
                       LP_NUMBER((row->work.ratio - 1) * 100, 2));
}

/* Why there are no causes, and what is known of the device. */
static void put_reason(struct lp_text *out, const struct lp_comparison *comparison,
                       const struct lp_stage_change *change)
{
    const struct lp_compare_row *row = row_of(comparison, change->region, "device");

    if (row && (row->verdict == LP_COMPARE_SLOWER || row->verdict == LP_COMPARE_FASTER))
        lp_text_printf(out, "; its kernels take %s ms %s, %s instead of %s ms",
                       LP_NUMBER(fabs(row->fresh.of.mean_ms - row->base.of.mean_ms), 3),
                       row->verdict == LP_COMPARE_SLOWER ? "longer" : "less",
                       LP_NUMBER(row->fresh.of.mean_ms, 4), LP_NUMBER(row->base.of.mean_ms, 4));
    lp_text_printf(out, "; host times, because %s", change->reason);
}

static void put_noise(struct lp_text *out, const struct lp_stage_change *change)
{
    if (isnan(change->noise_ms))
        lp_text_printf(out, " (single %s: noise is not known)", *change->region ? "calls" : "runs");
    else if (!change->significant && change->noise_ms > 0)
        lp_text_printf(out, " (up to %s ms is noise)", LP_NUMBER(change->noise_ms, 2));
}

static void put_sentence(struct lp_text *out, const struct lp_comparison *comparison,
                         const struct lp_stage_change *change)
{
    double base_ms = change->base.mean_ms, fresh_ms = change->fresh.mean_ms;
    static const char *const verdicts[2][2] = { { "faster a call", "slower a call" },
                                                { "shorter", "longer" } };
    bool whole = !*change->region;
    const char *const *words = verdicts[whole];
    const char *name =
        whole ? "The time from the first to the last work of the GPU" : label_of(change->region);

    if (change->first_call) {
        put_first_call(out, change);
        return;
    }
    if (change->significant) {
        lp_text_printf(out, "%s is %s ms", name, LP_NUMBER(fabs(change->change_ms), 3));
        put_relative(out, base_ms, fresh_ms);
        lp_text_printf(out, " %s, %s instead of %s ms", words[change->change_ms > 0],
                       LP_NUMBER(fresh_ms, 4), LP_NUMBER(base_ms, 4));
        if (fabs(change->change_ms) <= comparison->threshold * base_ms)
            lp_text_printf(out, ", within the threshold of %s %%",
                           LP_NUMBER(comparison->threshold * 100, 3));
    } else {
        lp_text_printf(out, "%s: no significant difference, %s and %s ms%s", name,
                       LP_NUMBER(base_ms, 4), LP_NUMBER(fresh_ms, 4), whole ? "" : " a call");
    }
    put_noise(out, change);
    put_causes(out, change, comparison->threshold);
    if (change->reason)
        put_reason(out, comparison, change);
    put_work(out, comparison, change->region);
}

/* Markdown */

static void put_rows(struct lp_text *out, const struct lp_comparison *comparison,
                     const struct lp_stage_change *change)
{
    size_t shown = 0;

    for (size_t i = 0; i < change->causes.count && shown < ROWS_MOST; i++) {
        const struct lp_cause *cause = &change->causes.items[i];

        if (!lp_cause_counts(change, cause, comparison->threshold))
            continue;
        shown++;
        lp_text_puts(out, "|");
        lp_md_cell_code(out, *change->region ? change->region : "(run)");
        lp_md_cell_text(out, cause->kind == LP_PART_KERNELS ? cause->name : words_of(cause));
        lp_md_cell_text(out, cause->region ? cause->region : "–");
        lp_md_cell_number(out, cause->base.ms);
        lp_md_cell_number(out, cause->fresh.ms);
        lp_md_cell_number(out, cause->change_ms);
        lp_md_cell_number(out, cause->base.calls > 0 ? cause->base.calls : (double)NAN);
        lp_md_cell_number(out, cause->fresh.calls > 0 ? cause->fresh.calls : (double)NAN);
        lp_text_puts(out, "\n");
    }
}

static size_t put_requests(const struct lp_comparison *comparison, struct lp_text *out)
{
    size_t lines = 0;

    for (size_t i = 0; i < comparison->rows.count; i++) {
        const struct lp_compare_row *row = &comparison->rows.items[i];
        double base_ms = row->base.of.mean_ms, fresh_ms = row->fresh.of.mean_ms;

        if (strcmp(row->key.region, LP_COMPARE_REQUESTS) != 0 ||
            (row->verdict != LP_COMPARE_SLOWER && row->verdict != LP_COMPARE_FASTER))
            continue;
        lp_text_printf(out, "- **%s of requests is %s ms", row->key.quantity,
                       LP_NUMBER(fabs(fresh_ms - base_ms), 3));
        put_relative(out, base_ms, fresh_ms);
        lp_text_printf(out, " %s, %s instead of %s ms.**\n",
                       row->verdict == LP_COMPARE_SLOWER ? "slower" : "faster",
                       LP_NUMBER(fresh_ms, 4), LP_NUMBER(base_ms, 4));
        lines++;
    }
    return lines;
}

void lp_changes_md(const struct lp_comparison *comparison, struct lp_text *out)
{
    size_t lines = comparison->changes.count;

    for (size_t i = 0; i < comparison->changes.count && i < LINES_MOST; i++) {
        const struct lp_stage_change *change = &comparison->changes.items[i];
        struct lp_text sentence = { NULL, 0, 0, false };

        put_sentence(&sentence, comparison, change);
        lp_text_puts(out, change->significant ? "- **" : "- ");
        lp_md_text(out, sentence.failed ? "" : sentence.bytes);
        lp_text_puts(out, change->significant ? ".**\n" : ".\n");
        out->failed |= sentence.failed;
        lp_text_clear(&sentence);
    }
    lines += put_requests(comparison, out);
    if (lines > 0)
        lp_text_puts(out, "\n");
}

void lp_causes_md(const struct lp_comparison *comparison, struct lp_text *out)
{
    bool any = false;

    for (size_t i = 0; i < comparison->changes.count; i++) {
        const struct lp_stage_change *change = &comparison->changes.items[i];

        for (size_t k = 0; k < change->causes.count; k++)
            any |= lp_cause_counts(change, &change->causes.items[k], comparison->threshold);
    }
    if (!any)
        return;
    lp_text_puts(out, "\n## What made the difference\n\n| Stage | Cause | In | Base ms | New ms | "
                      "Change ms | Base calls | New calls |\n| --- | --- | --- | ---: | ---: | "
                      "---: | ---: | ---: |\n");
    for (size_t i = 0; i < comparison->changes.count; i++)
        put_rows(out, comparison, &comparison->changes.items[i]);
    lp_text_puts(out, "\nMeans per call of the stage, without warm-up; where "
                      "no stage is marked, sums of the run.\n");
}

/* JSON */

static void put_side_json(struct lp_json *json, const char *key, const struct lp_cause_side *side)
{
    lp_json_open(json, key, '{');
    lp_json_number(json, "ms", side->ms);
    lp_json_number(json, "calls", side->calls);
    lp_json_number(json, "bytes", side->bytes);
    lp_json_close(json, '}');
}

static void put_cause_json(struct lp_json *json, const struct lp_cause *cause)
{
    struct lp_text text = { NULL, 0, 0, false };

    put_cause(&text, cause);
    lp_json_open(json, NULL, '{');
    lp_json_string(json, "text", text.bytes);
    lp_json_string(json, "kind", lp_part_names[cause->kind].name);
    lp_json_string(json, "name", cause->name);
    lp_json_string(json, "replaced", cause->replaced);
    lp_json_string(json, "region", cause->region);
    lp_json_string(json, "kernel_class", cause->kernel_class);
    lp_json_string(json, "call", cause->call);
    lp_json_number(json, "call_ms", cause->call ? cause->call_ms : (double)NAN);
    lp_json_number(json, "change_ms", cause->change_ms);
    lp_json_bool(json, "significant", cause->significant);
    put_side_json(json, "base", &cause->base);
    put_side_json(json, "new", &cause->fresh);
    lp_json_close(json, '}');
    json->text.failed |= text.failed;
    lp_text_clear(&text);
}

static void put_change_json(struct lp_json *json, const struct lp_comparison *comparison,
                            const struct lp_stage_change *change)
{
    struct lp_text text = { NULL, 0, 0, false };

    put_sentence(&text, comparison, change);
    lp_json_open(json, NULL, '{');
    lp_json_string(json, "text", text.bytes);
    lp_json_string(json, "region", change->region);
    lp_json_bool(json, "first_call", change->first_call);
    lp_json_bool(json, "significant", change->significant);
    lp_json_number(json, "base_ms", change->base.mean_ms);
    lp_json_number(json, "new_ms", change->fresh.mean_ms);
    lp_json_number(json, "change_ms", change->change_ms);
    lp_json_number(json, "noise_ms", change->noise_ms);
    lp_json_number(json, "total_change_ms", change->total_ms);
    lp_json_string(json, "reason", change->reason);
    lp_json_open(json, "causes", '[');
    for (size_t i = 0; i < change->causes.count; i++)
        put_cause_json(json, &change->causes.items[i]);
    lp_json_close(json, ']');
    lp_json_close(json, '}');
    json->text.failed |= text.failed;
    lp_text_clear(&text);
}

void lp_changes_json(const struct lp_comparison *comparison, struct lp_json *json)
{
    lp_json_open(json, "changes", '[');
    for (size_t i = 0; i < comparison->changes.count; i++)
        put_change_json(json, comparison, &comparison->changes.items[i]);
    lp_json_close(json, ']');
}
