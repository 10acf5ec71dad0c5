/* SPDX-License-Identifier: Apache-2.0 */
/** Which runs a profile is made of, so that none counts twice. @threads any thread */
#ifndef LP_STORE_MERGED_RUNS_H
#define LP_STORE_MERGED_RUNS_H

#include "lib/base/text.h"
#include "lib/profile/data.h"

/** Fact of a merged profile: the runs that it is made of, down to those that were never merged, a
 * line each: a key that no other run has, as 16 hexadecimal digits, a space, and the run's name. */
#define LP_MERGED_RUNS_FACT "merged_runs"
#define LP_RUN_KEY_DIGITS   16

/** Append these lines of a profile; of one that is not merged the one that it would have there. */
void lp_merged_runs_lines(const llmperf_profile *profile, struct lp_text *lines);

/** Set the facts of a profile that is made of others: LP_MERGED_RUNS_FACT, "merged_from" with the
 * names alone, and of several runs "run_id", the first name and how many more there are.
 * @return 0; LLMPERF_EINVAL: a run is in two of them, which the error text names; LLMPERF_ENOMEM */
int lp_merged_runs_set(const llmperf_profile *const *profiles, size_t count, llmperf_profile *out);

#endif
