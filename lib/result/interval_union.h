/* SPDX-License-Identifier: Apache-2.0 */
/** Length of the union of intervals that arrive nearly in order. Recent intervals are kept; older
 * ones are folded into a sum, so memory stays bounded. @threads one at a time per object */
#ifndef LP_RESULT_INTERVAL_UNION_H
#define LP_RESULT_INTERVAL_UNION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

struct lp_interval {
    uint64_t start, end;
};

typedef LP_VECTOR(struct lp_interval) lp_intervals;

/** Zero-initialised: empty. */
struct lp_interval_union {
    lp_intervals open;       /* disjoint, ascending, all behind folded_until */
    lp_intervals pending;    /* not yet merged */
    bool pending_sorted_not; /* some pending interval starts before the one in front of it */
    uint64_t folded_ns;      /* length of what was folded */
    uint64_t folded_until;
    uint64_t late; /* intervals that began before folded_until: the part before it is left out */
};

/** Add an interval, start <= end. 0 or LLMPERF_ENOMEM. */
int lp_union_add(struct lp_interval_union *set, uint64_t start, uint64_t end);

/** Is it time to merge? (amortised: pending is a good part of open) */
bool lp_union_due(const struct lp_interval_union *set);

/** Merge pending into open. The merged pending runs, disjoint and ascending, stay in `set->pending`
 * for the caller to pass on to a parent; then lp_union_settled(). 0 or LLMPERF_ENOMEM. */
int lp_union_merge(struct lp_interval_union *set);
void lp_union_settled(struct lp_interval_union *set);

/** Fold what lies before `until`. Call with nothing pending. */
void lp_union_fold(struct lp_interval_union *set, uint64_t until);

/** Length so far. Call with nothing pending. */
uint64_t lp_union_length(const struct lp_interval_union *set);

void lp_union_clear(struct lp_interval_union *set);

#endif
