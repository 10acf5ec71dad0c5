/* SPDX-License-Identifier: Apache-2.0 */
/** Requests of a serving engine: latencies, load, goodput, and how prefill delays decode. Memory is
 * bounded by LLMPERF_REQUESTS_OPEN open requests; of finished ones, histograms and the slowest are
 * kept.
 * @threads one at a time per object, all functions */
#ifndef LP_PROFILE_SERVING_H
#define LP_PROFILE_SERVING_H

#include <stddef.h>
#include <stdint.h>

#include "lib/record/record.h"
#include "llmperf/profile.h"

/** Latencies of requests, in the order of the rows. */
enum lp_latency_id {
    LP_LATENCY_QUEUE,
    LP_LATENCY_TTFT,
    LP_LATENCY_TPOT,
    LP_LATENCY_ITL,
    LP_LATENCY_E2E,
    LP_LATENCY_STEP,
    LP_LATENCY_STEP_PREFILL,
    LP_LATENCIES
};

/** Names in rows, by lp_latency_id. */
extern const char *const lp_latency_names[LP_LATENCIES];

struct lp_serving;

/** What requests are judged by; 0: not given. */
struct lp_serving_options {
    int64_t slo_ttft_ms, slo_tpot_ms, gpu_hour_cents;
};

/** NULL without memory. */
struct lp_serving *lp_serving_create(const struct lp_serving_options *options);
void lp_serving_free(struct lp_serving *serving);

/** Host records of one thread, in its order. */
void lp_serving_host(struct lp_serving *serving, uint32_t thread, const struct lp_record *records,
                     size_t count);

/** All threads were looked at: take in what happened up to `until_ns`, in the order of time. 0: up
 * to two seconds before the newest record, for a recording, whose threads take turns. */
void lp_serving_settle(struct lp_serving *serving, uint64_t until_ns);

/** Collecting stops here: open requests are no longer followed. */
void lp_serving_interrupt(struct lp_serving *serving);

/** Rows of what is known now into a profile. 0 or LLMPERF_ENOMEM. */
int lp_serving_freeze(const struct lp_serving *serving, uint32_t process_id,
                      llmperf_profile *profile);

#endif
