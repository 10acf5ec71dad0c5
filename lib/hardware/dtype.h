/* SPDX-License-Identifier: Apache-2.0 */
/** Formats of elements, and counts of 128 bits.
 * @threads any thread */
#ifndef LP_HARDWARE_DTYPE_H
#define LP_HARDWARE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "llmperf/model.h"

/** Sums before they are checked to fit 64 bits. */
__extension__ typedef unsigned __int128 lp_u128;

#define LP_CONVENTION "exact-v1"

/** Bytes of an element are numerator / denominator. */
struct lp_dtype {
    uint32_t numerator, denominator;
    bool quantised; /* tables, norms and routers then stay in 16 bits */
    bool for_cache; /* is it a format of the KV cache? */
};

/** NULL for an unknown number. */
const struct lp_dtype *lp_dtype(uint32_t dtype);

/** Bytes of `elements`, rounded up. */
lp_u128 lp_dtype_bytes(uint32_t dtype, lp_u128 elements);

/** Number of (query, key) pairs of new tokens under a causal mask; window: keys that a token
 * attends, itself included, 0: all. */
lp_u128 lp_pairs_causal(uint64_t tokens, uint64_t cached, uint64_t window);

#endif
