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
    double time_ms, busy_ms;             /* busy: NaN: unknown; extrapolated as kernels */
    bool on_device; /* time_ms lasts until the device work of a call has ended */
};

/** A kernel, memcpy or memset by name: the collected calls. */
struct top_kernel {
    char *name;
    uint64_t calls;
    double total_ms;
};
#define TOP_KERNELS 20

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
    struct top_kernel kernel_rows[TOP_KERNELS]; /* the longest, in this order */
    size_t kernel_count;
    double kernel_ms; /* of all kernels, memcpys and memsets */
};

/** Read a job or a run. @return exit code, after a message; a job without runs has 0 of them.
 * Single runs that cannot be read are not a failure. */
int top_look(const char *folder, struct top_state *state);
void top_clear(struct top_state *state);

/** Print it. @param before start of the interval for rates; NULL: the start. */
void top_print(const char *folder, const struct top_state *state, const struct top_state *before);

/** The same as JSON, rates since the start. @return exit code */
int top_print_json(const char *folder, const struct top_state *state);

/** Values of the last updates, for sparklines. */
#define TOP_HISTORY 60
struct top_history {
    double tokens_per_s[TOP_HISTORY], busy_percent[TOP_HISTORY];
    size_t count; /* the last is at count - 1; older ones move out at the front */
};
void top_remember(struct top_history *history, const struct top_state *state,
                  const struct top_state *before);

/** Draw it on a screen of this size. */
void top_draw(const char *folder, const struct top_state *state, const struct top_state *before,
              const struct top_history *history, size_t rows, size_t columns);

#endif
