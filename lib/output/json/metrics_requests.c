/* SPDX-License-Identifier: Apache-2.0 */
/* The member requests of metrics.json. */
#include <math.h>

#include "lib/output/format/metrics_put.h"
#include "lib/output/format/row_fields.h"

static void put_latency(struct lp_metrics *metrics, enum lp_latency_id id)
{
    const llmperf_latency *row = metrics->findings->serving.latencies[id];

    if (!row) {
        lp_put_null(metrics, lp_latency_names[id], LP_REASON_NO_LATENCY);
        return;
    }
    lp_json_open(&metrics->json, lp_latency_names[id], '{');
    lp_row_json(&metrics->json, LP_ROW_LATENCY, row);
    lp_json_close(&metrics->json, '}');
}

static void put_cost(struct lp_metrics *metrics)
{
    const struct lp_serving_finding *serving = &metrics->findings->serving;

    if (isnan(serving->per_million_tokens)) {
        lp_put_null(metrics, "cost", LP_REASON_NO_COST);
        return;
    }
    lp_json_open(&metrics->json, "cost", '{');
    lp_json_count(&metrics->json, "gpus", serving->gpus);
    lp_json_number(&metrics->json, "gpu_hour", serving->gpu_hour);
    lp_json_number(&metrics->json, "per_million_output_tokens", serving->per_million_output);
    lp_json_number(&metrics->json, "per_million_tokens", serving->per_million_tokens);
    lp_json_close(&metrics->json, '}');
}

static void put_rows(struct lp_metrics *metrics, const char *key, enum lp_row_id id)
{
    const llmperf_profile *profile = metrics->findings->profile;
    struct lp_json *json = &metrics->json;

    lp_json_open(json, key, '[');
    for (size_t i = 0; i < lp_row_count(profile, id); i++) {
        const llmperf_slow_request *row = lp_row_at(profile, id, i);

        lp_json_open(json, NULL, '{');
        lp_row_json(json, id, row);
        if (id == LP_ROW_SLOW_REQUEST)
            lp_json_string(json, "reason", lp_finish_word(row->reason));
        lp_json_close(json, '}');
    }
    lp_json_close(json, ']');
}

void lp_put_requests(struct lp_metrics *metrics)
{
    const struct lp_serving_finding *serving = &metrics->findings->serving;

    if (!serving->totals) {
        lp_put_null(metrics, "requests", LP_REASON_NO_REQUESTS);
        return;
    }
    lp_json_open(&metrics->json, "requests", '{');
    lp_row_json(&metrics->json, LP_ROW_REQUESTS, serving->totals);
    lp_put_number(metrics, "good_share", serving->good_share, LP_REASON_NO_SLO);
    for (int i = 0; i < LP_LATENCIES; i++)
        put_latency(metrics, (enum lp_latency_id)i);
    lp_put_number(metrics, "prefill_delay_ms", serving->prefill_delay_ms, LP_REASON_NO_LATENCY);
    lp_put_number(metrics, "prefill_share", serving->prefill_share, LP_REASON_NO_LATENCY);
    put_cost(metrics);
    put_rows(metrics, "slowest", LP_ROW_SLOW_REQUEST);
    put_rows(metrics, "load", LP_ROW_LOAD);
    lp_json_close(&metrics->json, '}');
}
