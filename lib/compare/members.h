/* SPDX-License-Identifier: Apache-2.0 */
/** Processes and GPUs of a run, with numbers that the same ones have in another run: ids of
 * processes are given out anew each time.
 * @threads one at a time per object */
#ifndef LP_COMPARE_MEMBERS_H
#define LP_COMPARE_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "llmperf/profile.h"

struct lp_member_process {
    int64_t rank; /* that its launcher gave it; -1: not known */
    uint32_t id, number;
    int32_t device; /* the first that it used; -1: none */
};

struct lp_member_gpu {
    int32_t device;
    uint32_t number;
    size_t process; /* the first that used it; SIZE_MAX: no region did */
};

/** Zero-initialised: none. A process has the number that its launcher gave it (RANK and the like)
 * where all have one, else its place in the order of its GPU and of process ids. A GPU has the
 * number of its process where each has one of its own, else its place in that order. */
struct lp_members {
    LP_VECTOR(struct lp_member_process) processes; /* by number */
    LP_VECTOR(struct lp_member_gpu) gpus;          /* by number */
    size_t with_gpu;                               /* the first so many processes */
    bool one_gpu_each;
};

/** 0 or LLMPERF_ENOMEM. Clear them afterwards in both cases. */
int lp_members_find(struct lp_members *members, const llmperf_profile *profile);
void lp_members_clear(struct lp_members *members);

/** Place of a process or GPU; SIZE_MAX: there is no such. */
size_t lp_member_process_at(const struct lp_members *members, uint32_t id);
size_t lp_member_gpu_at(const struct lp_members *members, int32_t device);

#endif
