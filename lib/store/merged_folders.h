/* SPDX-License-Identifier: Apache-2.0 */
/** Where the runs that a merged one is made of are kept: their traces stay there. For lib/store
 * only. @threads any thread */
#ifndef LP_STORE_MERGED_FOLDERS_H
#define LP_STORE_MERGED_FOLDERS_H

#include "lib/base/text.h"
#include "lib/profile/data.h"

/** Fact of a merged profile, beside LP_MERGED_RUNS_FACT, a line for each of its lines: how many
 * words of the fact "process_id" are of this run, a space, and its folder, empty if it is not
 * known. */
#define LP_MERGED_FOLDERS_FACT "merged_folders"

/** Set that fact, and if only some of the runs keep a trace, a note that names those that do not.
 * 0 or LLMPERF_ENOMEM. */
int lp_merged_folders_set(const llmperf_profile *const *profiles, size_t count,
                          llmperf_profile *out);

#endif
