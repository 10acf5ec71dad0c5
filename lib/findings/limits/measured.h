/* SPDX-License-Identifier: Apache-2.0 */
/** Work of a region according to hardware counters, shown beside that of program or model.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_MEASURED_H
#define LP_FINDINGS_MEASURED_H

#include "lib/base/hashmap.h"
#include "lib/findings/limits/limits.h"

/** Index of the metrics of regions. */
struct lp_counter_index {
    const llmperf_profile *profile;
    struct lp_hashmap first; /* (hash of the path, counter of collisions) -> first row */
};

/** 0 or LLMPERF_ENOMEM. */
int lp_counter_index_init(struct lp_counter_index *index, const llmperf_profile *profile);
void lp_counter_index_clear(struct lp_counter_index *index);

/** First row of a path's metrics; the number of rows if there is none. */
size_t lp_counter_index_find(const struct lp_counter_index *index, const char *path);

/** Means per call; NaN: not known. */
struct lp_measured {
    double flops; /* of tensor cores, and of fp32 and fp64 outside of them, as far as collected */
    double bytes; /* read and written in device memory */
    double intensity; /* flops / bytes */
    double time_ms;   /* of the profiled range, gaps included */
    double instances; /* measured calls */
    double hfu; /* time of the measured FLOPs at the dense peak of their dtype / device busy time */
    const char *hfu_reason; /* why hfu is NaN; static text, or that of the limits */
};

/** @param limits  Of the region's GPU; NULL: not known. */
void lp_measured_of(const struct lp_counter_index *index, const struct lp_limits *limits,
                    const llmperf_region_stats *region, struct lp_measured *measured);

#endif
