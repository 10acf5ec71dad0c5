/* SPDX-License-Identifier: Apache-2.0 */
/** Turns hardware counters into named metrics of regions and kernels. For this folder only;
 * profile.h declares its functions. sample_regions.h assigns sampled counters to regions. */
#ifndef LP_PROFILE_COUNTER_TOTALS_H
#define LP_PROFILE_COUNTER_TOTALS_H

#include "lib/base/hashmap.h"
#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/profile/profile.h"
#include "lib/profile/counters/sample_regions.h"
#include "lib/profile/counters/stalls.h"

/* Welford's running mean; `spread` is the sum of squared differences from it. */
struct lp_counter_sum {
    uint64_t count;
    double mean, spread, min, max;
};

/** A region with nested regions, a region alone, or a kernel in it. Its sums are in
 * lp_counter_totals.sums, one for each column. */
struct lp_counter_row {
    uint32_t kind, node, name;
    uint16_t device;
    size_t sums;
};

struct lp_counter_skip {
    uint32_t node, reason;
    uint64_t count;
};

struct lp_counter_totals {
    const struct lp_names *names;
    struct lp_counter_plan plan; /* count 0: no plan yet */
    LP_VECTOR(struct lp_counter_heading) columns;
    struct lp_strings pool;
    LP_VECTOR(struct lp_counter_row) rows;
    LP_VECTOR(struct lp_counter_sum) sums;
    LP_VECTOR(struct lp_counter_skip) skips;
    struct lp_hashmap row_index, skip_index;
    struct lp_sample_regions *samples; /* NULL: counters are not sampled */
    struct lp_stall_sums stalls;       /* no columns: instructions are not sampled */
    bool failed;
};

#endif
