/* SPDX-License-Identifier: Apache-2.0 */
/** Folders of the runs in a merged run: their traces stay there. For lib/store only.
 * @threads any thread */
#ifndef LP_STORE_MERGED_FOLDERS_H
#define LP_STORE_MERGED_FOLDERS_H

#include "lib/base/text.h"
#include "lib/profile/data.h"

/** Fact of a merged profile with one line for each line of LP_MERGED_RUNS_FACT: how many words of
 * the fact "process_id" belong to this run, a space, and its folder (empty: not known). */
#define LP_MERGED_FOLDERS_FACT "merged_folders"

/** Set that fact. If only some runs have a trace, add a note with the names of the others. 0 or
 * LLMPERF_ENOMEM. */
int lp_merged_folders_set(const llmperf_profile *const *profiles, size_t count,
                          llmperf_profile *out);

#endif
