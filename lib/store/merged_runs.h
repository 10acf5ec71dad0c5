/* SPDX-License-Identifier: Apache-2.0 */
/** Identity of the runs in a profile, so that none is counted twice. @threads any thread */
#ifndef LP_STORE_MERGED_RUNS_H
#define LP_STORE_MERGED_RUNS_H

#include "lib/base/text.h"
#include "lib/profile/data.h"

/** Fact of a merged profile with one line for each original run: a unique key of 16 hexadecimal
 * digits, a space, and the run's name. */
#define LP_MERGED_RUNS_FACT "merged_runs"
#define LP_RUN_KEY_DIGITS   16

/** Append these lines for a profile. A profile that is not merged gives one line. */
void lp_merged_runs_lines(const llmperf_profile *profile, struct lp_text *lines);

/** Set the facts of a merged profile: LP_MERGED_RUNS_FACT, "merged_from" (names only) and, with
 * several runs, "run_id" (first name and number of further runs).
 * @return 0; LLMPERF_EINVAL: two profiles contain the same run (see the error text);
 * LLMPERF_ENOMEM */
int lp_merged_runs_set(const llmperf_profile *const *profiles, size_t count, llmperf_profile *out);

#endif
