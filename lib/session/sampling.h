/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light: chooses how many calls are sampled, so that the cost stays within the budget. For
 * lib/session, on the collector thread. */
#ifndef LP_SESSION_SAMPLING_H
#define LP_SESSION_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace/export/graph_ends.h"

struct llmperf_session;

#define LP_SAMPLED_LABELS 8u

/** State of a sampled label. */
struct lp_sampled_label {
    char *label;
    uint32_t every;          /* 1 of this many calls is sampled */
    uint64_t collected, all; /* calls at the last check */
    uint64_t collected_ns, all_ns;
    uint64_t measured, measured_ns;
    double mean_ns, mean_calls; /* mean host time of recent calls, and its weight */
    double cost_ns;             /* measured cost of collecting a call; 0: not known */
    double seen;                /* calls in the measurement of cost_ns */
    /* With detach: calls and their host time, collected as the burst began, and not collected as
     * the one before it ended; and the mean time of those between the two, 0: not known. */
    uint64_t collected_before, collected_ns_before, skipped_before, skipped_ns_before;
    double between_ns;
};

/** Cost of collecting the calls of a burst. */
struct lp_burst_cost {
    double units, cost_ns;
    double all, all_ns; /* all calls so far and their wall time */
};

struct lp_sampling {
    bool on;
    struct lp_sampled_label labels[LP_SAMPLED_LABELS];
    uint32_t count;
    double budget;      /* share of the time; 0.01 is 1 % */
    double switch_ns;   /* measured time to enable and disable records */
    uint64_t looked_ns; /* last look */
    uint64_t seen;      /* calls of the labels at the last check */
    uint64_t seen_ns;   /* when a call last began */
    uint64_t window_ns; /* begin of the open window for all threads; 0: none */
    uint64_t closed_ns; /* end of a window whose records are awaited; 0: none */
    uint64_t next_ns;   /* begin of the next window */
    uint64_t window_sum_ns, window_activities; /* of completed windows */
    struct lp_graph_wait settle; /* wait for the graph records of a window; since_ns 0: none */
    uint64_t settle_taken;       /* windows opened until then */
    uint64_t settle_flushed_ns;  /* last flush before the last check */
};

/** Sample the regions of a comma-separated list, which must not be empty. 0, LLMPERF_EINVAL or
 * LLMPERF_ENOMEM. */
int lp_sampling_init(struct lp_sampling *sampling, const char *regions, uint32_t budget_permille);
void lp_sampling_clear(struct lp_sampling *sampling);

/** Start and stop sampling with the source's collection. Calls open windows after lp_sampler_go().
 * @param now_ns  When launches stopped counting. */
void lp_sampling_begin(struct llmperf_session *session);
void lp_sampling_end(struct llmperf_session *session, uint64_t now_ns);

/** After records were read: are all graph records of the window in, so that records may be
 * disabled? */
void lp_sampling_settle(struct llmperf_session *session, uint64_t now_ns);

/** Must records of a window for all threads be flushed? Until they are, its cost is not known and
 * no window is opened. */
bool lp_sampling_asks(const struct llmperf_session *session, uint64_t now_ns);

/** Cost of collecting in bursts (detach.h), from the difference between calls in a burst and calls
 * between bursts. */
void lp_sampling_begin_burst(struct llmperf_session *session);
struct lp_burst_cost lp_sampling_end_burst(struct llmperf_session *session);

/** Wall time of all calls of the labels so far. */
double lp_sampling_work_ns(struct llmperf_session *session);

/** Check the cost and adjust how much is collected. */
void lp_sampling_adjust(struct llmperf_session *session, uint64_t now_ns);

#endif
