/* SPDX-License-Identifier: Apache-2.0 */
/** What `llmperf top` shows: totals of the runs of a job as they were committed last. */
#ifndef LLMPERF_TOOL_TOP_H
#define LLMPERF_TOOL_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A region over all processes and devices. Where only a share of its work was collected, kernels
 * and busy time are worked out from that share. */
struct top_row {
    char *path;
    uint32_t depth;
    uint64_t instances, tokens, kernels; /* tokens, kernels: LLMPERF_UNKNOWN if unknown */
    double wall_ms, busy_ms; /* busy: NaN: not known; where it was sampled as for kernels */
};

struct top_state {
    unsigned runs, running; /* processes; those that have not ended */
    unsigned unreadable;    /* runs besides, in no number here */
    int problem_status;     /* of the first of these, and what is wrong with it */
    char problem[512];
    bool sampled;       /* in some run only a share was collected */
    double duration_ms; /* of the longest */
    double busy_ms;     /* of all devices; NaN: not known, or a share */
    uint64_t launches, kernels, dropped, invalid, unattributed;
    const char *verdict; /* of the worst run; of those that run on, what they have so far */
    struct top_row *rows;
    size_t row_count;
};

/** Look at a job or a run. @return exit code, after a message; a job without runs has 0 of them.
 * Single runs that cannot be read are not a failure. */
int top_look(const char *folder, struct top_state *state);
void top_clear(struct top_state *state);

/** Print it. @param before  what rates are since; NULL: the beginning. @param most  rows of regions
 */
void top_print(const char *folder, const struct top_state *state, const struct top_state *before,
               size_t most);

#endif
