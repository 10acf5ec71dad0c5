/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"

static size_t slot_of(const struct lp_hashmap *map, uint64_t key0, uint64_t key1)
{
    uint64_t mix = (key0 ^ (key1 * 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;

    return (size_t)(mix ^ (mix >> 32)) & (map->capacity - 1);
}

static struct lp_hashmap_slot *find_slot(const struct lp_hashmap *map, uint64_t key0, uint64_t key1)
{
    size_t i = slot_of(map, key0, key1);

    while (map->slots[i].value != LP_HASHMAP_NONE &&
           (map->slots[i].key[0] != key0 || map->slots[i].key[1] != key1))
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

uint32_t lp_hashmap_get(const struct lp_hashmap *map, uint64_t key0, uint64_t key1)
{
    return map->capacity ? find_slot(map, key0, key1)->value : LP_HASHMAP_NONE;
}

static int grow_map(struct lp_hashmap *map)
{
    struct lp_hashmap grown = { NULL, map->capacity ? map->capacity * 2 : 64, map->count };

    grown.slots = malloc(grown.capacity * sizeof(*grown.slots));
    if (!grown.slots)
        return lp_error(LLMPERF_ENOMEM, "out of memory (a table of %zu entries)", grown.capacity);
    for (size_t i = 0; i < grown.capacity; i++)
        grown.slots[i].value = LP_HASHMAP_NONE;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].value != LP_HASHMAP_NONE)
            *find_slot(&grown, map->slots[i].key[0], map->slots[i].key[1]) = map->slots[i];
    free(map->slots);
    *map = grown;
    return 0;
}

int lp_hashmap_put(struct lp_hashmap *map, uint64_t key0, uint64_t key1, uint32_t value)
{
    struct lp_hashmap_slot *slot;

    if (map->count * 4 >= map->capacity * 3 && grow_map(map) < 0)
        return LLMPERF_ENOMEM;
    slot = find_slot(map, key0, key1);
    if (slot->value == LP_HASHMAP_NONE)
        map->count++;
    *slot = (struct lp_hashmap_slot){ { key0, key1 }, value, 0 };
    return 0;
}

void lp_hashmap_reset(struct lp_hashmap *map)
{
    for (size_t i = 0; i < map->capacity; i++)
        map->slots[i].value = LP_HASHMAP_NONE;
    map->count = 0;
}

void lp_hashmap_clear(struct lp_hashmap *map)
{
    free(map->slots);
    *map = (struct lp_hashmap){ NULL, 0, 0 };
}

uint64_t lp_hash_text(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}
