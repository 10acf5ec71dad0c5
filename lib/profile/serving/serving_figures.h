/* SPDX-License-Identifier: Apache-2.0 */
/** What the rows of requests mean: goodput, how prefill delays decode, and cost.
 * @threads any thread, all functions */
#ifndef LP_PROFILE_SERVING_FIGURES_H
#define LP_PROFILE_SERVING_FIGURES_H

#include "lib/profile/serving/serving.h"

struct lp_serving_finding {
    const llmperf_requests *totals;                 /* NULL: there were no requests */
    const llmperf_latency *latencies[LP_LATENCIES]; /* NULL: no value */
    double good_share;                              /* good / (finished + failed); NaN: no SLO */
    double prefill_delay_ms; /* mean step with a prefill - mean step without */
    double prefill_share;    /* steps with a prefill / all */
    double gpu_hour;         /* price; NaN: not given */
    uint64_t gpus;           /* that ran something */
    double per_million_output, per_million_tokens; /* cost; NaN: not known */
};

/** @param cents  Price of a GPU hour; 0: that of the run. */
void lp_serving_read(struct lp_serving_finding *serving, const llmperf_profile *profile,
                     int64_t cents);

/** Words of a report ("End-to-end") for a latency, static. */
const char *lp_latency_words(enum lp_latency_id latency);

/** The word of LLMPERF_FINISH_…, static. */
const char *lp_finish_word(uint32_t reason);

#endif
