/* SPDX-License-Identifier: Apache-2.0 */
/** Samples of instructions by stall reason, added up by region, kernel and instruction.
 * @threads one at a time per object */
#ifndef LP_RECORD_STALL_SUMS_H
#define LP_RECORD_STALL_SUMS_H

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/record/counter.h"

struct lp_stall_sum {
    uint64_t offset; /* LP_COUNTER_NO_OFFSET: instructions that came when there were too many */
    uint32_t node, name, source;
    uint16_t device;
    double samples; /* of all columns */
    size_t values;  /* index of its samples by column */
};

/* All zeros but `columns` is an empty one. */
struct lp_stall_sums {
    size_t columns; /* stall reasons */
    LP_VECTOR(struct lp_stall_sum) rows;
    LP_VECTOR(double) values;
    struct lp_hashmap index;
};

/** Add a fact of kind LP_COUNTER_STALL. The last source of an instruction counts. 0 or
 * LLMPERF_ENOMEM. */
int lp_stall_sums_add(struct lp_stall_sums *sums, const struct lp_counter_fact *fact,
                      const double *values);

/** Empty, with the memory kept. */
void lp_stall_sums_reset(struct lp_stall_sums *sums);
void lp_stall_sums_clear(struct lp_stall_sums *sums);

#endif
