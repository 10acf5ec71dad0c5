/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/serving/serving_figures.h"

#include <math.h>
#include <string.h>

#include "lib/base/vector.h"
#include "lib/profile/fields.h"

#define DEVICES 65536u

const char *lp_latency_words(enum lp_latency_id latency)
{
    static const char *const words[LP_LATENCIES] = {
        [LP_LATENCY_QUEUE] = "Queue time",
        [LP_LATENCY_TTFT] = "TTFT",
        [LP_LATENCY_TPOT] = "TPOT",
        [LP_LATENCY_ITL] = "ITL",
        [LP_LATENCY_E2E] = "End-to-end",
        [LP_LATENCY_STEP] = "Decode step without a prefill",
        [LP_LATENCY_STEP_PREFILL] = "Decode step with a prefill",
    };

    return words[latency];
}

const char *lp_finish_word(uint32_t reason)
{
    static const char *const words[] = { "other", "stop", "length", "aborted", "failed" };

    return reason < LP_LENGTH(words) ? words[reason] : words[0];
}

static const llmperf_latency *find_latency(const llmperf_profile *profile, const char *key)
{
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_LATENCY); i++) {
        const llmperf_latency *row = lp_row_at(profile, LP_ROW_LATENCY, i);

        if (row->count > 0 && strcmp(row->quantity, key) == 0)
            return row;
    }
    return NULL;
}

static uint64_t count_gpus(const llmperf_profile *profile)
{
    uint8_t seen[DEVICES / 8] = { 0 };
    uint64_t gpus = 0;

    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *row = lp_row_at(profile, LP_ROW_KERNEL, i);
        uint32_t device = (uint32_t)row->device % DEVICES;

        if (row->device < 0)
            continue;
        gpus += !(seen[device / 8] & 1u << device % 8);
        seen[device / 8] |= (uint8_t)(1u << device % 8);
    }
    return gpus;
}

static void read_steps(struct lp_serving_finding *serving)
{
    const llmperf_latency *plain = serving->latencies[LP_LATENCY_STEP];
    const llmperf_latency *delayed = serving->latencies[LP_LATENCY_STEP_PREFILL];

    if (!plain || !delayed)
        return;
    serving->prefill_delay_ms = delayed->mean_ms - plain->mean_ms;
    serving->prefill_share = (double)delayed->count / (double)(delayed->count + plain->count);
}

static double per_million(double cost, uint64_t tokens)
{
    return tokens > 0 ? cost * 1e6 / (double)tokens : (double)NAN;
}

static void read_cost(struct lp_serving_finding *serving, const llmperf_profile *profile,
                      int64_t cents)
{
    const llmperf_requests *totals = serving->totals;
    double cost;

    if (cents <= 0 && totals->gpu_hour_cents != LLMPERF_UNKNOWN)
        cents = (int64_t)totals->gpu_hour_cents;
    if (cents <= 0)
        return;
    serving->gpu_hour = (double)cents / 100;
    serving->gpus = count_gpus(profile);
    cost = (double)serving->gpus * serving->gpu_hour * totals->duration_ms / 3.6e6;
    if (serving->gpus == 0)
        return;
    serving->per_million_output = per_million(cost, totals->output_tokens);
    serving->per_million_tokens = per_million(cost, totals->prompt_tokens + totals->output_tokens);
}

void lp_serving_read(struct lp_serving_finding *serving, const llmperf_profile *profile,
                     int64_t cents)
{
    const llmperf_requests *totals;

    *serving = (struct lp_serving_finding){ .good_share = NAN,
                                            .prefill_delay_ms = NAN,
                                            .prefill_share = NAN,
                                            .gpu_hour = NAN,
                                            .per_million_output = NAN,
                                            .per_million_tokens = NAN };
    if (lp_row_count(profile, LP_ROW_REQUESTS) == 0)
        return;
    serving->totals = totals = lp_row_at(profile, LP_ROW_REQUESTS, 0);
    for (int i = 0; i < LP_LATENCIES; i++)
        serving->latencies[i] = find_latency(profile, lp_latency_names[i]);
    if (totals->good != LLMPERF_UNKNOWN && totals->finished + totals->failed > 0)
        serving->good_share = (double)totals->good / (double)(totals->finished + totals->failed);
    read_steps(serving);
    read_cost(serving, profile, cents);
}
