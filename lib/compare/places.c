/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of a run, their nesting, and their host time by process. */
#include <string.h>

#include "lib/compare/reader.h"

size_t lp_compare_find_place(struct lp_compare_reader *reader, const char *path, bool make)
{
    const struct lp_compare_place fresh = { .path = path };
    uint64_t key = lp_compare_hash(path), second = 0;
    uint32_t index;

    while ((index = lp_hashmap_get(&reader->place_keys, key, second)) != LP_HASHMAP_NONE) {
        if (strcmp(reader->places.items[index].path, path) == 0)
            return index;
        second++;
    }
    index = (uint32_t)reader->places.count;
    if (!make || lp_vector_push(&reader->places, fresh) < 0 ||
        lp_compare_push_zeros(&reader->shares, reader->members.gpus.count) < 0 ||
        lp_hashmap_put(&reader->place_keys, key, second, index) < 0)
        return SIZE_MAX;
    return index;
}

struct lp_compare_wall *lp_compare_find_wall(const struct lp_compare_reader *reader, size_t place,
                                             size_t process)
{
    uint32_t index = lp_hashmap_get(&reader->wall_keys, place, process);

    return index == LP_HASHMAP_NONE ? NULL : &reader->walls.items[index];
}
