/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: latencies as rows of the region "requests", counts and rates in a table of their own.
 */
#include <math.h>
#include <stdio.h>

#include "lib/compare/reader.h"
#include "lib/compare/text.h"
#include "lib/output/format/markdown.h"

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

    for (size_t i = 0; status == 0 && i < LP_LENGTH(shown); i++) {
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

/* Counts and rates */

enum { FINISHED, FAILED, REQUEST_RATE, OUTPUT_RATE, GOODPUT, AMOUNTS };

static const struct {
    const char *key, *heading;
} amounts[AMOUNTS] = {
    [FINISHED] = { "finished", "Finished requests" },
    [FAILED] = { "failed", "Failed requests" },
    [REQUEST_RATE] = { "requests_per_s", "Requests/s" },
    [OUTPUT_RATE] = { "output_tokens_per_s", "Output tokens/s" },
    [GOODPUT] = { "goodput_per_s", "Goodput, requests/s" },
};

/* Means over the runs. false: a run has no requests. */
static bool amounts_of(const struct lp_compare_runs *runs, double means[AMOUNTS])
{
    for (size_t k = 0; k < AMOUNTS; k++)
        means[k] = 0;
    for (size_t i = 0; i < runs->count; i++) {
        llmperf_requests requests = LLMPERF_REQUESTS_INIT;

        if (llmperf_profile_requests(runs->profiles[i], &requests) < 0)
            return false;
        means[FINISHED] += (double)requests.finished / (double)runs->count;
        means[FAILED] += (double)requests.failed / (double)runs->count;
        means[REQUEST_RATE] += requests.requests_per_s / (double)runs->count;
        means[OUTPUT_RATE] += requests.output_tokens_per_s / (double)runs->count;
        means[GOODPUT] += requests.goodput_per_s / (double)runs->count;
    }
    return true;
}

void lp_compare_requests_md(const struct lp_compared *compared, struct lp_text *out)
{
    double base[AMOUNTS], fresh[AMOUNTS];

    if (!amounts_of(compared->base, base) || !amounts_of(compared->fresh, fresh))
        return;
    lp_text_puts(out, "\n## Requests\n\n| | Base | New | Change |\n| --- | ---: | ---: | ---: |\n");
    for (size_t k = 0; k < AMOUNTS; k++) {
        if (isnan(base[k]) && isnan(fresh[k]))
            continue;
        lp_text_printf(out, "| %s |", amounts[k].heading);
        lp_md_cell_number(out, base[k]);
        lp_md_cell_number(out, fresh[k]);
        lp_md_cell_number(out, fresh[k] - base[k]);
        lp_text_puts(out, "\n");
    }
    lp_text_puts(out, "\nTheir latencies are rows of the region `requests`.\n");
}

static void put_amounts(struct lp_json *json, const char *key, const struct lp_compare_runs *runs)
{
    double means[AMOUNTS];

    if (!amounts_of(runs, means)) {
        lp_json_null(json, key);
        return;
    }
    lp_json_open(json, key, '{');
    for (size_t k = 0; k < AMOUNTS; k++)
        lp_json_number(json, amounts[k].key, means[k]);
    lp_json_close(json, '}');
}

void lp_compare_requests_json(const struct lp_compared *compared, struct lp_json *json)
{
    lp_json_open(json, "requests", '{');
    put_amounts(json, "base", compared->base);
    put_amounts(json, "new", compared->fresh);
    lp_json_close(json, '}');
}
