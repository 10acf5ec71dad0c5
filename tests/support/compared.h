/* SPDX-License-Identifier: Apache-2.0 */
/** Comparisons of profiles, and what they say of one row. */
#ifndef TESTS_SUPPORT_COMPARED_H
#define TESTS_SUPPORT_COMPARED_H

#include "lib/compare/compare.h"

/** Clear it with lp_compare_clear(). @param threshold  A share: 0.05. */
struct lp_comparison compare_profiles_at(const llmperf_profile *base, const llmperf_profile *fresh,
                                         double threshold);

/** The same with the threshold of the command line, 5 %. */
struct lp_comparison compare_profiles(const llmperf_profile *base, const llmperf_profile *fresh);

/** llmperf_runs_compare() of one run with another. */
int compare_pair(const llmperf_profile *base, const llmperf_profile *fresh,
                 double threshold_percent, uint32_t format, char **text_out, uint64_t *slower_out);

/** The first row of a quantity of a region; fails without one. */
struct lp_compare_row compared_row(const struct lp_comparison *comparison, const char *region,
                                   const char *quantity);

#endif
