/* SPDX-License-Identifier: Apache-2.0 */

#include "lib/compare/repeats_text.h"

static const char *scope_name(enum lp_repeats_scope scope)
{
    static const char *const names[] = { "run", "region", "iteration" };

    return names[scope];
}

static void put_runs(struct lp_json *json, const struct lp_repeats *repeats)
{
    lp_json_open(json, "runs", '[');
    for (size_t run = 0; run < repeats->count; run++) {
        const struct lp_findings *findings = repeats->findings[run];

        lp_json_open(json, NULL, '{');
        lp_json_count(json, "number", run + 1);
        lp_json_string(json, "run_id", llmperf_profile_fact(findings->profile, "run_id"));
        lp_json_string(json, "created_at", llmperf_profile_fact(findings->profile, "created_at"));
        lp_json_string(json, "tier", llmperf_profile_fact(findings->profile, "tier"));
        lp_json_string(json, "gpu", findings->limits.gpu_name);
        lp_json_string(json, "verdict",
                       llmperf_name(LLMPERF_NAME_VERDICT, findings->ledger.verdict));
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

static void put_lines(struct lp_json *json, const char *key, const char *const *lines, size_t count)
{
    lp_json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        lp_json_string(json, NULL, lines[i]);
    lp_json_close(json, ']');
}

static void put_subject(struct lp_json *json, const struct lp_repeats_subject *subject)
{
    bool run = subject->scope == LP_REPEATS_RUN;

    lp_json_string(json, "scope", scope_name(subject->scope));
    lp_json_string(json, "region", run ? NULL : subject->region);
    lp_json_count(json, "device",
                  subject->device < 0 ? LLMPERF_UNKNOWN : (uint64_t)subject->device);
    lp_json_count(json, "process",
                  subject->scope == LP_REPEATS_REGION ? subject->process : LLMPERF_UNKNOWN);
    lp_json_string(json, "time", subject->time);
}

static void put_row(struct lp_json *json, const struct lp_repeats *repeats,
                    const struct lp_repeats_row *row)
{
    lp_json_open(json, NULL, '{');
    put_subject(json, row->subject);
    lp_json_string(json, "quantity", row->quantity);
    lp_json_string(json, "unit", row->unit);
    lp_json_open(json, "values", '[');
    for (size_t run = 0; run < repeats->count; run++)
        lp_json_number(json, NULL, row->values[run]);
    lp_json_close(json, ']');
    lp_json_count(json, "count", row->count);
    lp_json_number(json, "mean", row->mean);
    lp_json_number(json, "std", row->std);
    lp_json_number(json, "min", row->min);
    lp_json_number(json, "max", row->max);
    lp_json_number(json, "cv", row->cv);
    lp_json_number(json, "spread", row->spread);
    lp_json_bool(json, "judged", row->judged);
    lp_json_bool(json, "differs", row->differs);
    lp_json_open(json, "apart", '[');
    for (size_t run = 0; run < repeats->count; run++)
        if (lp_repeats_is_outlier(row, run, repeats->threshold))
            lp_json_count(json, NULL, run + 1);
    lp_json_close(json, ']');
    lp_json_string(json, "reason", row->count < repeats->count ? row->reason : NULL);
    lp_json_close(json, '}');
}

void lp_repeats_json(const struct lp_repeats *repeats, struct lp_text *out)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };

    lp_json_open(&json, NULL, '{');
    lp_json_integer(&json, "schema_version", 1);
    lp_json_count(&json, "repeats", repeats->count);
    lp_json_number(&json, "threshold_percent", repeats->threshold * 100);
    put_runs(&json, repeats);
    put_lines(&json, "differences", repeats->differences.items, repeats->differences.count);
    put_lines(&json, "cautions", repeats->cautions.items, repeats->cautions.count);
    lp_json_count(&json, "judged", repeats->judged);
    lp_json_count(&json, "differing", repeats->differing);
    lp_json_open(&json, "rows", '[');
    for (size_t i = 0; i < repeats->rows.count; i++)
        put_row(&json, repeats, &repeats->rows.items[i]);
    lp_json_close(&json, ']');
    lp_json_close(&json, '}');
    lp_text_move(out, &json.text);
    lp_text_clear(&json.text);
}
