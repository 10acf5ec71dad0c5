/* SPDX-License-Identifier: Apache-2.0 */
/** Data of `llmperf top`: totals of the runs of a job at their last commits. */
#ifndef LLMPERF_TOOL_TOP_H
#define LLMPERF_TOOL_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A region over all processes and devices. If only a share of its work was collected, kernels and
 * busy time are extrapolated from that share. */
struct top_row {
    char *path;
    uint32_t depth;
    uint64_t instances, tokens, kernels; /* tokens, kernels: LLMPERF_UNKNOWN if unknown */
    double wall_ms, busy_ms;             /* busy: NaN: unknown; extrapolated as kernels */
};

struct top_state {
    unsigned runs, running; /* processes, and those still running */
    unsigned unreadable;    /* further runs that are in no number here */
    int problem_status;     /* of the first of these, with the error */
    char problem[512];
    bool sampled;       /* a run collected only a share of its work */
    double duration_ms; /* of the longest */
    double busy_ms;     /* of all devices; NaN: not known, or a share */
    uint64_t launches, kernels, dropped, invalid, unattributed;
    const char *verdict; /* the worst verdict; for running processes the verdict so far */
    struct top_row *rows;
    size_t row_count;
};

/** Read a job or a run. @return exit code, after a message; a job without runs has 0 of them.
 * Single runs that cannot be read are not a failure. */
int top_look(const char *folder, struct top_state *state);
void top_clear(struct top_state *state);

/** Print it. @param before start of the interval for rates; NULL: the start. @param most maximum
 * rows of regions
 */
void top_print(const char *folder, const struct top_state *state, const struct top_state *before,
               size_t most);

#endif
