/* SPDX-License-Identifier: Apache-2.0 */
/** Processes and GPUs of a run, numbered so that equal numbers match between runs: process ids
 * differ from run to run.
 * @threads one at a time per object */
#ifndef LP_COMPARE_MEMBERS_H
#define LP_COMPARE_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "llmperf/profile.h"

struct lp_member_process {
    int64_t rank; /* from its launcher; -1: not known */
    uint32_t id, number;
    int32_t device; /* the first device it used; -1: none */
};

struct lp_member_gpu {
    int32_t device;
    uint32_t number;
    size_t process; /* the first process that used it; SIZE_MAX: none */
};

/** Zero-initialised: none. A process has the rank that its launcher gave it (RANK and the like) if
 * all processes have one; otherwise processes are numbered by GPU, then by process id. A GPU has
 * the number of its process if each process has its own GPU; otherwise GPUs are numbered in the
 * order of their processes. */
struct lp_members {
    LP_VECTOR(struct lp_member_process) processes; /* by number */
    LP_VECTOR(struct lp_member_gpu) gpus;          /* by number */
    size_t with_gpu;                               /* processes [0, with_gpu) have a GPU */
    bool one_gpu_each;
};

/** 0 or LLMPERF_ENOMEM; clear `members` in any case. */
int lp_members_find(struct lp_members *members, const llmperf_profile *profile);
void lp_members_clear(struct lp_members *members);

/** Index of a process or GPU; SIZE_MAX: not found. */
size_t lp_member_process_at(const struct lp_members *members, uint32_t id);
size_t lp_member_gpu_at(const struct lp_members *members, int32_t device);

#endif
