/* SPDX-License-Identifier: Apache-2.0 */
/** Processes of runs that become one: their ids there, and the ranks that their launcher gave them.
 * For lib/store only. @threads one at a time per object */
#ifndef LP_STORE_MERGE_PROCESSES_H
#define LP_STORE_MERGE_PROCESSES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/hashmap.h"
#include "lib/base/text.h"
#include "llmperf/profile.h"

/** Fact of a merged run: rank of each process of its fact "process_id", in that order; "?": not
 * known. Absent if none is. */
#define LP_RANK_FACT "rank"

/** Zero-initialised: none yet. */
struct lp_merged_processes {
    struct lp_hashmap ids; /* (merged id, 0): taken; (id, 1 + part) -> its merged id */
    struct lp_text listed, ranks;
    size_t ranks_known;
};

/** The processes of the next part, which has this number from 0 on. 0 or LLMPERF_ENOMEM. */
int lp_merged_processes_add(struct lp_merged_processes *processes, size_t part,
                            const llmperf_profile *profile);

/** The id of a part's process in the merged run: ids that two parts share are changed to differ. 0
 * or LLMPERF_ENOMEM. */
int lp_merged_process(struct lp_merged_processes *processes, size_t part, uint32_t process_id,
                      uint32_t *merged_out);

/** Set the facts "process_id" and LP_RANK_FACT. 0 or LLMPERF_ENOMEM. */
int lp_merged_processes_finish(const struct lp_merged_processes *processes, llmperf_profile *out);

void lp_merged_processes_clear(struct lp_merged_processes *processes);

#endif
