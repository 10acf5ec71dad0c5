/* SPDX-License-Identifier: Apache-2.0 */
/** Processes and GPUs of a run, with numbers that the same ones have in another run.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_COMPARE_RANKS_H
#define LP_OUTPUT_COMPARE_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/output/compare_run.h"
#include "llmperf/profile.h"

struct lp_compare_process {
    int64_t rank; /* that its launcher gave it; -1: not known */
    uint32_t id, number;
    int32_t device; /* the first that it used; -1: none */
};

struct lp_compare_gpu {
    int32_t device;
    uint32_t number;
    size_t process; /* the first that used it; SIZE_MAX: no region did */
};

/** Zero-initialised: none. */
struct lp_compare_members {
    LP_VECTOR(struct lp_compare_process) processes; /* by number */
    LP_VECTOR(struct lp_compare_gpu) gpus;          /* by number */
    size_t with_gpu;                                /* the first so many processes */
    bool one_gpu_each;
};

/** 0 or LLMPERF_ENOMEM. Clear them afterwards in both cases. */
int lp_compare_members_find(struct lp_compare_members *members, const llmperf_profile *profile);
void lp_compare_members_clear(struct lp_compare_members *members);

/** Place of a process or GPU; SIZE_MAX: there is no such. */
size_t lp_compare_process_at(const struct lp_compare_members *members, uint32_t id);
size_t lp_compare_gpu_at(const struct lp_compare_members *members, int32_t device);

/** What other runs need to know of them. 0 or LLMPERF_ENOMEM. */
int lp_compare_members_tell(const struct lp_compare_members *members,
                            struct lp_compare_ranks *ranks);

#endif
