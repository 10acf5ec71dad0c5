/* SPDX-License-Identifier: Apache-2.0 */
/** Totals of driver calls by region, and how much of their time the device had nothing to do. For
 * lib/profile only.
 * @threads one at a time per object */
#ifndef LP_PROFILE_HOST_CALLS_H
#define LP_PROFILE_HOST_CALLS_H

#include <stdbool.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/record/record.h"

/** Calls kept for each unit until its gaps are known (2.5 MiB). */
#define LP_UNIT_CALLS 65536u

struct lp_host_call_total {
    uint32_t node, call; /* number of lib/record/host_calls.h */
    uint64_t calls, total_ns, max_ns;
    uint64_t compared;   /* calls in complete units: those that idle_ns is about */
    uint64_t idle_ns;    /* their time in gaps of the device */
    uint64_t between_ns; /* the part of it between device work of a unit */
};

/** Zero-initialised: empty. */
struct lp_host_calls {
    LP_VECTOR(struct lp_host_call_total) rows;
    struct lp_hashmap index; /* (node, call) -> row */
};

/** A call in a unit. Those of a unit are in the order of time: they are of one thread. */
struct lp_unit_call {
    uint64_t begin_ns, end_ns;
    uint64_t idle_ns, between_ns; /* as in the totals, so far */
    uint32_t row;
};
typedef LP_VECTOR(struct lp_unit_call) lp_unit_calls;

/** Add a call of LP_RECORD_HOST_CALL; what is no known call is left out. LP_HASHMAP_NONE: left
 * out, or out of memory.
 * @param failed_out  Set if memory ran out. */
uint32_t lp_host_calls_add(struct lp_host_calls *calls, const struct lp_record *record,
                           bool *failed_out);

/** The device had no work of the unit from `from_ns` to `to_ns`.
 * @param between  It had some before and after. */
void lp_unit_calls_idle(lp_unit_calls *of_unit, uint64_t from_ns, uint64_t to_ns, bool between);

/** All gaps of the unit are known. */
void lp_host_calls_compared(struct lp_host_calls *calls, const lp_unit_calls *of_unit);

void lp_host_calls_clear(struct lp_host_calls *calls);

#endif
