/* SPDX-License-Identifier: Apache-2.0 */
/** Calls that are kept for the timeline, of several processes. For lib/store only. */
#ifndef LP_STORE_MERGE_KEPT_H
#define LP_STORE_MERGE_KEPT_H

#include "lib/store/merge_processes.h"

/** Processes of which the calls of a stage are kept. */
#define LP_KEPT_PROCESSES 16u

struct lp_kept_from {
    struct lp_merged_processes *processes; /* NULL: process ids stay */
    size_t part;
    const char *process_id; /* of the part; NULL: not known */
    const char *clock;      /* its host's, as in lp_merged_gpus; NULL: not known */
};

/** Add a call of a part, or those of its processes, to the fact `key`, which is then a list: each
 * call has the members process_id and clock. What cannot be read is left out. 0 or LLMPERF_ENOMEM.
 */
int lp_merge_kept(llmperf_profile *out, const char *key, const char *value,
                  const struct lp_kept_from *from);

#endif
