/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives through shared memory, a slot at a time. */
#include <string.h>

#include "group.h"
#include "ops_cpu.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int join(struct ops *ops, struct group *group)
{
    ops->group = group;
    return 0;
}

static float sum_of_slots(struct group *group, size_t i)
{
    float sum = 0;

    for (size_t r = 0; r < group_world(group); r++)
        sum += bf16_to_float(((const bf16 *)group_slot(group, r))[i]);
    return sum;
}

static void all_reduce(struct ops *ops, bf16 *x, size_t count)
{
    struct group *group = ops->group;
    size_t room = GROUP_SLOT_BYTES / sizeof(bf16);

    for (size_t at = 0; at < count; at += room) {
        size_t some = least(room, count - at);

        memcpy(group_slot(group, group_rank(group)), x + at, some * sizeof(bf16));
        group_meet(group);
        for (size_t i = 0; i < some; i++)
            x[at + i] = bf16_from_float(sum_of_slots(group, i));
        group_meet(group);
    }
}

static void gather_some(struct group *group, float *to, const float *from, size_t some,
                        size_t stride)
{
    memcpy(group_slot(group, group_rank(group)), from, some * sizeof(float));
    group_meet(group);
    for (size_t r = 0; r < group_world(group); r++)
        memcpy(to + r * stride, group_slot(group, r), some * sizeof(float));
    group_meet(group);
}

static void all_gather(struct ops *ops, float *to, const float *from, size_t rows, size_t count)
{
    size_t room = GROUP_SLOT_BYTES / sizeof(float), world = group_world(ops->group);

    for (size_t row = 0; row < rows; row++)
        for (size_t at = 0; at < count; at += room)
            gather_some(ops->group, to + row * world * count + at, from + row * count + at,
                        least(room, count - at), count);
}

void ops_cpu_add_group(struct ops *ops)
{
    ops->join = join;
    ops->all_reduce = all_reduce;
    ops->all_gather = all_gather;
}
