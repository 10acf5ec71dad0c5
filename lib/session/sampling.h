/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light: how many calls are sampled, so that it costs no more than the budget. For
 * lib/session, on the collector thread. */
#ifndef LP_SESSION_SAMPLING_H
#define LP_SESSION_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace/export/graph_ends.h"

struct llmperf_session;

#define LP_SAMPLED_LABELS 8u

/** What is known of one sampled label. */
struct lp_sampled_label {
    char *label;
    uint32_t every;          /* 1 of so many calls is sampled */
    uint64_t collected, all; /* calls at the last look */
    uint64_t collected_ns, all_ns;
    double cost_ns; /* of collecting one call, measured; 0: not yet */
    double seen;    /* calls that cost_ns was measured with */
    /* With detach: calls and their host time, collected as the burst began, and not collected as
     * the one before it ended; and the mean time of those between the two, 0: not known. */
    uint64_t collected_before, collected_ns_before, skipped_before, skipped_ns_before;
    double between_ns;
};

/** What collecting the calls of a burst cost. */
struct lp_burst_cost {
    double units, cost_ns;
    double all, all_ns; /* calls so far, collected or not, and their host time */
};

struct lp_sampling {
    bool on;
    struct lp_sampled_label labels[LP_SAMPLED_LABELS];
    uint32_t count;
    double budget;      /* share of the time, 0.01 is 1 % */
    double switch_ns;   /* of switching records on and off, measured */
    uint64_t looked_ns; /* last look */
    uint64_t seen;      /* calls of the labels at the last look */
    uint64_t seen_ns;   /* when there was a new one last */
    uint64_t window_ns; /* begin of the open window for all threads; 0: none is open */
    uint64_t closed_ns; /* end of one whose records are still awaited; 0: of none */
    uint64_t next_ns;   /* begin of the next one */
    uint64_t window_sum_ns, window_activities; /* of those that are over */
    struct lp_graph_wait settle; /* of a window with graphs; since_ns 0: none settles */
    uint64_t settle_taken;       /* windows that had been opened until then */
    uint64_t settle_flushed_ns;  /* the flush before the last look at it */
};

/** Sample the regions of a comma-separated list, which is not empty. 0 or
 * LLMPERF_EINVAL, LLMPERF_ENOMEM. */
int lp_sampling_init(struct lp_sampling *sampling, const char *regions, uint32_t budget_permille);
void lp_sampling_clear(struct lp_sampling *sampling);

/** Begin (calls open windows after lp_sampler_go()) and end with the source's collection.
 * @param now_ns  When launches stopped counting. */
void lp_sampling_begin(struct llmperf_session *session);
void lp_sampling_end(struct llmperf_session *session, uint64_t now_ns);

/** After records came: are those of a window with graphs all in, so that records may go off? */
void lp_sampling_settle(struct llmperf_session *session, uint64_t now_ns);

/** Must the records of a window for all threads be flushed from the driver? Until then the cost of
 * the window is not known, and none is opened. */
bool lp_sampling_asks(const struct llmperf_session *session, uint64_t now_ns);

/** Collecting in bursts (detach.h). The cost of a call is how much longer it takes than calls
 * between the bursts. */
void lp_sampling_begin_burst(struct llmperf_session *session);
struct lp_burst_cost lp_sampling_end_burst(struct llmperf_session *session);

/** Host time of all calls of the labels so far. */
double lp_sampling_work_ns(struct llmperf_session *session);

/** Look at what it costs and choose how much is collected from now on. */
void lp_sampling_adjust(struct llmperf_session *session, uint64_t now_ns);

#endif
