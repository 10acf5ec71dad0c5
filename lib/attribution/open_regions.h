/* SPDX-License-Identifier: Apache-2.0 */
/** Region stacks of all threads, rebuilt from their host records. */
#ifndef LP_ATTRIBUTION_OPEN_REGIONS_H
#define LP_ATTRIBUTION_OPEN_REGIONS_H

#include "lib/attribution/attribution.h"
#include "lib/attribution/units.h"
#include "lib/base/vector.h"

struct lp_open_region {
    uint64_t begin_ns;
    uint32_t node;
    uint32_t unit;   /* innermost unit; its own if is_unit */
    uint32_t window; /* triggered window that contains it; 0: none */
    enum lp_in_window in_window;
    bool is_unit;
    bool truncated; /* open before collection started */
};

typedef LP_VECTOR(struct lp_open_region) lp_open_stack;

struct lp_open_regions {
    LP_VECTOR(lp_open_stack) threads; /* by thread index */
    struct lp_units units;
    uint64_t truncated, unbalanced, abandoned, over_limit;
    bool skipped; /* a region began whose device work is not collected */
    bool failed;  /* memory ran out */
};

/** Handle REGION_BEGIN, REGION_END and THREAD_EXIT of a thread; closed calls are passed to the
 * sink. */
void lp_open_regions_apply(struct lp_open_regions *regions, uint32_t thread,
                           const struct lp_record *record, const struct lp_attribution_sink *sink);

/** The innermost open region of a thread; NULL: none. */
static inline const struct lp_open_region *lp_open_regions_top(
    const struct lp_open_regions *regions, uint32_t thread)
{
    const lp_open_stack *stack =
        thread < regions->threads.count ? &regions->threads.items[thread] : NULL;

    return stack && stack->count > 0 ? &stack->items[stack->count - 1] : NULL;
}

/** Close everything as truncated. */
void lp_open_regions_close(struct lp_open_regions *regions, const struct lp_attribution_sink *sink);

void lp_open_regions_clear(struct lp_open_regions *regions);

#endif
