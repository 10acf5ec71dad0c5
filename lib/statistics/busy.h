/* SPDX-License-Identifier: Apache-2.0 */
/** Busy time of regions: the length of the union of their device intervals, of a region alone and
 * with its nested regions. Regions are rows of a tree for each device.
 *
 * Intervals arrive almost in the order of their start. For intervals in that order, only the end of
 * the union has to be kept: each adds the part after that end. So intervals wait until there is a
 * batch, are sorted, and the older half is swept. Swept intervals stay in a log for a while. An
 * interval that arrives too late is compared with the log, so the result does not depend on the
 * order of arrival. The log is bounded. The part of an interval before the log is dropped and
 * counted.
 * @threads one at a time per object, all functions */
#ifndef LP_PROFILE_BUSY_H
#define LP_PROFILE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

/** No parent. */
#define LP_BUSY_TOP UINT32_MAX

/** Union of the intervals swept so far. */
struct lp_busy_reach {
    uint64_t until_ns; /* end of its last interval */
    uint64_t ns;       /* length */
};

struct lp_busy_row {
    struct lp_busy_reach own, all; /* the row alone; with its nested rows */
    uint32_t parent;
    uint32_t queue;
    uint32_t last; /* index of its last interval in the log; may be out of date */
};

#define LP_BUSY_LENGTH_BITS 40 /* 18 minutes; longer intervals are split */
#define LP_BUSY_ROW_BITS    24

struct lp_busy_interval {
    uint64_t start_ns;
    uint64_t length_ns : LP_BUSY_LENGTH_BITS;
    uint64_t row : LP_BUSY_ROW_BITS;
};

typedef LP_VECTOR(struct lp_busy_interval) lp_busy_intervals;

/** The intervals of one device. */
struct lp_busy_queue {
    lp_busy_intervals pending; /* not swept yet */
    lp_busy_intervals log;     /* swept, by start */
    size_t due;                /* sweep when this many are pending */
    bool pending_unsorted;     /* pending intervals are not in order */
    uint64_t swept_ns;         /* start of the last interval swept */
    uint64_t kept_ns;          /* the log is complete from here on */
    uint64_t longest_ns;       /* longest interval in the log */
    uint64_t late;             /* intervals that started before kept_ns */
    uint16_t device;
};

struct lp_busy {
    LP_VECTOR(struct lp_busy_row) rows;
    LP_VECTOR(struct lp_busy_queue) queues;
    size_t batch, kept;
};

/** @param batch  Pending intervals per device before a sweep, at least.
 * @param kept  Intervals of 16 bytes in the logs of all devices. */
void lp_busy_init(struct lp_busy *busy, size_t batch, size_t kept);

/** Add a row (numbered from 0) under a row of the same device or LP_BUSY_TOP. 0 or
 * LLMPERF_ENOMEM. */
int lp_busy_add_row(struct lp_busy *busy, uint32_t parent, uint16_t device);

/** Add a device interval of a row, start <= end. 0 or LLMPERF_ENOMEM. */
int lp_busy_add(struct lp_busy *busy, uint32_t row, uint64_t start_ns, uint64_t end_ns);

/** Sweep all pending intervals, so that the lengths are final. 0 or LLMPERF_ENOMEM. */
int lp_busy_settle(struct lp_busy *busy);

/** Intervals that came too late: the lengths may be short by at most theirs. */
uint64_t lp_busy_late(const struct lp_busy *busy);

void lp_busy_clear(struct lp_busy *busy);

#endif
