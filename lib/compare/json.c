/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison as JSON. */
#include <math.h>

#include "lib/compare/text.h"

static void put_number(struct lp_json *json, const char *key, uint32_t number)
{
    lp_json_count(json, key, number == LP_COMPARE_NOBODY ? LLMPERF_UNKNOWN : number);
}

static void put_side(struct lp_json *json, const char *key, const struct lp_compare_side *side)
{
    bool known = !isnan(side->of.mean_ms);

    lp_json_open(json, key, '{');
    lp_json_number(json, "mean_ms", side->of.mean_ms);
    lp_json_number(json, "standard_error_ms", side->of.error_ms);
    lp_json_number(json, "total_ms", known ? side->of.total_ms : (double)NAN);
    lp_json_count(json, "instances", side->of.instances);
    lp_json_count(json, "runs", side->runs);
    lp_json_open(json, "work", '{');
    for (int i = 0; i < LP_COMPARE_AMOUNTS; i++)
        lp_json_number(json, lp_compare_amount_name((enum lp_compare_amount)i),
                       known ? side->work.amounts[i] : (double)NAN);
    lp_json_close(json, '}');
    put_number(json, "number", known ? side->number : LP_COMPARE_NOBODY);
    lp_json_close(json, '}');
}

static void put_run(struct lp_json *json, const llmperf_profile *profile,
                    const struct lp_compare_ranks *ranks,
                    const struct lp_compare_coverage *coverage)
{
    lp_json_open(json, NULL, '{');
    lp_json_string(json, "run_id", llmperf_profile_fact(profile, "run_id"));
    lp_json_string(json, "verdict",
                   llmperf_name(LLMPERF_NAME_VERDICT, lp_compare_run_verdict(profile)));
    lp_json_count(json, "processes", ranks->processes.count);
    lp_json_count(json, "gpus", ranks->gpus);
    lp_json_number(json, "device_time_in_both", coverage->device);
    lp_json_number(json, "host_time_in_both", coverage->host);
    lp_json_close(json, '}');
}

/* @param first  Index of this side's first run among all runs. */
static void put_runs(struct lp_json *json, const char *key, const struct lp_compare_runs *runs,
                     const struct lp_comparison *comparison, size_t first)
{
    lp_json_open(json, key, '{');
    if (runs->count == 1) {
        lp_json_string(json, "run_id", llmperf_profile_fact(runs->profiles[0], "run_id"));
        lp_json_string(
            json, "verdict",
            llmperf_name(LLMPERF_NAME_VERDICT, lp_compare_run_verdict(runs->profiles[0])));
    }
    lp_json_open(json, "runs", '[');
    for (size_t i = 0; i < runs->count; i++)
        put_run(json, runs->profiles[i], &comparison->ranks.items[first + i],
                &comparison->coverage.items[first + i]);
    lp_json_close(json, ']');
    lp_json_close(json, '}');
}

static void put_work(struct lp_json *json, const struct lp_compare_row *row)
{
    lp_json_open(json, "work", '{');
    lp_json_string(json, "amount", lp_compare_amount_name(row->work.amount));
    lp_json_number(json, "change_percent", (row->work.ratio - 1) * 100);
    lp_json_number(json, "change_of_each_percent", lp_compare_change_of_each(row) * 100);
    lp_json_number(json, "time_factor_least", row->work.least);
    lp_json_number(json, "time_factor_most", row->work.most);
    lp_json_close(json, '}');
}

static void put_row(struct lp_json *json, const struct lp_comparison *comparison,
                    const struct lp_compare_row *row)
{
    bool job = row->key.scope == LP_COMPARE_JOB;

    lp_json_open(json, NULL, '{');
    lp_json_string(json, "region", row->key.region);
    lp_json_string(json, "quantity", row->key.quantity);
    lp_json_string(json, "scope", job ? "job" : lp_compare_noun(comparison, &row->key));
    put_number(json, "number", job ? LP_COMPARE_NOBODY : row->key.number);
    put_side(json, "base", &row->base);
    put_side(json, "new", &row->fresh);
    lp_json_number(json, "change_ms", row->fresh.of.mean_ms - row->base.of.mean_ms);
    lp_json_number(json, "change_percent",
                   row->change < LP_PERCENT_MOST ? row->change * 100 : (double)NAN);
    put_work(json, row);
    lp_json_number(json, "noise_ms", row->noise_ms);
    lp_json_string(json, "verdict", lp_compare_verdict_name(row->verdict));
    lp_json_close(json, '}');
}

void lp_compare_json(const struct lp_compared *compared, struct lp_text *out)
{
    const struct lp_comparison *comparison = compared->comparison;
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };

    lp_json_open(&json, NULL, '{');
    lp_json_integer(&json, "schema_version", 3);
    lp_changes_json(comparison, &json);
    put_runs(&json, "base", compared->base, comparison, 0);
    put_runs(&json, "new", compared->fresh, comparison, compared->base->count);
    lp_json_string(&json, "verdict", lp_compare_outcome(comparison));
    lp_json_string(&json, "reason", comparison->reason[0] ? comparison->reason : NULL);
    lp_json_number(&json, "threshold_percent", comparison->threshold * 100);
    lp_json_count(&json, "slower", comparison->slower);
    lp_json_count(&json, "faster", comparison->faster);
    lp_json_count(&json, "other_work", comparison->other_work);
    lp_json_bool(&json, "same_ranks", comparison->paired || !comparison->has_ranks);
    lp_json_count(&json, "ranks_slower", comparison->parts_slower);
    lp_json_count(&json, "ranks_faster", comparison->parts_faster);
    lp_compare_requests_json(compared, &json);
    lp_json_open(&json, "rows", '[');
    for (size_t i = 0; i < comparison->rows.count; i++)
        put_row(&json, comparison, &comparison->rows.items[i]);
    lp_json_close(&json, ']');
    lp_json_close(&json, '}');
    lp_text_move(out, &json.text);
    lp_text_clear(&json.text);
}
