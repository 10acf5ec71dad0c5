/* SPDX-License-Identifier: Apache-2.0 */
/** How long a region kept a device busy: the length of the union of what ran for it, alone and with
 * the regions below it. Regions are rows of a tree for each device.
 *
 * Pieces of work arrive nearly by their start. Swept in that order, of a union only its last end
 * need be known: a piece adds what lies behind it. So pieces wait until there are some, are put in
 * order, and the older half is swept. What was swept is kept in a log for a while, against which a
 * piece that comes too late is held; so the length does not depend on the order. The log is
 * bounded, the part of a piece that lies before it is left out and counted.
 * @threads one at a time per object, all functions */
#ifndef LP_PROFILE_BUSY_H
#define LP_PROFILE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

/** No parent. */
#define LP_BUSY_TOP UINT32_MAX

/** A union that is swept. */
struct lp_busy_reach {
    uint64_t until_ns; /* its last end */
    uint64_t ns;       /* its length */
};

struct lp_busy_row {
    struct lp_busy_reach own, all; /* alone; with the rows below */
    uint32_t parent;
    uint32_t queue;
    uint32_t last; /* where its last piece was put into the log; it may have moved */
};

#define LP_BUSY_LENGTH_BITS 40 /* 18 minutes; what is longer is several pieces */
#define LP_BUSY_ROW_BITS    24

struct lp_busy_piece {
    uint64_t start_ns;
    uint64_t length_ns : LP_BUSY_LENGTH_BITS;
    uint64_t row : LP_BUSY_ROW_BITS;
};

typedef LP_VECTOR(struct lp_busy_piece) lp_busy_pieces;

/** The pieces of one device. */
struct lp_busy_queue {
    lp_busy_pieces pending;  /* not swept */
    lp_busy_pieces log;      /* swept, by start */
    size_t due;              /* pending pieces that are swept */
    bool pending_sorted_not; /* some pending piece starts before the one in front of it */
    uint64_t swept_ns;       /* start of the last piece that was swept */
    uint64_t kept_ns;        /* from here on the log is whole */
    uint64_t longest_ns;     /* of the log */
    uint64_t late;           /* pieces that began before kept_ns */
    uint16_t device;
};

struct lp_busy {
    LP_VECTOR(struct lp_busy_row) rows;
    LP_VECTOR(struct lp_busy_queue) queues;
    size_t batch, kept;
};

/** @param batch  Pieces of a device that wait, at least, before some are swept. @param kept  Pieces
 * in the logs of all devices together, of 16 bytes. */
void lp_busy_init(struct lp_busy *busy, size_t batch, size_t kept);

/** Add a row, numbered from 0, below another one of the same device or LP_BUSY_TOP. 0 or
 * LLMPERF_ENOMEM. */
int lp_busy_add_row(struct lp_busy *busy, uint32_t parent, uint16_t device);

/** Something ran for a row, start <= end. 0 or LLMPERF_ENOMEM. */
int lp_busy_add(struct lp_busy *busy, uint32_t row, uint64_t start_ns, uint64_t end_ns);

/** Sweep all that is pending: then the lengths are right. 0 or LLMPERF_ENOMEM. */
int lp_busy_settle(struct lp_busy *busy);

/** Pieces that came too late, so that lengths are short by at most theirs. */
uint64_t lp_busy_late(const struct lp_busy *busy);

void lp_busy_clear(struct lp_busy *busy);

#endif
