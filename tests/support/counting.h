/* SPDX-License-Identifier: Apache-2.0 */
/** Hardware counters of a GPU that is not there: lib/counters over tests/mock. */
#ifndef TESTS_SUPPORT_COUNTING_H
#define TESTS_SUPPORT_COUNTING_H

#include "tests/mock/cupti.h"
#include "lib/counters/counters.h"

#define FACTS_MOST           4096
#define COUNTING_INTERVAL_NS 10000u /* of sampled counters, unless the words say */

/** What reached the collector. */
struct counted {
    size_t plans;
    struct lp_counter_plan plan; /* the last; its texts may be gone */
    size_t count;
    struct lp_counter_fact facts[FACTS_MOST];
    double values[FACTS_MOST]; /* the second column of each: what was worked */
};

extern const struct mock_cupti *mock; /* after counting_begin() */

/** Load the stand-ins, the first time, and forget what they were told. */
void counting_begin(void);

/** The CUDA context of this thread; NULL: none. */
void counting_context(void *context);

/** Start counting what the words say (llmperf_session_options.counters). */
struct lp_counters *counting_open(const char *words);

/** The same before CUPTI listens: lp_counters_attach() has to come. */
struct lp_counters *counting_open_early(const char *words);

/** Take in what is there, into counting_result. */
void counting_deliver(struct lp_counters *counters);
extern struct counted counting_result;

/** Take samples at another interval from now on. */
void counting_resample(struct lp_counters *counters, uint64_t interval_ns);

/** Stop, deliver the rest, and say what the state's problem is; "" is none. Closes. */
const char *counting_close(struct lp_counters *counters);

/** Facts of a kind about a region; NULL: all. */
size_t counted_facts(uint32_t kind, const char *label);

/** Value of the nth fact of a kind about a region; the test fails if there is none. */
double counted_value(uint32_t kind, const char *label, size_t nth);

/** Reason of the first skip of a region. */
const char *counted_reason(const char *label);

#endif
