/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "lib/profile/iteration_ring.h"

static_assert(sizeof(llmperf_iteration) % sizeof(uint64_t) == 0, "rows are copied in words");

void lp_iteration_ring_put(struct lp_iteration_ring *ring, const llmperf_iteration *row)
{
    struct lp_iteration_slot *slot = &ring->slots[row->sequence % LLMPERF_ITERATIONS_KEPT];
    uint64_t words[LP_ITERATION_WORDS];

    memcpy(words, row, sizeof(words));
    atomic_store_explicit(&slot->sequence, 0, memory_order_relaxed);
    /* Release: a reader that sees a new word also sees that the row is being written. */
    for (size_t i = 0; i < LP_ITERATION_WORDS; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
    atomic_store_explicit(&slot->sequence, row->sequence, memory_order_release);
    atomic_store_explicit(&ring->newest, row->sequence, memory_order_release);
}

static bool read_slot(const struct lp_iteration_ring *ring, uint64_t sequence,
                      llmperf_iteration *row_out)
{
    const struct lp_iteration_slot *slot = &ring->slots[sequence % LLMPERF_ITERATIONS_KEPT];
    uint64_t words[LP_ITERATION_WORDS];

    if (atomic_load_explicit(&slot->sequence, memory_order_acquire) != sequence)
        return false;
    for (size_t i = 0; i < LP_ITERATION_WORDS; i++)
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
    if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) != sequence)
        return false;
    memcpy(row_out, words, sizeof(words));
    return true;
}

bool lp_iteration_ring_next(const struct lp_iteration_ring *ring, uint64_t after,
                            llmperf_iteration *row_out)
{
    uint64_t newest = atomic_load_explicit(&ring->newest, memory_order_acquire);

    while (after < newest) {
        uint64_t oldest = newest >= LLMPERF_ITERATIONS_KEPT ? newest - LLMPERF_ITERATIONS_KEPT : 0;

        after = after < oldest ? oldest : after;
        if (read_slot(ring, ++after, row_out))
            return true;
        newest = atomic_load_explicit(&ring->newest, memory_order_acquire);
    }
    return false;
}
