/* SPDX-License-Identifier: Apache-2.0 */
/** Map from two 64-bit words to an index. Open addressing; keys are never removed one by one.
 * @threads one at a time per object */
#ifndef LP_BASE_HASHMAP_H
#define LP_BASE_HASHMAP_H

#include <stddef.h>
#include <stdint.h>

#define LP_HASHMAP_NONE UINT32_MAX

struct lp_hashmap_slot {
    uint64_t key[2];
    uint32_t value; /* LP_HASHMAP_NONE: free */
    uint32_t reserved;
};

struct lp_hashmap {
    struct lp_hashmap_slot *slots;
    size_t capacity; /* power of two, or 0 */
    size_t count;
};

/** Value of a key, LP_HASHMAP_NONE if absent. */
uint32_t lp_hashmap_get(const struct lp_hashmap *map, uint64_t key0, uint64_t key1);

/** Add a key that is absent, or replace its value. 0 or LLMPERF_ENOMEM. `value` is not
 * LP_HASHMAP_NONE. */
int lp_hashmap_put(struct lp_hashmap *map, uint64_t key0, uint64_t key1, uint32_t value);

/** Forget all keys, keep the memory. */
void lp_hashmap_reset(struct lp_hashmap *map);

void lp_hashmap_clear(struct lp_hashmap *map);

/** 64-bit hash of a text. */
uint64_t lp_hash_text(const char *text, size_t length);

#endif
