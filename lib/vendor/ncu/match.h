/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels and regions of ncu under the names that a timeline of nsys gave them: ncu prints names
 * of functions without namespaces, and ranges without those around them.
 * @threads one at a time per object */
#ifndef LP_VENDOR_NCU_MATCH_H
#define LP_VENDOR_NCU_MATCH_H

#include "lib/profile/profile.h"

/** What a metric belongs to. */
struct lp_ncu_place {
    const char *region, *kernel; /* NULL: not known; the region as a whole */
    int32_t device;
    uint32_t process_id;
};

struct lp_ncu_matcher;

/** @param profile  Of the timeline; its rows stay. 0 or LLMPERF_ENOMEM. */
int lp_ncu_matcher_create(const llmperf_profile *profile, struct lp_ncu_matcher **matcher_out);
void lp_ncu_matcher_free(struct lp_ncu_matcher *matcher);

/** Put the timeline's names in place of ncu's, where one fits and no other does; the process goes:
 * it is that of another run of the program. 0 or LLMPERF_ENOMEM. */
int lp_ncu_match(struct lp_ncu_matcher *matcher, struct lp_ncu_place *place);

/** Note how many kernels and regions have no counterpart. 0 or LLMPERF_ENOMEM. */
int lp_ncu_matcher_describe(const struct lp_ncu_matcher *matcher, llmperf_profile *profile);

#endif
