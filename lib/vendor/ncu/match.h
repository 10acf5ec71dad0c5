/* SPDX-License-Identifier: Apache-2.0 */
/** Maps kernels and regions of ncu to the names in a timeline of nsys: ncu prints function names
 * without namespaces, and ranges without their enclosing ranges.
 * @threads one at a time per object */
#ifndef LP_VENDOR_NCU_MATCH_H
#define LP_VENDOR_NCU_MATCH_H

#include "lib/profile/profile.h"

/** Kernel or region of a metric. */
struct lp_ncu_place {
    const char *region, *kernel; /* region NULL: not known; kernel NULL: the region as a whole */
    int32_t device;
    uint32_t process_id;
};

struct lp_ncu_matcher;

/** @param profile  Of the timeline; its rows must stay. 0 or LLMPERF_ENOMEM. */
int lp_ncu_matcher_create(const llmperf_profile *profile, struct lp_ncu_matcher **matcher_out);
void lp_ncu_matcher_free(struct lp_ncu_matcher *matcher);

/** Replace ncu's names with the timeline's, if exactly one fits. The process is removed, since it
 * is of another run of the program. 0 or LLMPERF_ENOMEM. */
int lp_ncu_match(struct lp_ncu_matcher *matcher, struct lp_ncu_place *place);

/** Add a note with the number of kernels and regions that were not found. 0 or LLMPERF_ENOMEM. */
int lp_ncu_matcher_describe(const struct lp_ncu_matcher *matcher, llmperf_profile *profile);

#endif
