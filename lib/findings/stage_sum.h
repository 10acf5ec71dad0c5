/* SPDX-License-Identifier: Apache-2.0 */
/** A stage over all of its rows: it has one for each process and GPU.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_STAGE_SUM_H
#define LP_FINDINGS_STAGE_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "llmperf/profile.h"

struct lp_findings;

struct lp_stage_sum {
    size_t rows, processes;
    uint64_t instances; /* Σ over processes */
    double wall_ms;     /* the same */
    double time_ms; /* Σ over rows: the longer one of wall and busy time; busy time of instances
                       that ran at once */
    double busy_ms, idle_ms; /* Σ over rows that know it */
};

/** Add up the rows of this path. @param device  Of this GPU only; below 0: of all. */
struct lp_stage_sum lp_stage_sum_of(const struct lp_findings *findings, const char *path,
                                    int32_t device);

#endif
