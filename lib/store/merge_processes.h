/* SPDX-License-Identifier: Apache-2.0 */
/** Process ids of merged runs, and ranks from their launchers. For lib/store only.
 * @threads one at a time per object */
#ifndef LP_STORE_MERGE_PROCESSES_H
#define LP_STORE_MERGE_PROCESSES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/hashmap.h"
#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "llmperf/profile.h"

/** Fact of a merged run: the rank of each process in the fact "process_id", in that order; "?": not
 * known. Absent if no rank is known. */
#define LP_RANK_FACT "rank"

struct lp_known_process {
    char *identity; /* boot, start and id */
    uint32_t merged_id;
};

/** Zero-initialised: none yet. */
struct lp_merged_processes {
    LP_VECTOR(struct lp_known_process) known; /* of those of which the start is known */
    struct lp_hashmap ids; /* (merged id, 0): taken; (id, 1 + part) -> merged id */
    struct lp_text listed, ranks;
    size_t ranks_known;
};

/** Add the processes of the next part; that of an earlier part keeps its id. Parts are numbered
 * from 0. 0 or LLMPERF_ENOMEM. */
int lp_merged_processes_add(struct lp_merged_processes *processes, size_t part,
                            const llmperf_profile *profile);

/** Id of a part's process in the merged run. An id that processes of two parts share is
 * changed in one of them.
 * 0 or LLMPERF_ENOMEM. */
int lp_merged_process(struct lp_merged_processes *processes, size_t part, uint32_t process_id,
                      uint32_t *merged_out);

/** Set the facts "process_id" and LP_RANK_FACT. 0 or LLMPERF_ENOMEM. */
int lp_merged_processes_finish(const struct lp_merged_processes *processes, llmperf_profile *out);

void lp_merged_processes_clear(struct lp_merged_processes *processes);

#endif
