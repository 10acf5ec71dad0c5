/* SPDX-License-Identifier: Apache-2.0 */
/** What the stall reasons of PC sampling and of ncu mean: why a warp that was sampled did not issue
 * its next instruction. Named as in Nsight Compute, whose Kernel Profiling Guide describes them.
 * @threads any thread */
#ifndef LP_RECORD_STALL_REASONS_H
#define LP_RECORD_STALL_REASONS_H

struct lp_stall_reason {
    const char *name;
    const char *words;  /* what the warp waits for */
    const char *remedy; /* NULL: it is no stall */
};

/** @param name  More may follow: "long_scoreboard_per_issue_active".
 * @return NULL: not known. */
const struct lp_stall_reason *lp_stall_reason_find(const char *name);

#endif
