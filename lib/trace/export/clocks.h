/* SPDX-License-Identifier: Apache-2.0 */
/** Clocks of recordings that are exported into one trace. Processes of the same boot share
 * CLOCK_MONOTONIC. Other machines are aligned by the time of day at their starts.
 * @threads one at a time per object */
#ifndef LP_TRACE_EXPORT_CLOCKS_H
#define LP_TRACE_EXPORT_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

struct lp_trace_clock {
    char *boot, *host;     /* NULL: not known */
    int64_t since_1970_ns; /* time of day at its time 0 */
    uint32_t timed;        /* 0: offset not known */
    uint32_t group;        /* clocks of a group are the same clock */
    uint64_t shift_ns;     /* to the file's clock */
};

/** Zero-initialised: none. */
struct lp_trace_clocks {
    LP_VECTOR(struct lp_trace_clock) items; /* by recording */
    uint32_t count;                         /* number of groups with a known offset */
    uint32_t untimed;                       /* recordings whose offset to the others is not known */
};

/** Add the next recording's clock. 0 or LLMPERF_ENOMEM.
 * @param env  env.json of its machine; NULL: none.
 * @param start_ns, start_utc_ns  The same moment on its clock and since 1970; 0: not known. */
int lp_trace_clocks_add(struct lp_trace_clocks *clocks, const char *env, uint64_t start_ns,
                        uint64_t start_utc_ns);

/** Compute groups and shifts; all recordings must have been added. The file uses the clock of the
 * machine with the longest uptime, so that no time is negative. */
void lp_trace_clocks_settle(struct lp_trace_clocks *clocks);

void lp_trace_clocks_clear(struct lp_trace_clocks *clocks);

#endif
