/* SPDX-License-Identifier: Apache-2.0 */
/** Where the metrics of each region stand in a profile. @threads one at a time per object */
#ifndef LP_FINDINGS_COUNTER_INDEX_H
#define LP_FINDINGS_COUNTER_INDEX_H

#include "lib/base/hashmap.h"
#include "llmperf/profile.h"

/** Where the metrics of a region stand. */
struct lp_counter_index {
    const llmperf_profile *profile;
    struct lp_hashmap first; /* hash of the path, how many paths before have it: its first row */
};

/** 0 or LLMPERF_ENOMEM. */
int lp_counter_index_init(struct lp_counter_index *index, const llmperf_profile *profile);
void lp_counter_index_clear(struct lp_counter_index *index);

/** First row of the metrics of a path; the number of rows if there is none. */
size_t lp_counter_index_find(const struct lp_counter_index *index, const char *path);

#endif
