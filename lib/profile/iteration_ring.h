/* SPDX-License-Identifier: Apache-2.0 */
/** The newest iterations, by sequence number. One thread writes without waiting. Any thread may
 * read meanwhile; if its row is replaced while it reads, it reads a newer one. */
#ifndef LP_PROFILE_ITERATION_RING_H
#define LP_PROFILE_ITERATION_RING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "llmperf/profile.h"

#define LP_ITERATION_WORDS (sizeof(llmperf_iteration) / sizeof(uint64_t))

struct lp_iteration_slot {
    _Atomic uint64_t sequence; /* 0 while it is written */
    _Atomic uint64_t words[LP_ITERATION_WORDS];
};

struct lp_iteration_ring {
    _Atomic uint64_t newest; /* of the newest row; 0: none */
    struct lp_iteration_slot slots[LLMPERF_ITERATIONS_KEPT];
};

/** Append a row whose `row->sequence` is one above the last. One thread only. */
void lp_iteration_ring_put(struct lp_iteration_ring *ring, const llmperf_iteration *row);

/** Read the oldest kept row above `after`; false: none. Any thread. */
bool lp_iteration_ring_next(const struct lp_iteration_ring *ring, uint64_t after,
                            llmperf_iteration *row_out);

#endif
