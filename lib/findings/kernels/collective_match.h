/* SPDX-License-Identifier: Apache-2.0 */
/** Finds the calls of several GPUs that are one collective. A collective moves data only while all
 * of its GPUs are in it: from the start on the last one. Before that, the others wait.
 * @threads any thread */
#ifndef LP_FINDINGS_COLLECTIVE_MATCH_H
#define LP_FINDINGS_COLLECTIVE_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/vector.h"

/** A call on the common clock. */
struct lp_rank_call {
    uint64_t start_ns, end_ns;
    uint32_t row; /* of the sums that it counts in */
};

/** The calls of a GPU with one kernel. */
struct lp_rank_calls {
    LP_VECTOR(struct lp_rank_call) items; /* by start */
};

/** Sums over the matched calls of a row. */
struct lp_matched {
    uint64_t calls, waiting_ns, transfer_ns;
    uint64_t last;  /* calls for which the other GPUs waited */
    uint32_t ranks; /* GPUs of a collective; 0: none was matched */
};

/** Share of the calls that must match; fewer mean that the GPUs do not communicate with each other
 * this way. */
#define LP_MATCHED_SHARE 0.9

/** Match the calls of `count` GPUs in the order of their ranks: all together, else in equal groups
 * of neighbours.
 * @param sums  By row; only those of GPUs whose calls match are changed. */
void lp_collectives_match(const struct lp_rank_calls *ranks, size_t count, struct lp_matched *sums);

/** Bus bandwidth over link bandwidth as in nccl-tests: what a GPU sends or receives for a message,
 * in messages. NaN: not known for this kind.
 * @param kind  "all_reduce" …; NULL: not known. */
double lp_bus_factor(const char *kind, uint64_t ranks);

#endif
