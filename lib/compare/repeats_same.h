/* SPDX-License-Identifier: Apache-2.0 */
/** Are the runs repeats of the same work? @threads one at a time per object */
#ifndef LP_COMPARE_REPEATS_SAME_H
#define LP_COMPARE_REPEATS_SAME_H

#include "lib/compare/repeats.h"

/** Fill differences and cautions. 0 or LLMPERF_ENOMEM. */
int lp_repeats_check_same(struct lp_repeats *repeats);

#endif
