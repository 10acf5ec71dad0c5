/* SPDX-License-Identifier: Apache-2.0 */
/** Warm-up of a stage: the calls at its begin that take longer than all others, because of
 * compilation, autotuning, allocation or loading of modules.
 * @threads any thread */
#ifndef LP_STATISTICS_WARM_UP_H
#define LP_STATISTICS_WARM_UP_H

#include "lib/statistics/distribution.h"

/** The first calls of a stage whose times are kept; warm-up is shorter than that. */
#define LP_WARM_UP_HELD 64u

/** The number of calls that are warm-up; 0: none is, or it is not certain.
 * @param first_ms  Times of the first `count` calls, at most LP_WARM_UP_HELD.
 * @param later     Of all calls after them. */
size_t lp_warm_up_calls(const double *first_ms, size_t count, const struct lp_distribution *later);

#endif
