/* SPDX-License-Identifier: Apache-2.0 */
/** Clocks of recordings that become one trace. Processes of one boot of a machine have one
 * CLOCK_MONOTONIC; those of other machines are set beside them by the time of day at their starts.
 * @threads one at a time per object */
#ifndef LP_TRACE_EXPORT_CLOCKS_H
#define LP_TRACE_EXPORT_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

struct lp_trace_clock {
    char *boot, *host;     /* NULL: not known */
    int64_t since_1970_ns; /* of its time 0 */
    uint32_t timed;        /* 0: its offset is unknown */
    uint32_t group;        /* clocks of one group are one clock */
    uint64_t shift_ns;     /* to the clock of the file */
};

/** Zero-initialised: none. */
struct lp_trace_clocks {
    LP_VECTOR(struct lp_trace_clock) items; /* of the recordings, in their order */
    uint32_t count;                         /* of groups that are timed */
    uint32_t untimed;                       /* recordings whose place is not known, beside others */
};

/** The clock of the next recording. @param env  Facts of its machine; NULL: none.
 * @param start_ns, start_utc_ns  One moment on it and since 1970; 0: not known. 0 or
 * LLMPERF_ENOMEM. */
int lp_trace_clocks_add(struct lp_trace_clocks *clocks, const char *env, uint64_t start_ns,
                        uint64_t start_utc_ns);

/** All recordings were added: compute groups and shifts. The file uses the clock of the machine
 * with the longest uptime, so that no time is negative. */
void lp_trace_clocks_settle(struct lp_trace_clocks *clocks);

void lp_trace_clocks_clear(struct lp_trace_clocks *clocks);

#endif
