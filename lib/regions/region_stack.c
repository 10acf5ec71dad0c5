/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/regions/region_stack.h"

static bool is_dropped(const struct lp_thread *thread, uint32_t level)
{
    return thread->owner[level] & LP_OWNER_DROPPED;
}

/* Remove a dropped level. The level of a sampling window may move down with those above. */
static void forget_level(struct lp_thread *thread, uint32_t level)
{
    size_t above = (thread->depth - level - 1) * sizeof(thread->stack[0]);

    memmove(&thread->stack[level], &thread->stack[level + 1], above);
    memmove(&thread->owner[level], &thread->owner[level + 1], above);
    thread->depth--;
    if (thread->window_depth > level + 1)
        thread->window_depth--;
}

/* A level whose owner never ends it would remain forever. */
static void forget_oldest(struct lp_thread *thread)
{
    uint32_t count = 0, oldest = 0;

    for (uint32_t level = thread->depth; level > 0; level--)
        if (is_dropped(thread, level - 1)) {
            oldest = level - 1;
            count++;
        }
    if (count > LP_STACK_DROPPED)
        forget_level(thread, oldest);
}

/* A dropped level has the path of the level below it. */
static void keep_dropped(struct lp_thread *thread, uint32_t owner)
{
    thread->owner[thread->depth] = owner | LP_OWNER_DROPPED;
    thread->stack[thread->depth++] = thread->node;
    forget_oldest(thread);
}

/* Dropped levels above it stay in order. */
static void close_level(struct lp_thread *thread, uint32_t level)
{
    uint32_t depth = thread->depth;

    while (thread->depth > level + 1)
        if (is_dropped(thread, thread->depth - 1))
            thread->depth--;
        else
            lp_stack_close_top(thread, LP_END_DROPPED);
    lp_stack_close_top(thread, LP_END_NOW);
    for (uint32_t above = level + 1; above < depth; above++)
        keep_dropped(thread, thread->owner[above]);
}

bool lp_stack_close_other(struct lp_thread *thread, uint32_t owner)
{
    uint32_t at = thread->depth;

    if (at > LLMPERF_REGION_DEPTH) { /* too deep: its owner was not stored */
        thread->depth--;
        return true;
    }
    while (at > 0 && (thread->owner[at - 1] & ~LP_OWNER_DROPPED) != owner)
        at--;
    if (at > 0 && is_dropped(thread, at - 1))
        forget_level(thread, at - 1);
    else if (at > 0)
        close_level(thread, at - 1);
    else if (lp_thread_recording())
        lp_thread_record(thread, LP_RECORD_UNBALANCED, 0, LP_PATH_ROOT, 0);
    return at > 0;
}

uint32_t lp_stack_depth(const struct lp_thread *thread, uint32_t owner)
{
    uint32_t levels = thread->depth < LLMPERF_REGION_DEPTH ? thread->depth : LLMPERF_REGION_DEPTH;
    uint32_t open = thread->depth - levels;

    for (uint32_t i = 0; i < levels; i++)
        open += (thread->owner[i] & ~LP_OWNER_DROPPED) == owner;
    return open;
}
