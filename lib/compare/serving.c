/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies of requests as rows of the region "requests". */
#include <math.h>
#include <stdio.h>

#include "lib/compare/reader.h"

#define NORMAL_P90 1.2816 /* 90th percentile of the standard normal distribution */

static int put_latency(struct lp_compare_reader *reader, const char *quantity,
                       struct lp_compare_mean mean, bool single_sample)
{
    const struct lp_compare_key key = { LP_COMPARE_REQUESTS, quantity, LP_COMPARE_JOB, 0 };
    struct lp_compare_value *value = lp_compare_value_of(reader, &key);

    if (!value)
        return LLMPERF_ENOMEM;
    value->of = mean;
    value->whole_ms = mean.total_ms;
    value->single_sample = single_sample;
    return 0;
}

int lp_compare_put_requests(struct lp_compare_reader *reader)
{
    static const struct {
        enum lp_latency_id id;
        const char *p99;
    } shown[] = { { LP_LATENCY_QUEUE, "queue p99" },
                  { LP_LATENCY_TTFT, "ttft p99" },
                  { LP_LATENCY_TPOT, "tpot p99" },
                  { LP_LATENCY_ITL, "itl p99" },
                  { LP_LATENCY_E2E, "e2e p99" } };
    int status = 0;

    for (size_t i = 0; status == 0 && i < sizeof(shown) / sizeof(shown[0]); i++) {
        const llmperf_latency *latency = reader->findings->serving.latencies[shown[i].id];
        struct lp_compare_mean mean = lp_compare_unknown;

        if (!latency || latency->count == 0)
            continue;
        mean =
            (struct lp_compare_mean){ latency->mean_ms, NAN, 0, latency->sum_ms, latency->count };
        if (latency->count > 1) { /* no sum of squares is kept */
            mean.error_ms =
                (latency->p90_ms - latency->p50_ms) / NORMAL_P90 / sqrt((double)latency->count);
            mean.freedom = (double)latency->count - 1;
        }
        status = put_latency(reader, lp_latency_names[shown[i].id], mean, false);
        mean.mean_ms = latency->p99_ms;
        mean.error_ms = NAN; /* only repeats show how much it varies */
        if (status == 0)
            status = put_latency(reader, shown[i].p99, mean, true);
    }
    return status;
}
