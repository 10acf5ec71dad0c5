/* SPDX-License-Identifier: Apache-2.0 */
/** Merges rows of several profiles: regions, kernels, their shapes, iterations and latencies. For
 * lib/store only.
 * @threads one at a time per object */
#ifndef LP_STORE_MERGE_ROWS_H
#define LP_STORE_MERGE_ROWS_H

#include "lib/base/hashmap.h"
#include "lib/statistics/histogram.h"
#include "lib/profile/data.h"

/** Durations of a row that several profiles have. */
struct lp_merged_row {
    struct lp_histogram durations;
    size_t parts;
    bool known; /* every part had a histogram */
};

/** By index, like the rows of the merged profile. */
struct lp_merged_list {
    LP_VECTOR(struct lp_merged_row) rows;
    struct lp_hashmap keys; /* (hash of the keys, counter of collisions) -> row */
};

/** Zero-initialised: empty. */
struct lp_merged_rows {
    struct lp_merged_list regions, kernels, shapes, spreads, latencies, host_calls;
};

/** Merge a row into `out`. 0; LLMPERF_EFORMAT: damaged histogram; LLMPERF_ENOMEM. */
int lp_merge_region(struct lp_merged_rows *rows, llmperf_profile *out,
                    const struct lp_region_row *from);
int lp_merge_kernel(struct lp_merged_rows *rows, llmperf_profile *out,
                    const struct lp_kernel_row *from);
int lp_merge_shape(struct lp_merged_rows *rows, llmperf_profile *out,
                   const llmperf_kernel_shape *from);
int lp_merge_spread(struct lp_merged_rows *rows, llmperf_profile *out,
                    const struct lp_iteration_stats_row *from);
int lp_merge_latency(struct lp_merged_rows *rows, llmperf_profile *out,
                     const struct lp_latency_row *from);
int lp_merge_host_call(struct lp_merged_rows *rows, llmperf_profile *out,
                       const llmperf_host_call *from);

/** Add the requests of one profile to those of `out`. 0 or LLMPERF_ENOMEM. */
int lp_merge_requests(llmperf_profile *out, const llmperf_requests *from);

/** Compute percentiles and histograms of rows with several parts. 0 or LLMPERF_ENOMEM. */
int lp_merge_finish(struct lp_merged_rows *rows, llmperf_profile *out);

void lp_merge_clear(struct lp_merged_rows *rows);

#endif
