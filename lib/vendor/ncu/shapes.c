/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/vendor/ncu/shapes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The number of a shape that a metric is. */
static const struct {
    const char *name;
    size_t offset;
} members[] = {
    { "launch__grid_dim_x", offsetof(struct lp_shape, grid) },
    { "launch__grid_dim_y", offsetof(struct lp_shape, grid) + sizeof(uint32_t) },
    { "launch__grid_dim_z", offsetof(struct lp_shape, grid) + 2 * sizeof(uint32_t) },
    { "launch__block_dim_x", offsetof(struct lp_shape, block) },
    { "launch__block_dim_y", offsetof(struct lp_shape, block) + sizeof(uint32_t) },
    { "launch__block_dim_z", offsetof(struct lp_shape, block) + 2 * sizeof(uint32_t) },
    { "launch__registers_per_thread", offsetof(struct lp_shape, registers) },
    { "launch__shared_mem_per_block_static", offsetof(struct lp_shape, static_shared) },
    { "launch__shared_mem_per_block_dynamic", offsetof(struct lp_shape, dynamic_shared) },
};

static uint32_t *find_member(struct lp_shape *shape, const char *metric)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (strcmp(members[i].name, metric) == 0)
            return (uint32_t *)(void *)((char *)shape + members[i].offset);
    return NULL;
}

static void take(struct lp_shape *shape, const char *metric, const struct lp_ncu_value *value)
{
    uint32_t *member = find_member(shape, metric);

    if (member && value->count > 0 && value->min == value->max && value->min >= 0 &&
        value->min < UINT32_MAX)
        *member = (uint32_t)value->min;
}

static bool is_complete(const struct lp_shape *shape)
{
    for (size_t i = 0; i < 3; i++)
        if (shape->grid[i] == 0 || shape->block[i] == 0)
            return false;
    return true;
}

struct lp_shape *lp_ncu_shapes(const struct lp_ncu *ncu)
{
    static const struct lp_shape unknown = { .registers = LP_SHAPE_UNKNOWN,
                                             .static_shared = LP_SHAPE_UNKNOWN,
                                             .dynamic_shared = LP_SHAPE_UNKNOWN };
    struct lp_shape *shapes = malloc((ncu->targets.count + 1) * sizeof(*shapes));

    for (size_t i = 0; shapes && i < ncu->targets.count; i++)
        shapes[i] = unknown;
    for (size_t i = 0; shapes && i < ncu->values.count; i++) {
        const struct lp_ncu_value *value = &ncu->values.items[i];

        if (value->metric != LP_HASHMAP_NONE &&
            value->count == ncu->targets.items[value->target].results)
            take(&shapes[value->target], ncu->metrics.items[value->metric].name, value);
    }
    for (size_t i = 0; shapes && i < ncu->targets.count; i++)
        if (!is_complete(&shapes[i]))
            shapes[i] = unknown;
    return shapes;
}
