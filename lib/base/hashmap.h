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

/** LP_HASHMAP_NONE: no such key. */
uint32_t lp_hashmap_get(const struct lp_hashmap *map, uint64_t key0, uint64_t key1);

/** Add a key or replace its value, which must not be LP_HASHMAP_NONE. 0 or LLMPERF_ENOMEM. */
int lp_hashmap_put(struct lp_hashmap *map, uint64_t key0, uint64_t key1, uint32_t value);

/** Remove all keys, keep the memory. */
void lp_hashmap_reset(struct lp_hashmap *map);

void lp_hashmap_clear(struct lp_hashmap *map);

/** 64-bit hash of a text. */
uint64_t lp_hash_text(const char *text, size_t length);

#endif
