/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/shapes.h"

#define WORDS (sizeof(struct lp_shape) / sizeof(uint64_t))

static uint64_t hash_of(const struct lp_shape *shape)
{
    uint64_t words[WORDS], hash = 1;

    memcpy(words, shape, sizeof(words));
    for (size_t i = 0; i < WORDS; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

static int add(struct lp_shapes *shapes, const struct lp_shape *shape, uint64_t hash,
               uint64_t probe)
{
    static const struct lp_shape none = { .registers = 0 };

    if ((shapes->items.count == 0 && lp_vector_push(&shapes->items, none) < 0) ||
        lp_vector_push(&shapes->items, *shape) < 0)
        return LLMPERF_ENOMEM;
    if (lp_hashmap_put(&shapes->ids, hash, probe, (uint32_t)shapes->items.count - 1) == 0)
        return 0;
    shapes->items.count--;
    return LLMPERF_ENOMEM;
}

uint32_t lp_shapes_intern(struct lp_shapes *shapes, const struct lp_shape *shape)
{
    uint64_t hash = hash_of(shape), probe = 0;
    uint32_t id;

    /* Different shapes of one hash get consecutive second key words. */
    while ((id = lp_hashmap_get(&shapes->ids, hash, probe)) != LP_HASHMAP_NONE &&
           memcmp(&shapes->items.items[id], shape, sizeof(*shape)) != 0)
        probe++;
    if (id != LP_HASHMAP_NONE)
        return id;
    if (shapes->items.count >= LP_SHAPE_OTHER)
        return LP_SHAPE_OTHER;
    return add(shapes, shape, hash, probe) < 0 ? LP_HASHMAP_NONE
                                               : (uint32_t)shapes->items.count - 1;
}

const struct lp_shape *lp_shapes_get(const struct lp_shapes *shapes, uint32_t id)
{
    return id != LP_SHAPE_NONE && id < shapes->items.count ? &shapes->items.items[id] : NULL;
}

const char *lp_memory_kind_name(uint32_t kind)
{
    static const char *const names[LP_MEMORY_KINDS] = {
        [LP_MEMORY_PAGEABLE] = "pageable",
        [LP_MEMORY_PINNED] = "pinned",
        [LP_MEMORY_DEVICE] = "device",
        [LP_MEMORY_ARRAY] = "array",
        [LP_MEMORY_MANAGED] = "managed",
        [LP_MEMORY_DEVICE_STATIC] = "device_static",
        [LP_MEMORY_MANAGED_STATIC] = "managed_static",
    };

    return kind < LP_MEMORY_KINDS ? names[kind] : NULL;
}

const char *lp_copy_call_name(uint32_t call)
{
    return call == LP_COPY_CALL_SYNC ? "sync" : call == LP_COPY_CALL_ASYNC ? "async" : NULL;
}

uint64_t lp_shape_shared(const struct lp_shape *shape)
{
    return shape->static_shared == LP_SHAPE_UNKNOWN || shape->dynamic_shared == LP_SHAPE_UNKNOWN
               ? UINT64_MAX
               : (uint64_t)shape->static_shared + shape->dynamic_shared;
}

void lp_shapes_clear(struct lp_shapes *shapes)
{
    lp_vector_clear(&shapes->items);
    lp_hashmap_clear(&shapes->ids);
}
